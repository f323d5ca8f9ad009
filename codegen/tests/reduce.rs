//! Reductions over dimensions and windows, against the evaluator.

#![allow(clippy::unwrap_used)]

mod common;
use common::check;

/// `reduce` of one input by one operation.
fn reduce(kind: &str, element: &str, shape: &str, result: &str, dimensions: &str, init: &str) -> String {
    let (of, to) = (format!("tensor<{shape}x{element}>"), format!("tensor<{result}{element}>"));
    format!(
        "func.func @main(%a: {of}) -> {to} {{
           %i = stablehlo.constant dense<{init}> : tensor<{element}>
           %p = stablehlo.add %a, %a : {of}
           %0 = stablehlo.reduce(%p init: %i) applies stablehlo.{kind} across dimensions = [{dimensions}] : ({of}, tensor<{element}>) -> {to}
           return %0 : {to}
         }}"
    )
}

#[test]
fn sums_over_all_combinations_of_dimensions() {
    for (result, dimensions) in [
        ("5x7x", "2"),
        ("5x90x", "1"),
        ("7x90x", "0"),
        ("5x", "1, 2"),
        ("7x", "0, 2"),
        ("90x", "0, 1"),
        ("", "0, 1, 2"),
    ] {
        check(&reduce("add", "f64", "5x7x90", result, dimensions, "1.0"), 1e-12);
        check(&reduce("add", "i32", "5x7x90", result, dimensions, "3"), 0.0);
        check(&reduce("maximum", "f32", "5x7x90", result, dimensions, "0.0"), 0.0);
        check(&reduce("minimum", "i8", "5x7x90", result, dimensions, "100"), 0.0);
    }
}

#[test]
fn long_lines() {
    check(&reduce("add", "f64", "3x1000", "3x", "1", "0.0"), 1e-11);
    check(&reduce("maximum", "bf16", "3x1000", "3x", "1", "0xFF80"), 0.0);
    check(&reduce("add", "f64", "3x129x3x2", "3x", "1, 2, 3", "0.0"), 1e-11);
    check(&reduce("add", "f64", "1000x3x1", "3x1x", "0", "0.0"), 1e-11);
}

#[test]
fn an_index_of_the_largest() {
    check(
        "func.func @main(%a: tensor<9x40xf32>) -> (tensor<9xf32>, tensor<9xi32>) {
           %i = stablehlo.iota dim = 1 : tensor<9x40xi32>
           %m = stablehlo.constant dense<0xFF800000> : tensor<f32>
           %z = stablehlo.constant dense<0> : tensor<i32>
           %0:2 = stablehlo.reduce(%a init: %m), (%i init: %z) across dimensions = [1] : (tensor<9x40xf32>, tensor<9x40xi32>, tensor<f32>, tensor<i32>) -> (tensor<9xf32>, tensor<9xi32>)
            reducer(%x: tensor<f32>, %y: tensor<f32>) (%s: tensor<i32>, %t: tensor<i32>) {
             %g = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
             %v = stablehlo.select %g, %x, %y : tensor<i1>, tensor<f32>
             %w = stablehlo.select %g, %s, %t : tensor<i1>, tensor<i32>
             stablehlo.return %v, %w : tensor<f32>, tensor<i32>
           }
           return %0#0, %0#1 : tensor<9xf32>, tensor<9xi32>
         }",
        0.0,
    );
}

#[test]
fn pools() {
    check(
        "func.func @main(%a: tensor<2x9x8x16xf32>) -> tensor<2x5x4x16xf32> {
           %m = stablehlo.constant dense<0xFF800000> : tensor<f32>
           %0 = \"stablehlo.reduce_window\"(%a, %m) <{window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>}> ({
           ^bb0(%x: tensor<f32>, %y: tensor<f32>):
             %v = stablehlo.maximum %x, %y : tensor<f32>
             stablehlo.return %v : tensor<f32>
           }) : (tensor<2x9x8x16xf32>, tensor<f32>) -> tensor<2x5x4x16xf32>
           return %0 : tensor<2x5x4x16xf32>
         }",
        0.0,
    );
}
