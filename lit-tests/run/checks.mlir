// RUN: ckpt-opt run %s
// RUN: sed 's/dense<3.0>/dense<4.0>/' %s > %t.mlir; ckpt-opt run %t.mlir 2> %t.err; test $? = 6
// RUN: FileCheck %s < %t.err
// CHECK: error
func.func @main() {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<2xf32>
  %2 = stablehlo.add %0, %1 : tensor<2xf32>
  %3 = stablehlo.constant dense<3.0> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%2, %3) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
