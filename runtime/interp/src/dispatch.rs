//! From an operation to the function that evaluates it.

use crate::elementwise::{self, convert};
use crate::error::{Outcome, invalid, unsupported};
use crate::lanes::Body;
use crate::machine::{Machine, Values};
use crate::movement::{self, Padding};
use crate::shape::{Shape, count};
use crate::site::{Site, size};
use crate::tensor::{Tensor, Value};
use crate::{batch_norm, check, chlo, dynamic, einsum, fft, linear_algebra, quantized, random};
use crate::{convolution, dot, error::Fault, gather_scatter, parallel, reduction, sort, windows};
use ckpt_ir::{Category, Dim, ElementType, OpKind};
use smallvec::smallvec;
use std::sync::Arc;

/// Evaluates an operation that neither enters a block nor waits.
pub(crate) fn evaluate(machine: &mut Machine<'_>, site: Site<'_>, mut operands: Values) -> Outcome<Values> {
    check_sizes(site, machine.limits.tensor_bytes)?;
    if !quantized::is_quantized(site) || structural(site, site.kind(), &operands).is_some() {
        let results = plain(machine, site, operands)?;
        check_types(site, &results)?;
        return Ok(results);
    }
    if let Some(result) = quantized::evaluate(site, &operands) {
        return one(result);
    }
    quantized::dequantize_operands(site, &mut operands)?;
    let mut results = plain(machine, site, operands)?;
    quantized::quantize_results(site, &mut results)?;
    Ok(results)
}

/// Evaluates an operation whose values are what their types say.
fn plain(machine: &mut Machine<'_>, site: Site<'_>, operands: Values) -> Outcome<Values> {
    let kind = site.kind();
    if let Some(values) = structural(site, kind, &operands) {
        return values;
    }
    if kind == OpKind::InterpreterRunParallel {
        return parallel::run_parallel(machine, site, operands);
    }
    if let Some(id) = process_id(machine, kind) {
        return one(Ok(Tensor::new(ElementType::Uint(32), Shape::new(), vec![id])));
    }
    if let Some(values) = with_bodies(machine, site, &operands) {
        return values;
    }
    let tensors = operands.into_iter().map(into_tensor).collect::<Outcome<Vec<Tensor>>>()?;
    if let Some(outcome) = check::evaluate(site, &tensors) {
        return outcome.map(|()| Values::new());
    }
    if matches!(kind.category(), Category::Elementwise(_))
        && let Some(result) = elementwise::evaluate(site, kind, &tensors)
    {
        return one(result);
    }
    if let Some(values) = several_results(machine, site, &tensors) {
        return values;
    }
    if let Some(result) = dynamic::evaluate(site, kind, &tensors) {
        return one(result);
    }
    if let Some(result) = chlo::evaluate(site, kind, &tensors) {
        return one(result);
    }
    one(tensor_op(site, kind, tensors))
}

fn one(result: Outcome<Tensor>) -> Outcome<Values> {
    Ok(smallvec![result?.into()])
}

fn into_tensor(value: Value) -> Outcome<Tensor> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        _ => unsupported("a tuple or token as an operand of this operation"),
    }
}

/// Refuses results too large to be evaluated.
fn check_sizes(site: Site<'_>, limit: u64) -> Outcome<()> {
    for &result in &site.data().results {
        if let Some(ty) = site.module.tensor_type(result) {
            let known = ty.static_shape().is_some();
            if known && ty.bytes().is_none_or(|bytes| bytes.0 > limit) {
                return Err(Fault::LimitExceeded("a tensor is too large to be evaluated"));
            }
        }
    }
    Ok(())
}

/// Refuses results that are not what their types say.
fn check_types(site: Site<'_>, results: &Values) -> Outcome<()> {
    for (id, value) in site.data().results.iter().zip(results) {
        let (Some(ty), Value::Tensor(tensor)) = (site.module.tensor_type(*id), value) else { continue };
        let same = |(dim, size): (&Dim, &usize)| match dim {
            Dim::Static(known) => *known == *size as u64,
            Dim::Dynamic => true,
        };
        let fits = ty.shape.len() == tensor.shape.len() && ty.shape.iter().zip(&tensor.shape).all(same);
        if ty.element != tensor.element || !fits {
            return invalid("the result is of another type than the operation says");
        }
    }
    Ok(())
}

/// Operations on values of any type.
fn structural(site: Site<'_>, kind: OpKind, operands: &Values) -> Option<Outcome<Values>> {
    Some(match kind {
        OpKind::OptimizationBarrier => Ok(operands.clone()),
        OpKind::Tuple => Ok(smallvec![Value::Tuple(Arc::new(operands.to_vec()))]),
        OpKind::GetTupleElement => get_tuple_element(site, operands),
        OpKind::CreateToken | OpKind::AfterAll => Ok(smallvec![Value::Token]),
        _ => return None,
    })
}

fn get_tuple_element(site: Site<'_>, operands: &Values) -> Outcome<Values> {
    let index = site.size("index")?;
    match operands.first() {
        Some(Value::Tuple(parts)) if index < parts.len() => Ok(smallvec![parts[index].clone()]),
        _ => invalid("get_tuple_element names no part of its operand"),
    }
}

/// Which of the processes this is.
fn process_id(machine: &Machine<'_>, kind: OpKind) -> Option<u32> {
    match kind {
        OpKind::ReplicaId => Some(machine.process.replica),
        OpKind::PartitionId => Some(machine.process.partition),
        _ => None,
    }
}

/// Operations that run a body.
fn with_bodies(machine: &mut Machine<'_>, site: Site<'_>, operands: &Values) -> Option<Outcome<Values>> {
    Some(match site.kind() {
        OpKind::Reduce => reduction::reduce(machine, site, operands),
        OpKind::ReduceWindow => windows::reduce_window(machine, site, operands),
        OpKind::SelectAndScatter => windows::select_and_scatter(machine, site, operands),
        OpKind::Scatter => gather_scatter::scatter(machine, site, operands),
        OpKind::Map => map(machine, site, operands),
        OpKind::Sort => sort::sort(machine, site, operands),
        OpKind::ChloScan => chlo::scan(machine, site, operands),
        _ => return None,
    })
}

/// Evaluates `map`: the body for each index.
fn map(machine: &mut Machine<'_>, site: Site<'_>, operands: &Values) -> Outcome<Values> {
    let inputs = operands.iter().map(|v| v.tensor().cloned()).collect::<Outcome<Vec<Tensor>>>()?;
    let Some(first) = inputs.first() else { return invalid("map needs an input") };
    if inputs.iter().any(|input| input.shape != first.shape) {
        return invalid("the inputs of map differ in shape");
    }
    let shape = first.shape.clone();
    if first.is_empty() {
        let empty = Tensor::from_bytes(site.result_element()?, &shape, &[]);
        return one(empty.map_or_else(|| unsupported("a result of this type"), Ok));
    }
    let lanes = &[first.len()][..];
    let body = Body::of(site.module, site.block(0)?)?;
    let flat: Vec<Tensor> = inputs.into_iter().map(|input| input.reshaped(lanes)).collect();
    let results = body.run(machine, &flat)?;
    Ok(results.into_iter().map(|result| result.reshaped(shape.clone()).into()).collect())
}

/// Operations with several results, or with a state of the machine's.
fn several_results(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    operands: &[Tensor],
) -> Option<Outcome<Values>> {
    use OpKind as K;
    Some(match (site.kind(), operands) {
        (K::ChloTopK, [operand]) => site.size("k").and_then(|k| {
            let (values, indices) = chlo::top_k(operand, k)?;
            Ok(smallvec![values.into(), indices.into()])
        }),
        (K::BatchNormTraining, _) => batch_norm::training(machine, site, operands),
        (K::BatchNormGrad, _) => batch_norm::gradient(machine, site, operands),
        (K::RngBitGenerator, [state]) => random::rng_bit_generator(site, state),
        (K::Rng, [a, b, shape]) => one(random::rng(site, a, b, shape, &mut machine.drawn)),
        (K::Einsum | K::UnaryEinsum, _) => one(einsum::einsum(machine, site, operands)),
        // What is printed is no result; an evaluation is silent.
        (K::InterpreterPrint, _) => Ok(Values::new()),
        (K::InterpreterProbe, [operand]) => {
            machine.probes.entry(probe_id(site)).or_default().push(operand.clone());
            one(Ok(operand.clone()))
        }
        (K::CheckExpectSerializedEq, [expected]) => {
            let seen = machine.probes.get(&probe_id(site));
            let at = site.int_attr("iteration").unwrap_or(0);
            match seen.and_then(|seen| seen.get(usize::try_from(at).ok()?)) {
                Some(probed) => check::equal(probed, expected).map(|()| Values::new()),
                None => invalid("the probe has not seen so many values"),
            }
        }
        _ => return None,
    })
}

fn probe_id(site: Site<'_>) -> String {
    site.module.string_attr(site.op, "probe_id").unwrap_or_default().to_owned()
}

/// Operations from tensors to one tensor.
fn tensor_op(site: Site<'_>, kind: OpKind, mut operands: Vec<Tensor>) -> Outcome<Tensor> {
    use OpKind as K;
    match (kind, &operands[..]) {
        (K::Constant, []) => site.dense("value"),
        (K::Iota, []) => {
            movement::iota(site.result_element()?, &result_shape(site)?, site.size("iota_dimension")?)
        }
        (K::Reshape, [operand]) => reshape(operand, result_shape(site)?),
        (K::BitcastConvert, [operand]) => {
            convert::bitcast(operand, site.result_element()?, result_shape(site)?)
        }
        (K::BroadcastInDim, [operand]) => {
            movement::broadcast_in_dim(operand, &result_shape(site)?, &site.sizes("broadcast_dimensions")?)
        }
        (K::Transpose, [operand]) => movement::transpose(operand, &site.sizes("permutation")?),
        (K::Reverse, [operand]) => movement::reverse(operand, &site.sizes("dimensions")?),
        (K::Slice, [operand]) => {
            let (starts, limits) = (site.sizes("start_indices")?, site.sizes("limit_indices")?);
            movement::slice(operand, &starts, &limits, &site.sizes("strides")?)
        }
        (K::DynamicSlice, [operand, starts @ ..]) => {
            movement::dynamic_slice(operand, &scalars(starts)?, &site.sizes("slice_sizes")?)
        }
        (K::DynamicUpdateSlice, [_, update, starts @ ..]) => {
            let (update, starts) = (update.clone(), scalars(starts)?);
            movement::dynamic_update_slice(operands.swap_remove(0), &update, &starts)
        }
        (K::Concatenate, parts) => {
            movement::concatenate(&parts.iter().collect::<Vec<_>>(), site.size("dimension")?)
        }
        (K::Pad, [operand, value]) => movement::pad(operand, value, &paddings(site)?),
        (K::DotGeneral, [lhs, rhs]) => dot::dot_general(site, lhs, rhs),
        (K::Gather, [operand, indices]) => {
            gather_scatter::gather(site, operand, indices, &site.ints("slice_sizes")?)
        }
        (K::TorchIndexSelect, [operand, index]) => gather_scatter::torch_index_select(site, operand, index),
        (K::Broadcast, [operand]) => {
            let sizes = site.sizes("broadcast_sizes")?;
            let shape: Shape = sizes.iter().chain(&operand.shape).copied().collect();
            let own: Vec<usize> = (sizes.len()..shape.len()).collect();
            movement::broadcast_in_dim(operand, &shape, &own)
        }
        (K::Fft, [operand]) => fft::fft(site, operand),
        (K::Cholesky, [operand]) => linear_algebra::cholesky(site, operand),
        (K::TriangularSolve, [a, b]) => linear_algebra::triangular_solve(site, a, b),
        (K::BatchNormInference, operands) => batch_norm::inference(site, operands),
        (K::Convolution, [input, kernel]) => convolution::convolution(site, input, kernel, None),
        (K::Dot, [lhs, rhs]) => dot::dot(site, lhs, rhs),
        _ => unsupported("this operation"),
    }
}

/// The static shape of the result.
fn result_shape(site: Site<'_>) -> Outcome<Shape> {
    site.result_shape().map_or_else(|| unsupported("a result of unknown size"), Ok)
}

fn reshape(operand: &Tensor, shape: Shape) -> Outcome<Tensor> {
    if count(&shape) != operand.len() {
        return invalid("reshape changes the number of elements");
    }
    Ok(operand.clone().reshaped(shape))
}

/// The integers of scalar operands.
fn scalars(operands: &[Tensor]) -> Outcome<Vec<i64>> {
    operands.iter().map(Tensor::to_i64).collect()
}

fn paddings(site: Site<'_>) -> Outcome<Vec<Padding>> {
    let (low, high) = (site.ints("edge_padding_low")?, site.ints("edge_padding_high")?);
    let interior = site.ints("interior_padding")?;
    if low.len() != high.len() || low.len() != interior.len() {
        return invalid("pad needs low, high and interior padding for each dimension");
    }
    for value in &interior {
        size(*value)?;
    }
    let all = low.iter().zip(&high).zip(&interior);
    Ok(all.map(|((low, high), interior)| Padding { low: *low, high: *high, interior: *interior }).collect())
}
