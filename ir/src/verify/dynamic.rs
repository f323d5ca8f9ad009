//! Operations whose shapes are operands.

use super::attributes::AttrKind::{I64Array, I64NonNegative};
use super::attributes::{may, must};
use super::facts::class::{INDEX, SINT};
use super::facts::{DYNAMIC, Tensor, shapes_compatible};
use super::quantised;
use super::shape::{broadcast_dimensions, dimension_in_range, distinct};
use super::signature::{Row, Slot};
use super::slots::{ANY, INT, SIZES, T, TA};
use super::view::{Check, Op, Stop, invalid, sizes};
use crate::OpKind as K;
use smallvec::SmallVec;

/// A list of sizes whose length need not be known.
const DIMENSIONS: Slot = Slot::of(INT | INDEX).rank(1);

pub(super) const ROWS: &[Row] = &[
    Row::new(K::DynamicIota, &[SIZES], &[T])
        .attributes(&[must("iota_dimension", I64NonNegative)])
        .check(dynamic_iota),
    Row::new(K::DynamicReshape, &[TA, SIZES], &[TA]).check(dynamic_reshape),
    Row::new(K::DynamicBroadcastInDim, &[TA, SIZES], &[TA])
        .attributes(&[
            must("broadcast_dimensions", I64Array),
            may("known_expanding_dimensions", I64Array),
            may("known_nonexpanding_dimensions", I64Array),
        ])
        .check(dynamic_broadcast_in_dim),
    Row::new(K::DynamicPad, &[T, Slot::of(ANY).rank(0), SIZES, SIZES, SIZES], &[T]).check(dynamic_pad),
    Row::new(K::RealDynamicSlice, &[T, DIMENSIONS, DIMENSIONS, DIMENSIONS], &[T]).check(real_dynamic_slice),
    Row::new(K::SetDimensionSize, &[T, Slot::of(SINT)], &[T])
        .attributes(&[must("dimension", I64NonNegative)])
        .check(set_dimension_size),
];

/// The shape that a constant operand gives suits the result.
fn shape_operand(op: Op<'_>, index: usize) -> Check {
    let Some(shape) = op.constant_operand(index) else { return Ok(()) };
    let result = op.result(0);
    if shape.iter().any(|size| *size < 0) || !shapes_compatible(&shape, &result.tensor()?.shape) {
        let shape = sizes(&shape);
        invalid!("output shape [{shape}] is incompatible with return type of operation {result}");
    }
    Ok(())
}

/// The list of sizes has one entry per dimension of the result.
fn shape_length(op: Op<'_>, index: usize) -> Check {
    let (list, result) = (op.operand(index).tensor()?, op.result(0));
    let rank = result.tensor()?.rank();
    match list.shape.first() {
        Some(&count) if count != DYNAMIC && count != rank => {
            invalid!(
                "result should have a rank equal to the number of elements in output_shape: {count} for {result}"
            )
        }
        _ => Ok(()),
    }
}

fn dynamic_iota(op: Op<'_>) -> Check {
    let (rank, dimension) = (op.result(0).tensor()?.rank(), op.int("iota_dimension")?);
    if dimension >= rank {
        invalid!("iota dimension cannot go beyond the output rank, but got {dimension} for {}", op.result(0));
    }
    shape_operand(op, 0)?;
    shape_length(op, 0)
}

/// Element types agree; quantised ones have rules of their own.
fn same_elements(op: Op<'_>) -> Result<(&Tensor, &Tensor), Stop> {
    let (operand, result) = (op.operand(0).tensor()?, op.result(0).tensor()?);
    if !quantised::any(&[operand, result]) && !operand.element.compatible(&result.element) {
        let (operand, result) = (op.operand(0), op.result(0));
        return Err(Stop::Invalid(format!(
            "expects operand and result to have compatible element type. Got: {operand} and {result}"
        )));
    }
    Ok((operand, result))
}

fn dynamic_reshape(op: Op<'_>) -> Check {
    let (operand, result) = same_elements(op)?;
    if let (Some(from), Some(to)) = (operand.count(), result.count())
        && from != to
    {
        invalid!("number of output elements ({to}) doesn't match expected number of elements ({from})");
    }
    shape_operand(op, 1)?;
    shape_length(op, 1)?;
    if let (Some(count), Some(shape)) = (operand.count(), op.constant_operand(1)) {
        let wanted = shape.iter().fold(1i64, |product, size| product.saturating_mul(*size));
        if count != wanted {
            invalid!(
                "output_shape is incompatible with input type of operation: input has {count} elements, but \
                 output_shape has {wanted}"
            );
        }
    }
    quantised::reshape(op)
}

fn dynamic_broadcast_in_dim(op: Op<'_>) -> Check {
    let (operand, result) = same_elements(op)?;
    if result.rank() < operand.rank() {
        invalid!("result rank ({}) is less than operand rank ({})", result.rank(), operand.rank());
    }
    broadcast_dimensions(op, "compatible with")?;
    shape_operand(op, 1)?;
    shape_length(op, 1)?;
    let mut hints = Vec::new();
    for name in ["known_expanding_dimensions", "known_nonexpanding_dimensions"] {
        hints.extend_from_slice(op.array(name)?.unwrap_or_default());
    }
    if !distinct(&hints) {
        invalid!("duplicate expansion hint for at least one operand dimension");
    }
    if let Some(hint) = hints.iter().find(|hint| !(0..operand.rank()).contains(*hint)) {
        invalid!("hint for expanding dimension {hint} does not refer to a valid operand dimension");
    }
    let dimensions = op.ints("broadcast_dimensions")?;
    if let (true, Some(shape)) = (operand.is_static(), op.constant_operand(1)) {
        for (index, (&size, &dimension)) in operand.shape.iter().zip(dimensions).enumerate() {
            let target = usize::try_from(dimension).ok().and_then(|dimension| shape.get(dimension));
            if let Some(target) = target.filter(|target| size != 1 && **target != size) {
                invalid!(
                    "size of operand dimension {index} ({size}) is not equal to 1 or value of shape at index \
                     {dimension} ({target})"
                );
            }
        }
    }
    quantised::broadcast(op, dimensions)
}

fn dynamic_pad(op: Op<'_>) -> Check {
    let (operand, result) = (op.operand(0).tensor()?, op.result(0).tensor()?);
    let value = op.operand(1).tensor()?;
    if operand.element != value.element || operand.element != result.element {
        invalid!(
            "failed to verify that all of {{operand, padding_value, result}} have same element type: {}, {}, {}",
            op.operand(0),
            op.operand(1),
            op.result(0)
        );
    }
    if op.operand(2).ty != op.operand(3).ty || op.operand(2).ty != op.operand(4).ty {
        invalid!(
            "failed to verify that all of {{edge_padding_low, edge_padding_high, interior_padding}} have same type"
        );
    }
    if operand.rank() != result.rank() {
        invalid!("failed to verify that all of {{operand, result}} have same rank");
    }
    let size = op.operand(2).tensor()?.shape.first().copied().unwrap_or_default();
    if size != operand.rank() {
        invalid!("padding operands size ({size}) must match operand rank ({})", operand.rank());
    }
    let Some(interior) = op.constant_operand(4) else { return Ok(()) };
    if interior.iter().any(|value| *value < 0) {
        invalid!("interior_padding must be non-negative, but got {}", sizes(&interior));
    }
    let (Some(low), Some(high)) = (op.constant_operand(2), op.constant_operand(3)) else { return Ok(()) };
    for (dim, (&from, &to)) in operand.shape.iter().zip(&result.shape).enumerate() {
        if from == DYNAMIC || to == DYNAMIC {
            continue;
        }
        let inner = (from - 1).max(0).saturating_mul(interior[dim]);
        let wanted = from.saturating_add(low[dim]).saturating_add(inner).saturating_add(high[dim]);
        if to != wanted {
            invalid!("expected output dimension at index {dim} to equal {wanted}, but got {to}");
        }
    }
    Ok(())
}

fn real_dynamic_slice(op: Op<'_>) -> Check {
    let (operand, result) = (op.operand(0).tensor()?, op.result(0).tensor()?);
    if operand.element != result.element {
        let (operand, result) = (op.operand(0), op.result(0));
        invalid!(
            "failed to verify that all of {{operand, result}} have same element type: {operand}, {result}"
        );
    }
    if op.operand(1).ty != op.operand(2).ty || op.operand(1).ty != op.operand(3).ty {
        invalid!("failed to verify that all of {{start_indices, limit_indices, strides}} have same type");
    }
    for (index, name) in [(1, "start_indices"), (2, "limit_indices"), (3, "strides")] {
        let count = op.operand(index).tensor()?.shape.first().copied().unwrap_or(DYNAMIC);
        if count != DYNAMIC && count != operand.rank() {
            let rank = operand.rank();
            invalid!("has mismatched number of operand rank ({rank}) and {name} size ({count})");
        }
    }
    Ok(())
}

fn set_dimension_size(op: Op<'_>) -> Check {
    let (operand, size) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    if size.rank() != 0 {
        invalid!("size operand should be of rank-0, but got {}", op.operand(1));
    }
    dimension_in_range(op)?;
    let dimension = usize::try_from(op.int("dimension")?).unwrap_or_default();
    let mut inferred = operand.clone();
    if inferred.bounds.is_empty() {
        inferred.bounds = SmallVec::from_elem(DYNAMIC, operand.shape.len());
    }
    let (known, size) = (&mut inferred.shape[dimension], op.constant_operand(1));
    let bound = &mut inferred.bounds[dimension];
    if *known != DYNAMIC {
        *bound = *known;
    }
    *known = DYNAMIC;
    // Setting a dimension to its bound makes it static.
    if *bound != DYNAMIC && size.is_some_and(|size| size == [*bound]) {
        *known = std::mem::replace(bound, DYNAMIC);
    }
    op.infers(0, &inferred)
}
