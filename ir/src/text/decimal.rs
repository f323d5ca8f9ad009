//! Decimal digits of a float as LLVM's `APFloat::toString` chooses them.
//!
//! MLIR prints with it, and it neither rounds correctly nor truncates: it cuts
//! the exact decimal expansion to about the wanted digits, then rounds half up
//! to exactly as many. To print what MLIR prints, the same is done here.

use num_bigint::BigUint;

/// How digits become text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Scientific, zeros up to the precision, lower-case `e`, two exponent digits.
    Padded,
    /// Plain notation where at most [`MAX_PADDING`] zeros are inserted, else
    /// scientific with an upper-case `E`; no trailing zeros.
    Trimmed,
}

/// Zeros that plain notation may insert.
const MAX_PADDING: i64 = 3;

/// The text of a finite value with about `precision` significant digits.
pub(super) fn to_string(value: f64, precision: usize, style: Style) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let (digits, exponent) = digits(value.abs(), precision);
    format!("{sign}{}", layout(&digits, exponent, precision, style))
}

/// Significant digits, most significant first, and the decimal exponent of the last.
fn digits(magnitude: f64, precision: usize) -> (Vec<u8>, i64) {
    if magnitude == 0.0 {
        return (vec![b'0'], 0);
    }
    let bits = magnitude.to_bits();
    let biased = (bits >> 52) as i64;
    let fraction = bits & ((1 << 52) - 1);
    let (mut significand, mut exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    let zeros = significand.trailing_zeros();
    significand >>= zeros;
    exponent += i64::from(zeros);
    let mut significand = BigUint::from(significand);
    if exponent >= 0 {
        significand <<= exponent as u64;
        exponent = 0;
    } else {
        significand *= BigUint::from(5u32).pow((-exponent) as u32);
    }
    exponent += cut(&mut significand, precision);
    let mut text = significand.to_string().into_bytes();
    while text.len() > 1 && text.last() == Some(&b'0') {
        text.pop();
        exponent += 1;
    }
    exponent += round_half_up(&mut text, precision);
    (text, exponent)
}

/// Divides by the power of ten that leaves about `precision` digits; returns it.
fn cut(significand: &mut BigUint, precision: usize) -> i64 {
    // 196/59 slightly overestimates the binary logarithm of ten.
    let required = (precision as u64 * 196).div_ceil(59);
    let removable = significand.bits().saturating_sub(required) * 59 / 196;
    if removable > 0 {
        *significand /= BigUint::from(10u32).pow(removable as u32);
    }
    removable as i64
}

/// Rounds to at most `precision` digits; returns how many places went.
fn round_half_up(text: &mut Vec<u8>, precision: usize) -> i64 {
    let length = text.len();
    if length <= precision {
        return 0;
    }
    let up = text[precision] >= b'5';
    text.truncate(precision);
    if up {
        while text.last() == Some(&b'9') {
            text.pop();
        }
        match text.last_mut() {
            Some(last) => *last += 1,
            None => {
                text.push(b'1');
                return length as i64;
            }
        }
    } else {
        while text.last() == Some(&b'0') {
            text.pop();
        }
    }
    (length - text.len()) as i64
}

fn layout(digits: &[u8], exponent: i64, precision: usize, style: Style) -> String {
    let count = digits.len() as i64;
    let most_significant = exponent + count - 1;
    let scientific = match style {
        Style::Padded => true,
        Style::Trimmed if exponent >= 0 => exponent > MAX_PADDING || count + exponent > precision as i64,
        Style::Trimmed => most_significant < -MAX_PADDING,
    };
    let text = |digits: &[u8]| String::from_utf8_lossy(digits).into_owned();
    if scientific {
        return scientific_layout(digits, most_significant, precision, style);
    }
    if exponent >= 0 {
        return text(digits) + &"0".repeat(exponent as usize);
    }
    let whole = exponent + count;
    if whole > 0 {
        let (whole, fraction) = digits.split_at(whole as usize);
        return format!("{}.{}", text(whole), text(fraction));
    }
    format!("0.{}{}", "0".repeat((-whole) as usize), text(digits))
}

fn scientific_layout(digits: &[u8], exponent: i64, precision: usize, style: Style) -> String {
    let mut fraction = String::from_utf8_lossy(&digits[1..]).into_owned();
    let sign = if exponent < 0 { '-' } else { '+' };
    let first = char::from(digits[0]);
    let exponent = exponent.abs();
    match style {
        Style::Padded => {
            fraction.push_str(&"0".repeat((precision + 1).saturating_sub(digits.len())));
            format!("{first}.{fraction}e{sign}{exponent:02}")
        }
        Style::Trimmed => {
            if fraction.is_empty() {
                fraction.push('0');
            }
            format!("{first}.{fraction}E{sign}{exponent}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_mlir() {
        let short = |value: f32| to_string(f64::from(value), 6, Style::Padded);
        assert_eq!(short(1.0), "1.000000e+00");
        assert_eq!(short(0.044715), "4.471500e-02");
        assert_eq!(short(-1e30), "-1.000000e+30");
        let long = |value: f32| to_string(f64::from(value), 9, Style::Trimmed);
        assert_eq!(long(0.797_884_6), "0.797884583");
        assert_eq!(long(1e-5), "9.99999974E-6");
        assert_eq!(long(0.9), "0.899999976");
    }
}
