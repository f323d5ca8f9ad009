//! Custom calls: layouts, aliases, configuration, and calls on buffers.

use super::attributes::AttrKind::{Any, Array, Bool, String};
use super::attributes::{integers, may, must};
use super::facts::class::{BUFFER, FOREIGN, FUTURE, QUANT_AXIS, TOKEN, TUPLE, UNRANKED};
use super::relations;
use super::signature::{Row, Slot};
use super::slots::ANY;
use super::view::{Check, Op, Value, invalid};
use crate::{Attr, AttrId, OpKind as K, OutputAlias};

/// Anything; types of other dialects get the benefit of the doubt.
const ANYTHING: Slot =
    Slot::of(ANY | QUANT_AXIS | TOKEN | TUPLE | BUFFER | FUTURE | UNRANKED | FOREIGN).many();
const API_VERSIONS: &[&str] = &[
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
];
/// The number of `API_VERSION_TYPED_FFI`, the only one whose configuration is a dictionary.
const TYPED_FFI: i64 = 4;

pub(super) const ROWS: &[Row] = &[Row::new(K::CustomCall, &[ANYTHING], &[ANYTHING])
    .attributes(&[
        must("call_target_name", String),
        may("has_side_effect", Bool),
        may("api_version", Any),
        may("called_computations", Array),
        may("operand_layouts", Array),
        may("result_layouts", Array),
        may("output_operand_aliases", Array),
    ])
    .check(custom_call)];

fn custom_call(op: Op<'_>) -> Check {
    layouts(op)?;
    for alias in aliases(op) {
        alias_is_sound(op, alias)?;
    }
    backend_config(op)?;
    match op.module().string_attr(op.id, "call_target_name") {
        Some("CreateBuffer") => create_buffer(op),
        Some("Pin") => pin(op, "Pin", ("tensor", |value| value.is_tensor()), ("memref", is_buffer)),
        Some("Unpin") => pin(op, "Unpin", ("memref", is_buffer), ("tensor", |value| value.is_tensor())),
        _ => buffers(op),
    }
}

fn is_buffer(value: Value<'_>) -> bool {
    value.facts.class & BUFFER != 0
}

fn array<'m>(op: Op<'m>, name: &str) -> Option<&'m [AttrId]> {
    match op.attr(name) {
        Some(Attr::Array(items)) => Some(items),
        _ => None,
    }
}

fn layouts(op: Op<'_>) -> Check {
    let (Some(operand_layouts), Some(result_layouts)) =
        (array(op, "operand_layouts"), array(op, "result_layouts"))
    else {
        if op.attr("operand_layouts").is_some() != op.attr("result_layouts").is_some() {
            invalid!("Layout attributes should be specified for either both operands and results or none");
        }
        return Ok(());
    };
    let mut results: Vec<Value<'_>> = op.results().collect();
    if let [only] = results[..]
        && only.facts.class & TUPLE != 0
    {
        results = only.facts.parts.iter().map(|part| op.context.of_type(*part)).collect();
    }
    layouts_of(op, "operand", &op.operands().collect::<Vec<_>>(), operand_layouts)?;
    layouts_of(op, "result", &results, result_layouts)
}

fn layouts_of(op: Op<'_>, what: &str, values: &[Value<'_>], layouts: &[AttrId]) -> Check {
    if values.len() != layouts.len() {
        let (values, layouts) = (values.len(), layouts.len());
        invalid!("Number of {what}s must match the number of {what} layouts, {values} != {layouts}");
    }
    for (index, (value, id)) in values.iter().zip(layouts).enumerate() {
        let Attr::Dense(dense) = op.module().attrs.get(*id) else { continue };
        let Some(order) = integers(op.module(), dense) else { continue };
        let text = crate::text::attribute_text(op.module(), *id);
        if value.facts.class & TUPLE != 0 {
            invalid!("Tuple types are not fully supported with layout constraints yet");
        }
        if value.facts.class & (TOKEN | FUTURE | FOREIGN) != 0 {
            if !order.is_empty() {
                invalid!(
                    "Only tensor types can have non-empty layout: {what} #{index} of type {value} has layout {text}"
                );
            }
            continue;
        }
        let Some(tensor) = &value.facts.tensor else { continue };
        let rank = tensor.rank();
        let permutation = super::shape::distinct(&order) && order.iter().all(|dim| (0..rank).contains(dim));
        if order.len() as i64 != rank || !permutation {
            invalid!("incorrect layout {text} for type {value}, layout must be a permutation of [0, {rank})");
        }
    }
    Ok(())
}

fn aliases(op: Op<'_>) -> impl Iterator<Item = &OutputAlias> {
    let items = array(op, "output_operand_aliases").unwrap_or_default();
    items.iter().filter_map(move |id| match op.module().attrs.get(*id) {
        Attr::OutputAlias(alias) => Some(alias),
        _ => None,
    })
}

/// Follows indices into nested tuples.
fn part<'m>(op: Op<'m>, value: Value<'m>, indices: &[i64]) -> Option<Value<'m>> {
    indices.iter().try_fold(value, |value, index| {
        let part = value.facts.parts.get(usize::try_from(*index).ok()?)?;
        Some(op.context.of_type(*part))
    })
}

/// The result that the indices name: several results count as one tuple.
fn output<'m>(op: Op<'m>, indices: &[i64]) -> Option<Value<'m>> {
    if op.result_count() == 1 {
        return part(op, op.result(0), indices);
    }
    let (first, rest) = indices.split_first()?;
    let index = usize::try_from(*first).ok().filter(|index| *index < op.result_count())?;
    part(op, op.result(index), rest)
}

fn alias_is_sound(op: Op<'_>, alias: &OutputAlias) -> Check {
    let (count, index) = (op.operand_count(), alias.operand_index);
    let Some(operand) = usize::try_from(index).ok().filter(|index| *index < count) else {
        invalid!(
            "expects operandIndex in the output_operand_alias attribute to be in range [0, {count}); got: {index}"
        )
    };
    let Some(operand) = part(op, op.operand(operand), &alias.operand_tuple_indices) else {
        invalid!("operand_tuple_indices in the output_operand_alias attribute out of bounds")
    };
    let Some(output) = output(op, &alias.output_tuple_indices) else {
        if alias.output_tuple_indices.is_empty() {
            invalid!(
                "shapes mismatch in the output_operand_alias attribute: the output part is the whole tuple"
            );
        }
        invalid!("output_tuple_indices in the output_operand_alias attribute out of bounds")
    };
    if operand.ty != output.ty {
        invalid!(
            "shapes mismatch in the output_operand_alias attribute: operand part has type {operand} and output part \
             has type {output}"
        );
    }
    Ok(())
}

fn backend_config(op: Op<'_>) -> Check {
    let Some(config) = op.attr("backend_config") else { return Ok(()) };
    let version = match op.attr("api_version") {
        Some(Attr::Int { value, .. }) => i64::try_from(*value).unwrap_or_default(),
        Some(Attr::Enum(_, name)) => {
            let name = op.module().names.get(*name);
            API_VERSIONS.iter().position(|known| *known == name).unwrap_or_default() as i64
        }
        _ => 1,
    };
    let name = usize::try_from(version).ok().and_then(|version| API_VERSIONS.get(version));
    let name = name.copied().unwrap_or("unknown");
    match (version == TYPED_FFI, config) {
        (true, Attr::Dictionary(_)) | (false, Attr::String(_)) | (_, Attr::Opaque(_)) => Ok(()),
        (true, _) => invalid!("backend_config for api_version {name} must be a dictionary attribute"),
        (false, _) => invalid!("backend_config for api_version {name} must be a string attribute"),
    }
}

fn create_buffer(op: Op<'_>) -> Check {
    if op.operand_count() != 0 {
        invalid!("CreateBuffer custom_call shouldn't have any inputs, but has {}", op.operand_count());
    }
    if op.result_count() != 1 {
        invalid!("CreateBuffer custom_call should have one result, but has {}", op.result_count());
    }
    if !is_buffer(op.result(0)) {
        invalid!("CreateBuffer custom_call should have a memref result, but got {}", op.result(0));
    }
    Ok(())
}

type Kind = (&'static str, fn(Value<'_>) -> bool);

/// From a tensor to a buffer of its shape, or back.
fn pin(op: Op<'_>, name: &str, input: Kind, output: Kind) -> Check {
    if op.operand_count() != 1 {
        invalid!("{name} custom_call should have one input, but has {}", op.operand_count());
    }
    let operand = op.operand(0);
    if !input.1(operand) {
        invalid!("{name} custom_call should have a {} input, but got {operand}", input.0);
    }
    if op.result_count() != 1 {
        invalid!("{name} custom_call should have one output, but has {}", op.result_count());
    }
    let result = op.result(0);
    if !output.1(result) {
        invalid!("{name} custom_call should have a {} output, but got {result}", output.0);
    }
    if !relations::shapes(operand, result) || !relations::elements(operand, result, |a, b| a == b) {
        invalid!(
            "{name} custom_call should have compatible input and output types, but got {operand} and {result}"
        );
    }
    Ok(())
}

/// Buffers that come out of a call are buffers that went in, each once.
fn buffers(op: Op<'_>) -> Check {
    let (mut outputs, mut operands) = (Vec::new(), Vec::new());
    for alias in aliases(op) {
        let output_indices = alias.output_tuple_indices.as_slice();
        if !output(op, output_indices).is_some_and(is_buffer) {
            continue;
        }
        if outputs.contains(&output_indices) {
            invalid!("buffer output {output_indices:?} is used in output_operand_alias more than once");
        }
        let operand = (alias.operand_index, alias.operand_tuple_indices.as_slice());
        if operands.contains(&operand) {
            let (index, path) = operand;
            invalid!("buffer operand {index}{path:?} is used in output_operand_alias more than once");
        }
        outputs.push(output_indices);
        operands.push(operand);
    }
    let mut stack: Vec<(Vec<i64>, Value<'_>)> = match op.result_count() {
        1 => vec![(Vec::new(), op.result(0))],
        _ => op.results().enumerate().map(|(index, result)| (vec![index as i64], result)).collect(),
    };
    while let Some((indices, value)) = stack.pop() {
        if is_buffer(value) && !outputs.contains(&indices.as_slice()) {
            invalid!("buffer output {indices:?} is not used in output_operand_alias");
        }
        for (index, part) in value.facts.parts.iter().enumerate() {
            let path = [indices.as_slice(), &[index as i64]].concat();
            stack.push((path, op.context.of_type(*part)));
        }
    }
    Ok(())
}
