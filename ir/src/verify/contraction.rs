//! Matrix products.

use super::attributes::AttrKind::{DotAlgorithm, DotDims, EnumArray, String};
use super::attributes::{AttrKind, may, must};
use super::facts::{DYNAMIC, Shape, Tensor, dims_compatible};
use super::quantised;
use super::signature::Row;
use super::slots::{T, TA};
use super::view::{Check, Op, invalid};
use crate::{Attr, DotDims as Dims, ElementType, Module, OpKind as K, Type, TypeId};

/// Values of `precision_config`.
pub(super) const PRECISIONS: AttrKind =
    EnumArray("precision", &["DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE"]);

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Dot, &[T, TA], &[TA]).attributes(&[may("precision_config", PRECISIONS)]).check(dot),
    Row::new(K::DotGeneral, &[T, TA], &[TA])
        .attributes(&[
            must("dot_dimension_numbers", DotDims),
            may("precision_config", PRECISIONS),
            may("algorithm", DotAlgorithm),
        ])
        .check(dot_general),
    Row::new(K::Einsum, &[T, T], &[T]).attributes(&[must("einsum_config", String)]),
    Row::new(K::UnaryEinsum, &[T], &[T]).attributes(&[must("einsum_config", String)]),
];

/// At most one precision per operand.
pub(super) fn precision_config(op: Op<'_>) -> Check {
    match op.attr("precision_config") {
        Some(Attr::Array(items)) if items.len() > 2 => {
            invalid!("expects precision config to be empty or have <= 2 elements, got {}", items.len())
        }
        _ => Ok(()),
    }
}

fn dot(op: Op<'_>) -> Check {
    precision_config(op)?;
    let (lhs, rhs) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let contracted = match (&lhs.shape[..], &rhs.shape[..]) {
        ([.., a], [b] | [b, _]) if lhs.shape.len() <= 2 => dims_compatible(*a, *b),
        _ => invalid!(
            "expected both lhs/rhs ranks to be either 1 or 2, but got {} and {}",
            op.operand(0),
            op.operand(1)
        ),
    };
    if !contracted {
        invalid!(
            "contracting dimension sizes must match for lhs/rhs: {} and {}",
            op.operand(0),
            op.operand(1)
        );
    }
    let kept = lhs.shape[..lhs.shape.len() - 1].iter().chain(&rhs.shape[1..]);
    op.infers_shape(0, &kept.copied().collect::<Shape>())
}

fn dot_general(op: Op<'_>) -> Check {
    precision_config(op)?;
    let dims = op.dot_dims("dot_dimension_numbers")?;
    dimensions(op, dims)?;
    let (lhs, rhs) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let mut shape: Shape = dims.lhs_batching.iter().map(|dim| lhs.shape[*dim as usize]).collect();
    shape.extend(free(lhs, &dims.lhs_batching, &dims.lhs_contracting));
    shape.extend(free(rhs, &dims.rhs_batching, &dims.rhs_contracting));
    op.infers_shape(0, &shape)?;
    algorithm(op)?;
    if quantised::any(&[lhs, rhs, op.result(0).tensor()?]) {
        quantised_dot(op, &dims.rhs_contracting)?;
    }
    Ok(())
}

/// Sizes of the dimensions that are neither batching nor contracted.
pub(super) fn free(tensor: &Tensor, batching: &[i64], contracting: &[i64]) -> Shape {
    let kept = |dim: &i64| !batching.contains(dim) && !contracting.contains(dim);
    (0..tensor.rank()).filter(kept).map(|dim| tensor.shape[dim as usize]).collect()
}

/// Dimension numbers pair up, are distinct, in range, and of equal sizes.
pub(super) fn dimensions(op: Op<'_>, dims: &Dims) -> Check {
    let (lhs, rhs) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let pairs = [
        ("batching", &dims.lhs_batching, &dims.rhs_batching),
        ("contracting", &dims.lhs_contracting, &dims.rhs_contracting),
    ];
    for (what, a, b) in pairs {
        if a.len() != b.len() {
            let (a, b) = (a.len(), b.len());
            invalid!("lhs and rhs should have the same number of {what} dimensions, but have {a} and {b}");
        }
    }
    side("lhs", lhs, &dims.lhs_batching, &dims.lhs_contracting)?;
    side("rhs", rhs, &dims.rhs_batching, &dims.rhs_contracting)?;
    for (what, a, b) in pairs {
        for (a, b) in a.iter().zip(b) {
            let bounds = (lhs.bound(*a as usize), rhs.bound(*b as usize));
            let (a, b) = (lhs.shape[*a as usize], rhs.shape[*b as usize]);
            let fits = |size: i64, bound: i64| bound == DYNAMIC || size <= bound;
            if !dims_compatible(a, b) || !fits(a, bounds.1) || !fits(b, bounds.0) {
                invalid!("{what} dimension sizes must match for lhs/rhs, but got {a} and {b}");
            }
        }
    }
    Ok(())
}

/// Dimensions of one operand: distinct and in range.
fn side(name: &str, tensor: &Tensor, batching: &[i64], contracting: &[i64]) -> Check {
    let all: Vec<i64> = batching.iter().chain(contracting).copied().collect();
    if let Some((_, dim)) = all.iter().enumerate().find(|(index, dim)| all[..*index].contains(dim)) {
        invalid!(
            "has duplicated dimension from {name}_batching_dimensions and {name}_contracting_dimensions: {dim}"
        );
    }
    let rank = tensor.rank();
    for (what, dims) in [("batching", batching), ("contracting", contracting)] {
        if let Some(dim) = dims.iter().find(|dim| !(0..rank).contains(*dim)) {
            invalid!("{name}_{what}_dimensions value: {dim} is out of range: [0, {rank})");
        }
    }
    Ok(())
}

/// Zero points of the right operand, then what convolution asks too.
fn quantised_dot(op: Op<'_>, contracting: &[i64]) -> Check {
    let rhs = op.operand(1).tensor()?;
    if let Some(quant) = rhs.element.quant() {
        if quant.steps.iter().any(|(_, zero)| *zero != 0) {
            invalid!("Zero point of rhs should be 0, but got {}", op.operand(1));
        }
        if quant.axis.is_some_and(|axis| contracting.contains(&axis)) {
            invalid!("Quantization dimension of rhs should not be in the contracting dimension of rhs");
        }
    }
    quantised::product(op)
}

/// Algorithms of a single component that some hardware has: precision of both
/// operands, accumulation, primitive operations (StableHLO, `dot_general`).
const ALGORITHMS: &[(ElementType, ElementType, &[i64])] = &[
    (ElementType::F16, ElementType::F16, &[1]),
    (ElementType::F16, ElementType::F32, &[1]),
    (ElementType::Bf16, ElementType::Bf16, &[1]),
    (ElementType::Bf16, ElementType::F32, &[1, 3, 6, 9]),
    (ElementType::Tf32, ElementType::F32, &[1, 3]),
    (ElementType::F32, ElementType::F32, &[1]),
    (ElementType::F64, ElementType::F64, &[1]),
];

fn scalar(module: &Module, ty: TypeId) -> Option<ElementType> {
    match module.types.get(ty) {
        Type::Scalar(element) => Some(*element),
        _ => None,
    }
}

fn algorithm(op: Op<'_>) -> Check {
    let Some(Attr::DotAlgorithm(given)) = op.attr("algorithm") else { return Ok(()) };
    let counts = [
        ("lhs component count", given.lhs_component_count),
        ("rhs component count", given.rhs_component_count),
        ("num primitive operations", given.num_primitive_operations),
    ];
    if let Some((what, value)) = counts.iter().find(|(_, value)| *value < 1) {
        invalid!("{what} must be positive, but got {value}");
    }
    let element = |ty| scalar(op.module(), ty);
    let (lhs, rhs) = (element(given.lhs_precision_type), element(given.rhs_precision_type));
    let (Some(lhs), Some(rhs), Some(accumulation)) = (lhs, rhs, element(given.accumulation_type)) else {
        invalid!(
            "dot algorithm not known to be supported on any hardware: its precisions are no scalar types"
        )
    };
    let eight = |element: ElementType| {
        element.bit_width() == 8 && element.is_float() && element != ElementType::F8E8M0FNU
    };
    let (single, steps) = (counts[0].1 == 1 && counts[1].1 == 1, given.num_primitive_operations);
    let known = single
        && if eight(lhs) && eight(rhs) {
            accumulation == ElementType::F32 && steps == 1
        } else {
            let row = ALGORITHMS.iter().find(|row| lhs == row.0 && rhs == row.0 && accumulation == row.1);
            !given.allow_imprecise_accumulation && row.is_some_and(|row| row.2.contains(&steps))
        };
    if !known {
        invalid!(
            "dot algorithm not known to be supported on any hardware: {{lhs:'{lhs}', rhs:'{rhs}', \
             accum:'{accumulation}', lhs_components:{}, rhs_components:{}, primitive_ops:{steps}, imprecise:{}}}",
            counts[0].1,
            counts[1].1,
            u8::from(given.allow_imprecise_accumulation)
        );
    }
    let precise = match op.attr("precision_config") {
        Some(Attr::Array(items)) => items.iter().any(|item| match op.module().attrs.get(*item) {
            Attr::Enum(_, value) => op.module().names.get(*value) != "DEFAULT",
            _ => false,
        }),
        _ => false,
    };
    if precise {
        invalid!("must specify DEFAULT precision config when algorithm is set");
    }
    Ok(())
}
