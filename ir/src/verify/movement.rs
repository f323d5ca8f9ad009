//! Operations that pick or place elements by static index arithmetic.

use super::attributes::AttrKind::I64Array;
use super::attributes::must;
use super::facts::{DYNAMIC, Shape, Tensor};
use super::shape::distinct;
use super::signature::Relation::{FirstElement, SameElement};
use super::signature::{Row, Slot};
use super::slots::{ANY, SCALAR_INT, T};
use super::view::{Check, Op, Value, invalid, sizes};
use crate::OpKind as K;
use smallvec::SmallVec;

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Pad, &[T, Slot::of(ANY).rank(0)], &[T])
        .relations(&[SameElement])
        .attributes(&[
            must("edge_padding_low", I64Array),
            must("edge_padding_high", I64Array),
            must("interior_padding", I64Array),
        ])
        .check(pad),
    Row::new(K::Reverse, &[T], &[T])
        .relations(&[SameElement])
        .attributes(&[must("dimensions", I64Array)])
        .check(reverse),
    Row::new(K::Slice, &[T], &[T])
        .relations(&[SameElement])
        .attributes(&[
            must("start_indices", I64Array),
            must("limit_indices", I64Array),
            must("strides", I64Array),
        ])
        .check(slice),
    Row::new(K::DynamicSlice, &[T, SCALAR_INT.many()], &[T])
        .relations(&[FirstElement])
        .attributes(&[must("slice_sizes", I64Array)])
        .check(dynamic_slice),
    Row::new(K::DynamicUpdateSlice, &[T, T, SCALAR_INT.many()], &[T])
        .relations(&[FirstElement])
        .check(dynamic_update_slice),
];

/// Attributes that list one value per dimension have one length.
fn same_length(lists: &[(&str, &[i64])]) -> Check {
    if lists.iter().any(|(_, list)| list.len() != lists[0].1.len()) {
        let all: Vec<_> = lists.iter().map(|(name, list)| format!("{name} has {}", list.len())).collect();
        invalid!("failed to verify that all of these have the same size: {}", all.join(", "));
    }
    Ok(())
}

/// The size of a dimension, or its bound.
fn size_or_bound(tensor: &Tensor, dim: usize) -> (i64, &'static str) {
    match tensor.shape[dim] {
        DYNAMIC => (tensor.bounds.get(dim).copied().unwrap_or(DYNAMIC), "bound"),
        size => (size, "size"),
    }
}

fn pad(op: Op<'_>) -> Check {
    let operand = op.operand(0).tensor()?;
    let [low, high, interior] =
        [op.ints("edge_padding_low")?, op.ints("edge_padding_high")?, op.ints("interior_padding")?];
    let lists = [("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", interior)];
    same_length(&lists)?;
    if low.len() != operand.shape.len() {
        let (given, rank) = (low.len(), operand.rank());
        invalid!("edge_padding_low length ({given}) must match operand rank ({rank})");
    }
    let mut shape = Shape::from_elem(DYNAMIC, operand.shape.len());
    let mut bounds: SmallVec<[i64; 2]> = SmallVec::from_elem(DYNAMIC, operand.bounds.len());
    for dim in 0..operand.shape.len() {
        if interior[dim] < 0 {
            invalid!("Interior padding cannot be negative: {} in dimension {dim}", interior[dim]);
        }
        let (size, what) = size_or_bound(operand, dim);
        if size == DYNAMIC {
            continue;
        }
        let inner = (size - 1).max(0).saturating_mul(interior[dim]);
        let padded = size.saturating_add(low[dim]).saturating_add(high[dim]).saturating_add(inner);
        if padded < 0 {
            invalid!("Padding result in negative {what} for dimension {dim}: {padded}");
        }
        if what == "size" { shape[dim] = padded } else { bounds[dim] = padded }
    }
    op.infers(0, &Tensor { shape, bounds, element: operand.element.clone() })
}

fn reverse(op: Op<'_>) -> Check {
    let (operand, dimensions) = (op.operand(0).tensor()?, op.ints("dimensions")?);
    if !distinct(dimensions) {
        invalid!("dimensions should be unique. Got: {}", sizes(dimensions));
    }
    let rank = operand.rank();
    for dimension in dimensions {
        if *dimension < 0 {
            invalid!("all dimensions should be non-negative. Got dimension: {dimension}");
        }
        if *dimension >= rank {
            invalid!("all dimensions should be between [0, {rank}). Got dimension: {dimension}");
        }
    }
    op.infers(0, operand)
}

fn slice(op: Op<'_>) -> Check {
    let operand = op.operand(0).tensor()?;
    let [start, limit, strides] = [op.ints("start_indices")?, op.ints("limit_indices")?, op.ints("strides")?];
    same_length(&[("start_indices", start), ("limit_indices", limit), ("strides", strides)])?;
    if start.len() != operand.shape.len() {
        let (given, rank) = (start.len(), operand.rank());
        invalid!(
            "the number of elements in start_indices ({given}) does not match the rank of the operand ({rank})"
        );
    }
    let mut shape = Shape::new();
    for dim in 0..operand.shape.len() {
        let (from, to, step) = (start[dim], limit[dim], strides[dim]);
        if from < 0 {
            invalid!("negative start index {from} in dimension {dim}");
        }
        let (size, what) = size_or_bound(operand, dim);
        if size != DYNAMIC && to > size {
            invalid!("limit index {to} is larger than dimension {what} {size} in dimension {dim}");
        }
        if from > to {
            invalid!("start index {from} is larger than limit index {to} in dimension {dim}");
        }
        if step <= 0 {
            invalid!("stride must be positive but got {step} in dimension {dim}");
        }
        let count = (to - from) / step + i64::from((to - from) % step != 0);
        shape.push(count);
    }
    op.infers(0, &Tensor { shape, bounds: SmallVec::new(), element: operand.element.clone() })
}

/// Start indices all have one type.
fn indices_alike<'m>(mut indices: impl Iterator<Item = Value<'m>>) -> Check {
    let Some(first) = indices.next() else { return Ok(()) };
    match indices.find(|index| index.ty != first.ty) {
        Some(other) => invalid!("start indices must have same element type, but got {first} and {other}"),
        None => Ok(()),
    }
}

fn dynamic_slice(op: Op<'_>) -> Check {
    let (operand, slice_sizes) = (op.operand(0).tensor()?, op.ints("slice_sizes")?);
    let (starts, rank) = (op.operand_count() - 1, operand.shape.len());
    if starts != slice_sizes.len() {
        let given = slice_sizes.len();
        invalid!("has mismatched number of slice sizes ({given}) and number of start indices ({starts})");
    }
    if starts != rank {
        invalid!("has mismatched number of start indices ({starts}) and the rank of operand ({rank})");
    }
    indices_alike(op.operands().skip(1))?;
    for (dim, (&size, &whole)) in slice_sizes.iter().zip(&operand.shape).enumerate() {
        if size < 0 {
            invalid!("has negative size index to dynamic slice: {size}");
        }
        if whole != DYNAMIC && size > whole {
            invalid!(
                "has slice size {size} greater than dimension size {whole} in dimension {dim} of operand"
            );
        }
    }
    let shape = slice_sizes.iter().copied().collect();
    op.infers(0, &Tensor { shape, bounds: SmallVec::new(), element: operand.element.clone() })
}

fn dynamic_update_slice(op: Op<'_>) -> Check {
    let (operand, update) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    if operand.element != update.element {
        let (operand, update) = (op.operand(0), op.operand(1));
        invalid!(
            "failed to verify that all of {{operand, update, result}} have same element type: {operand}, {update}"
        );
    }
    if operand.rank() != update.rank() {
        invalid!("update rank does not match operand rank: {} vs {}", update.rank(), operand.rank());
    }
    let starts = op.operand_count() - 2;
    if starts as i64 != operand.rank() {
        invalid!("expects number of start_indices to match operand rank: {starts} vs {}", operand.rank());
    }
    indices_alike(op.operands().skip(2))?;
    for (dim, (&whole, &part)) in operand.shape.iter().zip(&update.shape).enumerate() {
        if whole != DYNAMIC && part != DYNAMIC && part > whole {
            invalid!("expects size at dimension {dim} of update to be in range [0, {whole}]. Got: {part}");
        }
    }
    op.infers(0, operand)
}
