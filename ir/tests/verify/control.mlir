func.func @branches(%p: tensor<i1>, %a: tensor<f32>, %i: tensor<i32>) {
  // expected-error@+1 {{branch 0 and branch 1 have mismatched return types: 'tensor<f32>' vs 'tensor<i32>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i1>) -> tensor<f32>
  // expected-error@+1 {{requires 2 regions, but has 1}}
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @loop(%a: tensor<f32>) {
  // expected-error@+1 {{expect condition block return a zero-ranked tensor of i1 but got 'tensor<f32>'}}
  %0 = stablehlo.while(%x = %a) : tensor<f32>
   cond {
    stablehlo.return %x : tensor<f32>
  } do {
    stablehlo.return %x : tensor<f32>
  }
  return
}
