//! Convolutions.

use super::Verdict;
use super::contraction::precision;
use super::site::{Site, require, same_size};
use crate::{Attr, ConvDims, Dim, TensorType};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    site.operand_count(2, 2)?;
    precision(site)?;
    let (Some(lhs), Some(rhs)) = (site.operand(0), site.operand(1)) else { return Ok(()) };
    let Some(Attr::ConvDims(dims)) = site.attr("dimension_numbers") else { return Ok(()) };
    require(lhs.rank() == rhs.rank(), || {
        format!("needs input and kernel of one rank, but has {} and {}", site.show(lhs), site.show(rhs))
    })?;
    dimension_numbers(dims, lhs.rank())?;
    groups(site, dims, lhs, rhs)?;
    output(site, dims, lhs, rhs)
}

/// Each of input, kernel and output numbers all its dimensions.
fn dimension_numbers(dims: &ConvDims, rank: usize) -> Verdict {
    let whole = |name: &str, special: [i64; 2], spatial: &[i64]| {
        let mut all = [&special[..], spatial].concat();
        all.sort_unstable();
        let expected: Vec<i64> = (0..rank as i64).collect();
        require(all == expected, || format!("{name} dimension numbers {all:?} are not those of rank {rank}"))
    };
    whole("input", [dims.input_batch, dims.input_feature], &dims.input_spatial)?;
    whole("kernel", [dims.kernel_input_feature, dims.kernel_output_feature], &dims.kernel_spatial)?;
    whole("output", [dims.output_batch, dims.output_feature], &dims.output_spatial)
}

fn groups(site: &Site<'_>, dims: &ConvDims, lhs: &TensorType, rhs: &TensorType) -> Verdict {
    let count = |name: &str| match site.int(name) {
        Some(groups) if groups <= 0 => Err(format!("{name} must be positive, but is {groups}")),
        groups => Ok(groups.unwrap_or(1) as u64),
    };
    let (feature, batch) = (count("feature_group_count")?, count("batch_group_count")?);
    require(feature == 1 || batch == 1, || {
        format!("batch_group_count {batch} and feature_group_count {feature} cannot both be above 1")
    })?;
    let size = |ty: &TensorType, dim: i64| match ty.shape[dim as usize] {
        Dim::Static(size) => Some(size),
        Dim::Dynamic => None,
    };
    let divides = |size: Option<u64>, groups: u64, what: &str| {
        require(size.is_none_or(|size| size % groups == 0), || {
            format!("{what} {} is not a multiple of the {groups} groups", size.unwrap_or(0))
        })
    };
    divides(size(lhs, dims.input_batch), batch, "the input's batch size")?;
    divides(size(lhs, dims.input_feature), feature, "the input's feature count")?;
    divides(size(rhs, dims.kernel_output_feature), batch, "the kernel's output feature count")?;
    divides(size(rhs, dims.kernel_output_feature), feature, "the kernel's output feature count")?;
    match (size(lhs, dims.input_feature), size(rhs, dims.kernel_input_feature)) {
        (Some(input), Some(kernel)) => require(input / feature == kernel, || {
            format!(
                "the input's {input} features in {feature} groups are not the kernel's {kernel} input features"
            )
        }),
        _ => Ok(()),
    }
}

fn output(site: &Site<'_>, dims: &ConvDims, lhs: &TensorType, rhs: &TensorType) -> Verdict {
    let rank = dims.input_spatial.len();
    let strides = site.ints_or("window_strides", rank, 1)?;
    let lhs_dilation = site.ints_or("lhs_dilation", rank, 1)?;
    let rhs_dilation = site.ints_or("rhs_dilation", rank, 1)?;
    let padding = site.padding(rank)?;
    if let Some(Attr::DenseIntArray { values, .. }) = site.attr("window_reversal") {
        require(values.len() == rank, || {
            format!("window_reversal has {} values for {rank} dimensions", values.len())
        })?;
    }
    let positive = |name: &str, values: &[i64]| {
        let bad = values.iter().find(|v| **v <= 0);
        require(bad.is_none(), || format!("{name} must be positive, but has {}", bad.unwrap_or(&0)))
    };
    positive("window_strides", &strides)?;
    positive("lhs_dilation", &lhs_dilation)?;
    positive("rhs_dilation", &rhs_dilation)?;
    let Some(result) = site.result(0) else { return Ok(()) };
    require(result.rank() == lhs.rank(), || {
        format!("needs a result of rank {}, but has {}", lhs.rank(), site.show(result))
    })?;
    let mut shape = vec![Dim::Dynamic; lhs.rank()];
    let batch_groups = site.int("batch_group_count").unwrap_or(1) as u64;
    shape[dims.output_batch as usize] = match lhs.shape[dims.input_batch as usize] {
        Dim::Static(batch) => Dim::Static(batch / batch_groups),
        Dim::Dynamic => Dim::Dynamic,
    };
    shape[dims.output_feature as usize] = rhs.shape[dims.kernel_output_feature as usize];
    for d in 0..rank {
        let input = lhs.shape[dims.input_spatial[d] as usize];
        let kernel = rhs.shape[dims.kernel_spatial[d] as usize];
        if let (Dim::Static(input), Dim::Static(kernel)) = (input, kernel) {
            require(kernel > 0, || format!("the kernel's size is 0 in spatial dimension {d}"))?;
            let window = Window { size: kernel, stride: strides[d], dilation: rhs_dilation[d] };
            let base = dilated(input, lhs_dilation[d]) + i128::from(padding[d].0) + i128::from(padding[d].1);
            shape[dims.output_spatial[d] as usize] = Dim::Static(window.count(base));
        }
    }
    site.result_is(0, &shape, result.element)?;
    let fits = shape.iter().zip(&result.shape).all(|(a, b)| same_size(*a, *b));
    require(fits, || format!("does not give {}", site.show(result)))
}

/// A window along one dimension.
pub(super) struct Window {
    pub(super) size: u64,
    pub(super) stride: i64,
    pub(super) dilation: i64,
}

impl Window {
    /// How many places it has in `base` elements.
    pub(super) fn count(&self, base: i128) -> u64 {
        let size = dilated(self.size, self.dilation);
        if base <= 0 || size > base { 0 } else { ((base - size) / i128::from(self.stride.max(1))) as u64 + 1 }
    }
}

/// The extent of elements with gaps between them.
pub(super) fn dilated(size: u64, dilation: i64) -> i128 {
    if size == 0 { 0 } else { (i128::from(size) - 1) * i128::from(dilation) + 1 }
}
