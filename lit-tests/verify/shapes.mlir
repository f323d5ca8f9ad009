// RUN: not ckpt-opt %s -o %t 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.transpose' permutation has 1 twice
// CHECK: error: 'stablehlo.slice' limit 9 is beyond size 8 in dimension 1
// CHECK: error: 'stablehlo.reshape' the number of elements
// CHECK: error: 'stablehlo.concatenate' infers the type tensor<8x8xf32> for result #0
func.func @main(%a: tensor<4x8xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 1] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.slice %a [0:4, 0:9] : (tensor<4x8xf32>) -> tensor<4x9xf32>
  %2 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<33xf32>
  %3 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  return
}
