//! Batch normalisation.

use super::attributes::AttrKind::{F32, I64NonNegative};
use super::attributes::{AttrRule, must};
use super::facts::{Tensor, dims_compatible};
use super::signature::Relation::CompatibleElement;
use super::signature::{Row, Slot};
use super::slots::FQ;
use super::view::{Check, Op, invalid, sizes};
use crate::OpKind as K;
use smallvec::{SmallVec, smallvec};

const ATTRIBUTES: &[AttrRule] = &[must("epsilon", F32), must("feature_index", I64NonNegative)];
/// One value per feature.
const V: Slot = FQ.rank(1);

const fn row(kind: K, operands: &'static [Slot], results: &'static [Slot]) -> Row {
    Row::new(kind, operands, results).relations(&[CompatibleElement]).attributes(ATTRIBUTES)
}

pub(super) const ROWS: &[Row] = &[
    row(K::BatchNormTraining, &[FQ, V, V], &[FQ, V, V]).check(training),
    row(K::BatchNormInference, &[FQ, V, V, V, V], &[FQ]).check(inference),
    row(K::BatchNormGrad, &[FQ, V, V, V, FQ], &[FQ, V, V]).check(grad),
];

fn training(op: Op<'_>) -> Check {
    operands(op, &[0], &[1, 2])?;
    results(op)
}

fn inference(op: Op<'_>) -> Check {
    operands(op, &[0], &[1, 2, 3, 4])?;
    op.infers(0, op.operand(0).tensor()?)
}

fn grad(op: Op<'_>) -> Check {
    operands(op, &[0, 4], &[1, 2, 3])?;
    results(op)
}

/// Operands of the full shape agree, those of one dimension agree with each
/// other and with the number of features.
fn operands(op: Op<'_>, full: &[usize], vectors: &[usize]) -> Check {
    for (what, group) in [("multi-dimensional", full), ("single-dimensional", vectors)] {
        let first = op.operand(group[0]).tensor()?;
        for index in group {
            let other = op.operand(*index);
            if !other.tensor()?.shape_compatible(first) {
                let first = op.operand(group[0]);
                invalid!("expects {what} operands to have compatible shapes, but got {first} and {other}");
            }
        }
    }
    let (operand, feature) = (op.operand(0).tensor()?, op.int("feature_index")?);
    let features = usize::try_from(feature).ok().and_then(|feature| operand.shape.get(feature).copied());
    let Some(features) = features else {
        invalid!(
            "expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex \
             {feature}, and rank {}",
            operand.rank()
        )
    };
    let size = op.operand(vectors[0]).tensor()?.shape[0];
    if !dims_compatible(size, features) {
        let (size, features) = (sizes(&[size]), sizes(&[features]));
        invalid!(
            "expects the size of single-dimensional operands to be compatible with feature count, but the size of \
             single-dimensional operands is {size} and the feature count is {features}"
        );
    }
    Ok(())
}

fn results(op: Op<'_>) -> Check {
    let operand = op.operand(0).tensor()?;
    let feature = usize::try_from(op.int("feature_index")?).unwrap_or_default();
    op.infers(0, operand)?;
    let bounds: SmallVec<[i64; 2]> = operand.bounds.get(feature).copied().into_iter().collect();
    let vector =
        Tensor { shape: smallvec![operand.shape[feature]], bounds, element: operand.element.clone() };
    op.infers(1, &vector)?;
    op.infers(2, &vector)
}
