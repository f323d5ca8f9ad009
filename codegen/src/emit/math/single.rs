//! Functions in `f32` arithmetic.

use super::{clamp, log_edges, polynomial, power_of_two, split_exponent};
use crate::emit::{Body, Ssa, Ty};
use ckpt_ir::OpKind;

/// log₂ e.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// The upper digits of ln 2: products with integers up to 2⁸ are exact in `f32`.
const LN2_HIGH: f64 = 0.693_359_375;
/// ln 2 − [`LN2_HIGH`].
const LN2_LOW: f64 = -2.121_944_400_546_905_8e-4;

/// A function of one number; none for those that take the way through `f64`.
pub(super) fn unary(body: &mut Body, kind: OpKind, x: Ssa) -> Option<Ssa> {
    Some(match kind {
        OpKind::Exponential => exp(body, x),
        OpKind::ExponentialMinusOne => expm1(body, x),
        OpKind::Log => log(body, x),
        OpKind::LogPlusOne => log1p(body, x),
        OpKind::Tanh => tanh(body, x),
        OpKind::ChloErf => erf(body, x),
        OpKind::ChloErfInv => erf_inv(body, x),
        _ => return None,
    })
}

/// `x = n·ln 2 + r` with `|r| ≤ ½ ln 2`, and `(eʳ − 1 − r) ÷ r²`.
fn reduce(body: &mut Body, x: Ssa) -> (Ssa, Ssa, Ssa) {
    /// Cephes, `expf`: (eʳ − 1 − r) ÷ r² on |r| ≤ ½ ln 2.
    const EXP: [f64; 6] = [
        1.987_569_150_0e-4,
        1.398_199_950_7e-3,
        8.333_451_907_3e-3,
        4.166_579_589_4e-2,
        1.666_666_545_9e-1,
        5.000_000_120_1e-1,
    ];
    let scale = body.float(Ty::F32, LOG2_E);
    let (high, low) = (body.float(Ty::F32, -LN2_HIGH), body.float(Ty::F32, -LN2_LOW));
    let scaled = body.binary("arith.mulf", x, scale);
    let n = body.unary("math.roundeven", scaled);
    let r = body.fma(n, high, x);
    let r = body.fma(n, low, r);
    let p = polynomial(body, r, &EXP);
    (n, r, p)
}

/// eˣ: 0 below −104, ∞ above 88.73; subnormal results are rounded right.
pub(super) fn exp(body: &mut Body, x: Ssa) -> Ssa {
    let x = clamp(body, x, -104.0, 89.0);
    let (n, r, p) = reduce(body, x);
    let square = body.binary("arith.mulf", r, r);
    let tail = body.fma(p, square, r);
    let one = body.float(Ty::F32, 1.0);
    let mantissa = body.binary("arith.addf", tail, one);
    // Two factors, since 2ⁿ alone may be subnormal or infinite.
    let half = body.float(Ty::F32, 0.5);
    let first = body.binary("arith.mulf", n, half);
    let first = body.unary("math.floor", first);
    let second = body.binary("arith.subf", n, first);
    let (first, second) = (power_of_two(body, first), power_of_two(body, second));
    let result = body.binary("arith.mulf", mantissa, first);
    body.binary("arith.mulf", result, second)
}

/// eˣ − 1.
fn expm1(body: &mut Body, x: Ssa) -> Ssa {
    let clamped = clamp(body, x, -18.0, 89.0);
    let (n, r, p) = reduce(body, clamped);
    let square = body.binary("arith.mulf", r, r);
    let tail = body.fma(p, square, r);
    // 2·(2ⁿ⁻¹·(eʳ − 1) + (2ⁿ⁻¹ − ½)), whose factors do not overflow.
    let (one, half) = (body.float(Ty::F32, 1.0), body.float(Ty::F32, 0.5));
    let below = body.binary("arith.subf", n, one);
    let scale = power_of_two(body, below);
    let offset = body.binary("arith.subf", scale, half);
    let sum = body.fma(scale, tail, offset);
    let result = body.binary("arith.addf", sum, sum);
    // Zeros keep their sign.
    let zero = body.float(Ty::F32, 0.0);
    let is_zero = body.cmpf("oeq", x, zero);
    body.select(is_zero, x, result)
}

/// tanh |x| = t ÷ (t + 2) with t = e^(2|x|) − 1.
fn tanh(body: &mut Body, x: Ssa) -> Ssa {
    /// tanh of more rounds to 1.
    const LARGEST: f64 = 10.0;
    let magnitude = body.unary("math.absf", x);
    let magnitude = clamp(body, magnitude, 0.0, LARGEST);
    let double = body.binary("arith.addf", magnitude, magnitude);
    let t = expm1(body, double);
    let two = body.float(Ty::F32, 2.0);
    let denominator = body.binary("arith.addf", t, two);
    let quotient = body.binary("arith.divf", t, denominator);
    body.binary("math.copysign", quotient, x)
}

/// log of a positive finite number.
fn log_positive(body: &mut Body, x: Ssa) -> Ssa {
    /// Cephes, `logf`: (log(1+f) − f + ½f²) ÷ f³ on [√½, √2).
    const LOG: [f64; 9] = [
        7.037_683_629_2e-2,
        -1.151_461_031_0e-1,
        1.167_699_874_0e-1,
        -1.242_014_084_6e-1,
        1.424_932_278_7e-1,
        -1.666_805_766_5e-1,
        2.000_071_476_5e-1,
        -2.499_999_399_3e-1,
        3.333_333_117_4e-1,
    ];
    let (exponent, m) = split_exponent(body, x);
    let one = body.float(Ty::F32, 1.0);
    let f = body.binary("arith.subf", m, one);
    let square = body.binary("arith.mulf", f, f);
    let p = polynomial(body, f, &LOG);
    let cube = body.binary("arith.mulf", square, f);
    let tail = body.binary("arith.mulf", p, cube);
    let (high, low) = (body.float(Ty::F32, LN2_HIGH), body.float(Ty::F32, LN2_LOW));
    let minus_half = body.float(Ty::F32, -0.5);
    let tail = body.fma(exponent, low, tail);
    let tail = body.fma(minus_half, square, tail);
    let sum = body.binary("arith.addf", f, tail);
    body.fma(exponent, high, sum)
}

fn log(body: &mut Body, x: Ssa) -> Ssa {
    let result = log_positive(body, x);
    log_edges(body, x, result)
}

/// log(1+x) = log(u)·(x ÷ (u − 1)), where u is 1 + x rounded (Kahan).
fn log1p(body: &mut Body, x: Ssa) -> Ssa {
    let one = body.float(Ty::F32, 1.0);
    let u = body.binary("arith.addf", one, x);
    let logarithm = log(body, u);
    let rounded = body.binary("arith.subf", u, one);
    let ratio = body.binary("arith.divf", x, rounded);
    let quotient = body.binary("arith.mulf", logarithm, ratio);
    let infinity = body.float(Ty::F32, f64::INFINITY);
    let is_one = body.cmpf("oeq", u, one);
    let is_infinite = body.cmpf("oeq", x, infinity);
    let itself = body.binary("arith.ori", is_one, is_infinite);
    body.select(itself, x, quotient)
}

/// erf as a rational function of odd and even degree.
fn erf(body: &mut Body, x: Ssa) -> Ssa {
    /// erf of more rounds to 1.
    const LARGEST: f64 = 3.832_506_856_900_711;
    /// Rational minimax approximation that Eigen and XLA use for `f32`.
    const NUMERATOR: [f64; 5] = [
        0.000_229_050_658_613_506_46,
        0.003_408_291_010_710_950_6,
        0.050_955_695_062_380_86,
        0.185_208_322_399_761_45,
        1.128_379_143_519_084,
    ];
    const DENOMINATOR: [f64; 7] = [
        -1.179_160_295_436_169_7e-7,
        0.000_023_547_966_471_313_185,
        0.001_017_962_527_891_488_5,
        0.014_070_470_171_167_667,
        0.110_985_051_782_853_62,
        0.497_469_251_100_675_38,
        1.0,
    ];
    let clamped = clamp(body, x, -LARGEST, LARGEST);
    let square = body.binary("arith.mulf", clamped, clamped);
    let numerator = polynomial(body, square, &NUMERATOR);
    let denominator = polynomial(body, square, &DENOMINATOR);
    let numerator = body.binary("arith.mulf", clamped, numerator);
    body.binary("arith.divf", numerator, denominator)
}

/// The inverse of erf (Giles, "Approximating the erfinv function", 2012).
fn erf_inv(body: &mut Body, x: Ssa) -> Ssa {
    const CENTRAL: [f64; 9] = [
        2.810_226_36e-8,
        3.432_739_39e-7,
        -3.523_387_7e-6,
        -4.391_506_54e-6,
        0.000_218_580_87,
        -0.001_253_725_03,
        -0.004_177_681_64,
        0.246_640_727,
        1.501_409_41,
    ];
    const TAIL: [f64; 9] = [
        -0.000_200_214_257,
        0.000_100_950_558,
        0.001_349_343_22,
        -0.003_673_428_44,
        0.005_739_507_73,
        -0.007_622_461_3,
        0.009_438_870_47,
        1.001_674_06,
        2.832_976_82,
    ];
    let negated = body.unary("arith.negf", x);
    let product = body.binary("arith.mulf", x, negated);
    let logarithm = log1p(body, product);
    let w = body.unary("arith.negf", logarithm);
    let five = body.float(Ty::F32, 5.0);
    let (near, three) = (body.float(Ty::F32, 2.5), body.float(Ty::F32, 3.0));
    let central = body.binary("arith.subf", w, near);
    let central = polynomial(body, central, &CENTRAL);
    let root = body.unary("math.sqrt", w);
    let tail = body.binary("arith.subf", root, three);
    let tail = polynomial(body, tail, &TAIL);
    let is_central = body.cmpf("olt", w, five);
    let p = body.select(is_central, central, tail);
    let result = body.binary("arith.mulf", p, x);
    let (one, infinity) = (body.float(Ty::F32, 1.0), body.float(Ty::F32, f64::INFINITY));
    let magnitude = body.unary("math.absf", x);
    let is_edge = body.cmpf("oeq", magnitude, one);
    let edge = body.binary("math.copysign", infinity, x);
    body.select(is_edge, edge, result)
}
