// RUN: not ckpt-opt %s -o %t 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.transpose' op attribute permutation must be a permutation of [0, 2), but got [1, 1]
// CHECK: error: 'stablehlo.slice' op limit index 9 is larger than dimension size 8 in dimension 1
// CHECK: error: 'stablehlo.reshape' op number of output elements (33)
// CHECK: error: 'stablehlo.concatenate' op inferred type(s) 'tensor<8x8xf32>'
func.func @main(%a: tensor<4x8xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 1] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.slice %a [0:4, 0:9] : (tensor<4x8xf32>) -> tensor<4x9xf32>
  %2 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<33xf32>
  %3 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  return
}
