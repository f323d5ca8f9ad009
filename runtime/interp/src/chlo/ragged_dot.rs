//! `chlo.ragged_dot`: a contraction in groups along one dimension.

use crate::dot::contract;
use crate::elementwise::binary;
use crate::error::{Outcome, invalid, unsupported};
use crate::movement::{concatenate, slice};
use crate::shape::{Shape, advance, count, offset_of, strides};
use crate::site::Site;
use crate::tensor::{Data, Storage, Tensor, with_data};
use ckpt_ir::{Attr, DotDims, OpKind};
use smallvec::SmallVec;

/// `#chlo.ragged_dot<…>`.
struct RaggedDims {
    dot: DotDims,
    ragged: i64,
    group: Option<i64>,
}

impl RaggedDims {
    /// Reads the attribute, which the project keeps as its text.
    fn of(site: Site<'_>) -> Outcome<Self> {
        let Some(Attr::Opaque(text)) = site.attr("ragged_dot_dimension_numbers") else {
            return invalid("ragged_dot needs dimension numbers");
        };
        let text = site.module.names.get(*text);
        let list = |name: &str| -> Vec<i64> {
            let after = text.split_once(name).and_then(|(_, rest)| rest.split_once('['));
            let inside = after.and_then(|(_, rest)| rest.split_once(']')).map_or("", |(inside, _)| inside);
            inside.split(',').filter_map(|number| number.trim().parse().ok()).collect()
        };
        let dot = DotDims {
            lhs_batching: list("lhs_batching_dimensions"),
            rhs_batching: list("rhs_batching_dimensions"),
            lhs_contracting: list("lhs_contracting_dimensions"),
            rhs_contracting: list("rhs_contracting_dimensions"),
        };
        match list("lhs_ragged_dimensions")[..] {
            [ragged] => Ok(Self { dot, ragged, group: list("rhs_group_dimensions").first().copied() }),
            _ => invalid("ragged_dot has one ragged dimension"),
        }
    }
}

/// Where each group starts and ends, for each index of the leading dimensions
/// of `group_sizes`.
struct Groups {
    ends: Vec<i64>,
    count: usize,
    prefix: Shape,
}

impl Groups {
    fn of(sizes: &Tensor) -> Outcome<Self> {
        let Some((&groups, prefix)) = sizes.shape.split_last() else {
            return invalid("group_sizes is a vector at least");
        };
        let mut ends = sizes.to_i64s()?;
        for row in ends.chunks_exact_mut(groups.max(1)) {
            for at in 1..groups {
                row[at] = row[at].saturating_add(row[at - 1]);
            }
        }
        Ok(Self { ends, count: groups, prefix: prefix.into() })
    }

    /// Whether position `at` of the ragged dimension is in a group.
    fn contains(&self, group: usize, prefix: &[usize], at: usize) -> bool {
        let prefix = &prefix[..self.prefix.len().min(prefix.len())];
        let row = offset_of(prefix, &strides(&self.prefix)) * self.count;
        let end = |at: usize| self.ends.get(row + at).copied().unwrap_or(0);
        let start = if group == 0 { 0 } else { end(group - 1) };
        (start..end(group)).contains(&(at as i64))
    }
}

/// Evaluates `chlo.ragged_dot`.
pub(super) fn ragged_dot(site: Site<'_>, lhs: &Tensor, rhs: &Tensor, sizes: &Tensor) -> Outcome<Tensor> {
    let dims = RaggedDims::of(site)?;
    let element = site.result_element()?;
    if dims.dot.lhs_batching.contains(&dims.ragged) {
        return contract(lhs, rhs, &dims.dot, element);
    }
    let groups = Groups::of(sizes)?;
    if groups.prefix.len() > dims.dot.lhs_batching.len() {
        return unsupported("group sizes that vary along more than the batch dimensions");
    }
    match dims.dot.lhs_contracting.iter().position(|dim| *dim == dims.ragged) {
        Some(position) => contracting(&dims, position, lhs, rhs, &groups, element),
        None => free(&dims, lhs, rhs, &groups, element),
    }
}

/// The ragged dimension is one of the result: each of its groups has a right
/// operand of its own.
fn free(
    dims: &RaggedDims,
    lhs: &Tensor,
    rhs: &Tensor,
    groups: &Groups,
    element: ckpt_ir::ElementType,
) -> Outcome<Tensor> {
    let group_dim = dims.group.and_then(|dim| usize::try_from(dim).ok()).filter(|dim| *dim < rhs.shape.len());
    let Some(group_dim) = group_dim else { return invalid("rhs_group_dimensions names no dimension") };
    if rhs.shape[group_dim] != groups.count {
        return invalid("there are more or fewer groups than group sizes");
    }
    let batch = dims.dot.lhs_batching.len();
    let others = (0..dims.ragged)
        .filter(|dim| !dims.dot.lhs_batching.contains(dim) && !dims.dot.lhs_contracting.contains(dim));
    let ragged = batch + others.count();
    let mut own = dims.dot.clone();
    for dim in own.rhs_batching.iter_mut().chain(&mut own.rhs_contracting) {
        *dim -= i64::from(*dim > group_dim as i64);
    }
    let mut result: Option<Tensor> = None;
    for group in 0..groups.count {
        let product = contract(lhs, &without(rhs, group_dim, group)?, &own, element)?;
        let shape = product.shape.clone();
        let kept = mask(product, |index| groups.contains(group, &index[..batch], index[ragged]));
        result = Some(match result {
            None => kept,
            // Every row is in one group, the others hold zeros.
            Some(sum) => {
                debug_assert_eq!(sum.shape, shape);
                let missing = || unsupported("ragged_dot of this element type");
                binary(OpKind::Add, &sum, &kept).unwrap_or_else(missing)?
            }
        });
    }
    result.map_or_else(|| invalid("ragged_dot has no group"), Ok)
}

/// The ragged dimension is summed over: the groups' sums lie along a new first dimension.
fn contracting(
    dims: &RaggedDims,
    position: usize,
    lhs: &Tensor,
    rhs: &Tensor,
    groups: &Groups,
    element: ckpt_ir::ElementType,
) -> Outcome<Tensor> {
    let of = |dims: &[i64]| dims.iter().map(|dim| *dim as usize).collect::<Vec<usize>>();
    let (left, right) = (of(&dims.dot.lhs_batching), of(&dims.dot.rhs_batching));
    let (left_at, right_at) = (dims.ragged as usize, of(&dims.dot.rhs_contracting));
    let Some(&right_at) = right_at.get(position) else {
        return invalid("the operands of ragged_dot contract different numbers of dimensions");
    };
    let named = left.iter().chain([&left_at]).all(|dim| *dim < lhs.shape.len());
    if !named || !right.iter().chain([&right_at]).all(|dim| *dim < rhs.shape.len()) {
        return invalid("dimension numbers name a dimension that is not there");
    }
    let prefix = |index: &[usize], batch: &[usize]| batch.iter().map(|dim| index[*dim]).collect::<Shape>();
    let mut parts = Vec::new();
    for group in 0..groups.count {
        let inside = |index: &[usize]| groups.contains(group, &prefix(index, &left), index[left_at]);
        let lhs = mask(lhs.clone(), inside);
        let inside = |index: &[usize]| groups.contains(group, &prefix(index, &right), index[right_at]);
        let rhs = mask(rhs.clone(), inside);
        let part = contract(&lhs, &rhs, &dims.dot, element)?;
        let shape: Shape = [&[1][..], &part.shape].concat().into();
        parts.push(part.reshaped(shape));
    }
    concatenate(&parts.iter().collect::<Vec<_>>(), 0)
}

/// The slice at `index` of a dimension, without that dimension.
fn without(tensor: &Tensor, dimension: usize, index: usize) -> Outcome<Tensor> {
    let mut starts: Shape = SmallVec::from_elem(0, tensor.shape.len());
    let mut limits = tensor.shape.clone();
    (starts[dimension], limits[dimension]) = (index, index + 1);
    let mut part = slice(tensor, &starts, &limits, &vec![1; limits.len()])?;
    part.shape.remove(dimension);
    Ok(part)
}

/// The tensor with zeros where `kept` does not hold.
fn mask(mut tensor: Tensor, kept: impl Fn(&[usize]) -> bool) -> Tensor {
    let mut bits = Vec::with_capacity(count(&tensor.shape));
    let mut index: Shape = SmallVec::from_elem(0, tensor.shape.len());
    if !tensor.is_empty() {
        loop {
            bits.push(kept(&index));
            if !advance(&mut index, &tensor.shape) {
                break;
            }
        }
    }
    fn run<S: Storage>(elements: &[S], bits: &[bool]) -> Data {
        S::wrap(elements.iter().zip(bits).map(|(x, kept)| if *kept { *x } else { S::default() }).collect())
    }
    tensor.data = with_data!(&tensor.data, v => run(v, &bits));
    tensor
}
