//! Predicates packed eight to a byte.
//!
//! A mask that the forward pass keeps for the backward pass (dropout) takes a
//! byte per element; its readers in the backward pass can as well unpack it:
//!
//! ```text
//! pack(m)   = reduce_or(convert(reshape(m) : Nx8xui8) << iota 1, dims = [1])
//! unpack(p) = reshape(convert((broadcast(p) >> iota 1) & 1 : Nx8xi1))
//! ```
//!
//! Packing is charged to the forward pass; unpacking is a handful of integer
//! operations inside whatever kernel reads the mask.

use super::maker::Maker;
use crate::egraph::language::{TensorGraph, TensorNode};
use ckpt_ir::{ElementType, Module, OpKind};
use egg::Id;

/// Fewer elements are not worth a kernel.
pub(super) const MIN_ELEMENTS: u64 = 64;

const BYTE: ElementType = ElementType::Uint(8);

/// The class `unpack(pack(class))`, where the class is a predicate that the
/// forward pass stores for the backward pass.
pub(super) fn apply(_: &Module, graph: &mut TensorGraph, class: Id, _: &TensorNode) -> Option<Id> {
    let ty = graph[class].data.ty;
    let tensor = graph.analysis.tensor(ty)?.clone();
    let count = tensor.element_count().filter(|count| count % 8 == 0 && *count >= MIN_ELEMENTS)?;
    if tensor.element != ElementType::Bool {
        return None;
    }
    let rows = [count / 8, 8];
    let mut make = Maker { graph };
    let places = make.iota(&rows, BYTE, 1);
    let bits = make.elementwise(OpKind::Reshape, &rows, ElementType::Bool, &[class]);
    let bytes = make.elementwise(OpKind::Convert, &rows, BYTE, &[bits]);
    let shifted = make.elementwise(OpKind::ShiftLeft, &rows, BYTE, &[bytes, places]);
    let zero = make.zero(BYTE);
    let packed_type = make.facts().intern_tensor(&rows[..1], BYTE);
    let packed = make.fold(OpKind::Or, shifted, zero, &[1], packed_type);
    let spread = make.broadcast(packed, &[0], &rows, BYTE);
    let back = make.elementwise(OpKind::ShiftRightLogical, &rows, BYTE, &[spread, places]);
    let one = make.scalar(BYTE, &[1]);
    let ones = make.fill(one, &rows, BYTE);
    let bit = make.elementwise(OpKind::And, &rows, BYTE, &[back, ones]);
    let predicate = make.elementwise(OpKind::Convert, &rows, ElementType::Bool, &[bit]);
    Some(make.op(OpKind::Reshape, &[], ty, &[predicate]))
}
