//! Complex numbers: what products, sums and parts need. Functions of complex
//! numbers have no fast path.

use super::element::Elem;
use super::{Body, Ssa};
use ckpt_ir::OpKind;

/// An operation of two complex numbers; none if it is not emitted.
pub(crate) fn binary(body: &mut Body, kind: OpKind, a: Elem, b: Elem) -> Option<Elem> {
    let (a, b) = ((a.re, a.im?), (b.re, b.im?));
    let (re, im) = match kind {
        OpKind::Add => (body.binary("arith.addf", a.0, b.0), body.binary("arith.addf", a.1, b.1)),
        OpKind::Subtract => (body.binary("arith.subf", a.0, b.0), body.binary("arith.subf", a.1, b.1)),
        OpKind::Multiply => {
            let mut product = |x: Ssa, y: Ssa| body.binary("arith.mulf", x, y);
            let (rr, ii) = (product(a.0, b.0), product(a.1, b.1));
            let (ri, ir) = (product(a.0, b.1), product(a.1, b.0));
            (body.binary("arith.subf", rr, ii), body.binary("arith.addf", ri, ir))
        }
        _ => return None,
    };
    Some(Elem { re, im: Some(im) })
}

/// An operation of one complex number; none if it is not emitted.
pub(crate) fn unary(body: &mut Body, kind: OpKind, a: Elem) -> Option<Elem> {
    let im = a.im?;
    Some(match kind {
        OpKind::Real => Elem::real(a.re),
        OpKind::Imag => Elem::real(im),
        OpKind::Negate => Elem { re: body.unary("arith.negf", a.re), im: Some(body.unary("arith.negf", im)) },
        OpKind::ChloConj => Elem { re: a.re, im: Some(body.unary("arith.negf", im)) },
        _ => return None,
    })
}
