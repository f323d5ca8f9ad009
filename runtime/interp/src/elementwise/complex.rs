//! Complex functions in `f64`, careful where the textbook formulas cancel,
//! overflow or lose signed zeros.

use num_complex::Complex;

/// A complex number of two `f64`.
pub(crate) type C = Complex<f64>;

const fn c(re: f64, im: f64) -> C {
    Complex::new(re, im)
}

/// The product, by the schoolbook formula that the specification gives, each
/// step rounded to the part type by `round`.
#[inline]
pub(crate) fn multiply(a: C, b: C, round: impl Fn(f64) -> f64) -> C {
    c(round(round(a.re * b.re) - round(a.im * b.im)), round(round(a.re * b.im) + round(a.im * b.re)))
}

/// The quotient; infinities and zeros as in ISO C, annex G.
pub(crate) fn divide(a: C, b: C) -> C {
    let scale_of = |z: C| {
        let large = z.re.abs().max(z.im.abs());
        if large.is_finite() && large > 0.0 { libm::ilogb(large) } else { 0 }
    };
    let scale = scale_of(b);
    let d = c(libm::scalbn(b.re, -scale), libm::scalbn(b.im, -scale));
    let norm = d.re * d.re + d.im * d.im;
    let unscale = |x: f64| libm::scalbn(x / norm, -scale);
    let re = unscale(sum_of_products(a.re, d.re, a.im, d.im));
    let im = unscale(sum_of_products(a.im, d.re, -a.re, d.im));
    if !(re.is_nan() && im.is_nan()) {
        return c(re, im);
    }
    let boxed = |x: f64| if x.is_infinite() { 1f64.copysign(x) } else { 0f64.copysign(x) };
    if norm == 0.0 && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(b.re);
        return c(infinity * a.re, infinity * a.im);
    }
    if (a.re.is_infinite() || a.im.is_infinite()) && b.re.is_finite() && b.im.is_finite() {
        let (x, y) = (boxed(a.re), boxed(a.im));
        return c(f64::INFINITY * (x * b.re + y * b.im), f64::INFINITY * (y * b.re - x * b.im));
    }
    if (b.re.is_infinite() || b.im.is_infinite()) && a.re.is_finite() && a.im.is_finite() {
        let (x, y) = (boxed(b.re), boxed(b.im));
        return c(0.0 * (a.re * x + a.im * y), 0.0 * (a.im * x - a.re * y));
    }
    c(re, im)
}

/// `a·b + c·d` with less than two roundings' error (Kahan, by fused multiply-add).
fn sum_of_products(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let product = c * d;
    if !product.is_finite() {
        return a * b + product;
    }
    let error = libm::fma(c, d, -product);
    let sum = libm::fma(a, b, product);
    if sum.is_finite() { sum + error } else { a * b + product }
}

/// The absolute value.
pub(crate) fn abs(z: C) -> f64 {
    libm::hypot(z.re, z.im)
}

/// eᶻ.
pub(crate) fn exp(z: C) -> C {
    if z.im == 0.0 {
        return c(libm::exp(z.re), z.im);
    }
    if z.re == f64::NEG_INFINITY && !z.im.is_finite() {
        return c(0.0, 0.0);
    }
    if z.re == f64::INFINITY && !z.im.is_finite() {
        return c(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = libm::sincos(z.im);
    scaled_exp(z.re, cos, sin)
}

/// `eˣ·(cos, sin)` without overflow in between.
fn scaled_exp(x: f64, cos: f64, sin: f64) -> C {
    /// Beyond this the exponential alone overflows.
    const SAFE: f64 = 709.0;
    if x > SAFE && x.is_finite() {
        let half = libm::exp(x / 2.0);
        return c(half * cos * half, half * sin * half);
    }
    let scale = libm::exp(x);
    c(scale * cos, scale * sin)
}

/// eᶻ − 1, accurate near zero.
pub(crate) fn expm1(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return c(libm::expm1(x), y);
    }
    if x.abs() > 1.0 || !y.is_finite() {
        let e = exp(z);
        return c(e.re - 1.0, e.im);
    }
    // eˣcos y − 1 = (eˣ − 1)·cos y − 2·sin²(y/2)
    let (sin, cos) = libm::sincos(y);
    let half = libm::sin(y / 2.0);
    let re = sum_of_products(libm::expm1(x), cos, -2.0 * half, half);
    c(re, libm::exp(x) * sin)
}

/// The natural logarithm, principal branch.
pub(crate) fn log(z: C) -> C {
    c(log_abs(z.re, z.im), libm::atan2(z.im, z.re))
}

/// ln √(x² + y²), accurate near 1.
fn log_abs(x: f64, y: f64) -> f64 {
    let (large, small) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    if x.is_infinite() || y.is_infinite() {
        return f64::INFINITY;
    }
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if large > 1e150 || small < 1e-150 && large < 1e-150 {
        return libm::log(libm::hypot(x, y));
    }
    let square = large * large + small * small;
    if !(0.5..2.0).contains(&square) {
        return libm::log(libm::hypot(large, small));
    }
    0.5 * libm::log1p(square_sum_minus_one(large, small))
}

/// x² + y² − 1 with the errors of the squares kept.
fn square_sum_minus_one(x: f64, y: f64) -> f64 {
    let (xx, yy) = (x * x, y * y);
    let (ex, ey) = (libm::fma(x, x, -xx), libm::fma(y, y, -yy));
    let first = xx - 1.0;
    let first_error = (xx - (first + 1.0)) + ((first + 1.0) - first - 1.0);
    let sum = first + yy;
    let part = sum - first;
    let sum_error = (first - (sum - part)) + (yy - part);
    sum + (sum_error + first_error + ex + ey)
}

/// ln(1 + z), accurate near zero.
pub(crate) fn log1p(z: C) -> C {
    let (x, y) = (z.re, z.im);
    let shifted = 1.0 + x;
    let angle = libm::atan2(y, shifted);
    if !x.is_finite() || !y.is_finite() || x.abs() > 1e8 || y.abs() > 1e8 {
        return c(log_abs(shifted, y), angle);
    }
    // |1+z|² − 1 = 2x + x² + y², with the rounding of the squares kept.
    let (xx, yy) = (x * x, y * y);
    let (ex, ey) = (libm::fma(x, x, -xx), libm::fma(y, y, -yy));
    let two_sum = |a: f64, b: f64| {
        let s = a + b;
        let t = s - a;
        (s, (a - (s - t)) + (b - t))
    };
    let (s1, e1) = two_sum(2.0 * x, xx);
    let (s2, e2) = two_sum(s1, yy);
    let excess = s2 + (e1 + e2 + ex + ey);
    let re = if excess < -0.5 { log_abs(shifted, y) } else { 0.5 * libm::log1p(excess) };
    c(re, angle)
}

/// The square root, principal branch.
pub(crate) fn sqrt(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x == 0.0 && y == 0.0 {
        return c(0.0, y);
    }
    if y.is_infinite() {
        return c(f64::INFINITY, y);
    }
    if x == f64::INFINITY {
        return c(x, if y.is_nan() { y } else { 0f64.copysign(y) });
    }
    if x == f64::NEG_INFINITY {
        let re = if y.is_nan() { y } else { 0.0 };
        return c(re, f64::INFINITY.copysign(y));
    }
    if x.is_nan() || y.is_nan() {
        return c(f64::NAN, f64::NAN);
    }
    // Scale by an even power of two out of the way of over- and underflow.
    let large = x.abs().max(y.abs());
    let scale = if (1e-150..1e150).contains(&large) { 0 } else { libm::ilogb(large) & !1 };
    let (sx, sy) = (libm::scalbn(x, -scale), libm::scalbn(y, -scale));
    let root = libm::sqrt((sx.abs() + libm::hypot(sx, sy)) / 2.0);
    let other = sy.abs() / (2.0 * root);
    let (re, im) = if sx >= 0.0 { (root, other) } else { (other, root) };
    c(libm::scalbn(re, scale / 2), libm::scalbn(im, scale / 2).copysign(y))
}

/// 1 ÷ √z.
pub(crate) fn rsqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return c(f64::INFINITY, f64::NAN);
    }
    divide(c(1.0, 0.0), sqrt(z))
}

/// The cube root, principal branch.
pub(crate) fn cbrt(z: C) -> C {
    let (sin, cos) = libm::sincos(libm::atan2(z.im, z.re) / 3.0);
    let radius = libm::cbrt(abs(z));
    c(radius * cos, radius * sin)
}

/// sinh z.
pub(crate) fn sinh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return c(libm::sinh(x), y);
    }
    let (sin, cos) = libm::sincos(y);
    if x.is_infinite() && !y.is_finite() {
        return c(x, f64::NAN);
    }
    if x.abs() > 700.0 && x.is_finite() {
        let e = scaled_exp(x.abs(), cos / 2.0, sin / 2.0);
        return c(e.re.copysign(1.0) * e.re.abs() * x.signum(), e.im);
    }
    let re = if x == 0.0 { x } else { libm::sinh(x) * cos };
    c(re, libm::cosh(x) * sin)
}

/// cosh z.
pub(crate) fn cosh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return c(libm::cosh(x), if x == 0.0 { x * y } else { y.copysign(x * y) });
    }
    let (sin, cos) = libm::sincos(y);
    if x.is_infinite() && !y.is_finite() {
        return c(f64::INFINITY, f64::NAN);
    }
    if x.abs() > 700.0 && x.is_finite() {
        let e = scaled_exp(x.abs(), cos / 2.0, sin / 2.0);
        return c(e.re, e.im * x.signum());
    }
    let im = if x == 0.0 { x * sin } else { libm::sinh(x) * sin };
    c(libm::cosh(x) * cos, im)
}

/// sin z = −i·sinh(iz).
pub(crate) fn sin(z: C) -> C {
    let w = sinh(c(-z.im, z.re));
    c(w.im, -w.re)
}

/// cos z = cosh(iz).
pub(crate) fn cos(z: C) -> C {
    cosh(c(-z.im, z.re))
}

/// tanh z (Kahan, "Branch cuts for complex elementary functions", 1987).
pub(crate) fn tanh(z: C) -> C {
    /// Beyond this tanh x is 1 to the last digit.
    const FLAT: f64 = 22.0;
    let (x, y) = (z.re, z.im);
    if x.is_infinite() {
        let im = if y.is_finite() { 0f64.copysign(libm::sin(2.0 * y)) } else { 0f64.copysign(y) };
        return c(x.signum(), im);
    }
    if x.is_nan() {
        return c(x, if y == 0.0 { y } else { f64::NAN });
    }
    if !y.is_finite() {
        return c(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.abs() >= FLAT {
        let (sin, cos) = libm::sincos(y);
        let decay = libm::exp(-x.abs());
        return c(x.signum(), 4.0 * sin * cos * decay * decay);
    }
    let t = libm::tan(y);
    let beta = 1.0 + t * t;
    let s = libm::sinh(x);
    let rho = libm::sqrt(1.0 + s * s);
    if t.is_infinite() {
        return c(rho / s, 1.0 / t);
    }
    let denominator = 1.0 + beta * s * s;
    c(beta * rho * s / denominator, t / denominator)
}

/// tan z = −i·tanh(iz).
pub(crate) fn tan(z: C) -> C {
    let w = tanh(c(-z.im, z.re));
    c(w.im, -w.re)
}

/// aᵇ, principal branch; 0⁰ is 1.
pub(crate) fn power(a: C, b: C) -> C {
    if b.re == 0.0 && b.im == 0.0 {
        return c(1.0, 0.0);
    }
    if a.re == 0.0 && a.im == 0.0 {
        return if b.re > 0.0 && b.im == 0.0 { c(0.0, 0.0) } else { exp_product(b, log(a)) };
    }
    if a.im == 0.0 && b.im == 0.0 && a.re > 0.0 {
        return c(libm::pow(a.re, b.re), 0.0);
    }
    exp_product(b, log(a))
}

fn exp_product(b: C, log: C) -> C {
    let re = sum_of_products(b.re, log.re, -b.im, log.im);
    let im = sum_of_products(b.re, log.im, b.im, log.re);
    exp(c(re, im))
}

/// 1 ÷ (1 + e⁻ᶻ).
pub(crate) fn logistic(z: C) -> C {
    let e = exp(-z);
    divide(c(1.0, 0.0), c(1.0 + e.re, e.im))
}

/// z ÷ |z|; zero of zero, NaN of NaN.
pub(crate) fn sign(z: C) -> C {
    if z.re.is_nan() || z.im.is_nan() {
        return c(f64::NAN, f64::NAN);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return c(0.0, 0.0);
    }
    let norm = abs(z);
    c(z.re / norm, z.im / norm)
}

/// The angle whose tangent is y ÷ x: −i·ln((x + iy) ÷ √(x² + y²)).
pub(crate) fn atan2(y: C, x: C) -> C {
    let i = c(0.0, 1.0);
    let w = log(divide(x + i * y, sqrt(x * x + y * y)));
    c(w.im, -w.re)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: C, b: C) {
        assert!((a - b).norm() <= 1e-14 * b.norm().max(1e-300), "{a} {b}");
    }

    #[test]
    fn agree_with_their_definitions() {
        let z = c(0.3, -1.2);
        near(exp(log(z)), z);
        near(sqrt(z) * sqrt(z), z);
        near(tanh(z), divide(sinh(z), cosh(z)));
        near(tan(z), divide(sin(z), cos(z)));
        near(power(z, c(2.0, 0.0)), z * z);
        near(expm1(z), exp(z) - c(1.0, 0.0));
        near(log1p(z), log(c(1.0, 0.0) + z));
        near(divide(z, c(1e200, -1e200)) * 1e200, z / c(1.0, -1.0));
    }

    #[test]
    fn small_arguments_keep_their_digits() {
        near(expm1(c(1e-20, 1e-30)), c(1e-20, 1e-30));
        near(log1p(c(1e-20, 1e-30)), c(1e-20, 1e-30));
    }
}
