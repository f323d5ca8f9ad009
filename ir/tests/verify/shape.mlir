func.func @shapes(%a: tensor<2x3xf32>, %d: tensor<?x3xf32>) {
  %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = stablehlo.concatenate %a, %d, dim = 0 : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  // expected-error@+1 {{number of output elements (5) doesn't match expected number of elements (6)}}
  %2 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<5xf32>
  // expected-error@+1 {{inferred type(s) 'tensor<3x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  %3 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute permutation must be a permutation of [0, 2), but got [1, 1]}}
  %4 = stablehlo.transpose %a, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  // expected-error@+1 {{size of operand dimension 1 (3) is not equal to 1 or size of result dimension 2 (4)}}
  %5 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{limit index 4 is larger than dimension size 3 in dimension 1}}
  %6 = stablehlo.slice %a [0:2, 0:4] : (tensor<2x3xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{dimension 1 is out-of-bounds for input rank 1}}
  %7 = "stablehlo.concatenate"(%0, %0) {dimension = 1 : i64} : (tensor<6xf32>, tensor<6xf32>) -> tensor<12xf32>
  return
}

// -----

func.func @bounds(%a: tensor<?xf32, #stablehlo.bounds<4>>, %b: tensor<5xf32>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<5xf32>) -> tensor<5xf32>
  // expected-error@+1 {{has a bound for the static dimension 0}}
  %1 = "foreign.op"() : () -> tensor<4xf32, #stablehlo.bounds<4>>
  return
}

// -----

func.func @dynamic(%a: tensor<?xf32>, %n: tensor<1xi64>) {
  %0 = stablehlo.constant dense<[4]> : tensor<1xi64>
  %1 = stablehlo.dynamic_reshape %a, %n : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  // expected-error@+1 {{output shape [4] is incompatible with return type of operation 'tensor<5xf32>'}}
  %2 = stablehlo.dynamic_reshape %a, %0 : (tensor<?xf32>, tensor<1xi64>) -> tensor<5xf32>
  // expected-error@+1 {{iota dimension cannot go beyond the output rank}}
  %3 = stablehlo.dynamic_iota %n, dim = 1 : (tensor<1xi64>) -> tensor<?xi32>
  return
}
