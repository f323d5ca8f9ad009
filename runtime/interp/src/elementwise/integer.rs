//! Integers of every width: computed in 64 bits, wrapped to their own.

use crate::error::{Outcome, invalid};
use crate::tensor::{Data, Storage, Tensor};
use ckpt_ir::ElementType;

/// Width and signedness of an integer type; booleans are unsigned with one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    /// Bits, 1 to 64.
    pub(crate) bits: u32,
    /// Whether the top bit counts negative.
    pub(crate) signed: bool,
}

impl Width {
    /// The width of an integer or boolean type.
    pub(crate) fn of(element: ElementType) -> Option<Self> {
        match element {
            ElementType::Bool => Some(Self { bits: 1, signed: false }),
            ElementType::Int(bits) => Some(Self { bits: u32::from(bits), signed: true }),
            ElementType::Uint(bits) => Some(Self { bits: u32::from(bits), signed: false }),
            ElementType::Index => Some(Self { bits: 64, signed: true }),
            _ => None,
        }
    }

    /// The bits of the type, all set.
    pub(crate) fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The smallest value.
    pub(crate) fn min(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    /// The largest value.
    pub(crate) fn max(self) -> i128 {
        if self.signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }
}

/// The number that stored bits stand for; unsigned 64-bit numbers as their bits.
#[inline]
pub(crate) fn load(bits: u64, width: Width) -> i64 {
    let spare = 64 - width.bits;
    if width.signed { (bits << spare) as i64 >> spare } else { (bits << spare >> spare) as i64 }
}

/// A storage unit of integers.
pub(crate) trait Unit: Storage {
    /// Zero-extends.
    fn widen(self) -> u64;
    /// Drops the high bits.
    fn narrow(bits: u64) -> Self;
}

macro_rules! unit {
    ($($ty:ty),*) => {$(
        impl Unit for $ty {
            #[inline]
            fn widen(self) -> u64 {
                self as u64
            }
            #[inline]
            fn narrow(bits: u64) -> Self {
                bits as $ty
            }
        }
    )*};
}
unit!(u8, u16, u32, u64);

/// Runs a generic expression for the storage unit of integers.
macro_rules! with_units {
    ($data:expr, $elements:ident => $body:expr) => {
        match $data {
            Data::U8($elements) => $body,
            Data::U16($elements) => $body,
            Data::U32($elements) => $body,
            Data::U64($elements) => $body,
            _ => invalid("integers are needed here"),
        }
    };
}

/// Full bytes need no variable shifts, which would keep loops from being vectorised.
macro_rules! with_width {
    ($width:expr, $unit:ty, $load:ident => $body:expr) => {{
        let width = $width;
        let full = width.bits as usize == 8 * size_of::<$unit>();
        if full && width.signed {
            let $load = |bits: u64| load(bits, Width { bits: 8 * size_of::<$unit>() as u32, signed: true });
            $body
        } else if full {
            let $load = |bits: u64| bits as i64;
            $body
        } else {
            let $load = |bits: u64| load(bits, width);
            $body
        }
    }};
}

/// Elementwise over two operands.
#[inline]
pub(crate) fn zip(lhs: &Tensor, rhs: &Tensor, f: impl Fn(i64, i64) -> i64) -> Outcome<Tensor> {
    fn run<U: Unit>(a: &[U], b: &[U], width: Width, f: impl Fn(i64, i64) -> i64) -> Data {
        with_width!(width, U, load => {
            let one = |(x, y): (&U, &U)| U::narrow(load(f(load(x.widen()), load(y.widen())) as u64) as u64);
            U::wrap(a.iter().zip(b).map(one).collect())
        })
    }
    let width = width_of(lhs)?;
    let data = with_units!(&lhs.data, a => Ok(run(a, rhs.elements()?, width, f)))?;
    Ok(Tensor { element: lhs.element, shape: lhs.shape.clone(), data })
}

/// Elementwise over one operand.
#[inline]
pub(crate) fn map(operand: &Tensor, f: impl Fn(i64) -> i64) -> Outcome<Tensor> {
    fn run<U: Unit>(a: &[U], width: Width, f: impl Fn(i64) -> i64) -> Data {
        U::wrap(a.iter().map(|x| U::narrow(load(f(load(x.widen(), width)) as u64, width) as u64)).collect())
    }
    let width = width_of(operand)?;
    let data = with_units!(&operand.data, a => Ok(run(a, width, f)))?;
    Ok(Tensor { element: operand.element, shape: operand.shape.clone(), data })
}

/// Elementwise comparison.
#[inline]
pub(crate) fn test(lhs: &Tensor, rhs: &Tensor, f: impl Fn(i64, i64) -> bool) -> Outcome<Vec<u8>> {
    fn run<U: Unit>(a: &[U], b: &[U], width: Width, f: impl Fn(i64, i64) -> bool) -> Vec<u8> {
        with_width!(width, U, load => {
            a.iter().zip(b).map(|(x, y)| u8::from(f(load(x.widen()), load(y.widen())))).collect()
        })
    }
    let width = width_of(lhs)?;
    with_units!(&lhs.data, a => Ok(run(a, rhs.elements()?, width, f)))
}

/// Integers out of 64-bit numbers, wrapped to the type.
pub(crate) fn pack(element: ElementType, numbers: impl Iterator<Item = i64>) -> Outcome<Data> {
    fn run<U: Unit>(width: Width, numbers: impl Iterator<Item = i64>) -> Data {
        U::wrap(numbers.map(|x| U::narrow(load(x as u64, width) as u64)).collect())
    }
    let Some(width) = Width::of(element) else { return invalid("an integer type is needed here") };
    Ok(match element.byte_width() {
        1 => run::<u8>(width, numbers),
        2 => run::<u16>(width, numbers),
        4 => run::<u32>(width, numbers),
        _ => run::<u64>(width, numbers),
    })
}

/// The width of a tensor's element type.
pub(crate) fn width_of(tensor: &Tensor) -> Outcome<Width> {
    Width::of(tensor.element).map_or_else(|| invalid("integers are needed here"), Ok)
}

/// Quotient, rounded toward zero. Division by zero yields −1 (all ones), as
/// hardware that defines it does; the specification leaves it open.
pub(crate) fn divide(a: i64, b: i64, width: Width) -> i64 {
    if b == 0 {
        return -1;
    }
    if width.signed { a.wrapping_div(b) } else { (a as u64 / b as u64) as i64 }
}

/// Remainder with the sign of the dividend; by zero, the dividend.
pub(crate) fn remainder(a: i64, b: i64, width: Width) -> i64 {
    if b == 0 {
        return a;
    }
    if width.signed { a.wrapping_rem(b) } else { (a as u64 % b as u64) as i64 }
}

/// Power by squaring; negative exponents yield 0 unless the base is ±1.
pub(crate) fn power(base: i64, exponent: i64, width: Width) -> i64 {
    let mut exponent = exponent as u64;
    if width.signed && (exponent as i64) < 0 {
        if base.unsigned_abs() != 1 {
            return 0;
        }
        exponent = exponent.wrapping_neg();
    }
    let (mut result, mut square) = (1i64, base);
    while exponent != 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    result
}

/// Shifts left; amounts of the width and more, as unsigned numbers, clear everything.
pub(crate) fn shift_left(a: i64, amount: i64, width: Width) -> i64 {
    let amount = amount as u64 & width.mask();
    if amount >= u64::from(width.bits) { 0 } else { a << amount }
}

/// Shifts zeros in from the left.
pub(crate) fn shift_right_logical(a: i64, amount: i64, width: Width) -> i64 {
    let amount = amount as u64 & width.mask();
    if amount >= u64::from(width.bits) { 0 } else { ((a as u64 & width.mask()) >> amount) as i64 }
}

/// Shifts copies of the top bit in from the left.
pub(crate) fn shift_right_arithmetic(a: i64, amount: i64, width: Width) -> i64 {
    let amount = (amount as u64 & width.mask()).min(u64::from(width.bits) - 1);
    load(a as u64, Width { signed: true, ..width }) >> amount
}

/// Zeros above the highest set bit.
pub(crate) fn count_leading_zeros(a: i64, width: Width) -> i64 {
    i64::from((a as u64 & width.mask()).leading_zeros() - (64 - width.bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_wrap() {
        let width = Width { bits: 4, signed: true };
        assert_eq!(load(7 + 1, width), -8);
        assert_eq!(shift_left(3, 4, width), 0);
        assert_eq!(shift_right_arithmetic(-8, 9, width), -1);
        assert_eq!(shift_right_logical(-8, 3, width), 1);
        assert_eq!(count_leading_zeros(1, width), 3);
        assert_eq!(power(-1, -3, width), -1);
        assert_eq!(power(2, -1, width), 0);
        let unsigned = Width { bits: 64, signed: false };
        assert_eq!(divide(-1, 2, unsigned), i64::MAX);
        assert_eq!(divide(i64::MIN, -1, Width { bits: 64, signed: true }), i64::MIN);
    }
}
