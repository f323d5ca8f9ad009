// A call of itself cannot be inlined: valid, but not supported.
// RUN: not --exit 3 ckpt-opt %s --remat=min 2>&1 | FileCheck %s
// RUN: ckpt-opt %s -o /dev/null
// CHECK: recursion.mlir:[[# @LINE + 5]]:{{[0-9]+}}: error: recursive calls cannot be inlined
func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @again(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @again(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @again(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
