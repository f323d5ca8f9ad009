//! CHLO, by direct evaluation.

mod broadcast;
mod complex;
mod ragged_dot;
mod scan;
mod special;
mod tables;
mod top_k;

pub(crate) use top_k::top_k;

use crate::elementwise::{self, complex::C, float, integer, map_complex};
use crate::error::{Outcome, invalid};
use crate::format::Format;
use crate::site::Site;
use crate::tensor::{Data, Storage, Tensor};
use ckpt_ir::{ElementType, OpKind};
pub(crate) use scan::scan;

/// Evaluates a CHLO operation with one result; none if the kind is not one.
pub(crate) fn evaluate(site: Site<'_>, kind: OpKind, operands: &[Tensor]) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    if let Some(result) = broadcast::evaluate(site, kind, operands) {
        return Some(result);
    }
    Some(match (kind, operands) {
        (K::ChloSquare, [operand]) => return elementwise::binary(K::Multiply, operand, operand),
        (K::ChloTan, [operand]) => return elementwise::unary(K::Tan, operand),
        (K::ChloConstant, []) => site.dense("value"),
        (K::ChloConstantLike, [operand]) => constant_like(site, operand),
        (K::ChloIsInf, [operand]) => elementwise::predicate(operand, f64::is_infinite),
        (K::ChloIsPosInf, [operand]) => elementwise::predicate(operand, |x| x == f64::INFINITY),
        (K::ChloIsNegInf, [operand]) => elementwise::predicate(operand, |x| x == f64::NEG_INFINITY),
        (K::ChloConj, [operand]) if operand.element.is_complex() => {
            map_complex(operand, operand.element, |z| z.conj())
        }
        (K::ChloConj, [operand]) => Ok(operand.clone()),
        (K::ChloRaggedDot, [lhs, rhs, sizes]) => ragged_dot::ragged_dot(site, lhs, rhs, sizes),
        (K::ChloNextAfter, [from, to]) => next_after(from, to),
        (K::ChloMulhi, [lhs, rhs]) => mulhi(lhs, rhs),
        (K::ChloZeta, [x, q]) => float::zip(x, q, special::zeta),
        (K::ChloPolygamma, [n, x]) => float::zip(n, x, special::polygamma),
        (K::ChloCosh, [operand]) if operand.element == ElementType::F64 => {
            float::map(operand, |x| special::cosh(x, |x| x))
        }
        (K::ChloSinh, [operand]) if operand.element == ElementType::F64 => {
            float::map(operand, |x| special::sinh(x, |x| x))
        }
        (K::ChloCosh, [operand]) if operand.element.is_float() => {
            float::map(operand, |x| special::cosh(x, to_single))
        }
        (K::ChloSinh, [operand]) if operand.element.is_float() => {
            float::map(operand, |x| special::sinh(x, to_single))
        }
        (_, [operand]) if operand.element.is_complex() => {
            return complex_function(kind).map(|f| map_complex(operand, operand.element, f));
        }
        (_, [operand]) => return real_function(kind).map(|f| float::map(operand, f)),
        _ => return None,
    })
}

/// Rounds to `f32`, in which narrower types are computed as well.
fn to_single(x: f64) -> f64 {
    f64::from(x as f32)
}

fn real_function(kind: OpKind) -> Option<fn(f64) -> f64> {
    use OpKind as K;
    Some(match kind {
        K::ChloAcos => libm::acos,
        K::ChloAcosh => libm::acosh,
        K::ChloAsin => libm::asin,
        K::ChloAsinh => libm::asinh,
        K::ChloAtan => libm::atan,
        K::ChloAtanh => libm::atanh,
        K::ChloErf => libm::erf,
        K::ChloErfc => libm::erfc,
        K::ChloErfInv => special::erf_inv,
        K::ChloLgamma => special::lgamma,
        K::ChloDigamma => special::digamma,
        K::ChloBesselI1e => special::bessel_i1e,
        _ => return None,
    })
}

fn complex_function(kind: OpKind) -> Option<fn(C) -> C> {
    use OpKind as K;
    Some(match kind {
        K::ChloAcos => complex::acos,
        K::ChloAcosh => complex::acosh,
        K::ChloAsin => complex::asin,
        K::ChloAsinh => complex::asinh,
        K::ChloAtan => complex::atan,
        K::ChloAtanh => complex::atanh,
        K::ChloCosh => elementwise::complex::cosh,
        K::ChloSinh => elementwise::complex::sinh,
        _ => return None,
    })
}

/// The attribute's value in the shape of the operand.
fn constant_like(site: Site<'_>, operand: &Tensor) -> Outcome<Tensor> {
    let value = match (site.float_attr("value"), site.int_attr("value")) {
        (Some(value), _) => value,
        (None, Some(value)) => value as f64,
        _ => return invalid("constant_like needs a number"),
    };
    let parts = if operand.element.is_complex() { vec![value, 0.0] } else { vec![value] };
    match Tensor::from_f64s(operand.element, &[], &parts) {
        Some(scalar) => Ok(scalar.splat(operand.shape.clone())),
        None => invalid("constant_like has no value of this type"),
    }
}

/// The upper half of the product.
fn mulhi(lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    let width = integer::width_of(lhs)?;
    let wide = |x: i64| if width.signed { i128::from(x) } else { i128::from(x as u64) };
    integer::zip(lhs, rhs, |a, b| {
        // Two unsigned 64-bit numbers need all of 128 bits.
        (wide(a).wrapping_mul(wide(b)) >> width.bits) as i64
    })
}

/// The next representable number from `from` towards `to`.
fn next_after(from: &Tensor, to: &Tensor) -> Outcome<Tensor> {
    if from.element != to.element || from.shape != to.shape {
        return invalid("the operands of next_after differ in type or shape");
    }
    let (a, b) = (float::unpack(from)?, float::unpack(to)?);
    let sign = 1u64 << (from.element.bit_width() - 1);
    let step = |at: usize, bits: u64, target_bits: u64, nan: u64| -> u64 {
        let (x, y) = (a[at], b[at]);
        if x.is_nan() || y.is_nan() {
            return nan;
        }
        if x == y {
            return target_bits;
        }
        if x == 0.0 {
            return target_bits & sign | 1;
        }
        // Magnitudes count up away from zero.
        if (y > x) == (x > 0.0) { bits + 1 } else { bits - 1 }
    };
    let data = match (&from.data, &to.data) {
        (Data::F32(v), Data::F32(w)) => {
            let one = |at: usize| {
                let nan = u64::from(f32::NAN.to_bits());
                f32::from_bits(step(at, v[at].to_bits().into(), w[at].to_bits().into(), nan) as u32)
            };
            Storage::wrap((0..v.len()).map(one).collect())
        }
        (Data::F64(v), Data::F64(w)) => {
            let one =
                |at: usize| f64::from_bits(step(at, v[at].to_bits(), w[at].to_bits(), f64::NAN.to_bits()));
            Storage::wrap((0..v.len()).map(one).collect())
        }
        (Data::U16(v), Data::U16(w)) => {
            let nan = u64::from(Format::of(from.element).map_or(0, |format| format.encode(f64::NAN)));
            Storage::wrap((0..v.len()).map(|at| step(at, v[at].into(), w[at].into(), nan) as u16).collect())
        }
        (Data::U8(v), Data::U8(w)) if from.element != ElementType::Bool => {
            let nan = u64::from(Format::of(from.element).map_or(0, |format| format.encode(f64::NAN)));
            Storage::wrap((0..v.len()).map(|at| step(at, v[at].into(), w[at].into(), nan) as u8).collect())
        }
        _ => return invalid("next_after needs floating-point operands of one type"),
    };
    Ok(Tensor { data, ..from.clone() })
}
