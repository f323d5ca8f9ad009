// RUN: ckpt-opt run %s
// RUN: ckpt-opt %s | ckpt-opt run -
func.func @products() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %0:2 = chlo.scan(%x) inits(%one) dimension=0 attributes {is_reverse = true} {
  ^bb0(%input: tensor<2xi32>, %carry: tensor<2xi32>):
    %1 = stablehlo.multiply %input, %carry : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<3x2xi32>, tensor<2xi32>) -> (tensor<3x2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[15, 48], [15, 24], [5, 6]]> : tensor<3x2xi32>
  check.expect_eq_const %0#1, dense<[15, 48]> : tensor<2xi32>
  return
}
