//! Convolutions.

use super::attributes::AttrKind::{BoolArray, ConvDims, I64Array, I64Elements, I64Positive};
use super::attributes::{AttrRule, may, must};
use super::contraction::{PRECISIONS, precision_config};
use super::facts::{DYNAMIC, Shape, dims_compatible};
use super::quantised;
use super::shape::distinct;
use super::signature::Row;
use super::slots::{I, T, TA};
use super::view::{Check, Op, Stop, invalid, sizes};
use super::windows::{Window, WindowAttrs, output_shape, padding, windows};
use crate::{ConvDims as Dims, OpKind as K};

const ATTRIBUTES: &[AttrRule] = &[
    may("window_strides", I64Array),
    may("padding", I64Elements),
    may("lhs_dilation", I64Array),
    may("rhs_dilation", I64Array),
    may("window_reversal", BoolArray),
    must("dimension_numbers", ConvDims),
    must("feature_group_count", I64Positive),
    must("batch_group_count", I64Positive),
    may("precision_config", PRECISIONS),
];

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Convolution, &[T, TA], &[TA]).attributes(ATTRIBUTES).check(convolution),
    Row::new(K::DynamicConv, &[T, T, I.rank(2).fixed()], &[T]).attributes(ATTRIBUTES).check(dynamic_conv),
];

fn convolution(op: Op<'_>) -> Check {
    operands(op)?;
    shape(op, padding(op)?)
}

fn dynamic_conv(op: Op<'_>) -> Check {
    operands(op)?;
    let (given, rank) = (op.operand(2).tensor()?, op.operand(0).tensor()?.rank());
    if given.shape[0] != rank - 2 || given.shape[1] != 2 {
        let (wanted, given) = (rank - 2, sizes(&given.shape));
        invalid!("expects padding to be of shape [{wanted}, 2], but got [{given}]");
    }
    match op.constant_operand(2) {
        Some(values) => shape(op, Some(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())),
        None => {
            attributes(op, None)?;
            quantised_convolution(op, op.conv_dims("dimension_numbers")?)
        }
    }
}

/// Ranks, element types, dimension numbers and group counts.
fn operands(op: Op<'_>) -> Check {
    let (lhs, rhs) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    if lhs.rank() < 2 {
        let (lhs, rhs) = (op.operand(0), op.operand(1));
        invalid!("expects convolution arguments to have >= 2 dimensions. Got: {lhs} and {rhs}");
    }
    if lhs.rank() != rhs.rank() {
        let (lhs, rhs) = (op.operand(0), op.operand(1));
        invalid!("expects convolution arguments to have same number of dimensions. Got: {lhs} and {rhs}");
    }
    if !quantised::any(&[lhs, rhs]) && !lhs.element.compatible(&rhs.element) {
        let (lhs, rhs) = (op.quoted_element(&lhs.element), op.quoted_element(&rhs.element));
        invalid!("expects lhs and rhs to have compatible element type. Got: {lhs} and {rhs}");
    }
    let dims = op.conv_dims("dimension_numbers")?;
    dimension_numbers(dims, lhs.rank())?;
    groups(op, dims)?;
    precision_config(op)?;
    let wanted = dims.input_spatial.len() as i64 + 2;
    if lhs.rank() != wanted {
        invalid!("expects convolution arguments to have {wanted} dimensions. Got: {}", lhs.rank());
    }
    Ok(())
}

fn dimension_numbers(dims: &Dims, rank: i64) -> Check {
    let (input, kernel, output) =
        (dims.input_spatial.len(), dims.kernel_spatial.len(), dims.output_spatial.len());
    if input != kernel || input != output {
        invalid!(
            "expects the same size for input, kernel and output spatial-dimensions, but got {input}, {kernel}, and \
             {output} resp."
        );
    }
    let all = |a: i64, b: i64, spatial: &[i64]| [&[a, b], spatial].concat();
    let lists = [
        ("input", all(dims.input_batch, dims.input_feature, &dims.input_spatial)),
        ("kernel", all(dims.kernel_input_feature, dims.kernel_output_feature, &dims.kernel_spatial)),
        ("output", all(dims.output_batch, dims.output_feature, &dims.output_spatial)),
    ];
    if let Some((name, list)) = lists.iter().find(|(_, list)| list.iter().any(|dim| !(0..rank).contains(dim)))
    {
        let list = sizes(list);
        invalid!(
            "expects input, kernel, and output dimension-numbers to be in-range [0, {rank}), but the {name}'s are \
             {{{list}}}"
        );
    }
    if let Some((name, list)) = lists.iter().find(|(_, list)| !distinct(list)) {
        invalid!("expects {name} dimension-numbers to be unique, got {{{}}}", sizes(list));
    }
    Ok(())
}

fn groups(op: Op<'_>, dims: &Dims) -> Check {
    let (lhs, rhs) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let (features, batches) = (op.int("feature_group_count")?, op.int("batch_group_count")?);
    if features > 1 && batches > 1 {
        invalid!(
            "expects batch_group_count and feature_group_count not to be both greater than 1. Got {batches} and \
             {features} resp."
        );
    }
    let at = |shape: &Shape, dim: i64| shape[dim as usize];
    let (batch, feature) = (at(&lhs.shape, dims.input_batch), at(&lhs.shape, dims.input_feature));
    let (inner, outer) =
        (at(&rhs.shape, dims.kernel_input_feature), at(&rhs.shape, dims.kernel_output_feature));
    let divides = |size: i64, by: i64| size == DYNAMIC || size % by == 0;
    if !divides(batch, batches) {
        invalid!(
            "expects input batch dimension ({batch}) to be divisible by batch_group_count. Got batch_group_count = \
             {batches}"
        );
    }
    if !divides(feature, features) {
        invalid!(
            "expects input feature dimension ({feature}) to be a multiple of feature_group_count. Got \
             feature_group_count = {features}"
        );
    }
    if feature != DYNAMIC && !dims_compatible(feature / features, inner) {
        invalid!(
            "expects input feature dimension ({feature}) / feature_group_count = kernel input feature dimension \
             ({inner}). Got feature_group_count = {features}"
        );
    }
    if !divides(outer, batches) {
        invalid!(
            "expects output feature dimension size ({outer}) to be a multiple of batch_group_count. Got \
             batch_group_count = {batches}"
        );
    }
    if !divides(outer, features) {
        invalid!(
            "expects kernel output feature dimension ({outer}) to be divisible by feature_group_count. For \
             feature_group_count = {features}"
        );
    }
    Ok(())
}

fn pick(shape: &[i64], dims: &[i64]) -> Shape {
    dims.iter().map(|dim| shape[*dim as usize]).collect()
}

/// The windows that the attributes describe.
fn attributes(op: Op<'_>, padding: Option<Vec<(i64, i64)>>) -> Result<Vec<Window>, Stop> {
    let (rhs, dims) = (op.operand(1).tensor()?, op.conv_dims("dimension_numbers")?);
    windows(&WindowAttrs {
        dimensions: &pick(&rhs.shape, &dims.kernel_spatial),
        strides: op.array("window_strides")?,
        base_dilations: op.array("lhs_dilation")?,
        window_dilations: op.array("rhs_dilation")?,
        padding,
        reversal: op.array("window_reversal")?.map(<[i64]>::len),
    })
}

/// The windows and the shape of the result.
fn shape(op: Op<'_>, padding: Option<Vec<(i64, i64)>>) -> Check {
    let (lhs, rhs) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let dims = op.conv_dims("dimension_numbers")?;
    let windows = attributes(op, padding)?;
    let spatial = output_shape(&pick(&lhs.shape, &dims.input_spatial), &windows);
    let batch = lhs.shape[dims.input_batch as usize];
    let mut shape = Shape::from_elem(DYNAMIC, lhs.shape.len());
    for (dim, size) in dims.output_spatial.iter().zip(spatial) {
        shape[*dim as usize] = size;
    }
    shape[dims.output_batch as usize] =
        if batch == DYNAMIC { DYNAMIC } else { batch / op.int("batch_group_count")? };
    shape[dims.output_feature as usize] = rhs.shape[dims.kernel_output_feature as usize];
    op.infers_shape(0, &shape)?;
    quantised_convolution(op, dims)
}

fn quantised_convolution(op: Op<'_>, dims: &Dims) -> Check {
    let [lhs, rhs, result] = [op.operand(0).tensor()?, op.operand(1).tensor()?, op.result(0).tensor()?];
    if !quantised::any(&[lhs, rhs, result]) {
        return Ok(());
    }
    if quantised::axis(rhs).is_some_and(|axis| axis != dims.kernel_output_feature) {
        invalid!("quantization dimension of rhs should be same with kernel_output_feature_dimension");
    }
    if quantised::axis(result).is_some_and(|axis| axis != dims.output_feature) {
        invalid!("quantization dimension of result should be same with output_feature_dimension");
    }
    quantised::product(op)
}
