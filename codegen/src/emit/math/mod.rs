//! Functions of real numbers, as polynomials that LLVM vectorises.
//!
//! | function | `f32` (and narrower) | `f64` |
//! |---|---|---|
//! | exponential, exponential_minus_one, log, log_plus_one, tanh, erf, erf_inv | [`single`] | [`double`], erf and erf_inv not |
//! | sine, cosine, tan, cbrt, atan2, atan | [`double`], rounded once more | [`double`] |
//! | sinh, cosh | not: CHLO says what they are in steps that round to `f32` | [`double`] |
//! | power, remainder | [`double`], rounded once more | not |
//!
//! Errors in units in the last place (ULP), measured by this crate's tests on
//! numbers of all magnitudes: the `f32` functions at most 4, those by way of
//! `f64` at most 1, the `f64` functions a few. Sines are for numbers whose
//! quotient by π fits 53 bits.
//! Every step is one IEEE operation or one fused multiply-add, so that results
//! are the same on all machines and wherever a function is fused.

mod double;
mod single;

use super::{Body, Ssa, Ty};
use ckpt_ir::OpKind;

/// A function of one number; none if there is no such function.
pub(crate) fn unary(body: &mut Body, kind: OpKind, x: Ssa) -> Option<Ssa> {
    if kind == OpKind::Rsqrt {
        let (one, root) = (body.float(x.ty, 1.0), body.unary("math.sqrt", x));
        return Some(body.binary("arith.divf", one, root));
    }
    if x.ty == Ty::F32 {
        if let Some(result) = single::unary(body, kind, x) {
            return Some(result);
        }
        if matches!(kind, OpKind::ChloSinh | OpKind::ChloCosh) {
            return None;
        }
        let wide = body.cast("arith.extf", x, Ty::F64);
        let result = double::unary(body, kind, wide)?;
        return Some(body.cast("arith.truncf", result, Ty::F32));
    }
    double::unary(body, kind, x)
}

/// A function of two numbers; none if there is no such function.
pub(crate) fn binary(body: &mut Body, kind: OpKind, a: Ssa, b: Ssa) -> Option<Ssa> {
    if a.ty == Ty::F32 {
        let (a, b) = (body.cast("arith.extf", a, Ty::F64), body.cast("arith.extf", b, Ty::F64));
        let result = double::binary(body, kind, a, b)?;
        return Some(body.cast("arith.truncf", result, Ty::F32));
    }
    // Good for `f32` only: a power's error grows with its logarithm, and a
    // remainder's rounds are counted for quotients of `f32`.
    if matches!(kind, OpKind::Power | OpKind::Remainder) {
        return None;
    }
    double::binary(body, kind, a, b)
}

/// eˣ.
pub(crate) fn exp(body: &mut Body, x: Ssa) -> Ssa {
    if x.ty == Ty::F32 { single::exp(body, x) } else { double::exp(body, x) }
}

/// Σ `coefficients[i]·x^(n−i)` by Horner's rule with fused multiply-adds.
fn polynomial(body: &mut Body, x: Ssa, coefficients: &[f64]) -> Ssa {
    let mut values = coefficients.iter().copied();
    let first = values.next().unwrap_or_default();
    let mut sum = body.float(x.ty, first);
    for coefficient in values {
        let coefficient = body.float(x.ty, coefficient);
        sum = body.fma(sum, x, coefficient);
    }
    sum
}

/// 2ⁿ for an integer-valued float within the normal exponents of its type.
fn power_of_two(body: &mut Body, n: Ssa) -> Ssa {
    let ty = n.ty.as_integer();
    let (bias, mantissa) = if n.ty == Ty::F32 { (127, 23) } else { (1023, 52) };
    // f64's exponents fit 32 bits, for which vector conversions exist everywhere.
    let number = body.cast("arith.fptosi", n, Ty::I32);
    let number = body.cast("arith.extsi", number, ty);
    let (bias, mantissa) = (body.int(ty, bias), body.int(ty, mantissa));
    let biased = body.binary("arith.addi", number, bias);
    let bits = body.binary("arith.shli", biased, mantissa);
    body.cast("arith.bitcast", bits, n.ty)
}

/// Clamps to a range; NaN stays.
fn clamp(body: &mut Body, x: Ssa, low: f64, high: f64) -> Ssa {
    let (low, high) = (body.float(x.ty, low), body.float(x.ty, high));
    let below = body.cmpf("olt", x, low);
    let x = body.select(below, low, x);
    let above = body.cmpf("ogt", x, high);
    body.select(above, high, x)
}

/// A number's exponent and its mantissa in [√½, √2): `x = m·2^e` for positive
/// finite `x`, subnormals included.
fn split_exponent(body: &mut Body, x: Ssa) -> (Ssa, Ssa) {
    let single = x.ty == Ty::F32;
    let mantissa = if single { 23 } else { 52 };
    let ty = x.ty.as_integer();
    let smallest = body.float(x.ty, if single { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE });
    let subnormal = body.cmpf("olt", x, smallest);
    let (scale, digits) = (body.float(x.ty, 2f64.powi(mantissa)), body.float(x.ty, f64::from(mantissa)));
    let scaled = body.binary("arith.mulf", x, scale);
    let normal = body.select(subnormal, scaled, x);
    let bits = body.cast("arith.bitcast", normal, ty);
    // Subtracting the bits of √½ moves the border between exponents there.
    let border = if single { i64::from(0x3f35_04f3u32) } else { 0x3fe6_a09e_667f_3bcd };
    let border = body.int(ty, border);
    let position = body.int(ty, i64::from(mantissa));
    let shifted = body.binary("arith.subi", bits, border);
    let exponent = body.binary("arith.shrsi", shifted, position);
    let high = body.binary("arith.shli", exponent, position);
    let rest = body.binary("arith.subi", bits, high);
    let m = body.cast("arith.bitcast", rest, x.ty);
    let narrow = body.cast("arith.trunci", exponent, Ty::I32);
    let exponent = body.cast("arith.sitofp", narrow, x.ty);
    let less = body.binary("arith.subf", exponent, digits);
    (body.select(subnormal, less, exponent), m)
}

/// What a logarithm is outside the positive finite numbers: −∞ at zero, NaN
/// below it, and NaN and +∞ themselves.
fn log_edges(body: &mut Body, x: Ssa, result: Ssa) -> Ssa {
    let zero = body.float(x.ty, 0.0);
    let infinity = body.float(x.ty, f64::INFINITY);
    let minus_infinity = body.float(x.ty, f64::NEG_INFINITY);
    let nan = body.float(x.ty, f64::NAN);
    let is_zero = body.cmpf("oeq", x, zero);
    let negative = body.cmpf("olt", x, zero);
    let finite = body.cmpf("ult", x, infinity);
    let result = body.select(finite, result, x);
    let unordered = body.cmpf("uno", x, x);
    let result = body.select(unordered, x, result);
    let result = body.select(is_zero, minus_infinity, result);
    body.select(negative, nan, result)
}
