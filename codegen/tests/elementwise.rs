//! Elementwise operations and movement, against the evaluator.

#![allow(clippy::unwrap_used)]

mod common;
use common::check;

#[test]
fn a_chain_of_f32() {
    check(
        "func.func @main(%a: tensor<8x33xf32>, %b: tensor<33xf32>) -> tensor<8x33xf32> {
           %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<33xf32>) -> tensor<8x33xf32>
           %1 = stablehlo.add %a, %0 : tensor<8x33xf32>
           %2 = stablehlo.multiply %1, %a : tensor<8x33xf32>
           %3 = stablehlo.negate %2 : tensor<8x33xf32>
           return %3 : tensor<8x33xf32>
         }",
        0.0,
    );
}
