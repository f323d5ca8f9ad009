//! The one-hot form of the cross-entropy scatter.
//!
//! The gradient of `take_along_axis` scatters one value into each row of a
//! zero tensor of the logits' size: a buffer of vocabulary width that every
//! reader could compute from the index and the value. `0 + u` and not `u`,
//! since the scatter adds to zero and `-0` becomes `+0`. An index outside the
//! row is dropped by the scatter and equals no element of the iota.

use super::maker::Maker;
use crate::egraph::language::{Signature, TensorGraph, TensorNode};
use ckpt_ir::{Attr, Dim, ElementType, Module, OpId, OpKind, ScatterDims, TensorType};
use egg::Id;

pub(super) fn apply(module: &Module, graph: &mut TensorGraph, _: Id, node: &TensorNode) -> Option<Id> {
    let Signature::Region { value, .. } = *graph.analysis.signature(node.signature) else {
        return None;
    };
    let op = module.defining_op(value)?;
    let &[operand, indices, updates] = &node.operands[..] else { return None };
    let Attr::ScatterDims(dims) = module.attr(op, "scatter_dimension_numbers")? else {
        return None;
    };
    let result = module.tensor_type(value)?.clone();
    let axis = one_update_per_row(module, op, dims, &result)?;
    if !adds(module, op) || !is_positive_zero(graph, operand) {
        return None;
    }
    Some(one_hot(graph, &result, axis, indices, updates))
}

/// The scattered dimension, if every other one is a batching dimension in its
/// own place and every row gets exactly one update.
fn one_update_per_row(module: &Module, op: OpId, dims: &ScatterDims, result: &TensorType) -> Option<usize> {
    let &[axis] = &dims.scatter_dims_to_operand_dims[..] else { return None };
    let rest: Vec<i64> = (0..result.rank() as i64).filter(|d| *d != axis).collect();
    let batches_in_place = dims.input_batching_dims == rest
        && dims.scatter_indices_batching_dims == (0..rest.len() as i64).collect::<Vec<_>>();
    let windowless = dims.update_window_dims.is_empty() && dims.inserted_window_dims == [axis];
    let shape = result.static_shape()?;
    let rows: u64 = rest.iter().map(|d| shape[*d as usize]).product();
    let updates = module.tensor_type(module.op(op).operands[2])?.element_count()?;
    let element = result.element;
    let plain = element.is_float() || element.is_integer();
    (batches_in_place && windowless && plain && updates == rows).then_some(axis as usize)
}

/// Whether the update computation is the sum of its two arguments.
fn adds(module: &Module, op: OpId) -> bool {
    let body = module.op(op).regions.first().and_then(|r| module.region(*r).blocks.first());
    let Some(block) = body.map(|b| module.block(*b)) else { return false };
    let (&[add, end], &[a, b]) = (&block.ops[..], &block.arguments[..]) else { return false };
    let (add, end) = (module.op(add), module.op(end));
    let sums = add.kind == OpKind::Add && (add.operands[..] == [a, b] || add.operands[..] == [b, a]);
    sums && end.kind == OpKind::Return && end.operands[..] == add.results[..]
}

/// Whether a class is known to be all `+0`.
fn is_positive_zero(graph: &TensorGraph, class: Id) -> bool {
    let mut class = class;
    loop {
        let nodes = &graph[class].nodes;
        let zero = |node: &TensorNode| match graph.analysis.attr(node.signature, "value") {
            Some(Attr::Dense(dense)) => dense.splat && dense.bytes.iter().all(|byte| *byte == 0),
            _ => false,
        };
        if nodes.iter().any(zero) {
            return true;
        }
        let broadcast = nodes.iter().find(|node| {
            matches!(
                graph.analysis.signature(node.signature),
                Signature::Op { kind: OpKind::BroadcastInDim | OpKind::Reshape, .. }
            )
        });
        match broadcast {
            Some(node) => class = node.operands[0],
            None => return false,
        }
    }
}

/// `select(iota == broadcast(i), broadcast(0 + u), 0)`.
fn one_hot(graph: &mut TensorGraph, result: &TensorType, axis: usize, indices: Id, updates: Id) -> Id {
    let shape: Vec<u64> = result
        .shape
        .iter()
        .map(|dim| match dim {
            Dim::Static(size) => *size,
            Dim::Dynamic => 0,
        })
        .collect();
    let index_ty = graph[indices].data.ty;
    let index_element = graph.analysis.tensor(index_ty).map_or(ElementType::Int(64), |t| t.element);
    let mut make = Maker { graph };
    let iota = make.iota(&shape, index_element, axis);
    let at = spread(&mut make, indices, &shape, index_element, axis);
    let hit = make.equal(iota, at, &shape, index_element);
    let zero = make.zero(result.element);
    let row_ty = make.graph[updates].data.ty;
    let row_shape = make.graph.analysis.tensor(row_ty).and_then(TensorType::static_shape).unwrap_or_default();
    let row_zero = make.fill(zero, &row_shape, result.element);
    let sum = make.op(OpKind::Add, &[], row_ty, &[row_zero, updates]);
    let value = spread(&mut make, sum, &shape, result.element, axis);
    let zeros = make.fill(zero, &shape, result.element);
    let ty = make.facts().intern_tensor(&shape, result.element);
    make.op(OpKind::Select, &[], ty, &[hit, value, zeros])
}

/// A value with one element per row, over the whole shape.
fn spread(make: &mut Maker<'_>, value: Id, shape: &[u64], element: ElementType, axis: usize) -> Id {
    let rows: Vec<u64> = shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, s)| *s).collect();
    let row_ty = make.facts().intern_tensor(&rows, element);
    let row = if make.graph[value].data.ty == row_ty {
        value
    } else {
        make.op(OpKind::Reshape, &[], row_ty, &[value])
    };
    let kept: Vec<i64> = (0..shape.len() as i64).filter(|d| *d != axis as i64).collect();
    make.broadcast(row, &kept, shape, element)
}
