func.func @linear_algebra(%a: tensor<3x4xf32>, %c: tensor<4x4xcomplex<f32>>) {
  // expected-error@+1 {{minor dimensions of 'a' must have equal size, got shape 3, 4}}
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x4xf32>
  // expected-error@+1 {{RFFT requires f32 or f64 input type, but is given 'complex<f32>'}}
  %1 = stablehlo.fft %c, type = RFFT, length = [4] : (tensor<4x4xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
  return
}

// -----

func.func @tuples(%a: tensor<2xf32>, %t: !stablehlo.token, %m: tensor<4xf32>) {
  %0 = stablehlo.tuple %a, %t : tuple<tensor<2xf32>, !stablehlo.token>
  // expected-error@+1 {{index 2 is out of bounds of operand with size 2}}
  %1 = "stablehlo.get_tuple_element"(%0) {index = 2 : i32} : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
  // expected-error@+1 {{name must be a valid namespaced op name}}
  %2 = stablehlo.composite "plain" %a {decomposition = @f} : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{Number of operands must match the number of operand layouts, 1 != 0}}
  %3 = "stablehlo.custom_call"(%a) {call_target_name = "f", operand_layouts = [], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{the feature count is 2}}
  %4 = "stablehlo.batch_norm_inference"(%a, %m, %m, %m, %m) {epsilon = 1.0e-3 : f32, feature_index = 0 : i64} : (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2xf32>
  return
}
func.func private @f(tensor<2xf32>) -> tensor<2xf32>

// -----

func.func @chlo(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  %0 = "chlo.broadcast_add"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand's last dimension must be at least 4, but got 'tensor<2x3xf32>'}}
  %1:2 = chlo.top_k(%a, k = 4) : tensor<2x3xf32> -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return
}
