// RUN: not ckpt-opt %s -o %t 2>&1 | FileCheck %s
// CHECK: elementwise.mlir:[[# @LINE + 3]]:3: error: 'stablehlo.add' op requires the same shape for all operands and results, but got 'tensor<2xf32>', 'tensor<3xf32>'
// CHECK: elementwise.mlir:[[# @LINE + 3]]:3: error: 'stablehlo.tanh' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<2xi32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  %1 = "stablehlo.tanh"(%c) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xf32>
}
