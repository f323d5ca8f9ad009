// A constant that a scatter accumulates into is not shared with other readers:
// merging the two broadcasts made the buffer live to its last reader, and an
// evaluator that updates in place saw the scatter's result there.
// RUN: ckpt-opt %s --remat=min | FileCheck %s
// CHECK: %[[ZERO:.*]] = stablehlo.broadcast_in_dim
// CHECK: "stablehlo.scatter"(%[[ZERO]],
// CHECK-NOT: stablehlo.add {{.*}}, %[[ZERO]] :
// CHECK: return
func.func public @main(%arg0: tensor<2x1xi32>, %arg1: tensor<2x4xf32>, %arg2: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %3 = stablehlo.add %arg2, %2 : tensor<8x4xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}
