// RUN: not ckpt-opt %s -o %t 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.dot_general' dimension 1 of tensor<4x8xf32> and dimension 0 of tensor<9x2xf32> differ in size
// CHECK: error: 'stablehlo.reduce' dimensions is 2, which is not a dimension of rank 2
func.func @main(%a: tensor<4x8xf32>, %b: tensor<9x2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
