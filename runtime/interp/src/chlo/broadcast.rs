//! `chlo.broadcast_*`: NumPy's broadcasting, then the operation.

use super::special;
use crate::elementwise::{self, float};
use crate::error::{Outcome, invalid, unsupported};
use crate::movement::broadcast_in_dim;
use crate::shape::Shape;
use crate::site::Site;
use crate::tensor::Tensor;
use ckpt_ir::OpKind;
use smallvec::SmallVec;

/// The operation that is meant once the shapes are equal.
fn without_broadcast(kind: OpKind) -> Option<OpKind> {
    use OpKind as K;
    Some(match kind {
        K::ChloBroadcastAdd => K::Add,
        K::ChloBroadcastAnd => K::And,
        K::ChloBroadcastAtan2 => K::Atan2,
        K::ChloBroadcastCompare => K::Compare,
        K::ChloBroadcastComplex => K::Complex,
        K::ChloBroadcastDivide => K::Divide,
        K::ChloBroadcastMaximum => K::Maximum,
        K::ChloBroadcastMinimum => K::Minimum,
        K::ChloBroadcastMultiply => K::Multiply,
        K::ChloBroadcastNextAfter => K::ChloNextAfter,
        K::ChloBroadcastOr => K::Or,
        K::ChloBroadcastPolygamma => K::ChloPolygamma,
        K::ChloBroadcastPower => K::Power,
        K::ChloBroadcastRemainder => K::Remainder,
        K::ChloBroadcastSelect => K::Select,
        K::ChloBroadcastShiftLeft => K::ShiftLeft,
        K::ChloBroadcastShiftRightArithmetic => K::ShiftRightArithmetic,
        K::ChloBroadcastShiftRightLogical => K::ShiftRightLogical,
        K::ChloBroadcastSubtract => K::Subtract,
        K::ChloBroadcastXor => K::Xor,
        K::ChloBroadcastZeta => K::ChloZeta,
        _ => return None,
    })
}

/// Evaluates a broadcasting operation; none if the kind is not one.
pub(super) fn evaluate(site: Site<'_>, kind: OpKind, operands: &[Tensor]) -> Option<Outcome<Tensor>> {
    let kind = without_broadcast(kind)?;
    Some(aligned(site, operands).and_then(|operands| {
        let result = match (kind, &operands[..]) {
            (OpKind::ChloNextAfter, [from, to]) => Some(super::next_after(from, to)),
            (OpKind::ChloZeta, [x, q]) => Some(float::zip(x, q, special::zeta)),
            _ => elementwise::evaluate(site, kind, &operands),
        };
        result.unwrap_or_else(|| unsupported("this broadcasting operation on these types"))
    }))
}

/// The operands in one shape. Dimensions are aligned at the end, or as
/// `broadcast_dimensions` maps those of the operand with fewer.
fn aligned(site: Site<'_>, operands: &[Tensor]) -> Outcome<Vec<Tensor>> {
    let rank = operands.iter().map(|operand| operand.shape.len()).max().unwrap_or(0);
    let given = site.ints_attr("broadcast_dimensions");
    let dims_of = |operand: &Tensor| -> Vec<usize> {
        let own = operand.shape.len();
        match &given {
            Some(dims) if own < rank && dims.len() == own => dims.iter().map(|dim| *dim as usize).collect(),
            _ => (rank - own..rank).collect(),
        }
    };
    let mut shape: Shape = SmallVec::from_elem(1, rank);
    for operand in operands {
        for (&dim, &size) in dims_of(operand).iter().zip(&operand.shape) {
            match shape.get_mut(dim) {
                Some(known) if *known == 1 => *known = size,
                Some(known) if size == 1 || *known == size => {}
                _ => return invalid("the operands cannot be broadcast to one shape"),
            }
        }
    }
    operands.iter().map(|operand| broadcast_in_dim(operand, &shape, &dims_of(operand))).collect()
}
