//! Inverse trigonometric and hyperbolic functions of complex numbers.

use crate::elementwise::complex::C;

/// Below this the arc is computed by its sine, above by its tangent
/// (Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine
/// functions using exception handling", 1997).
const SINE_CROSSOVER: f64 = 0.6417;

/// Below this the logarithm is computed near 1.
const LOG_CROSSOVER: f64 = 1.5;

/// Beyond this squares overflow.
const HUGE: f64 = 1e150;

/// What arcsine and arccosine of `x + iy`, both not negative, share.
struct Arc {
    /// The real part of the arcsine.
    sine: f64,
    /// The real part of the arccosine.
    cosine: f64,
    /// The magnitude of the imaginary part of both.
    imaginary: f64,
}

fn arc(x: f64, y: f64) -> Arc {
    if x > HUGE || y > HUGE {
        let imaginary = std::f64::consts::LN_2 + libm::log(libm::hypot(x, y));
        return Arc { sine: libm::atan2(x, y), cosine: libm::atan2(y, x), imaginary };
    }
    let right = libm::hypot(x + 1.0, y);
    let left = libm::hypot(x - 1.0, y);
    let a = 0.5 * (right + left);
    let b = x / a;
    let (sine, cosine) = if b <= SINE_CROSSOVER {
        (libm::asin(b), libm::acos(b))
    } else {
        let apart = if x <= 1.0 {
            libm::sqrt(0.5 * (a + x) * (y * y / (right + x + 1.0) + (left + (1.0 - x))))
        } else {
            y * libm::sqrt(0.5 * ((a + x) / (right + x + 1.0) + (a + x) / (left + (x - 1.0))))
        };
        (libm::atan2(x, apart), libm::atan2(apart, x))
    };
    let imaginary = if a <= LOG_CROSSOVER {
        let beyond = if x < 1.0 {
            0.5 * (y * y / (right + x + 1.0) + y * y / (left + (1.0 - x)))
        } else {
            0.5 * (y * y / (right + x + 1.0) + (left + (x - 1.0)))
        };
        // Where the squares vanish, their root does not.
        if beyond == 0.0 && x < 1.0 {
            y / libm::sqrt((1.0 - x) * (1.0 + x))
        } else {
            libm::log1p(beyond + libm::sqrt(beyond * (a + 1.0)))
        }
    } else {
        libm::log(a + libm::sqrt(a * a - 1.0))
    };
    Arc { sine, cosine, imaginary }
}

/// arcsin z.
pub(super) fn asin(z: C) -> C {
    if z.re.is_nan() || z.im.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    let arc = arc(z.re.abs(), z.im.abs());
    C::new(arc.sine.copysign(z.re), arc.imaginary.copysign(z.im))
}

/// arccos z.
pub(super) fn acos(z: C) -> C {
    if z.re.is_nan() || z.im.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    let arc = arc(z.re.abs(), z.im.abs());
    let re = if z.re.is_sign_negative() { std::f64::consts::PI - arc.cosine } else { arc.cosine };
    C::new(re, if z.im.is_sign_negative() { arc.imaginary } else { -arc.imaginary })
}

/// arcosh z = ±i·arccos z, the real part not negative.
pub(super) fn acosh(z: C) -> C {
    let w = acos(z);
    if z.im.is_sign_negative() { C::new(w.im, -w.re) } else { C::new(-w.im, w.re) }
}

/// arsinh z = −i·arcsin iz.
pub(super) fn asinh(z: C) -> C {
    let w = asin(C::new(-z.im, z.re));
    C::new(w.im, -w.re)
}

/// artanh z.
pub(super) fn atanh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (re, im) = if x > HUGE || y > HUGE {
        let re = if x.is_infinite() || y.is_infinite() {
            0.0
        } else {
            x / y.max(x) / y.max(x) / (1.0 + (y.min(x) / y.max(x)).powi(2))
        };
        (re, std::f64::consts::FRAC_PI_2)
    } else {
        let from_one = 1.0 - x;
        let re = 0.25 * libm::log1p(4.0 * x / (from_one * from_one + y * y));
        let im = 0.5 * libm::atan2(2.0 * y, from_one * (1.0 + x) - y * y);
        (re, im)
    };
    C::new(re.copysign(z.re), im.copysign(z.im))
}

/// arctan z = −i·artanh iz.
pub(super) fn atan(z: C) -> C {
    let w = atanh(C::new(-z.im, z.re));
    C::new(w.im, -w.re)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise::complex as elementary;

    #[test]
    fn they_undo_their_inverses() {
        for z in [C::new(0.3, -0.7), C::new(1.2, 0.4), C::new(-0.9, 0.01), C::new(-0.2, -1.3)] {
            let near = |a: C| assert!((a - z).norm() < 1e-14, "{a} {z}");
            near(elementary::sin(asin(z)));
            near(elementary::cos(acos(z)));
            near(elementary::cosh(acosh(z)));
            near(elementary::sinh(asinh(z)));
            near(elementary::tanh(atanh(z)));
            near(elementary::tan(atan(z)));
        }
    }
}
