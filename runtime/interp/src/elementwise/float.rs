//! Floating point of every width: computed in `f64`, rounded once to the type.
//!
//! For `f32` and narrower this is correctly rounded for sums, differences,
//! products, quotients and square roots, see [`format`](crate::format);
//! transcendental functions are within an ulp of `f64` before they are rounded.

use crate::error::{Outcome, invalid};
use crate::format::Format;
use crate::tensor::{Data, Storage, Tensor};
use ckpt_ir::ElementType;
use num_complex::Complex;

/// Runs one expression with the functions that read and write one element of a
/// floating-point type.
macro_rules! with_codec {
    ($element:expr, $unit:ident, $load:ident, $store:ident => $body:expr) => {
        match $element {
            ElementType::F32 => {
                type $unit = f32;
                let ($load, $store) = (|x: $unit| f64::from(x), |x: f64| x as f32);
                $body
            }
            ElementType::F64 => {
                type $unit = f64;
                let ($load, $store) = (|x: $unit| x, |x: f64| x);
                $body
            }
            ElementType::Bf16 => {
                type $unit = u16;
                let $load = |x: $unit| f64::from(f32::from_bits(u32::from(x) << 16));
                let $store = crate::elementwise::float::bf16_bits;
                $body
            }
            element => match (Format::of(element), element.byte_width()) {
                (Some(format), 2) => {
                    type $unit = u16;
                    let ($load, $store) = (|x: $unit| format.decode(x), |x: f64| format.encode(x));
                    $body
                }
                (Some(format), _) => {
                    type $unit = u8;
                    let ($load, $store) =
                        (|x: $unit| format.decode(u16::from(x)), |x: f64| format.encode(x) as u8);
                    $body
                }
                (None, _) => invalid("floating-point numbers are needed here"),
            },
        }
    };
}
pub(crate) use with_codec;

/// The bits of the `bf16` nearest to a value.
#[inline]
pub(crate) fn bf16_bits(value: f64) -> u16 {
    // Round to odd in f32 first: 24 digits are two more than 2·8 needs.
    let single = value as f32;
    let bits = single.to_bits();
    let inexact = f64::from(single) != value;
    let beyond = inexact && f64::from(single).abs() > value.abs();
    let odd = bits.wrapping_sub(u32::from(beyond)) | u32::from(inexact);
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((odd.wrapping_add(0x7fff + (odd >> 16 & 1))) >> 16) as u16
}

/// The elements of two operands of one type and number.
pub(crate) fn pair<'a, S: Storage>(lhs: &'a Tensor, rhs: &'a Tensor) -> Outcome<(&'a [S], &'a [S])> {
    if lhs.element != rhs.element || lhs.shape != rhs.shape {
        return invalid("the operands of an elementwise operation differ in type or shape");
    }
    Ok((lhs.elements()?, rhs.elements()?))
}

/// Elementwise over one operand.
#[inline]
pub(crate) fn map(operand: &Tensor, f: impl Fn(f64) -> f64) -> Outcome<Tensor> {
    let data = with_codec!(operand.element, Unit, load, store => {
        let values = operand.elements::<Unit>()?;
        Ok(Storage::wrap(values.iter().map(|x| store(f(load(*x)))).collect()))
    })?;
    Ok(Tensor { element: operand.element, shape: operand.shape.clone(), data })
}

/// Elementwise over two operands of the same type.
#[inline]
pub(crate) fn zip(lhs: &Tensor, rhs: &Tensor, f: impl Fn(f64, f64) -> f64) -> Outcome<Tensor> {
    let data = with_codec!(lhs.element, Unit, load, store => {
        let (a, b) = pair::<Unit>(lhs, rhs)?;
        Ok(Storage::wrap(a.iter().zip(b).map(|(x, y)| store(f(load(*x), load(*y)))).collect()))
    })?;
    Ok(Tensor { element: lhs.element, shape: lhs.shape.clone(), data })
}

/// Elementwise comparison of two operands of the same type.
#[inline]
pub(crate) fn test(lhs: &Tensor, rhs: &Tensor, f: impl Fn(f64, f64) -> bool) -> Outcome<Vec<u8>> {
    with_codec!(lhs.element, Unit, load, _store => {
        let (a, b) = pair::<Unit>(lhs, rhs)?;
        Ok(a.iter().zip(b).map(|(x, y)| u8::from(f(load(*x), load(*y)))).collect())
    })
}

/// The elements as `f64`. Exact.
pub(crate) fn unpack(operand: &Tensor) -> Outcome<Vec<f64>> {
    with_codec!(operand.element, Unit, load, _store => {
        Ok(operand.elements::<Unit>()?.iter().map(|x| load(*x)).collect())
    })
}

/// Values rounded to a type.
pub(crate) fn pack(element: ElementType, values: impl Iterator<Item = f64>) -> Outcome<Data> {
    with_codec!(element, Unit, _load, store => Ok(<Unit as Storage>::wrap(values.map(store).collect())))
}

/// The elements of a floating-point or complex tensor as complex `f64`. Exact.
pub(crate) fn unpack_complex(operand: &Tensor) -> Outcome<Vec<Complex<f64>>> {
    match &operand.data {
        Data::C64(v) => Ok(v.iter().map(|z| Complex::new(f64::from(z.re), f64::from(z.im))).collect()),
        Data::C128(v) => Ok(v.to_vec()),
        _ => Ok(unpack(operand)?.into_iter().map(|re| Complex::new(re, 0.0)).collect()),
    }
}

/// Complex values rounded to a complex type; their real parts for others.
pub(crate) fn pack_complex(
    element: ElementType,
    values: impl Iterator<Item = Complex<f64>>,
) -> Outcome<Data> {
    Ok(match element {
        ElementType::Complex64 => {
            Storage::wrap(values.map(|z| Complex::new(z.re as f32, z.im as f32)).collect())
        }
        ElementType::Complex128 => Storage::wrap(values.collect()),
        _ => return pack(element, values.map(|z| z.re)),
    })
}

/// The larger of two; NaN if either is; +0 is larger than −0 (IEEE 754-2019 `maximum`).
#[inline]
pub(crate) fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        a
    } else if b.is_nan() {
        b
    } else if a == b {
        f64::from_bits(a.to_bits() & b.to_bits())
    } else if a > b {
        a
    } else {
        b
    }
}

/// The smaller of two; NaN if either is; −0 is smaller than +0.
#[inline]
pub(crate) fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        a
    } else if b.is_nan() {
        b
    } else if a == b {
        f64::from_bits(a.to_bits() | b.to_bits())
    } else if a < b {
        a
    } else {
        b
    }
}

/// −1, ±0 or 1; NaN of NaN.
pub(crate) fn sign(a: f64) -> f64 {
    if a.is_nan() || a == 0.0 { a } else { 1f64.copysign(a) }
}

/// The order of IEEE 754 `totalOrder`, as an integer.
pub(crate) fn total_order(a: f64) -> i64 {
    let bits = a.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_is_rounded_once() {
        let format = Format::of(ElementType::Bf16).unwrap();
        for value in
            [1.0 + 1.0 / 256.0 + 1e-12, -3.003_906_25, 1e-40, 3.4e38, 0.0, -0.0, f64::INFINITY, 1e300]
        {
            assert_eq!(bf16_bits(value), format.encode(value), "{value}");
        }
    }

    #[test]
    fn zeros_are_ordered() {
        assert!(maximum(-0.0, 0.0).is_sign_positive());
        assert!(minimum(0.0, -0.0).is_sign_negative());
        assert!(total_order(-0.0) < total_order(0.0));
        assert!(total_order(f64::NAN) > total_order(f64::INFINITY));
    }
}
