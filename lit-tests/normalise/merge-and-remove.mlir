// Equal pure operations become one and unused ones go; operations with effects
// stay, equal and unused as they are.
// RUN: ckpt-opt %s --remat=min 2> %t.err | FileCheck %s --implicit-check-not='= stablehlo'
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[LOG0:.*]] = stablehlo.custom_call @log
// CHECK-DAG: %[[LOG1:.*]] = stablehlo.custom_call @log
// CHECK-DAG: %[[TANH:.*]] = stablehlo.tanh %arg0
// CHECK: = stablehlo.add %[[TANH]], %[[TANH]]
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  %1 = stablehlo.sine %arg0 : tensor<4xf32>
  %2 = stablehlo.tanh %arg0 : tensor<4xf32>
  %3 = stablehlo.custom_call @log(%arg0) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.custom_call @log(%arg0) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.add %0, %2 : tensor<4xf32>
  return %5 : tensor<4xf32>
}
