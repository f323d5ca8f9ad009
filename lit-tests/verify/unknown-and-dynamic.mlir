// What is not known is never refused, and dynamic sizes agree with everything.
// RUN: ckpt-opt %s | FileCheck %s
// CHECK: "other.op"
// CHECK: stablehlo.add
func.func @main(%a: tensor<?xf32>, %b: tensor<3xf32>) {
  %0 = "other.op"(%a) : (tensor<?xf32>) -> tensor<7xi32>
  %1 = "stablehlo.add"(%a, %b) : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
