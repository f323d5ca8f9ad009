// Operations of MLIR's other dialects that stand beside StableHLO are read in
// pretty form and printed in generic form.
// RUN: ckpt-opt %s | FileCheck %s
// RUN: ckpt-opt %s | ckpt-opt | FileCheck %s
// CHECK: "arith.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
// CHECK: "arith.addf"(%0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK: "tensor.cast"(%1) : (tensor<2xf32>) -> tensor<?xf32>
// CHECK: "func.constant"() <{value = @main}> : () -> ((tensor<2xf32>) -> tensor<?xf32>)
// CHECK: chlo.broadcast_add %arg0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK: tensor<?xf32, #stablehlo.bounds<4>>
func.func @main(%arg0: tensor<2xf32>) -> tensor<?xf32> {
  %0 = arith.constant dense<1.0> : tensor<2xf32>
  %1 = arith.addf %0, %arg0 : tensor<2xf32>
  %2 = tensor.cast %1 : tensor<2xf32> to tensor<?xf32>
  %3 = func.constant @main : (tensor<2xf32>) -> tensor<?xf32>
  %4 = chlo.broadcast_add %arg0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<?xf32>
}
func.func private @bounded(tensor<?xf32, #stablehlo.type_extensions<bounds = [4]>>)
