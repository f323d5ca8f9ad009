//! Operations that give the same elements another shape, and constants.

use super::attributes::AttrKind::{Elements, I64Array, I64NonNegative};
use super::attributes::must;
use super::facts::class::QUANT_AXIS;
use super::facts::{DYNAMIC, Element, Tensor, dims_compatible};
use super::quantised;
use super::signature::Relation::{CompatibleElement, SameElement};
use super::signature::{Row, Slot};
use super::slots::{ANY, IFCQ, T, TA, TS};
use super::view::{Check, Op, invalid, sizes};
use crate::{ElementType, OpKind as K};
use smallvec::SmallVec;

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Constant, &[], &[Slot::of(ANY | QUANT_AXIS).fixed()])
        .attributes(&[must("value", Elements)])
        .check(constant),
    Row::new(K::Iota, &[], &[IFCQ.fixed()]).attributes(&[must("iota_dimension", I64NonNegative)]).check(iota),
    Row::new(K::Reshape, &[TA], &[TA.fixed_or_bounded()]).relations(&[CompatibleElement]).check(reshape),
    Row::new(K::Broadcast, &[T], &[TA])
        .relations(&[SameElement])
        .attributes(&[must("broadcast_sizes", I64Array)])
        .check(broadcast),
    Row::new(K::BroadcastInDim, &[TA], &[TA.fixed_or_bounded()])
        .relations(&[CompatibleElement])
        .attributes(&[must("broadcast_dimensions", I64Array)])
        .check(broadcast_in_dim),
    Row::new(K::Transpose, &[TA], &[TA])
        .relations(&[CompatibleElement])
        .attributes(&[must("permutation", I64Array)])
        .check(transpose),
    Row::new(K::Concatenate, &[TS], &[T])
        .relations(&[SameElement])
        .attributes(&[must("dimension", I64NonNegative)])
        .check(concatenate),
    Row::new(K::BitcastConvert, &[TA], &[TA]).check(bitcast_convert),
    Row::new(K::GetDimensionSize, &[TA], &[T])
        .attributes(&[must("dimension", I64NonNegative)])
        .check(get_dimension_size),
];

/// The literal has the type of the result; a quantised result has the integers
/// that store it.
pub(super) fn constant(op: Op<'_>) -> Check {
    let Some(crate::Attr::Dense(dense)) = op.attr("value") else { return Ok(()) };
    let value = op.context.of_type(dense.ty);
    if value.ty == op.result(0).ty {
        return Ok(());
    }
    let (literal, result) = (value.tensor()?, op.result(0).tensor()?);
    let stores = result.element.quant().is_some_and(|quant| Element::Plain(quant.storage) == literal.element);
    if stores && literal.shape_compatible(result) {
        return Ok(());
    }
    op.infers(0, literal)
}

fn iota(op: Op<'_>) -> Check {
    let (rank, dimension) = (op.result(0).tensor()?.rank(), op.int("iota_dimension")?);
    if rank == 0 {
        invalid!("does not support scalars, but got {}", op.result(0));
    }
    if dimension >= rank {
        invalid!("iota dimension cannot go beyond the output rank, but got {dimension} for {}", op.result(0));
    }
    Ok(())
}

fn reshape(op: Op<'_>) -> Check {
    let (operand, result) = (op.operand(0).tensor()?, op.result(0).tensor()?);
    if let (Some(from), Some(to)) = (operand.count(), result.count())
        && from != to
    {
        invalid!("number of output elements ({to}) doesn't match expected number of elements ({from})");
    }
    quantised::reshape(op)
}

fn broadcast(op: Op<'_>) -> Check {
    let (operand, added) = (op.operand(0).tensor()?, op.ints("broadcast_sizes")?);
    if let Some(size) = added.iter().find(|size| **size < 0) {
        invalid!("Broadcast with negative dimension size {size}");
    }
    let shape = added.iter().chain(&operand.shape).copied().collect();
    op.infers(0, &Tensor { shape, bounds: SmallVec::new(), element: operand.element.clone() })
}

/// Whether no value repeats.
pub(super) fn distinct(values: &[i64]) -> bool {
    values.iter().enumerate().all(|(index, value)| !values[..index].contains(value))
}

/// What `broadcast_in_dim` and its dynamic form ask of the dimensions.
pub(super) fn broadcast_dimensions(op: Op<'_>, relation: &str) -> Check {
    let (operand, result) = (op.operand(0).tensor()?, op.result(0).tensor()?);
    let dimensions = op.ints("broadcast_dimensions")?;
    if dimensions.len() != operand.shape.len() {
        let (given, rank) = (dimensions.len(), operand.rank());
        invalid!("broadcast_dimensions size ({given}) does not match operand rank ({rank})");
    }
    if !distinct(dimensions) {
        invalid!("broadcast_dimensions should not have duplicates, but got [{}]", sizes(dimensions));
    }
    for (index, (&size, &dimension)) in operand.shape.iter().zip(dimensions).enumerate() {
        let target = usize::try_from(dimension).ok().and_then(|dimension| result.shape.get(dimension));
        let Some(&target) = target else {
            let rank = result.rank();
            invalid!("broadcast_dimensions contains invalid value {dimension} for result with rank {rank}")
        };
        if size != 1 && !dims_compatible(size, target) {
            invalid!(
                "size of operand dimension {index} ({size}) is not {relation} size of result dimension \
                 {dimension} ({target})"
            );
        }
    }
    Ok(())
}

fn broadcast_in_dim(op: Op<'_>) -> Check {
    quantised::same_per_tensor(op)?;
    broadcast_dimensions(op, "equal to 1 or")?;
    quantised::broadcast(op, op.ints("broadcast_dimensions")?)
}

fn transpose(op: Op<'_>) -> Check {
    let (operand, permutation) = (op.operand(0).tensor()?, op.ints("permutation")?);
    let rank = operand.rank();
    if permutation.len() as i64 != rank {
        let size = permutation.len();
        invalid!("operand rank {rank} does not match permutation size {size}");
    }
    if !distinct(permutation) || permutation.iter().any(|dim| !(0..rank).contains(dim)) {
        let permutation = sizes(permutation);
        invalid!("attribute permutation must be a permutation of [0, {rank}), but got [{permutation}]");
    }
    let at = |values: &[i64], dim: &i64| usize::try_from(*dim).ok().and_then(|dim| values.get(dim).copied());
    let shape = permutation.iter().filter_map(|dim| at(&operand.shape, dim)).collect();
    let bounds = permutation.iter().filter_map(|dim| at(&operand.bounds, dim)).collect();
    op.infers(0, &Tensor { shape, bounds, element: operand.element.clone() })?;
    quantised::transpose(op, permutation)
}

fn concatenate(op: Op<'_>) -> Check {
    if op.operand_count() == 0 {
        invalid!("expected 1 or more operands, but found 0");
    }
    let (first, dimension) = (op.operand(0).tensor()?, op.int("dimension")?);
    let rank = first.rank();
    if rank == 0 {
        invalid!("rank-0 values cannot be concatenated");
    }
    if dimension >= rank {
        invalid!("dimension {dimension} is out-of-bounds for input rank {rank}");
    }
    let dimension = usize::try_from(dimension).unwrap_or_default();
    let mut joined = first.clone();
    for (index, operand) in op.operands().enumerate().skip(1) {
        let operand = operand.tensor()?;
        if operand.rank() != rank {
            invalid!("operands (0) and ({index}) do not match rank: {rank} vs {}", operand.rank());
        }
        let (size, bound) = concatenated(&joined, operand, dimension);
        if let Err(dim) = joined.join(operand, Some(dimension)) {
            let (a, b) = (sizes(&joined.shape), sizes(&operand.shape));
            invalid!(
                "shapes of operand (0) and ({index}) are not compatible at non-concat index {dim}: ({a}) != ({b})"
            );
        }
        joined.shape[dimension] = size;
        if let Some(slot) = joined.bounds.get_mut(dimension) {
            *slot = bound;
        }
    }
    op.infers(0, &joined)
}

/// Size and bound of two tensors side by side.
fn concatenated(a: &Tensor, b: &Tensor, dim: usize) -> (i64, i64) {
    let (left, right) = (a.shape[dim], b.shape[dim]);
    if left != DYNAMIC && right != DYNAMIC {
        return (left.saturating_add(right), DYNAMIC);
    }
    let limit = |tensor: &Tensor, size: i64| if size == DYNAMIC { tensor.bound(dim) } else { size };
    match (limit(a, left), limit(b, right)) {
        (DYNAMIC, _) | (_, DYNAMIC) => (DYNAMIC, DYNAMIC),
        (left, right) => (DYNAMIC, left.saturating_add(right)),
    }
}

fn bitcast_convert(op: Op<'_>) -> Check {
    let (operand, result) = (op.operand(0), op.result(0));
    let (from, to) = (operand.tensor()?, result.tensor()?);
    let is_complex = |element: &Element| matches!(element, Element::Plain(element) if element.is_complex());
    if is_complex(&from.element) != is_complex(&to.element) {
        invalid!("cannot convert between real and complex types, but got: {operand} and {result}");
    }
    let (from_bits, to_bits) = (from.element.bits(), to.element.bits());
    let from_is_small = from_bits < to_bits;
    let (small, big) = if from_is_small { (from, to) } else { (to, from) };
    let (small_bits, big_bits) = (from_bits.min(to_bits), from_bits.max(to_bits));
    let mut prefix = small.shape.as_slice();
    if from_bits != to_bits {
        let (small_rank, big_rank) = (small.rank(), big.rank());
        let Some((&last, rest)) = prefix.split_last().filter(|_| small_rank == big_rank + 1) else {
            invalid!(
                "rank of smaller element type ({small_rank}) should be 1 more than rank of larger element type \
                 ({big_rank}), but {small_rank} != {big_rank} + 1"
            )
        };
        let wanted = last.checked_mul(i64::from(small_bits));
        if last != DYNAMIC && wanted != Some(i64::from(big_bits)) {
            invalid!(
                "requires compatible bit widths. Got: {operand} and {result}, but {small_bits} * {last} != {big_bits}"
            );
        }
        prefix = rest;
    }
    let agree = prefix.iter().zip(&big.shape).all(|(a, b)| dims_compatible(*a, *b));
    if !agree || prefix.len() != big.shape.len() {
        invalid!(
            "operand and result shapes must match except for the innermost dimension of the shape with the \
             smaller element type. Got: {operand} and {result}"
        );
    }
    Ok(())
}

fn get_dimension_size(op: Op<'_>) -> Check {
    dimension_in_range(op)?;
    op.infers(0, &Tensor::scalar(Element::Plain(ElementType::Int(32))))
}

/// The attribute `dimension` is one of the operand's.
pub(super) fn dimension_in_range(op: Op<'_>) -> Check {
    let (rank, dimension) = (op.operand(0).tensor()?.rank(), op.int("dimension")?);
    if !(0..rank).contains(&dimension) {
        invalid!("requires dimension attribute in range [0, {rank}); found ({dimension})");
    }
    Ok(())
}
