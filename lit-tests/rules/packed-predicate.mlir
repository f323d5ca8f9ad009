// A random mask that the backward pass needs is kept as bits, 512 bytes in
// place of 4096, while the two products hold 16 KiB each.
// RUN: ckpt-opt %s --remat=min --json=%t.with -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=WITH < %t.with
// RUN: ckpt-opt %s --remat=min --without-rule=packed-predicate --json=%t.without -o %t.plain
// RUN: FileCheck %s --check-prefix=WITHOUT < %t.without
// RUN: not grep shift_right_logical %t.plain
// CHECK: stablehlo.rng
// CHECK: stablehlo.shift_left
// CHECK: %[[PACKED:.*]] = stablehlo.reduce{{.*}} applies stablehlo.or across dimensions = [1] : (tensor<512x8xui8>, tensor<ui8>) -> tensor<512xui8>
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.shift_right_logical
// WITH: "peak_bytes": 66308,
// WITHOUT: "peak_bytes": 69888,
// The results are the same bits.
// RUN: ckpt-opt run %s --seed=3 --outputs=%t.a.npz
// RUN: ckpt-opt run %s --seed=3 --remat=min --outputs=%t.b.npz
// RUN: cmp %t.a.npz %t.b.npz
// A mask of 63 times 63 fills no whole bytes and stays as it is.
// RUN: sed 's/64x64/63x63/g; s/<64xf32>/<63xf32>/g; s/dense<64>/dense<63>/' %s > %t.63.mlir
// RUN: ckpt-opt %t.63.mlir --remat=min -o %t.63
// RUN: not grep shift_right_logical %t.63
func.func public @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %x: tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %shape = stablehlo.constant dense<64> : tensor<2xi64>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<64x64xf32>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<64x64xf32>
  %draw = stablehlo.rng %zero, %one, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<64x64xf32>
  %keep = stablehlo.compare LT, %draw, %half, FLOAT : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %rows = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %dropped = stablehlo.select %keep, %rows, %zeros : tensor<64x64xi1>, tensor<64x64xf32>
  %s = stablehlo.reduce(%dropped init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %as = stablehlo.multiply %a, %ss : tensor<64x64xf32>
  %h = stablehlo.dot_general %as, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = stablehlo.dot_general %h, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.multiply %s, %t : tensor<f32>
  %dy = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %dx = stablehlo.select %keep, %dy, %zeros : tensor<64x64xi1>, tensor<64x64xf32>
  %g = stablehlo.reduce(%dx init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %loss, %g : tensor<f32>, tensor<64xf32>
}
