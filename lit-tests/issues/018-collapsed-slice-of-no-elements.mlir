// A collapsed dimension with a slice of size zero leaves a result with elements that stand nowhere.
// RUN: not --exit 1 ckpt-opt run --seed 1 %s 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.gather': invalid: a slice of no elements
func.func @main(%operand: tensor<2x4xi32>, %starts: tensor<5x1xi32>) -> tensor<5x4xi32> {
  %0 = "stablehlo.gather"(%operand, %starts) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 0, 4>, indices_are_sorted = false} : (tensor<2x4xi32>, tensor<5x1xi32>) -> tensor<5x4xi32>
  return %0 : tensor<5x4xi32>
}
