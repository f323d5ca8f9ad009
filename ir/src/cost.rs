//! Work of operations: how many arithmetic operations they do and how many
//! bytes they touch if nothing is fused.
//!
//! Counts saturate: they are estimates for a cost model, not sizes. A multiply
//! and an add count as two operations.

use crate::{Attr, BlockId, Bytes, Category, Flops, Module, OpId, OpKind, ValueId};

/// What an operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Arithmetic operations.
    pub flops: Flops,
    /// Bytes of all operands.
    pub bytes_read: Bytes,
    /// Bytes of all results.
    pub bytes_written: Bytes,
}

/// The work of an operation. Linear in what lies inside it.
#[must_use]
pub fn work(module: &Module, op: OpId) -> Work {
    let bytes = |values: &[ValueId]| {
        let sizes = values.iter().filter_map(|v| module.types.bytes(module.value_type(*v)));
        Bytes(sizes.fold(0, |sum, bytes| bytes.0.saturating_add(sum)))
    };
    let data = module.op(op);
    Work {
        flops: Flops(flops(module, op)),
        bytes_read: bytes(&data.operands),
        bytes_written: bytes(&data.results),
    }
}

/// Elements of a value; what has no static shape counts as one.
fn elements(module: &Module, value: ValueId) -> u64 {
    module.tensor_type(value).and_then(crate::TensorType::element_count).unwrap_or(1)
}

/// Arithmetic operations of one operation. Regions are walked with a stack:
/// each entry is an operation and how often it runs.
fn flops(module: &Module, root: OpId) -> u64 {
    let mut total = 0u64;
    let mut stack = vec![(root, 1u64)];
    while let Some((op, runs)) = stack.pop() {
        total = total.saturating_add(own_flops(module, op).saturating_mul(runs));
        let inner = runs.saturating_mul(region_runs(module, op));
        for region in &module.op(op).regions {
            for &block in &module.region(*region).blocks {
                stack.extend(module.block(block).ops.iter().map(|op| (*op, inner)));
            }
        }
    }
    total
}

/// Operations besides those of the regions.
fn own_flops(module: &Module, op: OpId) -> u64 {
    let data = module.op(op);
    let out: u64 = data.results.iter().map(|v| elements(module, *v)).fold(0, u64::saturating_add);
    match data.kind.category() {
        Category::Elementwise(each) => out.saturating_mul(u64::from(each)),
        Category::Dot => out.saturating_mul(2).saturating_mul(contracted_elements(module, op)),
        Category::Convolution => out.saturating_mul(2).saturating_mul(kernel_elements(module, op)),
        Category::Sort => {
            let count = data.operands.first().map_or(0, |v| elements(module, *v));
            count.saturating_mul(u64::from(64 - count.leading_zeros()))
        }
        Category::LinearAlgebra => {
            let side =
                data.operands.first().and_then(|v| module.tensor_type(*v)?.static_shape()?.last().copied());
            out.saturating_mul(side.unwrap_or(1))
        }
        // A block cipher's rounds: about as many as a threefry round trip has.
        Category::Random => out.saturating_mul(100),
        _ => 0,
    }
}

/// Elements that one element of a dot's result sums over.
fn contracted_elements(module: &Module, op: OpId) -> u64 {
    let Some(lhs) = module.op(op).operands.first() else { return 1 };
    let Some(shape) = module.tensor_type(*lhs).and_then(crate::TensorType::static_shape) else {
        return 1;
    };
    let contracting: Vec<i64> = match module.attr(op, "dot_dimension_numbers") {
        Some(Attr::DotDims(dims)) => dims.lhs_contracting.clone(),
        _ => vec![shape.len() as i64 - 1],
    };
    let size = |dim: &i64| usize::try_from(*dim).ok().and_then(|dim| shape.get(dim)).copied().unwrap_or(1);
    contracting.iter().map(size).fold(1, u64::saturating_mul)
}

/// Kernel elements that one element of a convolution's result sums over:
/// spatial positions times input features of its group.
fn kernel_elements(module: &Module, op: OpId) -> u64 {
    let Some(kernel) = module.op(op).operands.get(1) else { return 1 };
    let Some(shape) = module.tensor_type(*kernel).and_then(crate::TensorType::static_shape) else {
        return 1;
    };
    let Some(Attr::ConvDims(dims)) = module.attr(op, "dimension_numbers") else { return 1 };
    let size = |dim: &i64| usize::try_from(*dim).ok().and_then(|dim| shape.get(dim)).copied().unwrap_or(1);
    let summed = dims.kernel_spatial.iter().chain([&dims.kernel_input_feature]);
    summed.map(size).fold(1, u64::saturating_mul)
}

/// How often the regions of an operation run.
fn region_runs(module: &Module, op: OpId) -> u64 {
    let data = module.op(op);
    let first = || data.operands.first().map_or(1, |v| elements(module, *v));
    match data.kind {
        OpKind::While => trip_count(module, op).unwrap_or(1),
        OpKind::Reduce => first(),
        OpKind::ReduceWindow => {
            let window: u64 = match module.attr(op, "window_dimensions") {
                Some(Attr::DenseIntArray { values, .. }) => {
                    values.iter().map(|v| u64::try_from(*v).unwrap_or(1)).fold(1, u64::saturating_mul)
                }
                _ => 1,
            };
            data.results.first().map_or(1, |v| elements(module, *v)).saturating_mul(window)
        }
        OpKind::Map => data.results.first().map_or(1, |v| elements(module, *v)),
        OpKind::Scatter => data.operands.last().map_or(1, |v| elements(module, *v)),
        OpKind::SelectAndScatter => first(),
        OpKind::Sort => {
            let count = first();
            count.saturating_mul(u64::from(64 - count.leading_zeros()))
        }
        _ => 1,
    }
}

/// How often a counted loop runs: `i = start; while i < limit { …; i += step }`
/// with constants, as `scan` and `fori_loop` print it. None for any other loop.
#[must_use]
pub fn trip_count(module: &Module, op: OpId) -> Option<u64> {
    let data = module.op(op);
    let (&[condition, body], OpKind::While) = (&data.regions[..], data.kind) else { return None };
    let entry = |region| module.region(region).blocks.first().copied();
    let (condition, body) = (entry(condition)?, entry(body)?);
    let compare = module.defining_op(*module.op(module.terminator(condition)?).operands.first()?)?;
    let less = matches!(module.attr(compare, "comparison_direction"),
        Some(Attr::Enum(_, value)) if module.names.get(*value) == "LT");
    let &[counter, limit] = &module.op(compare).operands[..] else { return None };
    let place = argument_place(module, condition, counter).filter(|_| less)?;
    let start = constant(module, *data.operands.get(place)?)?;
    let limit = constant(module, limit)?;
    let next = *module.op(module.terminator(body)?).operands.get(place)?;
    let add = module.defining_op(next).filter(|op| module.op(*op).kind == OpKind::Add)?;
    let &[a, b] = &module.op(add).operands[..] else { return None };
    let step = match (argument_place(module, body, a), argument_place(module, body, b)) {
        (Some(at), _) if at == place => constant(module, b)?,
        (_, Some(at)) if at == place => constant(module, a)?,
        _ => return None,
    };
    let distance = limit.checked_sub(start)?;
    if step <= 0 {
        return None;
    }
    Some(u64::try_from(distance.max(0)).ok()?.div_ceil(step as u64))
}

fn argument_place(module: &Module, block: BlockId, value: ValueId) -> Option<usize> {
    module.block(block).arguments.iter().position(|argument| *argument == value)
}

/// The value of an integer constant with one element.
fn constant(module: &Module, value: ValueId) -> Option<i64> {
    let op = module.defining_op(value)?;
    let Some(Attr::Dense(dense)) = module.attr(op, "value") else { return None };
    let element = module.types.as_tensor(dense.ty)?.element;
    if !element.is_integer() || dense.bytes.len() > 8 || !dense.splat {
        return None;
    }
    let mut word = [0u8; 8];
    word[..dense.bytes.len()].copy_from_slice(&dense.bytes);
    let shift = 64 - 8 * dense.bytes.len() as u32;
    Some(((u64::from_le_bytes(word) << shift) as i64) >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceText;
    use crate::text::parse;

    /// The work of every operation of the body that is no constant or return.
    fn flops_of(body: &str) -> Vec<u64> {
        let text = format!(
            "func.func @main(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>, %z: tensor<f32>, %i: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x5xf32>) {{\n{body}\nreturn\n}}"
        );
        let module = parse(&SourceText::new("test", &text)).unwrap();
        let block = module.function_body(module.function("main").unwrap()).unwrap();
        let ops = module.block(block).ops.iter();
        let counted = ops.filter(|op| !matches!(module.op(**op).kind, OpKind::FuncReturn | OpKind::Constant));
        counted.map(|op| work(&module, *op).flops.0).collect()
    }

    #[test]
    fn contractions_count_two_operations_per_product() {
        let dot = "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>";
        assert_eq!(flops_of(dot), [2 * 4 * 8 * 6]);
        let conv = "%0 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x6x6x5xf32>";
        assert_eq!(flops_of(conv), [2 * 6 * 6 * 5 * 3 * 3 * 3]);
    }

    #[test]
    fn reductions_run_their_body_once_per_element() {
        let reduce = "%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>";
        assert_eq!(flops_of(reduce), [24]);
    }

    #[test]
    fn counted_loops_run_their_body_as_often_as_they_say() {
        let body = "%c0 = stablehlo.constant dense<2> : tensor<i32>
            %0:2 = stablehlo.while(%n = %c0, %x = %a) : tensor<i32>, tensor<4x6xf32>
            cond {
              %c10 = stablehlo.constant dense<11> : tensor<i32>
              %1 = stablehlo.compare LT, %n, %c10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %1 : tensor<i1>
            } do {
              %c3 = stablehlo.constant dense<3> : tensor<i32>
              %1 = stablehlo.add %n, %c3 : tensor<i32>
              %2 = stablehlo.negate %x : tensor<4x6xf32>
              stablehlo.return %1, %2 : tensor<i32>, tensor<4x6xf32>
            }";
        // Three runs (2, 5, 8) of one add and 24 negations, and the comparison as often.
        assert_eq!(flops_of(body), [3 * (1 + 24) + 3]);
    }
}
