module @mlp_step {
  func.func public @main(%w0: tensor<8x16xf32>, %w1: tensor<16x16xf32>, %w2: tensor<16x8xf32>, %x: tensor<256x8xf32>, %y: tensor<256x8xf32>) -> (tensor<f32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %one = stablehlo.constant dense<1.000000e+00> : tensor<256x16xf32>
    // Forward: two tanh layers, a linear one, and the sum of squared errors.
    %z0 = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : (tensor<256x8xf32>, tensor<8x16xf32>) -> tensor<256x16xf32>
    %a0 = stablehlo.tanh %z0 : tensor<256x16xf32>
    %z1 = stablehlo.dot_general %a0, %w1, contracting_dims = [1] x [0] : (tensor<256x16xf32>, tensor<16x16xf32>) -> tensor<256x16xf32>
    %a1 = stablehlo.tanh %z1 : tensor<256x16xf32>
    %z2 = stablehlo.dot_general %a1, %w2, contracting_dims = [1] x [0] : (tensor<256x16xf32>, tensor<16x8xf32>) -> tensor<256x8xf32>
    %e = stablehlo.subtract %z2, %y : tensor<256x8xf32>
    %ee = stablehlo.multiply %e, %e : tensor<256x8xf32>
    %loss = stablehlo.reduce(%ee init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<256x8xf32>, tensor<f32>) -> tensor<f32>
    // Backward.
    %d2 = stablehlo.add %e, %e : tensor<256x8xf32>
    %g2 = stablehlo.dot_general %a1, %d2, contracting_dims = [0] x [0] : (tensor<256x16xf32>, tensor<256x8xf32>) -> tensor<16x8xf32>
    %da1 = stablehlo.dot_general %d2, %w2, contracting_dims = [1] x [1] : (tensor<256x8xf32>, tensor<16x8xf32>) -> tensor<256x16xf32>
    %q1 = stablehlo.multiply %a1, %a1 : tensor<256x16xf32>
    %s1 = stablehlo.subtract %one, %q1 : tensor<256x16xf32>
    %d1 = stablehlo.multiply %da1, %s1 : tensor<256x16xf32>
    %g1 = stablehlo.dot_general %a0, %d1, contracting_dims = [0] x [0] : (tensor<256x16xf32>, tensor<256x16xf32>) -> tensor<16x16xf32>
    %da0 = stablehlo.dot_general %d1, %w1, contracting_dims = [1] x [1] : (tensor<256x16xf32>, tensor<16x16xf32>) -> tensor<256x16xf32>
    %q0 = stablehlo.multiply %a0, %a0 : tensor<256x16xf32>
    %s0 = stablehlo.subtract %one, %q0 : tensor<256x16xf32>
    %d0 = stablehlo.multiply %da0, %s0 : tensor<256x16xf32>
    %g0 = stablehlo.dot_general %x, %d0, contracting_dims = [0] x [0] : (tensor<256x8xf32>, tensor<256x16xf32>) -> tensor<8x16xf32>
    return %loss, %g0, %g1, %g2 : tensor<f32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>
  }
}
