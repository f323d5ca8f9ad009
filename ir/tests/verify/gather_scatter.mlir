func.func @gather(%a: tensor<5x4xf32>, %i: tensor<3x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  // expected-error@+1 {{inferred type(s) 'tensor<3x4xf32>' are incompatible with return type(s) of operation 'tensor<4x3xf32>'}}
  %1 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<4x3xf32>
  // expected-error@+1 {{slice size (6) is out of bounds for operand dimension (4) at index 1}}
  %2 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>} : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @scatter(%a: tensor<5x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>, %v: tensor<2x4xf32>) {
  // expected-error@+1 {{For scatter dimension 0, updates bound is 2, scatter_indices bound is 3}}
  %0 = "stablehlo.scatter"(%a, %i, %v) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %d = stablehlo.constant dense<0> : tensor<i64>
  // expected-error@+1 {{start indices must have same element type, but got 'tensor<i32>' and 'tensor<i64>'}}
  %1 = stablehlo.dynamic_slice %a, %c, %d, sizes = [1, 4] : (tensor<5x4xf32>, tensor<i32>, tensor<i64>) -> tensor<1x4xf32>
  return
}
