//! Special functions of one or two real numbers, in `f64`.

use super::tables;

/// The base term of Lanczos' approximation that goes with [`tables::LANCZOS`].
const LANCZOS_BASE: f64 = 0.999_999_999_999_809_9;

/// The constant g of Lanczos' approximation.
const LANCZOS_G: f64 = 7.0;

/// Evaluates a polynomial, highest coefficient first.
fn horner(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// Evaluates a Chebyshev series, highest coefficient first (Clenshaw, as Cephes' `chbevl`).
fn chebyshev(x: f64, coefficients: &[f64]) -> f64 {
    let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
    for c in coefficients {
        b2 = b1;
        b1 = b0;
        b0 = x * b1 - b2 + c;
    }
    0.5 * (b0 - b2)
}

/// The exponentially scaled modified Bessel function of the first kind, order one.
pub(super) fn bessel_i1e(x: f64) -> f64 {
    let z = x.abs();
    let magnitude = if z <= 8.0 {
        z * chebyshev(0.5 * z - 2.0, &tables::BESSEL_I1E_SMALL)
    } else {
        chebyshev(32.0 / z - 2.0, &tables::BESSEL_I1E_LARGE) / z.sqrt()
    };
    if x == 0.0 || x.is_nan() { x } else { magnitude.copysign(x) }
}

/// The inverse of the error function.
pub(super) fn erf_inv(x: f64) -> f64 {
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    let w = -libm::log1p(-x * x);
    let p = if w < 6.25 {
        horner(w - 3.125, &tables::ERF_INV_CENTRE)
    } else if w < 16.0 {
        horner(w.sqrt() - 3.25, &tables::ERF_INV_MIDDLE)
    } else {
        horner(w.sqrt() - 5.0, &tables::ERF_INV_TAIL)
    };
    p * x
}

/// The logarithm of the gamma function's magnitude.
pub(super) fn lgamma(x: f64) -> f64 {
    if x.is_infinite() { f64::INFINITY } else { libm::lgamma(x) }
}

/// The logarithmic derivative of the gamma function (Lanczos; Euler's reflection).
pub(super) fn digamma(x: f64) -> f64 {
    if x <= 0.0 && x == x.floor() {
        return f64::NAN;
    }
    let reflect = x < 0.5;
    let z = if reflect { -x } else { x - 1.0 };
    let (mut a, mut a_prime) = (LANCZOS_BASE, 0.0);
    for (index, coefficient) in tables::LANCZOS.iter().enumerate() {
        let term = z + (index as f64 + 1.0);
        a_prime -= coefficient / (term * term);
        a += coefficient / term;
    }
    let shift = LANCZOS_G + 0.5;
    let t = shift + z;
    let log_t = libm::log(shift) + libm::log1p(z / shift);
    let direct = log_t + a_prime / a - LANCZOS_G / t;
    if !reflect {
        return direct;
    }
    // Near integers π·x loses its digits, so x is brought to [−½, ½] first.
    let reduced = x + (x + 0.5).floor().abs();
    let angle = std::f64::consts::PI * reduced;
    direct - std::f64::consts::PI * libm::cos(angle) / libm::sin(angle)
}

/// The Hurwitz zeta function Σ (q + k)⁻ˣ by Euler and Maclaurin (Johansson 2015, formula 5).
pub(super) fn zeta(x: f64, q: f64) -> f64 {
    /// Terms summed before the tail is estimated.
    const TERMS: usize = 9;
    if x < 1.0 || q <= 0.0 && x != x.floor() {
        return f64::NAN;
    }
    if x == 1.0 || q <= 0.0 && q == q.floor() {
        return if q <= 0.0 && x != 1.0 && x % 2.0 != 0.0 { f64::NAN } else { f64::INFINITY };
    }
    let mut at = q;
    let mut sum = libm::pow(q, -x);
    for _ in 0..TERMS {
        at += 1.0;
        sum += libm::pow(at, -x);
    }
    at += 1.0;
    let power = libm::pow(at, -x);
    if power.abs() < sum.abs() * f64::MIN_POSITIVE {
        return sum;
    }
    let inverse_square = 1.0 / (at * at);
    let last = tables::ZETA.len() - 1;
    let mut tail = 0.0;
    for (index, coefficient) in tables::ZETA[..last].iter().enumerate() {
        let step = (2 * last - 2 * index) as f64;
        tail = (x + step) * (x + step - 1.0) * (inverse_square * (tail + 1.0 / coefficient));
    }
    sum + power * at / (x - 1.0) + power * (0.5 + x / at * (1.0 / tables::ZETA[last] + tail))
}

/// The `n`-th derivative of [`digamma`].
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if n < 0.0 || n != n.floor() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * libm::exp(libm::lgamma(n + 1.0)) * zeta(n + 1.0, x)
}

/// cosh x as CHLO is lowered, `e^(x + ln ½) + e^(ln ½ − x)`, each step rounded by
/// `round` to the type that is computed in: a few ulps from the true value for
/// large arguments, which programs that were tested against XLA expect.
pub(super) fn cosh(x: f64, round: impl Fn(f64) -> f64) -> f64 {
    let half = round(-std::f64::consts::LN_2);
    round(round(libm::exp(round(x + half))) + round(libm::exp(round(half - x))))
}

/// sinh x as CHLO is lowered, see [`cosh`]; by `expm1` below 1.
pub(super) fn sinh(x: f64, round: impl Fn(f64) -> f64) -> f64 {
    if x.abs() < 1.0 {
        let e = round(libm::expm1(x));
        return round(0.5 * round(e + round(e / round(e + 1.0))));
    }
    let half = round(-std::f64::consts::LN_2);
    round(round(libm::exp(round(x + half))) - round(libm::exp(round(half - x))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-13 * b.abs().max(1e-3), "{a} {b}");
    }

    #[test]
    fn known_values() {
        // Abramowitz and Stegun, tables 6.1, 9.8 and 23.3.
        near(digamma(1.0), -0.577_215_664_901_532_9);
        near(digamma(-0.5), 0.036_489_973_978_576_52);
        near(zeta(2.0, 1.0), std::f64::consts::PI.powi(2) / 6.0);
        near(polygamma(1.0, 1.0), std::f64::consts::PI.powi(2) / 6.0);
        near(bessel_i1e(1.0), 0.207_910_415_349_708_4);
        near(libm::erf(erf_inv(0.3)), 0.3);
        assert_eq!(erf_inv(-1.0), f64::NEG_INFINITY);
    }
}
