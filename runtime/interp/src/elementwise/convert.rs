//! `convert`, `bitcast_convert` and `reduce_precision`.

use super::{float, integer};
use crate::error::{Outcome, invalid};
use crate::format::f64_odd;
use crate::shape::{Shape, count};
use crate::tensor::{Data, Storage, Tensor};
use ckpt_ir::ElementType;
use num_complex::Complex;

/// Converts the element type: integers wrap, floats are rounded once, floats to
/// integers are truncated and saturate (NaN becomes 0), a boolean is "not zero",
/// complex to real takes the real part.
pub(crate) fn convert(operand: &Tensor, to: ElementType) -> Outcome<Tensor> {
    let from = operand.element;
    if from == to {
        return Ok(operand.clone());
    }
    let data = if from.is_complex() && (to.is_complex() || to.is_float()) {
        float::pack_complex(to, float::unpack_complex(operand)?.into_iter())?
    } else if from.is_float() || from.is_complex() {
        from_float(operand, to)?
    } else {
        from_integer(operand, to)?
    };
    Ok(Tensor { element: to, shape: operand.shape.clone(), data })
}

fn from_float(operand: &Tensor, to: ElementType) -> Outcome<Data> {
    if let (Data::U16(v), ElementType::Bf16, ElementType::F32) = (&operand.data, operand.element, to) {
        return Ok(Storage::wrap(v.iter().map(|x| f32::from_bits(u32::from(*x) << 16)).collect()));
    }
    if let (Data::F32(v), ElementType::Bf16) = (&operand.data, to) {
        return Ok(Storage::wrap(v.iter().map(|x| float::bf16_bits(f64::from(*x))).collect()));
    }
    let values = if operand.element.is_complex() {
        float::unpack_complex(operand)?.into_iter().map(|z| z.re).collect()
    } else {
        float::unpack(operand)?
    };
    if to == ElementType::Bool {
        return Ok(Storage::wrap(values.iter().map(|x| u8::from(*x != 0.0)).collect()));
    }
    if let Some(width) = integer::Width::of(to) {
        // `as` truncates, saturates and turns NaN into 0.
        let clamp = |x: &f64| (*x as i128).clamp(width.min(), width.max()) as i64;
        return integer::pack(to, values.iter().map(clamp));
    }
    float::pack_complex(to, values.into_iter().map(|re| Complex::new(re, 0.0)))
}

fn from_integer(operand: &Tensor, to: ElementType) -> Outcome<Data> {
    let numbers = operand.to_i64s()?;
    if to == ElementType::Bool {
        return Ok(Storage::wrap(numbers.iter().map(|x| u8::from(*x != 0)).collect()));
    }
    if integer::Width::of(to).is_some() {
        return integer::pack(to, numbers.into_iter());
    }
    let signed = integer::width_of(operand)?.signed;
    let wide = |x: i64| if signed { i128::from(x) } else { i128::from(x as u64) };
    if to == ElementType::F64 || to == ElementType::Complex128 {
        return float::pack_complex(to, numbers.into_iter().map(|x| Complex::new(wide(x) as f64, 0.0)));
    }
    float::pack_complex(to, numbers.into_iter().map(|x| Complex::new(f64_odd(wide(x)), 0.0)))
}

/// The elements' bits under another type. Where the widths differ, the result
/// has one dimension less or more at the end; the first element holds the low bits.
pub(crate) fn bitcast(operand: &Tensor, to: ElementType, shape: Shape) -> Outcome<Tensor> {
    let (from_bits, to_bits) = (operand.element.bit_width(), to.bit_width());
    let total = operand.len() as u64 * u64::from(from_bits);
    if total != count(&shape) as u64 * u64::from(to_bits) {
        return invalid("the operand and the result of bitcast_convert have different numbers of bits");
    }
    let whole = |element: ElementType| u64::from(element.bit_width()) == 8 * element.byte_width();
    let bytes = operand.to_bytes();
    let bytes = if whole(operand.element) && whole(to) { bytes } else { repack(&bytes, operand.element, to) };
    Tensor::from_bytes(to, &shape, &bytes).map_or_else(|| invalid("this type has no bits"), Ok)
}

/// Bytes of one type to bytes of another, through a plain string of bits.
fn repack(bytes: &[u8], from: ElementType, to: ElementType) -> Vec<u8> {
    let from_bits = from.bit_width() as usize;
    let bits: Vec<u8> = bytes
        .chunks_exact(from.byte_width() as usize)
        .flat_map(|unit| (0..from_bits).map(move |bit| unit[bit / 8] >> (bit % 8) & 1))
        .collect();
    let signed = integer::Width::of(to).is_some_and(|width| width.signed);
    let unit = to.byte_width() as usize;
    let mut out = Vec::new();
    for element in bits.chunks_exact(to.bit_width() as usize) {
        let fill = if signed { element[element.len() - 1] } else { 0 };
        let bit = |at: usize| element.get(at).copied().unwrap_or(fill);
        out.extend((0..unit).map(|byte| (0..8).fold(0, |all, at| all | bit(8 * byte + at) << at)));
    }
    out
}

/// Rounds to a format with fewer bits, ties to even, and back. Numbers beyond
/// its range become infinities, numbers below its normal range zeros.
pub(crate) fn reduce_precision(operand: &Tensor, exponent_bits: u32, mantissa_bits: u32) -> Outcome<Tensor> {
    let (source_exponent, source_mantissa) = match operand.element {
        ElementType::F64 => (11, 52),
        ElementType::F32 => (8, 23),
        ElementType::F16 => (5, 10),
        ElementType::Bf16 => (8, 7),
        ElementType::F8E5M2 => (5, 2),
        ElementType::F8E4M3 => (4, 3),
        ElementType::F8E3M4 => (3, 4),
        _ => return invalid("reduce_precision needs an IEEE floating-point type"),
    };
    let reduce = |bits: u64| {
        let top = ((1u64 << source_exponent) - 1) << source_mantissa;
        let sign = bits & 1 << (source_mantissa + source_exponent);
        let magnitude = bits ^ sign;
        if magnitude > top {
            return if mantissa_bits > 0 { bits } else { top | sign };
        }
        reduce_magnitude(magnitude, (source_exponent, source_mantissa), (exponent_bits, mantissa_bits)) | sign
    };
    let data = match &operand.data {
        Data::F64(v) => Storage::wrap(v.iter().map(|x| f64::from_bits(reduce(x.to_bits()))).collect()),
        Data::F32(v) => {
            let one = |x: &f32| f32::from_bits(reduce(u64::from(x.to_bits())) as u32);
            Storage::wrap(v.iter().map(one).collect())
        }
        Data::U16(v) => Storage::wrap(v.iter().map(|x| reduce(u64::from(*x)) as u16).collect()),
        Data::U8(v) => Storage::wrap(v.iter().map(|x| reduce(u64::from(*x)) as u8).collect()),
        _ => return invalid("reduce_precision needs a floating-point type"),
    };
    Ok(Tensor { data, ..operand.clone() })
}

/// The magnitude bits of a number that is not NaN; formats as exponent and mantissa bits.
fn reduce_magnitude(magnitude: u64, source: (u32, u32), target: (u32, u32)) -> u64 {
    let mut bits = magnitude;
    if target.1 < source.1 {
        let last = 1u64 << (source.1 - target.1);
        let odd = u64::from(bits & last != 0);
        bits = (bits + (last >> 1) - 1 + odd) & !(last - 1);
    }
    if target.0 < source.0 {
        let bias = (1u64 << (source.0 - 1)) - 1;
        let reduced_bias = (1u64 << (target.0 - 1)) - 1;
        let exponent = bits >> source.1;
        if exponent > bias + reduced_bias {
            return ((1u64 << source.0) - 1) << source.1;
        }
        if exponent <= bias - reduced_bias {
            return 0;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_saturate_as_integers() {
        let operand = Tensor::new(ElementType::F32, &[4][..], vec![300f32, -1.9, f32::NAN, -300.0]);
        let signed = convert(&operand, ElementType::Int(8)).unwrap();
        assert_eq!(signed.to_i64s().unwrap(), [127, -1, 0, -128]);
        let unsigned = convert(&operand, ElementType::Uint(8)).unwrap();
        assert_eq!(unsigned.to_i64s().unwrap(), [255, 0, 0, 0]);
    }

    #[test]
    fn narrow_types_are_packed_by_bitcasts() {
        let operand = Tensor::new(ElementType::Int(8), &[1][..], vec![0x4fu8]);
        let halves = bitcast(&operand, ElementType::Int(4), [1, 2].into_iter().collect()).unwrap();
        assert_eq!(halves.to_i64s().unwrap(), [-1, 4]);
        let back = bitcast(&halves, ElementType::Int(8), [1].into_iter().collect()).unwrap();
        assert_eq!(back.to_i64s().unwrap(), [0x4f]);
    }
}
