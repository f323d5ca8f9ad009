func.func @valid(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @helper(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "foreign.op"(%0) ({
    "foreign.yield"() : () -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @helper(tensor<2xf32>) -> tensor<2xf32>

// -----

func.func @returns_another_type(%a: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{type of return operand 0 ('tensor<2xf32>') doesn't match function result type ('tensor<3xf32>') in function @returns_another_type}}
  return %a : tensor<2xf32>
}

// -----

func.func @returns_too_much(%a: tensor<2xf32>) {
  // expected-error@+1 {{has 1 operands, but enclosing function (@returns_too_much) returns 0}}
  return %a : tensor<2xf32>
}

// -----

// expected-error@+1 {{'func.func' op expects region #0 to end with a terminator}}
func.func @no_return(%a: tensor<2xf32>) {
  %0 = stablehlo.abs %a : tensor<2xf32>
}

// -----

func.func @twice() {
  return
}
// expected-error@+1 {{redefinition of symbol named 'twice'}}
func.func @twice() {
  return
}

// -----

func.func @calls(%a: tensor<2xf32>) {
  // expected-error@+1 {{'absent' does not reference a valid function}}
  call @absent(%a) : (tensor<2xf32>) -> ()
  // expected-error@+1 {{incorrect number of operands for callee: 2 operands for 1}}
  call @callee(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> ()
  // expected-error@+1 {{incorrect number of results for callee: 1 result for 0}}
  %0 = call @callee(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// expected-error@+1 {{future element type must be a ranked tensor, but got 'f32'}}
func.func private @future(!stablehlo.future<f32>)
func.func private @callee(tensor<2xf32>)

// -----

func.func @early(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{must be the last operation in the parent block}}
  return %a : tensor<2xf32>
  return %a : tensor<2xf32>
}
