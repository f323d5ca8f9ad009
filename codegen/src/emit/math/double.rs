//! Functions in `f64` arithmetic: Taylor series on reduced arguments, long
//! enough that their remainder is below half a unit of `f64`.

use super::{clamp, log_edges, polynomial, power_of_two, split_exponent};
use crate::emit::{Body, Ssa, Ty};
use ckpt_ir::OpKind;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LOG2_E, PI};

/// The upper 32 bits of ln 2, and the rest (fdlibm).
const LN2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);

/// π/2 as a sum of three, the first two of 33 bits (fdlibm).
const PI_2: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];

/// A function of one number; none if there is no such function.
pub(super) fn unary(body: &mut Body, kind: OpKind, x: Ssa) -> Option<Ssa> {
    Some(match kind {
        OpKind::Exponential => exp(body, x),
        OpKind::ExponentialMinusOne => expm1(body, x),
        OpKind::Log => log(body, x),
        OpKind::LogPlusOne => log1p(body, x),
        OpKind::Tanh => tanh(body, x),
        OpKind::Sine => sin_cos(body, x).0,
        OpKind::Cosine => sin_cos(body, x).1,
        OpKind::Tan | OpKind::ChloTan => {
            let (sin, cos) = sin_cos(body, x);
            body.binary("arith.divf", sin, cos)
        }
        OpKind::Cbrt => cbrt(body, x),
        OpKind::ChloAtan => {
            let one = body.float(Ty::F64, 1.0);
            atan2(body, x, one)
        }
        OpKind::ChloSinh => sinh_cosh(body, x, "arith.subf"),
        OpKind::ChloCosh => sinh_cosh(body, x, "arith.addf"),
        _ => return None,
    })
}

/// A function of two numbers; none if there is no such function.
pub(super) fn binary(body: &mut Body, kind: OpKind, a: Ssa, b: Ssa) -> Option<Ssa> {
    Some(match kind {
        OpKind::Power => power(body, a, b),
        OpKind::Atan2 => atan2(body, a, b),
        OpKind::Remainder => remainder(body, a, b),
        _ => return None,
    })
}

/// `x = n·ln 2 + r` and (eʳ − 1) with its Taylor series to r¹⁴.
fn reduce(body: &mut Body, x: Ssa) -> (Ssa, Ssa) {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let series: Vec<f64> = (2..=14).rev().map(|n| 1.0 / factorial(n)).collect();
    let scale = body.float(Ty::F64, LOG2_E);
    let (high, low) = (body.float(Ty::F64, -LN2.0), body.float(Ty::F64, -LN2.1));
    let scaled = body.binary("arith.mulf", x, scale);
    let n = body.unary("math.roundeven", scaled);
    let r = body.fma(n, high, x);
    let r = body.fma(n, low, r);
    let p = polynomial(body, r, &series);
    let square = body.binary("arith.mulf", r, r);
    (n, body.fma(p, square, r))
}

/// eˣ.
pub(super) fn exp(body: &mut Body, x: Ssa) -> Ssa {
    let x = clamp(body, x, -746.0, 710.0);
    let (n, tail) = reduce(body, x);
    let (one, half) = (body.float(Ty::F64, 1.0), body.float(Ty::F64, 0.5));
    let mantissa = body.binary("arith.addf", tail, one);
    let first = body.binary("arith.mulf", n, half);
    let first = body.unary("math.floor", first);
    let second = body.binary("arith.subf", n, first);
    let (first, second) = (power_of_two(body, first), power_of_two(body, second));
    let result = body.binary("arith.mulf", mantissa, first);
    body.binary("arith.mulf", result, second)
}

fn expm1(body: &mut Body, x: Ssa) -> Ssa {
    let clamped = clamp(body, x, -40.0, 710.0);
    let (n, tail) = reduce(body, clamped);
    let (one, half, zero) = (body.float(Ty::F64, 1.0), body.float(Ty::F64, 0.5), body.float(Ty::F64, 0.0));
    let below = body.binary("arith.subf", n, one);
    let scale = power_of_two(body, below);
    let offset = body.binary("arith.subf", scale, half);
    let sum = body.fma(scale, tail, offset);
    let result = body.binary("arith.addf", sum, sum);
    let is_zero = body.cmpf("oeq", x, zero);
    body.select(is_zero, x, result)
}

fn tanh(body: &mut Body, x: Ssa) -> Ssa {
    let magnitude = body.unary("math.absf", x);
    let magnitude = clamp(body, magnitude, 0.0, 22.0);
    let double = body.binary("arith.addf", magnitude, magnitude);
    let t = expm1(body, double);
    let two = body.float(Ty::F64, 2.0);
    let denominator = body.binary("arith.addf", t, two);
    let quotient = body.binary("arith.divf", t, denominator);
    body.binary("math.copysign", quotient, x)
}

/// log of a positive finite number: with s = f ÷ (2 + f), 2·atanh s to s²³.
fn log_positive(body: &mut Body, x: Ssa) -> Ssa {
    let series: Vec<f64> = (1..=11).rev().map(|k| 2.0 / f64::from(2 * k + 1)).collect();
    let (exponent, m) = split_exponent(body, x);
    let (one, two) = (body.float(Ty::F64, 1.0), body.float(Ty::F64, 2.0));
    let f = body.binary("arith.subf", m, one);
    let denominator = body.binary("arith.addf", two, f);
    let s = body.binary("arith.divf", f, denominator);
    let square = body.binary("arith.mulf", s, s);
    let p = polynomial(body, square, &series);
    let p = body.binary("arith.mulf", p, square);
    // log(1+f) = f − (½f² − s·(½f² + p)), as fdlibm sums it.
    let half = body.float(Ty::F64, 0.5);
    let half_square = body.binary("arith.mulf", f, f);
    let half_square = body.binary("arith.mulf", half, half_square);
    let inner = body.binary("arith.addf", half_square, p);
    let (high, low) = (body.float(Ty::F64, LN2.0), body.float(Ty::F64, LN2.1));
    let low = body.binary("arith.mulf", exponent, low);
    let inner = body.fma(s, inner, low);
    let correction = body.binary("arith.subf", half_square, inner);
    let sum = body.binary("arith.subf", f, correction);
    body.fma(exponent, high, sum)
}

fn log(body: &mut Body, x: Ssa) -> Ssa {
    let result = log_positive(body, x);
    log_edges(body, x, result)
}

fn log1p(body: &mut Body, x: Ssa) -> Ssa {
    let one = body.float(Ty::F64, 1.0);
    let u = body.binary("arith.addf", one, x);
    let logarithm = log(body, u);
    let rounded = body.binary("arith.subf", u, one);
    let ratio = body.binary("arith.divf", x, rounded);
    let quotient = body.binary("arith.mulf", logarithm, ratio);
    let infinity = body.float(Ty::F64, f64::INFINITY);
    let is_one = body.cmpf("oeq", u, one);
    let is_infinite = body.cmpf("oeq", x, infinity);
    let itself = body.binary("arith.ori", is_one, is_infinite);
    body.select(itself, x, quotient)
}

/// Sine and cosine: series on [−π/4, π/4] of x − n·π/2, chosen by n mod 4.
fn sin_cos(body: &mut Body, x: Ssa) -> (Ssa, Ssa) {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let sign = |k: u32| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
    let sines: Vec<f64> = (1..=9).rev().map(|k| sign(k) / factorial(2 * k + 1)).collect();
    let cosines: Vec<f64> = (1..=9).rev().map(|k| sign(k) / factorial(2 * k)).collect();
    let scale = body.float(Ty::F64, FRAC_2_PI);
    let scaled = body.binary("arith.mulf", x, scale);
    let n = body.unary("math.roundeven", scaled);
    let mut r = x;
    for part in PI_2 {
        let part = body.float(Ty::F64, -part);
        r = body.fma(n, part, r);
    }
    let square = body.binary("arith.mulf", r, r);
    let sine = polynomial(body, square, &sines);
    let cube = body.binary("arith.mulf", square, r);
    let sine = body.fma(sine, cube, r);
    let cosine = polynomial(body, square, &cosines);
    let one = body.float(Ty::F64, 1.0);
    let cosine = body.fma(cosine, square, one);
    // n mod 4 in floats: n ÷ 4 is exact.
    let quarter = body.float(Ty::F64, 0.25);
    let four = body.float(Ty::F64, -4.0);
    let turns = body.binary("arith.mulf", n, quarter);
    let turns = body.unary("math.floor", turns);
    let quadrant = body.fma(turns, four, n);
    let (half, two) = (body.float(Ty::F64, 1.5), body.float(Ty::F64, 2.0));
    let (first, third) = (body.cmpf("oeq", quadrant, one), body.float(Ty::F64, 3.0));
    let third = body.cmpf("oeq", quadrant, third);
    let swapped = body.binary("arith.ori", first, third);
    let past_half = body.cmpf("ogt", quadrant, half);
    let second = body.cmpf("oeq", quadrant, two);
    let cosine_negative = body.binary("arith.ori", first, second);
    let mut signed = |swap_a: Ssa, swap_b: Ssa, negative: Ssa| {
        let value = body.select(swapped, swap_a, swap_b);
        let negated = body.unary("arith.negf", value);
        body.select(negative, negated, value)
    };
    (signed(cosine, sine, past_half), signed(sine, cosine, cosine_negative))
}

/// `±exp(log |x| ÷ 3)` and a Newton step.
fn cbrt(body: &mut Body, x: Ssa) -> Ssa {
    let magnitude = body.unary("math.absf", x);
    let third = body.float(Ty::F64, 1.0 / 3.0);
    let logarithm = log_positive(body, magnitude);
    let scaled = body.binary("arith.mulf", logarithm, third);
    let y = exp(body, scaled);
    let square = body.binary("arith.mulf", y, y);
    let quotient = body.binary("arith.divf", magnitude, square);
    let error = body.binary("arith.subf", quotient, y);
    let root = body.fma(error, third, y);
    let signed = body.binary("math.copysign", root, x);
    let (zero, infinity) = (body.float(Ty::F64, 0.0), body.float(Ty::F64, f64::INFINITY));
    let positive = body.cmpf("ogt", magnitude, zero);
    let finite = body.cmpf("olt", magnitude, infinity);
    let ordinary = body.binary("arith.andi", positive, finite);
    body.select(ordinary, signed, x)
}

/// ½·(eˣ ± e⁻ˣ), the difference by way of expm1.
fn sinh_cosh(body: &mut Body, x: Ssa, op: &str) -> Ssa {
    let half = body.float(Ty::F64, 0.5);
    let magnitude = body.unary("math.absf", x);
    let shifted = body.binary("arith.mulf", magnitude, half);
    let root = exp(body, shifted);
    let halved = body.binary("arith.mulf", root, half);
    let one = body.float(Ty::F64, 1.0);
    if op == "arith.addf" {
        // Two factors, since e^|x| overflows before its half does.
        let large = body.binary("arith.mulf", halved, root);
        let quarter = body.float(Ty::F64, 0.25);
        let small = body.binary("arith.divf", quarter, large);
        return body.binary(op, large, small);
    }
    let t = expm1(body, magnitude);
    let denominator = body.binary("arith.addf", t, one);
    let quotient = body.binary("arith.divf", t, denominator);
    let sum = body.binary("arith.addf", t, quotient);
    let near = body.binary("arith.mulf", half, sum);
    let far = body.binary("arith.mulf", halved, root);
    let limit = body.float(Ty::F64, 30.0);
    let is_far = body.cmpf("ogt", magnitude, limit);
    let chosen = body.select(is_far, far, near);
    body.binary("math.copysign", chosen, x)
}

/// xʸ = ±e^(y·log |x|), with the special cases of IEEE 754's `pow`.
fn power(body: &mut Body, x: Ssa, y: Ssa) -> Ssa {
    let (zero, one, infinity) =
        (body.float(Ty::F64, 0.0), body.float(Ty::F64, 1.0), body.float(Ty::F64, f64::INFINITY));
    let nan = body.float(Ty::F64, f64::NAN);
    let magnitude = body.unary("math.absf", x);
    let positive = log_positive(body, magnitude);
    let logarithm = log_edges(body, magnitude, positive);
    let product = body.binary("arith.mulf", y, logarithm);
    let result = exp(body, product);
    // A negative base: the sign for odd y, NaN unless y is whole.
    let truncated = body.unary("math.floor", y);
    let whole = body.cmpf("oeq", truncated, y);
    let half = body.float(Ty::F64, 0.5);
    let halved = body.binary("arith.mulf", y, half);
    let floor = body.unary("math.floor", halved);
    let even = body.cmpf("oeq", floor, halved);
    let negated = body.unary("arith.negf", result);
    let signed = body.select(even, result, negated);
    let bits = body.cast("arith.bitcast", x, Ty::I64);
    let zero_bits = body.int(Ty::I64, 0);
    let has_sign = body.cmpi("slt", bits, zero_bits);
    let signed = body.select(whole, signed, result);
    let result = body.select(has_sign, signed, result);
    let below_zero = body.cmpf("olt", x, zero);
    let finite_base = body.cmpf("olt", magnitude, infinity);
    let all = body.int(Ty::I1, 1);
    let broken = body.binary("arith.xori", whole, all);
    let undefined = body.binary("arith.andi", below_zero, broken);
    let undefined = body.binary("arith.andi", undefined, finite_base);
    let result = body.select(undefined, nan, result);
    // ±1 to an infinite power is 1, and so is anything to the power of 0.
    let y_magnitude = body.unary("math.absf", y);
    let infinite = body.cmpf("oeq", y_magnitude, infinity);
    let unit = body.cmpf("oeq", magnitude, one);
    let unit = body.binary("arith.andi", unit, infinite);
    let base_one = body.cmpf("oeq", x, one);
    let no_power = body.cmpf("oeq", y, zero);
    let is_one = body.binary("arith.ori", unit, base_one);
    let is_one = body.binary("arith.ori", is_one, no_power);
    body.select(is_one, one, result)
}

/// The angle of (x, y), by the arc tangent of a quotient of at most tan π/8.
fn atan2(body: &mut Body, y: Ssa, x: Ssa) -> Ssa {
    let series: Vec<f64> =
        (1..=22).rev().map(|k: i32| if k % 2 == 0 { 1.0 } else { -1.0 } / f64::from(2 * k + 1)).collect();
    let (a, b) = (body.unary("math.absf", y), body.unary("math.absf", x));
    let steep = body.cmpf("ogt", a, b);
    let (small, large) = (body.select(steep, b, a), body.select(steep, a, b));
    let (zero, one) = (body.float(Ty::F64, 0.0), body.float(Ty::F64, 1.0));
    let quotient = body.binary("arith.divf", small, large);
    // 0 ÷ 0 and ∞ ÷ ∞ are the angles of (1, 0) and (1, 1).
    let both_zero = body.cmpf("oeq", large, zero);
    let equal = body.cmpf("oeq", small, large);
    let quotient = body.select(equal, one, quotient);
    let quotient = body.select(both_zero, zero, quotient);
    let border = body.float(Ty::F64, std::f64::consts::SQRT_2 - 1.0);
    let wide = body.cmpf("ogt", quotient, border);
    let (less, more) = (body.binary("arith.subf", quotient, one), body.binary("arith.addf", quotient, one));
    let turned = body.binary("arith.divf", less, more);
    let t = body.select(wide, turned, quotient);
    let square = body.binary("arith.mulf", t, t);
    let p = polynomial(body, square, &series);
    let cube = body.binary("arith.mulf", square, t);
    let angle = body.fma(p, cube, t);
    let eighth = body.float(Ty::F64, FRAC_PI_4);
    let raised = body.binary("arith.addf", angle, eighth);
    let angle = body.select(wide, raised, angle);
    let quarter = body.float(Ty::F64, FRAC_PI_2);
    let complement = body.binary("arith.subf", quarter, angle);
    let angle = body.select(steep, complement, angle);
    let bits = body.cast("arith.bitcast", x, Ty::I64);
    let zero_bits = body.int(Ty::I64, 0);
    let left = body.cmpi("slt", bits, zero_bits);
    let pi = body.float(Ty::F64, PI);
    let mirrored = body.binary("arith.subf", pi, angle);
    let angle = body.select(left, mirrored, angle);
    let signed = body.binary("math.copysign", angle, y);
    let nan = body.cmpf("uno", x, y);
    let sum = body.binary("arith.addf", x, y);
    body.select(nan, sum, signed)
}

/// x − trunc(x ÷ y)·y, exactly, in rounds of 52 bits of the quotient: enough
/// for `f32` operands, whose quotients have at most 277.
fn remainder(body: &mut Body, x: Ssa, y: Ssa) -> Ssa {
    /// ⌈277 ÷ 52⌉, and one to mend a quotient that was rounded up.
    const ROUNDS: usize = 7;
    let (magnitude, modulus) = (body.unary("math.absf", x), body.unary("math.absf", y));
    let mut rest = magnitude;
    for _ in 0..ROUNDS {
        let quotient = body.binary("arith.divf", rest, modulus);
        let quotient = body.unary("math.trunc", quotient);
        let negated = body.unary("arith.negf", quotient);
        rest = body.fma(negated, modulus, rest);
    }
    let zero = body.float(Ty::F64, 0.0);
    let negative = body.cmpf("olt", rest, zero);
    let raised = body.binary("arith.addf", rest, modulus);
    let rest = body.select(negative, raised, rest);
    let small = body.cmpf("olt", magnitude, modulus);
    let rest = body.select(small, magnitude, rest);
    let signed = body.binary("math.copysign", rest, x);
    let nan = body.cmpf("uno", x, y);
    let sum = body.binary("arith.addf", x, y);
    body.select(nan, sum, signed)
}
