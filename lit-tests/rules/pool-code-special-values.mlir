// Zeros of both signs, infinities, NaN, denormals and ties, in what is pooled
// and in the gradient: the rule `pool-code` gives the same bits.
// RUN: ckpt-opt %s --remat=budget:42500 -o %t.mlir
// RUN: not grep select_and_scatter %t.mlir
// RUN: for seed in 1 2 3 4 5 6 7 8; do \
// RUN:   ckpt-opt run %s --seed=$seed --outputs=%t.a.npz; \
// RUN:   ckpt-opt run %s --seed=$seed --remat=budget:42500 --outputs=%t.b.npz; \
// RUN:   cmp %t.a.npz %t.b.npz; done
func.func public @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>, %v: tensor<16x16xf32>) -> (tensor<f32>, tensor<32x32xf32>) {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zeros = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %kinds = stablehlo.constant dense<[0.0, -0.0, 0x7F800000, 1.0, 0x7FC00000, 1.0, 1.0, 0x7FC00000, 0x00000010, 0x00000020, 1.0, 0.0, 0x7F800000, 0x7F800000, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, -0.0, 0x00001000, 0xFF800000, 1.0, 0x7FC00000, 0x7F800000]> : tensor<32xf32>
  %spread = stablehlo.broadcast_in_dim %kinds, dims = [1] : (tensor<32xf32>) -> tensor<32x32xf32>
  %hs = stablehlo.multiply %h, %spread : tensor<32x32xf32>
  %relu = stablehlo.maximum %hs, %zeros : tensor<32x32xf32>
  %positive = stablehlo.compare GT, %hs, %zeros, FLOAT : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xi1>
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
  %seven = stablehlo.reduce(%v init: %one) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
  %clean = stablehlo.maximum %seven, %one : tensor<f32>
  %dq = stablehlo.broadcast_in_dim %clean, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %dp = stablehlo.dot_general %dq, %v, contracting_dims = [1] x [1] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %gkinds = stablehlo.constant dense<[1.0, 0.0, 0x7F800000, 1.0, -0.0, 1.0, 0x7FC00000, 1.0, 0x00000010, -0.0, 0.0, 1.0, 1.0, 1.0, 0x7FC00000, 0xFF800000]> : tensor<16xf32>
  %gspread = stablehlo.broadcast_in_dim %gkinds, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
  %dps = stablehlo.multiply %dp, %gspread : tensor<16x16xf32>
  %routed = "stablehlo.select_and_scatter"(%relu, %dps, %zero) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %ge = stablehlo.compare  GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %ge : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<32x32xf32>, tensor<16x16xf32>, tensor<f32>) -> tensor<32x32xf32>
  %dh = stablehlo.select %positive, %routed, %zeros : tensor<32x32xi1>, tensor<32x32xf32>
  %dw = stablehlo.negate %dh : tensor<32x32xf32>
  return %loss, %dw : tensor<f32>, tensor<32x32xf32>
}
