//! CHLO, by direct evaluation.

use crate::elementwise;
use crate::error::Outcome;
use crate::site::Site;
use crate::tensor::Tensor;
use ckpt_ir::OpKind;

/// Evaluates a CHLO operation; none if the kind is not one.
pub(crate) fn evaluate(_site: Site<'_>, kind: OpKind, operands: &[Tensor]) -> Option<Outcome<Tensor>> {
    match (kind, operands) {
        (OpKind::ChloSquare, [operand]) => elementwise::binary(OpKind::Multiply, operand, operand),
        _ => None,
    }
}
