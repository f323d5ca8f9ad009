//! `convolution`, as the specification decomposes it: windows of the padded
//! input contracted with the kernel, spatial dimensions before the features.

use crate::dot::{Sizes, matrix_product};
use crate::elementwise::convert::convert;
use crate::error::{Outcome, invalid};
use crate::movement::{Padding, concatenate, pad, slice, strided, transpose};
use crate::shape::{Shape, checked_count, count, strides};
use crate::site::Site;
use crate::tensor::Tensor;
use ckpt_ir::{Attr, ConvDims, ElementType};
use smallvec::SmallVec;

/// What an operation asks for, the dimension numbers apart.
struct Windows {
    steps: Vec<usize>,
    padding: Vec<(i64, i64)>,
    input_dilation: Vec<usize>,
    kernel_dilation: Vec<usize>,
    reversed: Vec<bool>,
}

/// Evaluates `convolution`, or `dynamic_conv` with the padding it is given.
pub(crate) fn convolution(
    site: Site<'_>,
    input: &Tensor,
    kernel: &Tensor,
    padding: Option<&Tensor>,
) -> Outcome<Tensor> {
    let Some(Attr::ConvDims(dims)) = site.attr("dimension_numbers") else {
        return invalid("convolution needs dimension numbers");
    };
    let rank = dims.input_spatial.len();
    let padding = match padding {
        Some(tensor) => {
            let numbers = tensor.to_i64s()?;
            numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
        }
        None => site.padding("padding", rank)?,
    };
    let reversed = site.sizes_or("window_reversal", rank, 0)?.iter().map(|flag| *flag != 0).collect();
    let windows = Windows {
        steps: site.sizes_or("window_strides", rank, 1)?,
        padding,
        input_dilation: site.sizes_or("lhs_dilation", rank, 1)?,
        kernel_dilation: site.sizes_or("rhs_dilation", rank, 1)?,
        reversed,
    };
    let zero = |v: &Vec<usize>| v.contains(&0);
    if zero(&windows.steps) || zero(&windows.input_dilation) || zero(&windows.kernel_dilation) {
        return invalid("strides and dilations of a convolution are positive");
    }
    if windows.padding.len() != rank || input.shape.len() != rank + 2 || kernel.shape.len() != rank + 2 {
        return invalid("the operands of a convolution do not fit its dimension numbers");
    }
    let groups = |name| site.int_attr(name).unwrap_or(1);
    grouped(
        &convert(input, site.result_element()?)?,
        &convert(kernel, site.result_element()?)?,
        dims,
        &windows,
        (groups("feature_group_count"), groups("batch_group_count")),
    )
}

/// Splits into groups, which share no terms, and joins their results.
fn grouped(
    input: &Tensor,
    kernel: &Tensor,
    dims: &ConvDims,
    windows: &Windows,
    (feature_groups, batch_groups): (i64, i64),
) -> Outcome<Tensor> {
    let (groups, along) = match (feature_groups, batch_groups) {
        (1, 1) => return plain(input, kernel, dims, windows),
        (groups @ 2.., 1) => (groups as usize, dims.input_feature),
        (1, groups @ 2..) => (groups as usize, dims.input_batch),
        _ => return invalid("a convolution has feature groups or batch groups, not both"),
    };
    let inputs = split(input, groups, along)?;
    let kernels = split(kernel, groups, dims.kernel_output_feature)?;
    let parts = inputs.iter().zip(&kernels).map(|(input, kernel)| plain(input, kernel, dims, windows));
    let parts = parts.collect::<Outcome<Vec<Tensor>>>()?;
    concatenate(&parts.iter().collect::<Vec<_>>(), dims.output_feature as usize)
}

/// Equal parts along a dimension.
pub(crate) fn split(tensor: &Tensor, parts: usize, dimension: i64) -> Outcome<Vec<Tensor>> {
    let dimension = usize::try_from(dimension).unwrap_or(usize::MAX);
    match tensor.shape.get(dimension) {
        Some(size) if parts > 0 && size % parts == 0 => {
            let size = size / parts;
            let part = |index: usize| {
                let mut starts: Shape = SmallVec::from_elem(0, tensor.shape.len());
                let mut limits = tensor.shape.clone();
                (starts[dimension], limits[dimension]) = (index * size, (index + 1) * size);
                slice(tensor, &starts, &limits, &vec![1; tensor.shape.len()])
            };
            (0..parts).map(part).collect()
        }
        _ => invalid("a dimension does not divide into the parts that are asked for"),
    }
}

/// A convolution without groups.
fn plain(input: &Tensor, kernel: &Tensor, dims: &ConvDims, windows: &Windows) -> Outcome<Tensor> {
    let order = |first: i64, spatial: &[i64], last: i64| -> Vec<usize> {
        [&[first][..], spatial, &[last]].concat().iter().map(|dim| *dim as usize).collect()
    };
    let input = transpose(input, &order(dims.input_batch, &dims.input_spatial, dims.input_feature))?;
    let kernel_order: Vec<usize> =
        [&dims.kernel_spatial[..], &[dims.kernel_input_feature, dims.kernel_output_feature]]
            .concat()
            .iter()
            .map(|dim| *dim as usize)
            .collect();
    let kernel = transpose(kernel, &kernel_order)?;
    let rank = windows.steps.len();
    let (features, outputs) = (kernel.shape[rank], kernel.shape[rank + 1]);
    if input.shape[rank + 1] != features {
        return invalid("input and kernel of a convolution differ in the number of input features");
    }
    let input = padded(&input, windows)?;
    let patches = Patches::of(&input, &kernel, windows);
    checked_count(&patches.shape)?;
    let (batch, m) = (input.shape[0], count(&patches.out));
    let sizes = Sizes { batch: 1, m, k: count(&kernel.shape[..=rank]), n: outputs };
    let mut results = Vec::new();
    for image in 0..batch {
        let rows = patches.image(&input, image);
        let data = matrix_product(&rows, &kernel, sizes)?;
        let shape: Shape = [&[1][..], &patches.out, &[outputs]].concat().into();
        results.push(Tensor { element: input.element, shape, data });
    }
    if results.is_empty() {
        let shape: Shape = [&[0][..], &patches.out, &[outputs]].concat().into();
        results.push(empty(input.element, shape)?);
    }
    let result = concatenate(&results.iter().collect::<Vec<_>>(), 0)?;
    // result[output_order[i]] = computed[i]
    let output_order = order(dims.output_batch, &dims.output_spatial, dims.output_feature);
    let mut inverse = vec![0; output_order.len()];
    for (from, &to) in output_order.iter().enumerate() {
        match inverse.get_mut(to) {
            Some(slot) => *slot = from,
            None => return invalid("dimension numbers name a dimension that is not there"),
        }
    }
    transpose(&result, &inverse)
}

fn empty(element: ElementType, shape: Shape) -> Outcome<Tensor> {
    Tensor::from_bytes(element, &shape, &[]).map_or_else(|| invalid("no such element type"), Ok)
}

/// The input with zeros around and between its elements.
fn padded(input: &Tensor, windows: &Windows) -> Outcome<Tensor> {
    let spatial = windows.padding.iter().zip(&windows.input_dilation);
    let mut padding = vec![Padding::default()];
    padding.extend(spatial.map(|((low, high), dilation)| Padding {
        low: *low,
        high: *high,
        interior: *dilation as i64 - 1,
    }));
    padding.push(Padding::default());
    if padding.iter().all(|p| *p == Padding::default()) {
        return Ok(input.clone());
    }
    let zero = Tensor::from_bytes(input.element, &[], &vec![0; input.element.byte_width() as usize]);
    let Some(zero) = zero else { return invalid("no such element type") };
    pad(input, &zero, &padding)
}

/// The windows of an image as a strided view: output position, then kernel
/// position, then feature.
struct Patches {
    out: Shape,
    shape: Shape,
    strides: SmallVec<[isize; 6]>,
    base: isize,
    image: isize,
}

impl Patches {
    fn of(input: &Tensor, kernel: &Tensor, windows: &Windows) -> Self {
        let rank = windows.steps.len();
        let from = strides(&input.shape);
        let kernel_sizes = &kernel.shape[..rank];
        let out: Shape = (0..rank)
            .map(|dim| {
                let taps = kernel_sizes[dim].saturating_sub(1);
                let span = taps.saturating_mul(windows.kernel_dilation[dim]).saturating_add(1);
                let room = input.shape[dim + 1].checked_sub(span);
                room.filter(|_| kernel_sizes[dim] > 0).map_or(0, |room| room / windows.steps[dim] + 1)
            })
            .collect();
        let stride = |dim: usize, step: usize| from[dim + 1].saturating_mul(step) as isize;
        let mut view: SmallVec<[isize; 6]> = (0..rank).map(|dim| stride(dim, windows.steps[dim])).collect();
        let mut base = 0;
        for (dim, &size) in kernel_sizes.iter().enumerate() {
            let step = stride(dim, windows.kernel_dilation[dim]);
            if windows.reversed[dim] {
                base += step * (size as isize - 1);
                view.push(-step);
            } else {
                view.push(step);
            }
        }
        view.push(1);
        let shape: Shape = [&out, kernel_sizes, &kernel.shape[rank..=rank]].concat().into();
        Self { out, shape, strides: view, base, image: from[0] as isize }
    }

    fn image(&self, input: &Tensor, image: usize) -> Tensor {
        strided(input, &self.shape, &self.strides, self.base + image as isize * self.image)
    }
}
