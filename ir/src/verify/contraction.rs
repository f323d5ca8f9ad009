//! Matrix products.

use super::Verdict;
use super::site::{Site, dimensions, require, same_size};
use crate::{Attr, Dim, OpKind, TensorType};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    site.operand_count(2, 2)?;
    precision(site)?;
    let (Some(lhs), Some(rhs)) = (site.operand(0), site.operand(1)) else { return Ok(()) };
    match site.kind() {
        OpKind::Dot => dot(site, lhs, rhs),
        _ => dot_general(site, lhs, rhs),
    }
}

/// At most one precision per operand.
pub(super) fn precision(site: &Site<'_>) -> Verdict {
    match site.attr("precision_config") {
        Some(Attr::Array(items)) => require(items.len() <= 2, || {
            format!("precision_config has {} elements, but there are 2 operands", items.len())
        }),
        _ => Ok(()),
    }
}

fn dot(site: &Site<'_>, lhs: &TensorType, rhs: &TensorType) -> Verdict {
    let ranks = (1..=2).contains(&lhs.rank()) && (1..=2).contains(&rhs.rank());
    require(ranks, || format!("takes vectors and matrices, not {} and {}", site.show(lhs), site.show(rhs)))?;
    let contracted = lhs.shape[lhs.rank() - 1];
    require(same_size(contracted, rhs.shape[0]), || {
        format!("the last dimension of {} and the first of {} differ", site.show(lhs), site.show(rhs))
    })?;
    let shape: Vec<Dim> = lhs.shape[..lhs.rank() - 1].iter().chain(&rhs.shape[1..]).copied().collect();
    result_shape(site, &shape)
}

fn dot_general(site: &Site<'_>, lhs: &TensorType, rhs: &TensorType) -> Verdict {
    let Some(Attr::DotDims(dims)) = site.attr("dot_dimension_numbers") else { return Ok(()) };
    let pairs = |name: &str, left: &[i64], right: &[i64]| {
        require(left.len() == right.len(), || {
            format!(
                "lhs and rhs need as many {name} dimensions as each other, but have {} and {}",
                left.len(),
                right.len()
            )
        })
    };
    pairs("batching", &dims.lhs_batching, &dims.rhs_batching)?;
    pairs("contracting", &dims.lhs_contracting, &dims.rhs_contracting)?;
    let all = |batching: &[i64], contracting: &[i64]| [batching, contracting].concat();
    let left = dimensions(
        &all(&dims.lhs_batching, &dims.lhs_contracting),
        lhs.rank(),
        "lhs_batching_dimensions and lhs_contracting_dimensions",
    )?;
    let right = dimensions(
        &all(&dims.rhs_batching, &dims.rhs_contracting),
        rhs.rank(),
        "rhs_batching_dimensions and rhs_contracting_dimensions",
    )?;
    for (&l, &r) in left.iter().zip(&right) {
        require(same_size(lhs.shape[l], rhs.shape[r]), || {
            format!(
                "dimension {l} of {} and dimension {r} of {} differ in size",
                site.show(lhs),
                site.show(rhs)
            )
        })?;
    }
    let batches = left[..dims.lhs_batching.len()].iter().map(|d| lhs.shape[*d]);
    let free = |ty: &TensorType, used: &[usize]| -> Vec<Dim> {
        (0..ty.rank()).filter(|d| !used.contains(d)).map(|d| ty.shape[d]).collect()
    };
    let shape: Vec<Dim> = batches.chain(free(lhs, &left)).chain(free(rhs, &right)).collect();
    result_shape(site, &shape)
}

/// The result may hold another element type: the accumulation's.
fn result_shape(site: &Site<'_>, shape: &[Dim]) -> Verdict {
    match site.result(0) {
        Some(result) => site.result_is(0, shape, result.element),
        None => Ok(()),
    }
}
