//! Floating-point formats narrower than `f32`: exactly to `f64`, and from it
//! with one rounding to nearest, ties to even.
//!
//! `f64` has more than twice the digits of each of them, plus two, so that sums,
//! products, quotients and square roots computed in `f64` and rounded once are
//! correctly rounded (Figueroa, "When is double rounding innocuous?", 1995).

use ckpt_ir::ElementType;

/// What the largest exponent of a format stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Top {
    /// Infinity and NaNs, as in IEEE 754.
    Ieee,
    /// Numbers, but NaN with an all-ones mantissa (`FN`).
    Finite,
    /// Numbers; negative zero is the NaN (`FNUZ`).
    FiniteUnsignedZero,
    /// Numbers only.
    NoNan,
    /// Unsigned powers of two; all ones is NaN (`E8M0`).
    Scale,
}

/// The bit layout of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    top: Top,
}

impl Format {
    /// The layout of a floating-point type of at most 16 bits.
    pub(crate) fn of(element: ElementType) -> Option<Self> {
        use ElementType as E;
        let (exponent_bits, mantissa_bits, bias, top) = match element {
            E::Bf16 => (8, 7, 127, Top::Ieee),
            E::F16 => (5, 10, 15, Top::Ieee),
            E::F8E5M2 => (5, 2, 15, Top::Ieee),
            E::F8E4M3 => (4, 3, 7, Top::Ieee),
            E::F8E3M4 => (3, 4, 3, Top::Ieee),
            E::F8E4M3FN => (4, 3, 7, Top::Finite),
            E::F8E5M2FNUZ => (5, 2, 16, Top::FiniteUnsignedZero),
            E::F8E4M3FNUZ => (4, 3, 8, Top::FiniteUnsignedZero),
            E::F8E4M3B11FNUZ => (4, 3, 11, Top::FiniteUnsignedZero),
            E::F6E2M3FN => (2, 3, 1, Top::NoNan),
            E::F6E3M2FN => (3, 2, 3, Top::NoNan),
            E::F4E2M1FN => (2, 1, 1, Top::NoNan),
            E::F8E8M0FNU => (8, 0, 127, Top::Scale),
            _ => return None,
        };
        Some(Self { exponent_bits, mantissa_bits, bias, top })
    }

    /// The value of a bit pattern. Exact.
    #[inline]
    pub(crate) fn decode(self, bits: u16) -> f64 {
        let bits = u64::from(bits);
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let top_exponent = (1u64 << self.exponent_bits) - 1;
        let exponent = bits >> self.mantissa_bits & top_exponent;
        if self.top == Top::Scale {
            return if exponent == top_exponent { f64::NAN } else { exp2i(exponent as i32 - self.bias) };
        }
        let sign = bits >> (self.mantissa_bits + self.exponent_bits) & 1;
        let all_ones = mantissa + 1 == 1 << self.mantissa_bits;
        let magnitude = match self.top {
            Top::Ieee if exponent == top_exponent => {
                // The payload moves along, so that a copy is a copy.
                f64::from_bits(0x7ff << 52 | mantissa << (52 - self.mantissa_bits))
            }
            Top::Finite if exponent == top_exponent && all_ones => f64::NAN,
            Top::FiniteUnsignedZero if sign == 1 && exponent == 0 && mantissa == 0 => f64::NAN,
            _ if exponent == 0 => mantissa as f64 * exp2i(1 - self.bias - self.mantissa_bits as i32),
            _ => {
                let exponent = (exponent as i32 - self.bias + 1023) as u64;
                f64::from_bits(exponent << 52 | mantissa << (52 - self.mantissa_bits))
            }
        };
        f64::from_bits(magnitude.to_bits() | sign << 63)
    }

    /// The bit pattern nearest to a value, ties to even. Overflow becomes
    /// infinity, or NaN where there is none, or the largest number where there
    /// is neither.
    #[inline]
    pub(crate) fn encode(self, value: f64) -> u16 {
        let bits = value.to_bits();
        let width = self.mantissa_bits + self.exponent_bits;
        let sign = (bits >> 63) << width;
        let magnitude = bits & (u64::MAX >> 1);
        if self.top == Top::Scale {
            return encode_scale(value);
        }
        if magnitude >= 0x7ff << 52 {
            return if magnitude > 0x7ff << 52 { self.nan(sign, magnitude) } else { self.overflow(sign) };
        }
        let exponent = (magnitude >> 52) as i32 - 1023 + self.bias;
        let dropped = 52 - self.mantissa_bits;
        let rounded = if exponent >= 1 {
            let rebased = (magnitude & ((1 << 52) - 1)) | (exponent as u64) << 52;
            round_shift(rebased, dropped)
        } else {
            // Below the smallest normal: shift the hidden bit in as well.
            let shift = dropped + (1 - exponent) as u32;
            if magnitude >> 52 == 0 || shift > 54 {
                0
            } else {
                round_shift(magnitude & ((1 << 52) - 1) | 1 << 52, shift)
            }
        };
        if rounded > self.largest() {
            return self.overflow(sign);
        }
        if rounded == 0 && self.top == Top::FiniteUnsignedZero {
            return 0;
        }
        (rounded | sign) as u16
    }

    /// The magnitude bits of the largest finite number.
    #[inline]
    fn largest(self) -> u64 {
        let all = (1u64 << (self.mantissa_bits + self.exponent_bits)) - 1;
        match self.top {
            Top::Ieee => (((1u64 << self.exponent_bits) - 1) << self.mantissa_bits) - 1,
            Top::Finite => all - 1,
            _ => all,
        }
    }

    fn overflow(self, sign: u64) -> u16 {
        let width = self.mantissa_bits + self.exponent_bits;
        let bits = match self.top {
            Top::Ieee => ((1u64 << self.exponent_bits) - 1) << self.mantissa_bits | sign,
            Top::Finite => ((1u64 << width) - 1) | sign,
            Top::FiniteUnsignedZero => 1 << width,
            _ => self.largest() | sign,
        };
        bits as u16
    }

    fn nan(self, sign: u64, magnitude: u64) -> u16 {
        let width = self.mantissa_bits + self.exponent_bits;
        let bits = match self.top {
            Top::Ieee => {
                let quiet = 1u64 << (self.mantissa_bits - 1);
                let payload = magnitude >> (52 - self.mantissa_bits) & (quiet - 1);
                ((1u64 << self.exponent_bits) - 1) << self.mantissa_bits | quiet | payload | sign
            }
            Top::Finite => ((1u64 << width) - 1) | sign,
            Top::FiniteUnsignedZero => 1 << width,
            _ => 1 << width,
        };
        bits as u16
    }
}

/// 2 to the power of `exponent`, for normal results.
#[inline]
fn exp2i(exponent: i32) -> f64 {
    if exponent < -1022 {
        return 2f64.powi(exponent);
    }
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `bits >> shift`, rounded to nearest, ties to even.
#[inline]
fn round_shift(bits: u64, shift: u32) -> u64 {
    let half = 1u64 << (shift - 1);
    let odd = bits >> shift & 1;
    (bits + half - 1 + odd) >> shift
}

/// The power of two nearest to a value; NaN for what has none.
fn encode_scale(value: f64) -> u16 {
    /// The pattern that stands for NaN.
    const NAN: u16 = 255;
    if value.is_nan() || value < 0.0 || value.is_infinite() {
        return NAN;
    }
    let magnitude = value.to_bits();
    let exponent = (magnitude >> 52) as i32 - 1023 + 127;
    let fraction = magnitude & ((1 << 52) - 1);
    let half = 1u64 << 51;
    let up = fraction > half || fraction == half && exponent & 1 == 1;
    match exponent + i32::from(up) {
        rounded if rounded >= 255 => NAN,
        rounded => rounded.max(0) as u16,
    }
}

/// The wide integer nearest to which an `f64` lies, with the last bit set if
/// digits were lost ("round to odd"), so that a second rounding to fewer
/// digits is correct.
pub(crate) fn f64_odd(value: i128) -> f64 {
    let nearest = value as f64;
    let back = nearest as i128;
    if back == value {
        return nearest;
    }
    let toward_zero = if back.unsigned_abs() > value.unsigned_abs() {
        f64::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    };
    f64::from_bits(toward_zero.to_bits() | 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType as E;

    const ALL: [E; 13] = [
        E::Bf16,
        E::F16,
        E::F8E5M2,
        E::F8E4M3,
        E::F8E3M4,
        E::F8E4M3FN,
        E::F8E5M2FNUZ,
        E::F8E4M3FNUZ,
        E::F8E4M3B11FNUZ,
        E::F6E2M3FN,
        E::F6E3M2FN,
        E::F4E2M1FN,
        E::F8E8M0FNU,
    ];

    #[test]
    fn every_number_survives_a_round_trip() {
        for element in ALL {
            let format = Format::of(element).unwrap();
            for bits in 0..1u32 << element.bit_width() {
                let bits = bits as u16;
                let value = format.decode(bits);
                let back = format.encode(value);
                assert!(
                    back == bits || value.is_nan() && format.decode(back).is_nan(),
                    "{element} {bits:x} {value}"
                );
            }
        }
    }

    #[test]
    fn ties_go_to_even() {
        let format = Format::of(E::Bf16).unwrap();
        assert_eq!(format.encode(1.0 + 1.0 / 256.0), 0x3f80);
        assert_eq!(format.encode(1.0 + 3.0 / 256.0), 0x3f82);
        assert_eq!(format.encode(1.0 + 1.0 / 256.0 + 1e-15), 0x3f81);
        assert_eq!(format.encode(f64::MAX), 0x7f80);
        let half = Format::of(E::F16).unwrap();
        assert_eq!(half.encode(65519.0), 0x7bff);
        assert_eq!(half.encode(65520.0), 0x7c00);
        assert_eq!(half.encode(2f64.powi(-25)), 0);
        assert_eq!(half.encode(2f64.powi(-25) * 1.0001), 1);
    }

    #[test]
    fn large_integers_keep_their_sticky_bit() {
        assert_eq!(f64_odd((1 << 60) + 1).to_bits(), ((1i64 << 60) as f64).to_bits() | 1);
        assert_eq!(f64_odd(-(1 << 20)), -1_048_576.0);
    }
}
