//! CHLO, the client dialect that JAX prints beside StableHLO.

use super::attributes::AttrKind::{Any, Array, Elements, I64, I64Array, I64NonNegative};
use super::attributes::{AttrRule, may, must};
use super::facts::class::{COMPLEX, FLOAT, PRED, QUANT_AXIS, UNRANKED};
use super::facts::{DYNAMIC, Element, Shape, Tensor};
use super::signature::Regions::Exactly;
use super::signature::Relation::{CompatibleElement, CompatibleType, SameShape};
use super::signature::{Row, Slot};
use super::slots::{ANY, INT, TAS};
use super::view::{Check, Op, Stop, invalid};
use crate::{Attr, ElementType, OpKind as K, Type};

/// CHLO's tensors may be unranked.
const A: Slot = Slot::of(ANY | QUANT_AXIS | UNRANKED);
const F: Slot = Slot::of(FLOAT | UNRANKED);
const FC: Slot = Slot::of(FLOAT | COMPLEX | UNRANKED);
const P: Slot = Slot::of(PRED | UNRANKED);
const PI: Slot = Slot::of(PRED | INT | UNRANKED);
const I: Slot = Slot::of(INT);
const DIMENSIONS: &[AttrRule] = &[may("broadcast_dimensions", I64Array)];

const fn unary(kind: K, slot: &'static [Slot; 1]) -> Row {
    Row::new(kind, slot, slot).relations(&[SameShape, CompatibleType])
}

const fn test(kind: K) -> Row {
    Row::new(kind, &[F], &[P]).relations(&[SameShape])
}

const fn binary(kind: K, operands: &'static [Slot; 2], result: &'static [Slot; 1]) -> Row {
    Row::new(kind, operands, result).relations(&[CompatibleType])
}

const fn broadcast(kind: K, operands: &'static [Slot; 2], result: &'static [Slot; 1]) -> Row {
    Row::new(kind, operands, result)
        .relations(&[CompatibleElement])
        .attributes(DIMENSIONS)
        .check(broadcasting)
}

pub(super) const ROWS: &[Row] = &[
    unary(K::ChloAcos, &[FC]),
    unary(K::ChloAcosh, &[FC]),
    unary(K::ChloAsin, &[FC]),
    unary(K::ChloAsinh, &[FC]),
    unary(K::ChloAtan, &[FC]),
    unary(K::ChloAtanh, &[FC]),
    unary(K::ChloBesselI1e, &[FC]),
    unary(K::ChloConj, &[FC]),
    unary(K::ChloCosh, &[FC]),
    unary(K::ChloDigamma, &[F]),
    unary(K::ChloErf, &[F]),
    unary(K::ChloErfInv, &[F]),
    unary(K::ChloErfc, &[F]),
    unary(K::ChloLgamma, &[F]),
    unary(K::ChloSinh, &[FC]),
    unary(K::ChloSquare, &[FC]),
    unary(K::ChloTan, &[FC]),
    test(K::ChloIsInf),
    test(K::ChloIsNegInf),
    test(K::ChloIsPosInf),
    binary(K::ChloMulhi, &[I, I], &[I]),
    binary(K::ChloNextAfter, &[F, F], &[F]),
    binary(K::ChloPolygamma, &[F, F], &[F]),
    binary(K::ChloZeta, &[F, F], &[F]),
    Row::new(K::ChloTopK, &[A], &[A, A]).attributes(&[must("k", I64)]).check(top_k),
    Row::new(K::ChloRaggedDot, &[A, A, I], &[A])
        .attributes(&[must("ragged_dot_dimension_numbers", Any), may("precision_config", Array)])
        .check(super::ragged_dot::ragged_dot),
    Row::new(K::ChloConstant, &[], &[Slot::of(ANY).fixed()])
        .attributes(&[must("value", Elements)])
        .check(super::shape::constant),
    Row::new(K::ChloBroadcastSelect, &[Slot::of(PRED), A, A], &[A]).check(broadcast_select),
    Row::new(K::ChloConstantLike, &[A], &[A])
        .relations(&[SameShape])
        .attributes(&[must("value", Any)])
        .check(constant_like),
    Row::new(K::ChloScan, &[TAS], &[TAS])
        .regions(Exactly(1))
        .attributes(&[must("dimension", I64NonNegative), may("scan_dim_size", I64NonNegative)])
        .check(scan),
    broadcast(K::ChloBroadcastAdd, &[A, A], &[A]),
    broadcast(K::ChloBroadcastAnd, &[PI, PI], &[A]),
    broadcast(K::ChloBroadcastAtan2, &[A, A], &[A]),
    broadcast(K::ChloBroadcastDivide, &[A, A], &[A]),
    broadcast(K::ChloBroadcastMaximum, &[A, A], &[A]),
    broadcast(K::ChloBroadcastMinimum, &[A, A], &[A]),
    broadcast(K::ChloBroadcastMultiply, &[A, A], &[A]),
    broadcast(K::ChloBroadcastNextAfter, &[A, A], &[A]),
    broadcast(K::ChloBroadcastOr, &[PI, PI], &[A]),
    broadcast(K::ChloBroadcastPolygamma, &[F, F], &[A]),
    broadcast(K::ChloBroadcastPower, &[A, A], &[A]),
    broadcast(K::ChloBroadcastRemainder, &[A, A], &[A]),
    broadcast(K::ChloBroadcastShiftLeft, &[A, A], &[A]),
    broadcast(K::ChloBroadcastShiftRightArithmetic, &[A, A], &[A]),
    broadcast(K::ChloBroadcastShiftRightLogical, &[A, A], &[A]),
    broadcast(K::ChloBroadcastSubtract, &[A, A], &[A]),
    broadcast(K::ChloBroadcastXor, &[PI, PI], &[A]),
    broadcast(K::ChloBroadcastZeta, &[F, F], &[A]),
    Row::new(K::ChloBroadcastCompare, &[A, A], &[P])
        .attributes(&[
            may("broadcast_dimensions", I64Array),
            must("comparison_direction", Any),
            may("compare_type", Any),
        ])
        .check(broadcasting),
    Row::new(K::ChloBroadcastComplex, &[F, F], &[Slot::of(COMPLEX | UNRANKED)])
        .attributes(DIMENSIONS)
        .check(broadcasting),
];

/// Inputs lose the dimension that is scanned and become the body's first
/// arguments; what is carried becomes the others.
fn scan(op: Op<'_>) -> Check {
    let dimension = usize::try_from(op.int("dimension")?).map_err(|_| Stop::CannotTell)?;
    let inputs = match op.ints("operandSegmentSizes")? {
        [inputs, _] => usize::try_from(*inputs).map_err(|_| Stop::CannotTell)?,
        _ => return Err(Stop::CannotTell),
    };
    let mut size = op.int("scan_dim_size").ok();
    for (index, input) in op.operands().take(inputs).enumerate() {
        let Some(&own) = input.tensor()?.shape.get(dimension) else {
            invalid!("scan dimension of operand {index} is out of bounds");
        };
        if own != DYNAMIC && *size.get_or_insert(own) != own {
            invalid!("invalid scan dimension size of operand {index}");
        }
    }
    let arguments = op.context.arguments(op.block(0)?);
    if arguments.len() != op.operand_count() {
        let (wanted, got) = (op.operand_count(), arguments.len());
        invalid!("expects {wanted} arguments in the body, but got {got}");
    }
    for (index, (operand, argument)) in op.operands().zip(arguments).enumerate() {
        let mut wanted = operand.tensor()?.clone();
        if index < inputs {
            wanted.shape.remove(dimension);
            wanted.bounds.clear();
        }
        let given = argument.tensor()?;
        if !wanted.shape_compatible(given) || !wanted.element.compatible(&given.element) {
            invalid!("operand and body argument {index} are incompatible");
        }
    }
    Ok(())
}

/// Sizes broadcast as NumPy's do; none where they do not.
fn numpy(a: &[i64], b: &[i64]) -> Option<Shape> {
    let rank = a.len().max(b.len());
    let at = |shape: &[i64], dim: usize| (dim + shape.len()).checked_sub(rank).map_or(1, |dim| shape[dim]);
    (0..rank)
        .map(|dim| match (at(a, dim), at(b, dim)) {
            (a, b) if a == b => Some(a),
            (1, size) | (size, 1) => Some(size),
            (DYNAMIC, size) | (size, DYNAMIC) => Some(size),
            _ => None,
        })
        .collect()
}

/// The shape of a broadcast along the dimensions that the attribute gives.
fn along(op: Op<'_>, a: &[i64], b: &[i64]) -> Result<Option<Shape>, Stop> {
    let Some(dimensions) = op.array("broadcast_dimensions")? else { return Ok(numpy(a, b)) };
    let (large, small) = if a.len() > b.len() { (a, b) } else { (b, a) };
    if dimensions.len() != small.len() {
        return Err(Stop::CannotTell);
    }
    let mut shape: Shape = large.into();
    for (size, dimension) in small.iter().zip(dimensions) {
        let target = usize::try_from(*dimension).ok().and_then(|dimension| shape.get_mut(dimension));
        let target = target.ok_or(Stop::CannotTell)?;
        let Some(joined) = numpy(&[*size], &[*target]) else { return Ok(None) };
        *target = joined[0];
    }
    Ok(Some(shape))
}

/// Operands have one element type and shapes that broadcast to the result's.
fn broadcasting(op: Op<'_>) -> Check {
    let (lhs, rhs) = (op.operand(0), op.operand(1));
    let (a, b) = (lhs.tensor()?, rhs.tensor()?);
    if !a.element.compatible(&b.element) {
        invalid!("mismatched operand types: {lhs} and {rhs}");
    }
    match along(op, &a.shape, &b.shape)? {
        Some(shape) => op.infers_shape(0, &shape),
        None => Ok(()),
    }
}

fn broadcast_select(op: Op<'_>) -> Check {
    let (on_true, on_false) = (op.operand(1), op.operand(2));
    let (a, b) = (on_true.tensor()?, on_false.tensor()?);
    if !a.element.compatible(&b.element) {
        invalid!("mismatched operand types: {on_true} and {on_false}");
    }
    let pred = op.operand(0).tensor()?;
    match numpy(&a.shape, &b.shape).and_then(|shape| numpy(&shape, &pred.shape)) {
        Some(shape) => op.infers_shape(0, &shape),
        None => Ok(()),
    }
}

fn top_k(op: Op<'_>) -> Check {
    let (operand, k) = (op.operand(0).tensor()?, op.int("k")?);
    let mut shape = operand.shape.clone();
    let Some(last) = shape.last_mut() else { invalid!("operand's rank must be at least 1") };
    if *last != DYNAMIC && *last < k {
        invalid!("operand's last dimension must be at least {k}, but got {}", op.operand(0));
    }
    *last = k;
    let mut bounds = operand.bounds.clone();
    if let Some(last) = bounds.last_mut() {
        *last = DYNAMIC;
    }
    op.infers(0, &Tensor { shape: shape.clone(), bounds: bounds.clone(), element: operand.element.clone() })?;
    op.infers(1, &Tensor { shape, bounds, element: Element::Plain(ElementType::Int(32)) })
}

fn constant_like(op: Op<'_>) -> Check {
    let (Some(Attr::Int { ty, .. } | Attr::Float { ty, .. }), result) = (op.attr("value"), op.result(0))
    else {
        return Ok(());
    };
    match op.module().types.get(*ty) {
        Type::Scalar(element) if result.tensor()?.element != Element::Plain(*element) => {
            invalid!("value's type '{element}' doesn't match element return type {result}")
        }
        _ => Ok(()),
    }
}
