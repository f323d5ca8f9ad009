func.func @valid(%a: tensor<2x?xf32>, %b: tensor<?x3xf32>, %c: tensor<?x?xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %b : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.compare LT, %0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @types(%a: tensor<2xf32>, %b: tensor<3xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.cosine' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex or per-tensor integer quantized values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.cosine %i : tensor<2xi32>
  // expected-error@+1 {{requires the same shape for all operands and results, but got 'tensor<2xf32>', 'tensor<3xf32>', 'tensor<2xf32>'}}
  %1 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{requires compatible types for all operands and results}}
  %2 = stablehlo.multiply %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  // expected-error@+1 {{requires compatible types for non-predicate operands, but got 'tensor<2xf32>' and 'tensor<2xi32>'}}
  %3 = "stablehlo.select"(%p, %a, %i) : (tensor<2xi1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{max shape [3] is not scalar and is not compatible to operand shape [2]}}
  %4 = "stablehlo.clamp"(%a, %a, %b) : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{inferred type(s) 'tensor<2xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<2xcomplex<f64>>'}}
  %5 = "stablehlo.complex"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  // expected-error@+1 {{requires attribute 'comparison_direction'}}
  %6 = "stablehlo.compare"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // expected-error@+1 {{attribute 'exponent_bits' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive, but got 0 : i32}}
  %7 = stablehlo.reduce_precision %a, format = e0m10 : tensor<2xf32>
  // expected-error@+1 {{expected 1 operands, but found 2}}
  %8 = "stablehlo.negate"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 2.0:15>
func.func @quantised(%a: tensor<2x!quant.uniform<i8:f32, 2.0:15>>, %b: tensor<2x!quant.uniform<i4:f32, 2.0:1>>, %f: tensor<2xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2x!quant.uniform<i8:f32, 2.0:15>>
  // expected-error@+1 {{mismatched operands and result quantization storage types}}
  %1 = stablehlo.add %a, %b : (tensor<2x!quant.uniform<i8:f32, 2.0:15>>, tensor<2x!quant.uniform<i4:f32, 2.0:1>>) -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
  // expected-error@+1 {{expects all operands and results to be either quantized or non-quantized}}
  %2 = stablehlo.add %a, %f : (tensor<2x!quant.uniform<i8:f32, 2.0:15>>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{Expressed type of result expected to be 'f32', but got 'f64'}}
  %3 = stablehlo.uniform_quantize %f : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f64, 2.0:15>>
  // expected-error@+1 {{result #0 must be ranked tensor of per-tensor integer quantized or per-axis integer quantized values}}
  %4 = stablehlo.uniform_quantize %f : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 2.0:300>>
  return
}
