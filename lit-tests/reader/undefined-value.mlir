// RUN: not ckpt-opt %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
// CHECK: undefined-value.mlir:[[# @LINE + 3]]:30: error:
// CHECK-NEXT: stablehlo.tanh %missing
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.tanh      %missing : tensor<2xf32>
    return %0 : tensor<2xf32>
}
