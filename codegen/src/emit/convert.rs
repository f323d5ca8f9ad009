//! `convert`, `bitcast_convert` between types of one width, `reduce_precision`.

use super::element::{Elem, register, round, round_any};
use super::integer::Width;
use super::{Body, Ssa, Ty};
use ckpt_ir::ElementType;

/// Converts an element: integers wrap, floats are rounded once, floats to
/// integers are truncated and saturate (NaN becomes 0), a boolean is "not
/// zero", complex to real takes the real part. None for types that are not emitted.
pub(crate) fn convert(body: &mut Body, from: ElementType, to: ElementType, value: Elem) -> Option<Elem> {
    if from == to {
        return Some(value);
    }
    if to.is_complex() {
        let re = real(body, from.part(), to.part(), value.re)?;
        let im = match value.im {
            Some(im) => real(body, from.part(), to.part(), im)?,
            None => body.float(register(to)?, 0.0),
        };
        return Some(Elem { re, im: Some(im) });
    }
    real(body, from.part(), to, value.re).map(Elem::real)
}

fn real(body: &mut Body, from: ElementType, to: ElementType, value: Ssa) -> Option<Ssa> {
    if from == to {
        return Some(value);
    }
    let target = register(to)?;
    Some(match (from.is_float(), to.is_float()) {
        (true, true) => float_to_float(body, to, value),
        (true, false) if to == ElementType::Bool => {
            let zero = body.float(value.ty, 0.0);
            body.cmpf("une", value, zero)
        }
        (true, false) => saturate(body, Width::of(to)?, target, value),
        (false, true) => integer_to_float(body, Width::of(from), to, value),
        (false, false) if to == ElementType::Bool => {
            let zero = body.int(value.ty, 0);
            body.cmpi("ne", value, zero)
        }
        (false, false) => {
            let signed = Width::of(from).is_some_and(|width| width.signed);
            let resized = match target.bits().cmp(&value.ty.bits()) {
                std::cmp::Ordering::Less => body.cast("arith.trunci", value, target),
                std::cmp::Ordering::Equal => value,
                _ => body.cast(if signed { "arith.extsi" } else { "arith.extui" }, value, target),
            };
            Width::of(to)?.wrap(body, resized)
        }
    })
}

fn float_to_float(body: &mut Body, to: ElementType, value: Ssa) -> Ssa {
    match (value.ty, to) {
        (_, ElementType::F64) => body.cast("arith.extf", value, Ty::F64),
        (Ty::F64, ElementType::F32) => body.cast("arith.truncf", value, Ty::F32),
        (Ty::F64, _) => {
            let odd = round_to_odd(body, value);
            round_any(body, to, odd)
        }
        _ => round_any(body, to, value),
    }
}

/// `f64` to `f32` with the last bit set if digits were lost, so that a second
/// rounding to at most 22 digits is right.
fn round_to_odd(body: &mut Body, value: Ssa) -> Ssa {
    let single = body.cast("arith.truncf", value, Ty::F32);
    let back = body.cast("arith.extf", single, Ty::F64);
    let inexact = body.cmpf("one", back, value);
    let (far, near) = (body.unary("math.absf", back), body.unary("math.absf", value));
    let beyond = body.cmpf("ogt", far, near);
    let bits = body.cast("arith.bitcast", single, Ty::I32);
    let beyond = body.cast("arith.extui", beyond, Ty::I32);
    let sticky = body.cast("arith.extui", inexact, Ty::I32);
    let down = body.binary("arith.subi", bits, beyond);
    let odd = body.binary("arith.ori", down, sticky);
    body.cast("arith.bitcast", odd, Ty::F32)
}

fn integer_to_float(body: &mut Body, from: Option<Width>, to: ElementType, value: Ssa) -> Ssa {
    let signed = from.is_some_and(|width| width.signed);
    let op = if signed { "arith.sitofp" } else { "arith.uitofp" };
    let exact = from.is_none_or(|width| width.bits <= 16);
    match to {
        ElementType::F64 => body.cast(op, value, Ty::F64),
        ElementType::F32 => body.cast(op, value, Ty::F32),
        _ if exact => {
            let single = body.cast(op, value, Ty::F32);
            round(body, to, single)
        }
        _ => {
            let wide = body.cast(op, value, Ty::F64);
            let odd = round_to_odd(body, wide);
            round(body, to, odd)
        }
    }
}

/// Truncates to an integer type, saturating; NaN becomes 0.
fn saturate(body: &mut Body, width: Width, target: Ty, value: Ssa) -> Ssa {
    // Both bounds are powers of two, or zero, and exact.
    let digits = if width.signed { width.bits - 1 } else { width.bits };
    let above = body.float(value.ty, 2f64.powi(digits as i32));
    let below = body.float(value.ty, width.min() as f64);
    let too_large = body.cmpf("oge", value, above);
    let too_small = body.cmpf("olt", value, below);
    let nan = body.cmpf("uno", value, value);
    // 32 bits hold the smaller types; out-of-range conversions are never chosen.
    let wide = if target.bits() < 32 { Ty::I32 } else { target };
    let op = if width.signed || target.bits() < 32 { "arith.fptosi" } else { "arith.fptoui" };
    let number = body.cast(op, value, wide);
    let (max, min) = (body.int(wide, width.max()), body.int(wide, width.min()));
    let zero = body.int(wide, 0);
    let number = body.select(too_large, max, number);
    let number = body.select(too_small, min, number);
    let number = body.select(nan, zero, number);
    body.cast("arith.trunci", number, target)
}

/// The bits of an element under another type of the same width; none for
/// other types, and for types that do not fill their bytes.
pub(crate) fn bitcast(body: &mut Body, from: ElementType, to: ElementType, value: Elem) -> Option<Elem> {
    let whole = |e: ElementType| u64::from(e.bit_width()) == 8 * e.byte_width() && !e.is_complex();
    if from.bit_width() != to.bit_width() || !whole(from) || !whole(to) {
        return None;
    }
    let raw = super::element::pack(body, from, value.re);
    let target = super::element::memory(to)?;
    let bits = body.cast("arith.bitcast", raw, raw.ty.as_integer());
    let cast = body.cast("arith.bitcast", bits, target);
    Some(Elem::real(super::element::unpack(body, to, cast)))
}

/// Rounds to a format of fewer bits and back; numbers beyond its range become
/// infinities, numbers below its normal range zeros.
pub(crate) fn reduce_precision(
    body: &mut Body,
    element: ElementType,
    (exponent_bits, mantissa_bits): (u32, u32),
    value: Ssa,
) -> Option<Ssa> {
    let (source_exponent, source_mantissa) = match element {
        ElementType::F64 => (11, 52),
        ElementType::F32 | ElementType::Bf16 => (8, 23),
        _ => return None,
    };
    let ty = value.ty.as_integer();
    let all = body.cast("arith.bitcast", value, ty);
    let sign_mask = body.int(ty, 1 << (source_exponent + source_mantissa));
    let sign = body.binary("arith.andi", all, sign_mask);
    let magnitude = body.binary("arith.xori", all, sign);
    let mut bits = magnitude;
    let top = ((1i64 << source_exponent) - 1) << source_mantissa;
    if mantissa_bits < source_mantissa {
        let last = 1i64 << (source_mantissa - mantissa_bits);
        let position = body.int(ty, (source_mantissa - mantissa_bits).into());
        let one = body.int(ty, 1);
        let odd = body.binary("arith.shrui", bits, position);
        let odd = body.binary("arith.andi", odd, one);
        let half = body.int(ty, (last >> 1) - 1);
        let mask = body.int(ty, !(last - 1));
        bits = body.binary("arith.addi", bits, half);
        bits = body.binary("arith.addi", bits, odd);
        bits = body.binary("arith.andi", bits, mask);
    }
    let infinity = body.int(ty, top);
    if exponent_bits < source_exponent {
        let bias = (1i64 << (source_exponent - 1)) - 1;
        let reduced = (1i64 << (exponent_bits - 1)) - 1;
        let position = body.int(ty, source_mantissa.into());
        let exponent = body.binary("arith.shrui", bits, position);
        let (high, low) = (body.int(ty, bias + reduced), body.int(ty, bias - reduced));
        let zero = body.int(ty, 0);
        let overflow = body.cmpi("ugt", exponent, high);
        let underflow = body.cmpi("ule", exponent, low);
        bits = body.select(underflow, zero, bits);
        bits = body.select(overflow, infinity, bits);
    }
    let nan = body.cmpi("ugt", magnitude, infinity);
    let kept = if mantissa_bits > 0 { magnitude } else { infinity };
    bits = body.select(nan, kept, bits);
    bits = body.binary("arith.ori", bits, sign);
    Some(body.cast("arith.bitcast", bits, value.ty))
}
