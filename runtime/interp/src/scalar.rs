//! Binary operations on single elements in their storage, for the loops of
//! reductions, scatters and windows whose body is one operation.

use crate::elementwise::{float, integer};
use crate::error::{Outcome, invalid};
use crate::format::Format;
use crate::tensor::Storage;
use ckpt_ir::{ElementType, OpKind};
use float::with_codec;
use num_complex::Complex;

/// What is done with a function of two elements.
pub(crate) trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<S: Storage>(self, f: impl Fn(S, S) -> S + Copy) -> Self::Output;
}

/// Calls a visitor with the function of `kind` on elements of a type. None for
/// the kinds that reductions do not commonly use.
pub(crate) fn dispatch<V: Visitor>(kind: OpKind, element: ElementType, visitor: V) -> Option<V::Output> {
    if element.is_complex() {
        return dispatch_complex(kind, element, visitor);
    }
    if element.is_float() {
        return match kind {
            OpKind::Add => visit_float(element, visitor, |a, b| a + b),
            OpKind::Multiply => visit_float(element, visitor, |a, b| a * b),
            OpKind::Maximum => visit_float(element, visitor, float::maximum),
            OpKind::Minimum => visit_float(element, visitor, float::minimum),
            _ => None,
        };
    }
    let width = integer::Width::of(element)?;
    match kind {
        OpKind::Add if width.bits == 1 => visit_integer(element, visitor, |a, b| a | b),
        OpKind::Add => visit_integer(element, visitor, i64::wrapping_add),
        OpKind::Multiply => visit_integer(element, visitor, i64::wrapping_mul),
        OpKind::And => visit_integer(element, visitor, |a, b| a & b),
        OpKind::Or => visit_integer(element, visitor, |a, b| a | b),
        OpKind::Xor => visit_integer(element, visitor, |a, b| a ^ b),
        OpKind::Maximum if width.signed => visit_integer(element, visitor, i64::max),
        OpKind::Minimum if width.signed => visit_integer(element, visitor, i64::min),
        OpKind::Maximum => visit_integer(element, visitor, |a, b| (a as u64).max(b as u64) as i64),
        OpKind::Minimum => visit_integer(element, visitor, |a, b| (a as u64).min(b as u64) as i64),
        _ => None,
    }
}

fn visit_float<V: Visitor>(
    element: ElementType,
    visitor: V,
    f: impl Fn(f64, f64) -> f64 + Copy,
) -> Option<V::Output> {
    let output: Outcome<V::Output> = with_codec!(element, Unit, load, store => {
        Ok(visitor.visit(move |a: Unit, b: Unit| store(f(load(a), load(b)))))
    });
    output.ok()
}

fn visit_integer<V: Visitor>(
    element: ElementType,
    visitor: V,
    f: impl Fn(i64, i64) -> i64 + Copy,
) -> Option<V::Output> {
    use integer::{Unit, Width, load};
    fn one<U: Unit>(a: U, b: U, width: Width, f: impl Fn(i64, i64) -> i64) -> U {
        U::narrow(load(f(load(a.widen(), width), load(b.widen(), width)) as u64, width) as u64)
    }
    let width = Width::of(element)?;
    Some(match element.byte_width() {
        1 => visitor.visit(move |a: u8, b: u8| one(a, b, width, f)),
        2 => visitor.visit(move |a: u16, b: u16| one(a, b, width, f)),
        4 => visitor.visit(move |a: u32, b: u32| one(a, b, width, f)),
        _ => visitor.visit(move |a: u64, b: u64| one(a, b, width, f)),
    })
}

fn dispatch_complex<V: Visitor>(kind: OpKind, element: ElementType, visitor: V) -> Option<V::Output> {
    match (kind, element) {
        (OpKind::Add, ElementType::Complex64) => {
            Some(visitor.visit(|a: Complex<f32>, b: Complex<f32>| a + b))
        }
        (OpKind::Add, _) => Some(visitor.visit(|a: Complex<f64>, b: Complex<f64>| a + b)),
        (OpKind::Multiply, ElementType::Complex64) => {
            Some(visitor.visit(|a: Complex<f32>, b: Complex<f32>| a * b))
        }
        (OpKind::Multiply, _) => Some(visitor.visit(|a: Complex<f64>, b: Complex<f64>| a * b)),
        _ => None,
    }
}
