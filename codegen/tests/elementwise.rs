//! Elementwise operations of all types, against the evaluator.

#![allow(clippy::unwrap_used)]

mod common;
use common::check;
use std::fmt::Write as _;

/// Results of several statements on two operands `%a` and `%b`, as one kernel;
/// each statement is written with `$` for the operands' type.
fn all(element: &str, statements: &[(String, String)]) -> String {
    let of = format!("tensor<7x33x{element}>");
    let (mut body, mut names, mut types) = (String::new(), Vec::new(), Vec::new());
    for (at, (statement, result)) in statements.iter().enumerate() {
        let _ = writeln!(body, "%r{at} = {}", statement.replace('$', &of));
        names.push(format!("%r{at}"));
        types.push(format!("tensor<7x33x{result}>"));
    }
    let (names, types) = (names.join(", "), types.join(", "));
    format!("func.func @main(%a: {of}, %b: {of}) -> ({types}) {{\n{body}return {names} : {types}\n}}")
}

fn unary(kinds: &[&str], element: &str) -> Vec<(String, String)> {
    kinds.iter().map(|kind| (format!("stablehlo.{kind} %a : $"), element.to_owned())).collect()
}

fn binary(kinds: &[&str], element: &str) -> Vec<(String, String)> {
    kinds.iter().map(|kind| (format!("stablehlo.{kind} %a, %b : $"), element.to_owned())).collect()
}

fn compare(class: &str) -> Vec<(String, String)> {
    let one = |direction: &&str| {
        (
            format!("stablehlo.compare {direction}, %a, %b, {class} : ($, $) -> tensor<7x33xi1>"),
            "i1".to_owned(),
        )
    };
    ["EQ", "NE", "GE", "GT", "LE", "LT"].iter().map(one).collect()
}

fn convert(targets: &[&str]) -> Vec<(String, String)> {
    let one = |to: &&str| (format!("stablehlo.convert %a : ($) -> tensor<7x33x{to}>"), (*to).to_owned());
    targets.iter().map(one).collect()
}

const NUMBERS: [&str; 14] =
    ["i1", "i4", "i8", "i16", "i32", "i64", "ui4", "ui8", "ui32", "ui64", "bf16", "f16", "f32", "f64"];

#[test]
fn floats_bit_for_bit() {
    for element in ["f32", "f64", "bf16", "f16"] {
        let mut statements = unary(
            &["abs", "negate", "floor", "ceil", "round_nearest_afz", "round_nearest_even", "sqrt", "sign"],
            element,
        );
        statements.extend(binary(&["add", "subtract", "multiply", "divide", "maximum", "minimum"], element));
        statements.extend(compare("FLOAT"));
        statements.extend(compare("TOTALORDER"));
        statements.extend(convert(&NUMBERS.into_iter().filter(|to| *to != element).collect::<Vec<_>>()));
        statements.push(("stablehlo.is_finite %a : ($) -> tensor<7x33xi1>".to_owned(), "i1".to_owned()));
        statements.push(("stablehlo.clamp %a, %b, %a : $".to_owned(), element.to_owned()));
        if element != "f16" {
            let reduced = "stablehlo.reduce_precision %a, format = e4m3 : $";
            statements.push((reduced.to_owned(), element.to_owned()));
        }
        check(&all(element, &statements), 0.0);
    }
}

#[test]
fn integers() {
    for element in ["i4", "i8", "i16", "i32", "i64", "ui4", "ui8", "ui32", "ui64"] {
        let signed = element.starts_with('i');
        let mut kinds = vec!["not", "popcnt", "count_leading_zeros"];
        if signed {
            kinds.extend(["abs", "negate", "sign"]);
        }
        let mut statements = unary(&kinds, element);
        statements.extend(binary(
            &[
                "add",
                "subtract",
                "multiply",
                "divide",
                "remainder",
                "maximum",
                "minimum",
                "and",
                "or",
                "xor",
                "power",
            ],
            element,
        ));
        statements.extend(binary(&["shift_left", "shift_right_logical", "shift_right_arithmetic"], element));
        statements.extend(compare(if signed { "SIGNED" } else { "UNSIGNED" }));
        statements.extend(convert(&NUMBERS.into_iter().filter(|to| *to != element).collect::<Vec<_>>()));
        check(&all(element, &statements), 0.0);
    }
}

#[test]
fn booleans_and_complex_numbers() {
    let mut statements = binary(&["and", "or", "xor", "add", "multiply"], "i1");
    statements.extend(unary(&["not"], "i1"));
    statements.extend(compare("UNSIGNED"));
    statements.extend(convert(&NUMBERS[1..]));
    check(&all("i1", &statements), 0.0);
    for (element, part) in [("complex<f32>", "f32"), ("complex<f64>", "f64")] {
        let mut statements = binary(&["add", "subtract", "multiply"], element);
        statements.extend(unary(&["negate"], element));
        for kind in ["real", "imag"] {
            statements.push((format!("stablehlo.{kind} %a : ($) -> tensor<7x33x{part}>"), part.to_owned()));
        }
        check(&all(element, &statements), 0.0);
    }
}

#[test]
fn functions_of_f32_within_four_units() {
    let kinds = [
        "exponential",
        "exponential_minus_one",
        "tanh",
        "logistic",
        "sine",
        "cosine",
        "cbrt",
        "log",
        "log_plus_one",
        "rsqrt",
        "tan",
    ];
    let mut statements = unary(&kinds, "f32");
    statements.push(("chlo.erf %a : $ -> $".to_owned(), "f32".to_owned()));
    statements.extend(binary(&["power", "atan2", "remainder"], "f32"));
    // Four units of f32.
    check(&all("f32", &statements), 4.0 * 2f64.powi(-23));
    // The narrower types round the same functions; one unit at a tie.
    check(&all("bf16", &unary(&kinds, "bf16")), 2f64.powi(-7));
    check(&all("f16", &unary(&kinds, "f16")), 2f64.powi(-10));
}

#[test]
fn functions_of_f32_over_all_exponents() {
    // Random bits as numbers: all exponents, infinities and NaNs.
    let kinds = [
        "exponential",
        "exponential_minus_one",
        "tanh",
        "log",
        "log_plus_one",
        "cbrt",
        "rsqrt",
        "sqrt",
        "logistic",
    ];
    let mut statements = unary(&kinds, "f32");
    statements.push(("chlo.erf %a : $ -> $".to_owned(), "f32".to_owned()));
    let text = all("f32", &statements)
        .replace("%a: tensor<7x33xf32>", "%c: tensor<7x33xui32>")
        .replacen('{', "{\n%a = stablehlo.bitcast_convert %c : (tensor<7x33xui32>) -> tensor<7x33xf32>", 1)
        .replace("7x33", "70x133");
    check(&text, 4.0 * 2f64.powi(-23));
}

#[test]
fn functions_of_f64() {
    let kinds = [
        "exponential",
        "exponential_minus_one",
        "tanh",
        "sine",
        "cosine",
        "cbrt",
        "log",
        "log_plus_one",
        "rsqrt",
        "logistic",
    ];
    let mut statements = unary(&kinds, "f64");
    statements.extend(binary(&["atan2"], "f64"));
    check(&all("f64", &statements), 64.0 * f64::EPSILON);
}

#[test]
fn the_middle_square_of_random_bits() {
    // Integer chains as counter-based generators have them.
    check(
        "func.func @main(%a: tensor<100xui32>) -> tensor<100xf32> {
           %r = stablehlo.constant dense<13> : tensor<100xui32>
           %s = stablehlo.constant dense<19> : tensor<100xui32>
           %o = stablehlo.constant dense<0x3F800000> : tensor<100xui32>
           %n = stablehlo.constant dense<9> : tensor<100xui32>
           %0 = stablehlo.shift_left %a, %r : tensor<100xui32>
           %1 = stablehlo.shift_right_logical %a, %s : tensor<100xui32>
           %2 = stablehlo.or %0, %1 : tensor<100xui32>
           %3 = stablehlo.xor %2, %a : tensor<100xui32>
           %4 = stablehlo.shift_right_logical %3, %n : tensor<100xui32>
           %5 = stablehlo.or %4, %o : tensor<100xui32>
           %6 = stablehlo.bitcast_convert %5 : (tensor<100xui32>) -> tensor<100xf32>
           return %6 : tensor<100xf32>
         }",
        0.0,
    );
}
