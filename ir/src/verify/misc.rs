//! Tuples, tokens, random numbers, hosts, asynchronous operations, composites.

use super::attributes::AttrKind::{
    Array, Bool, Channel, Dictionary, Enum, I32, I32NonNegative, I64Elements, String, Symbol,
};
use super::attributes::{AttrRule, may, must};
use super::control::results_are;
use super::facts::class::{FLOAT, FUTURE, PRED, QUANT_AXIS, TOKEN, TUPLE, UNKNOWN};
use super::facts::{DYNAMIC, Element, Shape, Tensor};
use super::signature::Regions::{Any, Exactly};
use super::signature::{Row, Slot};
use super::slots::{ANY, INT, SIZES, T, TAS, TOKEN_VALUE, TS, VALUE};
use super::view::{Check, Op, invalid};
use crate::{Attr, ElementType, OpKind as K};
use smallvec::SmallVec;

/// A bound of a random distribution.
const BOUND: Slot = Slot::of(PRED | INT | FLOAT).rank(0);
const NUMBERS: Slot = Slot::of(INT | FLOAT);
/// What comes from outside.
const RECEIVED: Slot = Slot::of(ANY | QUANT_AXIS | TOKEN).fixed().many();
const COMPOSED: Slot = Slot::of(ANY | QUANT_AXIS | TOKEN | TUPLE).many();
const ALGORITHMS: &[&str] = &["DEFAULT", "THREE_FRY", "PHILOX"];
const TRANSFER: &[AttrRule] = &[
    must("channel_handle", Channel),
    may("is_host_transfer", Bool),
    may("source_target_pairs", I64Elements),
];

pub(super) const ROWS: &[Row] = &[
    Row::new(K::CreateToken, &[], &[TOKEN_VALUE]),
    Row::new(K::AfterAll, &[TOKEN_VALUE.many()], &[TOKEN_VALUE]),
    Row::new(K::Tuple, &[VALUE.many()], &[Slot::of(TUPLE)]).check(tuple),
    Row::new(K::GetTupleElement, &[Slot::of(TUPLE)], &[VALUE])
        .attributes(&[must("index", I32NonNegative)])
        .check(get_tuple_element),
    Row::new(K::PartitionId, &[], &[T]).check(device_id),
    Row::new(K::ReplicaId, &[], &[T]).check(device_id),
    Row::new(K::Infeed, &[TOKEN_VALUE], &[RECEIVED])
        .attributes(&[may("infeed_config", String), may("layout", Array)])
        .check(infeed),
    Row::new(K::Outfeed, &[TAS, TOKEN_VALUE], &[TOKEN_VALUE]).attributes(&[may("outfeed_config", String)]),
    Row::new(K::Send, &[TAS, TOKEN_VALUE], &[TOKEN_VALUE]).attributes(TRANSFER).check(send),
    Row::new(K::Recv, &[TOKEN_VALUE], &[RECEIVED]).attributes(TRANSFER).check(recv),
    Row::new(K::Rng, &[BOUND, BOUND, SIZES], &[Slot::of(PRED | INT | FLOAT)])
        .attributes(&[must("rng_distribution", Enum("rng_distribution", &["UNIFORM", "NORMAL"]))])
        .check(rng),
    Row::new(K::RngBitGenerator, &[NUMBERS], &[NUMBERS, NUMBERS.fixed()])
        .attributes(&[must("rng_algorithm", Enum("rng_algorithm", ALGORITHMS))])
        .check(rng_bit_generator),
    Row::new(K::AsyncStart, &[TS], &[Slot::of(FUTURE)]).regions(Exactly(1)).check(async_start),
    Row::new(K::AsyncDone, &[Slot::of(FUTURE)], &[T]).check(async_done),
    Row::new(K::Composite, &[COMPOSED], &[COMPOSED])
        .regions(Any)
        .attributes(&[
            must("name", String),
            must("decomposition", Symbol),
            may("composite_attributes", Dictionary),
            may("version", I32),
        ])
        .check(composite),
];

fn tuple(op: Op<'_>) -> Check {
    let parts = &op.result(0).facts.parts;
    let same =
        parts.len() == op.operand_count() && op.operands().zip(parts).all(|(value, part)| value.ty == *part);
    if !same {
        let given = super::relations::list(op.operands());
        invalid!(
            "inferred type(s) tuple of {given} are incompatible with return type(s) of operation {}",
            op.result(0)
        );
    }
    Ok(())
}

fn get_tuple_element(op: Op<'_>) -> Check {
    let (parts, index) = (&op.operand(0).facts.parts, op.int("index")?);
    let Some(part) = usize::try_from(index).ok().and_then(|index| parts.get(index)) else {
        invalid!("index {index} is out of bounds of operand with size {}", parts.len())
    };
    results_are(op, &[op.context.of_type(*part)])
}

fn device_id(op: Op<'_>) -> Check {
    op.infers(0, &Tensor::scalar(Element::Plain(ElementType::Uint(32))))
}

/// Everything but the last result is a tensor, the last one a token.
fn tensors_then_token(op: Op<'_>) -> Check {
    let mut results = op.results();
    let Some(last) = results.next_back() else {
        invalid!("result is expected to be at least of size 1, but got 0")
    };
    for result in results {
        if !result.is_tensor() {
            invalid!(
                "all elements of result types, except the last element, are expected to be of tensor type, but got \
                 {result}"
            );
        }
    }
    if last.facts.class & TOKEN == 0 {
        invalid!("last element of result types is expected to be of token type, but got {last}");
    }
    Ok(())
}

fn infeed(op: Op<'_>) -> Check {
    tensors_then_token(op)?;
    let Some(Attr::Array(layouts)) = op.attr("layout") else { return Ok(()) };
    let wanted = op.result_count() - 1;
    if layouts.len() != wanted {
        let given = layouts.len();
        invalid!(
            "layout-attribute size must be {wanted} (which is the number of op-results - 1 (for token result)), but \
             got {given}"
        );
    }
    for layout in layouts {
        let attrs = &op.module().attrs;
        let Attr::Array(items) = attrs.get(*layout) else {
            let given = crate::text::attribute_text(op.module(), *layout);
            invalid!("layout-attribute expected to have elements of type array, but got {given}")
        };
        if let Some(item) = items.iter().find(|item| !matches!(attrs.get(**item), Attr::Int { .. })) {
            let given = crate::text::attribute_text(op.module(), *item);
            invalid!("layout-attribute's leaf elements are expected to be of type integer, but got {given}");
        }
    }
    Ok(())
}

/// Numbers of the kinds of channels (specification, `channel_type`).
const DEVICE_TO_DEVICE: i64 = 1;
const DEVICE_TO_HOST: i64 = 2;
const HOST_TO_DEVICE: i64 = 3;

fn channel(op: Op<'_>, host: i64, host_name: &str) -> Check {
    let Some(Attr::ChannelHandle { ty, .. }) = op.attr("channel_handle") else { return Ok(()) };
    let is_host = op.flag("is_host_transfer");
    let (wanted, name) = if is_host { (host, host_name) } else { (DEVICE_TO_DEVICE, "DEVICE_TO_DEVICE") };
    if *ty != wanted {
        invalid!("channel_type should be {name} when is_host_transfer is {is_host}, but got {ty}");
    }
    Ok(())
}

fn send(op: Op<'_>) -> Check {
    channel(op, DEVICE_TO_HOST, "DEVICE_TO_HOST")
}

fn recv(op: Op<'_>) -> Check {
    channel(op, HOST_TO_DEVICE, "HOST_TO_DEVICE")?;
    tensors_then_token(op)
}

fn rng(op: Op<'_>) -> Check {
    let [a, b, result] = [op.operand(0).tensor()?, op.operand(1).tensor()?, op.result(0).tensor()?];
    if a.element != b.element || a.element != result.element {
        let (a, b, result) = (op.operand(0), op.operand(1), op.result(0));
        invalid!("failed to verify that all of {{a, b, result}} have same element type: {a}, {b}, {result}");
    }
    if op.enumerated("rng_distribution")? == "NORMAL" && !a.element.is_float() {
        invalid!("mu and sigma must be floats, but got {} and {}", op.operand(0), op.operand(1));
    }
    let shape: Shape = match op.constant_operand(2) {
        Some(sizes) => sizes.into_iter().collect(),
        None => {
            let rank = op.operand(2).tensor()?.shape.first().copied().unwrap_or_default();
            let result_rank = result.rank();
            if rank != result_rank {
                invalid!("shape operand has {rank} elements, but the result has rank {result_rank}");
            }
            Shape::from_elem(DYNAMIC, result.shape.len())
        }
    };
    op.infers(0, &Tensor { shape, bounds: SmallVec::new(), element: a.element.clone() })
}

fn rng_bit_generator(op: Op<'_>) -> Check {
    let (state, output) = (op.operand(0), op.result(0));
    let (from, to) = (state.tensor()?, output.tensor()?);
    if !from.shape_compatible(to) || from.element != to.element {
        invalid!("output state shape must be compatible with initial state shape. Got: {state} and {output}");
    }
    Ok(())
}

/// Whether an operation may run asynchronously.
fn may_be_async(kind: K) -> bool {
    matches!(
        kind,
        K::AllGather
            | K::AllReduce
            | K::AllToAll
            | K::CollectiveBroadcast
            | K::CollectivePermute
            | K::CollectiveReduce
            | K::DynamicSlice
            | K::DynamicUpdateSlice
            | K::ReduceScatter
            | K::Slice
    )
}

fn async_start(op: Op<'_>) -> Check {
    let block = op.block(0)?;
    let ops = &op.module().block(block).ops;
    if ops.len() != 2 {
        invalid!("region must contain exactly one operation and a return, but has {} operations", ops.len());
    }
    if !may_be_async(op.module().op(ops[0]).kind) {
        let name = op.module().op_name(ops[0]);
        invalid!("region must contain a collective or slice operation, but has '{name}'");
    }
    let arguments = op.context.arguments(block);
    if op.operand_count() != arguments.len() {
        let (operands, arguments) = (op.operand_count(), arguments.len());
        invalid!("number of operands ({operands}) must match number of region arguments ({arguments})");
    }
    for (index, (operand, argument)) in op.operands().zip(&arguments).enumerate() {
        if operand.ty != argument.ty {
            invalid!("operand type {operand} at index {index} must match region argument type {argument}");
        }
    }
    let yielded = op.context.yielded(block);
    let [value] = yielded[..] else {
        invalid!("region must return exactly one value, but got {}", yielded.len())
    };
    let (wanted, future) = (value.tensor()?, op.result(0));
    match &future.facts.held[..] {
        [held] if held.shape_compatible(wanted) && held.element.compatible(&wanted.element) => Ok(()),
        _ if future.facts.defect.is_some() || future.facts.class & UNKNOWN != 0 => Ok(()),
        _ => invalid!(
            "inferred type(s) '!stablehlo.future<{}>' are incompatible with return type(s) of operation {future}",
            op.quoted(wanted).trim_matches('\'')
        ),
    }
}

fn async_done(op: Op<'_>) -> Check {
    match &op.operand(0).facts.held[..] {
        [held] => op.infers(0, held),
        _ if op.operand(0).facts.class & UNKNOWN != 0 => Ok(()),
        held => invalid!("future must have exactly one type parameter, but got {}", held.len()),
    }
}

/// The name is `namespace.operation`.
fn composite(op: Op<'_>) -> Check {
    let name = op.module().string_attr(op.id, "name").unwrap_or_default();
    let mut parts = name.split('.');
    let word = |part: &str, extra: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || extra.contains(c))
    };
    let first = parts.next().unwrap_or_default();
    let starts = first.starts_with(|c: char| c.is_ascii_alphabetic()) && word(first, "");
    let rest: Vec<&str> = parts.collect();
    if !starts || rest.is_empty() || !rest.iter().all(|part| word(part, "$")) {
        invalid!(
            "name must be a valid namespaced op name, such as \"my_namespace.my_op\", but got \"{name}\""
        );
    }
    Ok(())
}
