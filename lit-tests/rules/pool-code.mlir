// The gradient of a max-pool behind a ReLU needs a bit of each element that
// was pooled: 128 bytes cross in place of the 4096 of %h, so a budget that
// needed %h recomputed needs no recomputation.
// RUN: ckpt-opt %s --remat=budget:42300 --json=%t.with -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=WITH < %t.with
// RUN: ckpt-opt %s --remat=budget:42300 --without-rule=pool-code --json=%t.without -o %t.plain
// RUN: FileCheck %s --check-prefix=WITHOUT < %t.without
// RUN: grep -q select_and_scatter %t.plain
// CHECK-NOT: select_and_scatter
// CHECK: stablehlo.reduce{{.*}} applies stablehlo.or across dimensions = [1] : (tensor<128x8xui8>, tensor<ui8>) -> tensor<128xui8>
// CHECK: stablehlo.dot_general %wide, %wide
// CHECK: stablehlo.shift_right_logical
// CHECK-NOT: select_and_scatter
// WITH: "peak_bytes": 42112,
// WITH: "recomputed": 0,
// WITHOUT: "peak_bytes": 41988,
// WITHOUT: "recomputed": 2,
// The results are the same bits.
// RUN: ckpt-opt run %s --seed=3 --outputs=%t.a.npz
// RUN: ckpt-opt run %s --seed=3 --remat=budget:42300 --outputs=%t.b.npz
// RUN: cmp %t.a.npz %t.b.npz
// It stays where the mask is true of zero, where the gradient is added to
// another number than zero, and where the last of the equal elements wins.
// RUN: sed 's/compare GT/compare GE/' %s > %t.ge.mlir
// RUN: ckpt-opt %t.ge.mlir --remat=budget:42300 -o - | grep -q select_and_scatter
// RUN: sed 's/(%relu, %dp, %zero)/(%relu, %dp, %one)/' %s > %t.one.mlir
// RUN: ckpt-opt %t.one.mlir --remat=budget:42300 -o - | grep -q select_and_scatter
// RUN: sed 's/compare  GE/compare  GT/' %s > %t.gt.mlir
// RUN: ckpt-opt %t.gt.mlir --remat=budget:42300 -o - | grep -q select_and_scatter
func.func public @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>, %v: tensor<16x16xf32>) -> (tensor<f32>, tensor<32x32xf32>) {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %relu = stablehlo.maximum %h, %zeros : tensor<32x32xf32>
  %positive = stablehlo.compare GT, %h, %zeros, FLOAT : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xi1>
  %p = "stablehlo.reduce_window"(%relu, %low) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<32x32xf32>, tensor<f32>) -> tensor<16x16xf32>
  %q = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
  %wide = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %square = stablehlo.dot_general %wide, %wide, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %loss = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  %dq = stablehlo.broadcast_in_dim %loss, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %dp = stablehlo.dot_general %dq, %v, contracting_dims = [1] x [1] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %routed = "stablehlo.select_and_scatter"(%relu, %dp, %zero) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %ge = stablehlo.compare  GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %ge : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<32x32xf32>, tensor<16x16xf32>, tensor<f32>) -> tensor<32x32xf32>
  %dh = stablehlo.select %positive, %routed, %zeros : tensor<32x32xi1>, tensor<32x32xf32>
  %dw = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %loss, %dw : tensor<f32>, tensor<32x32xf32>
}
