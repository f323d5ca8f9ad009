// RUN: not ckpt-opt %s -o %t 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.dot_general' op contracting dimension sizes must match for lhs/rhs, but got 8 and 9
// CHECK: error: 'stablehlo.reduce' op Out-of-bounds dimension 2, expected to be in range [0, 2)
func.func @main(%a: tensor<4x8xf32>, %b: tensor<9x2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
