// A dynamic reshape and a tuple are buffers of their own for the planner and for the checker.
// RUN: ckpt-opt %s --remat=none --split-input-file -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-3: peak
func.func @main(%arg0: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
  %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
// -----
func.func @main(%arg0: !stablehlo.token) -> tuple<tensor<3x4xi32>, tensor<i32>> {
  %0:2 = "test.recv"(%arg0) : (!stablehlo.token) -> (tensor<3x4xi32>, tensor<i32>)
  %1 = stablehlo.tuple %0#0, %0#1 : tuple<tensor<3x4xi32>, tensor<i32>>
  return %1 : tuple<tensor<3x4xi32>, tensor<i32>>
}
// -----
// A barrier takes no tuple, so a repeated kernel's tuple stands without one.
// RUN: ckpt-opt %s --remat=full --split-input-file | ckpt-opt --split-input-file -o /dev/null
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.sine %arg0 : tensor<8xf32>
  %1 = stablehlo.tuple %0, %arg0 : tuple<tensor<8xf32>, tensor<8xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<8xf32>, tensor<8xf32>>) -> tensor<8xf32>
  %3 = stablehlo.cosine %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
