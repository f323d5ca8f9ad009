// Private callees are inlined, so that what they hold can be kept or recomputed.
// RUN: ckpt-opt %s --remat=min 2> %t.err | FileCheck %s
// CHECK: func.func public @main
// CHECK-NOT: call
// CHECK-COUNT-2: stablehlo.tanh
// CHECK-NOT: @layer
module {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @layer(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @layer(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @layer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
