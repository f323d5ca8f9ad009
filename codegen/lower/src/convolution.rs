//! Convolutions: as matrix products where the window allows, else as they are.

use crate::LowerError;
use crate::attributes::{int, ints_or};
use crate::axes::{merge, sums, take_largest};
use crate::blocks::Lowering;
use crate::dot::elements;
use crate::view::{Dim, row_major};
use ckpt_ir::{Attr, ConvDims, Module, OpId};
use ckpt_runtime::{
    BufferId, ConvAxis, ConvSpatial, ConvolutionStep, Element, MatMulStep, OuterLoop, OuterSum,
    StridedOperand, Work,
};

/// Rows that a convolution must have in one piece to run as a matrix product
/// in place: fewer do not pay for packing the kernel per piece.
const MIN_ROWS_IN_PLACE: u64 = 64;

impl Lowering<'_> {
    /// A convolution as one step; none if there is no fast path.
    pub(crate) fn convolution(&mut self, op: OpId) -> Result<Option<Work>, LowerError> {
        let data = self.module.op(op);
        let ([lhs, rhs], [result]) = (&data.operands[..], &data.results[..]) else { return Ok(None) };
        let Some((element, out_element)) = elements(self.module, op) else { return Ok(None) };
        let buffers = self.values.find(*lhs).zip(self.values.find(*rhs));
        let (Some((lhs, rhs)), false) = (buffers, element == Element::F64) else { return Ok(None) };
        // The buffer of the result is made only once it is clear that the step can be.
        // The result gets its buffer only once it is clear that the step can be.
        let out = lhs;
        let Some(mut step) = describe(self.module, op, (element, out_element), (lhs, rhs, out)) else {
            return Ok(None);
        };
        step.out = self.values.make(*result, op)?;
        Ok(Some(as_product(&step).map_or(Work::Convolution(step), Work::MatMul)))
    }
}

fn describe(
    module: &Module,
    op: OpId,
    (element, result): (Element, Element),
    (lhs, rhs, out): (BufferId, BufferId, BufferId),
) -> Option<ConvolutionStep> {
    let Attr::ConvDims(dims) = module.attr(op, "dimension_numbers")? else { return None };
    let data = module.op(op);
    let strided = |value| Some(row_major(&module.tensor_type(value)?.static_shape()?));
    let (input, kernel) = (strided(data.operands[0])?, strided(data.operands[1])?);
    let output = strided(data.results[0])?;
    let at = |dims: &[Dim], index: i64| dims.get(usize::try_from(index).ok()?).copied();
    let (batch, feature) = (at(&input, dims.input_batch)?, at(&input, dims.input_feature)?);
    let (k_in, k_out) = (at(&kernel, dims.kernel_input_feature)?, at(&kernel, dims.kernel_output_feature)?);
    let (o_batch, o_feature) = (at(&output, dims.output_batch)?, at(&output, dims.output_feature)?);
    let feature_groups = int(module, op, "feature_group_count").unwrap_or(1);
    let batch_groups = int(module, op, "batch_group_count").unwrap_or(1);
    let count = u64::try_from(feature_groups.checked_mul(batch_groups)?).ok().filter(|count| *count > 0)?;
    let of_features = feature_groups > 1;
    let (batches, features) =
        if of_features { (batch.0, feature.0 / count) } else { (batch.0 / count, feature.0) };
    let outputs = k_out.0 / count;
    let way = if of_features { features as i64 * feature.1 } else { batches as i64 * batch.1 };
    Some(ConvolutionStep {
        element,
        result,
        lhs,
        rhs,
        out,
        groups: ConvAxis {
            size: count,
            lhs: if count > 1 { way } else { 0 },
            rhs: if count > 1 { outputs as i64 * k_out.1 } else { 0 },
            out: if count > 1 { outputs as i64 * o_feature.1 } else { 0 },
        },
        batch: ConvAxis { size: batches, lhs: batch.1, rhs: 0, out: o_batch.1 },
        features: OuterSum { size: features, lhs: feature.1, rhs: k_in.1 },
        outputs: ConvAxis { size: outputs, lhs: 0, rhs: k_out.1, out: o_feature.1 },
        spatial: spatial(module, op, dims, [&input, &kernel, &output])?,
    })
}

fn spatial(module: &Module, op: OpId, dims: &ConvDims, shapes: [&[Dim]; 3]) -> Option<Vec<ConvSpatial>> {
    let rank = dims.input_spatial.len();
    let ints = |name, count, default| ints_or(module, op, name, count, default);
    let (steps, padding) = (ints("window_strides", rank, 1)?, ints("padding", 2 * rank, 0)?);
    let (lhs_dilation, rhs_dilation) = (ints("lhs_dilation", rank, 1)?, ints("rhs_dilation", rank, 1)?);
    let reversed = ints("window_reversal", rank, 0)?;
    let positive = |value: i64| u64::try_from(value).ok().filter(|value| *value > 0);
    let at = |which: usize, index: i64| shapes[which].get(usize::try_from(index).ok()?).copied();
    let one = |d: usize| {
        let input = at(0, *dims.input_spatial.get(d)?)?;
        let kernel = at(1, *dims.kernel_spatial.get(d)?)?;
        let output = at(2, *dims.output_spatial.get(d)?)?;
        Some(ConvSpatial {
            input: input.0,
            kernel: kernel.0,
            output: output.0,
            lhs: input.1,
            rhs: kernel.1,
            out: output.1,
            step: positive(steps[d])?,
            pad_low: padding[2 * d],
            input_dilation: positive(lhs_dilation[d])?,
            kernel_dilation: positive(rhs_dilation[d])?,
            reversed: reversed[d] != 0,
        })
    };
    (0..rank).map(one).collect()
}

/// A convolution whose window is one element wide, or as wide as the input,
/// along each dimension, is a matrix product of the input in place.
fn as_product(step: &ConvolutionStep) -> Option<MatMulStep> {
    if step.groups.size != 1 {
        return None;
    }
    let mut rows = vec![step.batch];
    let mut summed =
        vec![OuterLoop { size: step.features.size, lhs: step.features.lhs, rhs: step.features.rhs, out: 0 }];
    for dim in &step.spatial {
        let last = (dim.output.max(1) - 1) * dim.step + (dim.kernel.max(1) - 1) * dim.kernel_dilation;
        if dim.pad_low != 0 || dim.input_dilation != 1 || last >= dim.input {
            return None;
        }
        match (dim.kernel, dim.output) {
            (1, size) => rows.push(OuterLoop { size, lhs: dim.step as i64 * dim.lhs, rhs: 0, out: dim.out }),
            (size, 1) if !dim.reversed => {
                let lhs = dim.kernel_dilation as i64 * dim.lhs;
                summed.push(OuterLoop { size, lhs, rhs: dim.rhs, out: 0 });
            }
            _ => return None,
        }
    }
    rows.sort_by_key(|axis| std::cmp::Reverse(axis.out));
    summed.sort_by_key(|axis| std::cmp::Reverse(axis.rhs));
    let mut rows = merge(&rows);
    let m = take_largest(&mut rows);
    if !rows.is_empty() && m.size < MIN_ROWS_IN_PLACE {
        return None;
    }
    let dense = |buffer| StridedOperand { buffer, offset: 0 };
    Some(MatMulStep {
        element: step.element,
        result: step.result,
        lhs: dense(step.lhs),
        rhs: dense(step.rhs),
        out: dense(step.out),
        loops: rows,
        m,
        n: step.outputs,
        sums: sums(&summed),
    })
}
