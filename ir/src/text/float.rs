//! Floating-point formats as bit layouts: correctly rounded from and exactly
//! to `f64`, and MLIR's way of printing them.

use super::decimal;
use crate::ElementType;

/// The layout of a binary format.
#[derive(Clone, Copy, Debug)]
struct Layout {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    /// What the largest exponent means.
    top: Top,
    /// Significant decimal digits that always suffice, as LLVM's `APFloat` counts them.
    digits: usize,
}

/// What the largest exponent of a format stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Top {
    /// Infinity and NaNs (IEEE 754).
    Ieee,
    /// Numbers, except NaN with an all-ones mantissa (`FN`).
    Finite,
    /// Numbers; negative zero is the NaN (`FNUZ`).
    FiniteUnsignedZero,
    /// Numbers only.
    NoNan,
    /// Unsigned powers of two; all ones is NaN (`E8M0`).
    Scale,
}

fn layout(element: ElementType) -> Option<Layout> {
    use ElementType as E;
    let (exponent_bits, mantissa_bits, bias, top) = match element {
        E::F64 => (11, 52, 1023, Top::Ieee),
        E::F32 => (8, 23, 127, Top::Ieee),
        E::Tf32 => (8, 10, 127, Top::Ieee),
        E::F16 => (5, 10, 15, Top::Ieee),
        E::Bf16 => (8, 7, 127, Top::Ieee),
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
    // APFloat: 2 + precision * 59 / 196, the precision counting the hidden bit.
    let digits = 2 + (mantissa_bits as usize + 1) * 59 / 196;
    Some(Layout { exponent_bits, mantissa_bits, bias, top, digits })
}

/// Significant digits that MLIR prints where six do not suffice.
pub(super) fn digits(element: ElementType) -> usize {
    layout(element).map_or(17, |layout| layout.digits)
}

/// The value of a bit pattern. Exact.
pub(super) fn to_f64(bits: u64, element: ElementType) -> f64 {
    match element {
        ElementType::F64 => return f64::from_bits(bits),
        ElementType::F32 => return f64::from(f32::from_bits(bits as u32)),
        _ => {}
    }
    let Some(layout) = layout(element) else { return f64::NAN };
    let mantissa_mask = (1u64 << layout.mantissa_bits) - 1;
    let exponent_mask = (1u64 << layout.exponent_bits) - 1;
    let mantissa = bits & mantissa_mask;
    let exponent = (bits >> layout.mantissa_bits) & exponent_mask;
    let negative = bits >> (layout.mantissa_bits + layout.exponent_bits) & 1 == 1;
    if layout.top == Top::Scale {
        return if exponent == 255 { f64::NAN } else { 2f64.powi(exponent as i32 - layout.bias) };
    }
    let is_top = exponent == exponent_mask;
    let special = match layout.top {
        Top::Ieee if is_top => Some(if mantissa == 0 { f64::INFINITY } else { f64::NAN }),
        Top::Finite if is_top && mantissa == mantissa_mask => Some(f64::NAN),
        Top::FiniteUnsignedZero if negative && exponent == 0 && mantissa == 0 => Some(f64::NAN),
        _ => None,
    };
    let magnitude = special.unwrap_or_else(|| {
        let scale = 2f64.powi(-(layout.mantissa_bits as i32));
        if exponent == 0 {
            mantissa as f64 * scale * 2f64.powi(1 - layout.bias)
        } else {
            (1.0 + mantissa as f64 * scale) * 2f64.powi(exponent as i32 - layout.bias)
        }
    });
    if negative { -magnitude } else { magnitude }
}

/// The bit pattern nearest to a value, ties to even; overflow becomes infinity
/// where the format has one, else NaN where it has one, else the largest
/// number. `sticky` says that the true value lies strictly beyond `value` in
/// magnitude (positive) or short of it (negative), for decimal texts that
/// `f64` itself rounded.
pub(super) fn from_f64(value: f64, element: ElementType, sticky: i32) -> u64 {
    match element {
        ElementType::F64 => return value.to_bits(),
        ElementType::F32 if sticky == 0 => return u64::from((value as f32).to_bits()),
        _ => {}
    }
    let Some(layout) = layout(element) else { return 0 };
    let width = layout.mantissa_bits + layout.exponent_bits;
    let sign = if value.is_sign_negative() { 1u64 << width } else { 0 };
    if layout.top == Top::Scale {
        let exponent = value.abs().log2().round();
        return if exponent.is_finite() {
            (exponent + f64::from(layout.bias)).clamp(0.0, 254.0) as u64
        } else {
            255
        };
    }
    if value.is_nan() {
        return nan(layout, sign, width);
    }
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return overflow(layout, sign, width);
    }
    // In units of the last place of the result's binade.
    let raw_exponent = if magnitude == 0.0 { 1 - layout.bias } else { exponent_of(magnitude) };
    let exponent = raw_exponent.max(1 - layout.bias);
    let units = magnitude * 2f64.powi(layout.mantissa_bits as i32) / 2f64.powi(exponent);
    let mut rounded = round_half_even(units, sticky);
    let mut exponent = exponent;
    if rounded >= 1u64 << (layout.mantissa_bits + 1) {
        rounded >>= 1;
        exponent += 1;
    }
    let hidden = 1u64 << layout.mantissa_bits;
    let bits = if rounded < hidden {
        rounded
    } else {
        (((exponent + layout.bias) as u64) << layout.mantissa_bits) | (rounded - hidden)
    };
    if bits > largest(layout) {
        return overflow(layout, sign, width);
    }
    if bits == 0 && layout.top == Top::FiniteUnsignedZero { 0 } else { sign | bits }
}

fn exponent_of(magnitude: f64) -> i32 {
    let bits = magnitude.to_bits();
    let exponent = (bits >> 52) as i32;
    if exponent == 0 { -1022 - (bits.leading_zeros() as i32 - 11) } else { exponent - 1023 }
}

fn round_half_even(units: f64, sticky: i32) -> u64 {
    let floor = units.floor();
    let rest = units - floor;
    let up = match rest.partial_cmp(&0.5) {
        Some(std::cmp::Ordering::Greater) => true,
        Some(std::cmp::Ordering::Less) => false,
        _ if sticky != 0 => sticky > 0,
        _ => floor % 2.0 == 1.0,
    };
    floor as u64 + u64::from(up)
}

/// The bits of the largest finite number.
fn largest(layout: Layout) -> u64 {
    let all = (1u64 << (layout.mantissa_bits + layout.exponent_bits)) - 1;
    match layout.top {
        Top::Ieee => {
            ((1u64 << layout.exponent_bits) - 2) << layout.mantissa_bits
                | ((1u64 << layout.mantissa_bits) - 1)
        }
        Top::Finite => all - 1,
        _ => all,
    }
}

fn nan(layout: Layout, sign: u64, width: u32) -> u64 {
    match layout.top {
        Top::Ieee => {
            sign | ((1u64 << layout.exponent_bits) - 1) << layout.mantissa_bits
                | 1u64 << (layout.mantissa_bits - 1)
        }
        Top::Finite => sign | ((1u64 << width) - 1),
        Top::FiniteUnsignedZero => 1u64 << width,
        _ => 0,
    }
}

fn overflow(layout: Layout, sign: u64, width: u32) -> u64 {
    match layout.top {
        Top::Ieee => sign | ((1u64 << layout.exponent_bits) - 1) << layout.mantissa_bits,
        Top::Finite | Top::FiniteUnsignedZero => nan(layout, sign, width),
        _ => sign | largest(layout),
    }
}

/// The bits of a decimal text, rounded once.
pub(super) fn parse(text: &str, element: ElementType) -> Option<u64> {
    let value: f64 = text.parse().ok()?;
    match element {
        ElementType::F64 => return Some(value.to_bits()),
        ElementType::F32 => return text.parse::<f32>().ok().map(|v| u64::from(v.to_bits())),
        _ => {}
    }
    // `value` is the text rounded to 53 bits. Only where it lies exactly between
    // two neighbours of the small format does that first rounding matter.
    let exact = value.abs();
    let printed = format!("{exact:.60e}");
    let sticky = compare_decimal(text.trim_start_matches('-'), &printed);
    Some(from_f64(value, element, sticky))
}

/// Compares two non-negative decimal texts, exactly.
fn compare_decimal(a: &str, b: &str) -> i32 {
    let (digits_a, exponent_a) = significant(a);
    let (digits_b, exponent_b) = significant(b);
    match (digits_a.is_empty(), digits_b.is_empty()) {
        (true, true) => return 0,
        (true, false) => return -1,
        (false, true) => return 1,
        _ => {}
    }
    if exponent_a != exponent_b {
        return if exponent_a > exponent_b { 1 } else { -1 };
    }
    match digits_a.cmp(&digits_b) {
        std::cmp::Ordering::Less => -1,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 1,
    }
}

/// Significant digits without zeros at either end, and the exponent of the first.
fn significant(text: &str) -> (Vec<u8>, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let leading = digits.iter().take_while(|d| **d == b'0').count();
    let end = digits.len() - digits.iter().rev().take_while(|d| **d == b'0').count();
    if leading >= end {
        return (Vec::new(), 0);
    }
    (digits[leading..end].to_vec(), exponent + whole.len() as i64 - leading as i64)
}

/// A float as MLIR prints it: six significant digits in scientific notation if
/// they read back to the same bits, else as many digits as the format needs if
/// that has a point, else the bits in hexadecimal.
pub(super) fn print(bits: u64, element: ElementType) -> String {
    const SHORT_DIGITS: usize = 6;
    let value = to_f64(bits, element);
    if value.is_finite() {
        let short = decimal::to_string(value, SHORT_DIGITS, decimal::Style::Padded);
        if parse(&short, element) == Some(bits) {
            return short;
        }
        let long = decimal::to_string(value, digits(element), decimal::Style::Trimmed);
        if long.contains('.') {
            return long;
        }
    }
    let width = element.bit_width().div_ceil(4) as usize;
    format!("0x{bits:0width$X}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType as E;

    fn reprint(text: &str, element: ElementType) -> String {
        print(parse(text, element).unwrap(), element)
    }

    #[test]
    fn floats_are_printed_as_mlir_prints_them() {
        for text in ["1.000000e+00", "0.797884583", "4.471500e-02", "-0.948714852", "5.54262066", "1.5103277"]
        {
            assert_eq!(reprint(text, E::F32), text);
        }
        assert_eq!(reprint("-1.000000e+30", E::F32), "-1.000000e+30");
        assert_eq!(reprint("0.1", E::Bf16), "1.000980e-01");
        assert_eq!(reprint("100000.5", E::F32), "100000.5");
        assert_eq!(print(0x7fc0_0000, E::F32), "0x7FC00000");
    }

    #[test]
    fn small_formats_go_to_f64_and_back() {
        for element in
            [E::F16, E::Bf16, E::F8E4M3FN, E::F8E5M2, E::F8E4M3FNUZ, E::F8E3M4, E::F6E2M3FN, E::F4E2M1FN]
        {
            for bits in 0..1u64 << element.bit_width() {
                let value = to_f64(bits, element);
                if !value.is_nan() {
                    assert_eq!(from_f64(value, element, 0), bits, "{element} {bits:x}");
                }
            }
        }
    }

    #[test]
    fn decimal_texts_are_rounded_once() {
        // Just above the middle of two bf16 neighbours, by less than f64 can tell.
        let middle = "1.00390625";
        let above = "1.003906250000000000000000001";
        assert_eq!(parse(middle, E::Bf16), Some(0x3f80));
        assert_eq!(parse(above, E::Bf16), Some(0x3f81));
    }
}
