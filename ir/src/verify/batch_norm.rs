//! Batch normalisation.

use super::Verdict;
use super::site::{Site, compatible, dimension, require, same_size};
use crate::OpKind;

pub(super) fn check(site: &Site<'_>) -> Verdict {
    if site.op.operands.iter().chain(&site.op.results).any(|v| site.is_opaque(*v)) {
        return Ok(());
    }
    let (Some(operand), Some(index)) = (site.operand(0), site.int("feature_index")) else { return Ok(()) };
    let feature = dimension(index, operand.rank(), "feature_index")?;
    let features = operand.shape[feature];
    let vectors = match site.kind() {
        OpKind::BatchNormTraining => 1..3,
        OpKind::BatchNormInference => 1..5,
        _ => 1..4,
    };
    for at in vectors {
        let Some(ty) = site.operand(at) else { continue };
        require(ty.rank() == 1 && same_size(ty.shape[0], features) && ty.element == operand.element, || {
            format!(
                "operand #{at} must be a vector over the features of {}, but is {}",
                site.show(operand),
                site.show(ty)
            )
        })?;
    }
    if let Some(gradient) = site.operand(4).filter(|_| site.kind() == OpKind::BatchNormGrad) {
        require(compatible(&gradient.shape, &operand.shape) && gradient.element == operand.element, || {
            format!(
                "needs the gradient of the operand's type {}, but has {}",
                site.show(operand),
                site.show(gradient)
            )
        })?;
    }
    site.result_is(0, &operand.shape, operand.element)?;
    for at in 1..site.op.results.len() {
        site.result_is(at, &[features], operand.element)?;
    }
    Ok(())
}
