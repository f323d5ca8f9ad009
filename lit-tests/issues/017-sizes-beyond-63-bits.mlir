// Sizes that do not fit 63 bits together exceed a documented limit.
// RUN: not --exit 4 ckpt-opt --remat=min %s 2>&1 | FileCheck %s
// CHECK: error: the sizes of all values together exceed 2^63 bytes
func.func @main(%arg0: tensor<1073741824x1073741824xf32>, %arg1: tensor<1073741824x1073741824xf32>) -> tensor<1073741824x1073741824xf32> {
  %0 = stablehlo.sine %arg0 : tensor<1073741824x1073741824xf32>
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<1073741824x1073741824xf32>, tensor<1073741824x1073741824xf32>) -> tensor<1073741824x1073741824xf32>
  return %1 : tensor<1073741824x1073741824xf32>
}
