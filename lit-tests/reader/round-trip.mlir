// RUN: ckpt-opt %s | FileCheck %s
// RUN: ckpt-opt %s -o %t.1 && ckpt-opt %t.1 -o %t.2 && cmp %t.1 %t.2
// RUN: ckpt-opt %s --mlir-print-op-generic | ckpt-opt - | FileCheck %s

// CHECK-LABEL: func.func public @main(%arg0: tensor<4x8xf32>) -> tensor<4xf32>
// CHECK: stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: stablehlo.tanh %arg0 : tensor<4x8xf32>
// CHECK: applies stablehlo.add across dimensions = [1]
// An unknown operation is carried through.
// CHECK: "other.effect"
module {
  func.func public @main(%arg0: tensor<4x8xf32>) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    "other.effect"(%1) {note = "kept"} : (tensor<4xf32>) -> ()
    return %1 : tensor<4xf32>
  }
}
