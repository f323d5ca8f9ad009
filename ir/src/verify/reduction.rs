//! Reductions over dimensions and windows, sort, and the regions that they apply.

use super::attributes::AttrKind::{Bool, I64, I64Array, I64Elements};
use super::attributes::{may, must};
use super::facts::{Element, Shape, Tensor, dims_compatible};
use super::signature::Regions::Exactly;
use super::signature::Relation::SameShape;
use super::signature::Row;
use super::slots::{T, TS};
use super::view::{Check, Op, Stop, invalid};
use super::windows::{Window, WindowAttrs, output_shape, windows};
use crate::{ElementType, OpKind as K};
use smallvec::SmallVec;

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Reduce, &[TS, TS], &[TS])
        .regions(Exactly(1))
        .attributes(&[must("dimensions", I64Array)])
        .check(reduce),
    Row::new(K::ReduceWindow, &[TS, TS], &[TS])
        .regions(Exactly(1))
        .attributes(&[
            must("window_dimensions", I64Array),
            may("window_strides", I64Array),
            may("base_dilations", I64Array),
            may("window_dilations", I64Array),
            may("padding", I64Elements),
        ])
        .check(reduce_window),
    Row::new(K::SelectAndScatter, &[T, T, T], &[T])
        .regions(Exactly(2))
        .attributes(&[
            may("window_dimensions", I64Array),
            may("window_strides", I64Array),
            may("padding", I64Elements),
        ])
        .check(select_and_scatter),
    Row::new(K::Sort, &[TS], &[TS])
        .regions(Exactly(1))
        .relations(&[SameShape])
        .attributes(&[may("dimension", I64), may("is_stable", Bool)])
        .check(sort),
];

/// A region that combines values, and what it combines.
pub(super) struct Reducer<'a> {
    /// Which region.
    pub(super) region: usize,
    /// The tensors that are reduced.
    pub(super) inputs: &'a [&'a Tensor],
    /// The initial values.
    pub(super) inits: &'a [&'a Tensor],
    /// Sizes that the region's arguments may have, in this order.
    pub(super) allowed: &'a [i64],
}

/// Whether values of `from` may be computed with in `to`: one kind, not fewer bits.
fn promotable(from: &Element, to: &Element) -> bool {
    use Element::{Plain, Quant};
    let integer = |element: &ElementType| element.is_integer() || *element == ElementType::Bool;
    match (from, to) {
        (Plain(a), Plain(b)) if a.is_float() && b.is_float() => true,
        (Plain(a), Plain(b)) => {
            let alike = integer(a) && integer(b) || a.is_complex() && b.is_complex();
            alike && a.bit_width() <= b.bit_width()
        }
        (Quant(a), Quant(b)) => a.expressed == b.expressed && a.storage.bit_width() <= b.storage.bit_width(),
        _ => false,
    }
}

/// Checks a region that combines values (specification, `reduce_c6` and its
/// like); the element types that it yields.
pub(super) fn reducer(op: Op<'_>, reducer: &Reducer<'_>) -> Result<Vec<Element>, Stop> {
    let block = op.block(reducer.region)?;
    let (arguments, yielded) = (op.context.arguments(block), op.context.yielded(block));
    let count = reducer.inputs.len();
    if arguments.len() != 2 * count {
        let (wanted, given) = (2 * count, arguments.len());
        invalid!("Reduction-region must take {wanted} parameters, but takes {given} parameter(s)");
    }
    if yielded.is_empty() {
        invalid!("The reduction-region expected to return some value(s)");
    }
    if yielded.len() != count {
        let given = yielded.len();
        invalid!("Reduction-region here must produce {count} tensors, but produces {given} instead");
    }
    let mut elements = Vec::with_capacity(count);
    for value in &yielded {
        if !value.is_tensor() {
            invalid!(
                "Reduction-region here must produce tensor-typed result(s), but produces {value} instead"
            );
        }
        elements.push(value.tensor()?.element.clone());
    }
    for index in 0..count {
        one_reduction(op, reducer, index)?;
    }
    Ok(elements)
}

/// The types around one pair of arguments.
fn one_reduction(op: Op<'_>, reducer: &Reducer<'_>, index: usize) -> Check {
    let block = op.block(reducer.region)?;
    let (arguments, yielded) = (op.context.arguments(block), op.context.yielded(block));
    let (second, result) = (index + reducer.inputs.len(), yielded[index]);
    let (accumulator, input, init) = (result.tensor()?, reducer.inputs[index], reducer.inits[index]);
    for (at, any_float) in [(index, false), (second, true)] {
        let parameter = arguments[at];
        if !parameter.is_tensor() {
            invalid!(
                "Reduction-region must take tensor-typed parameters, but takes {parameter} at index {at}"
            );
        }
        let tensor = parameter.tensor()?;
        let floats = any_float && tensor.element.is_float() && accumulator.element.is_float();
        if !tensor.shape_compatible(accumulator) || !(floats || tensor.element == accumulator.element) {
            invalid!(
                "The type of reduction-region's parameter at index {at} is different than the corresponding \
                 result type: {parameter} vs {result}"
            );
        }
    }
    if !init.shape_compatible(accumulator) {
        invalid!(
            "The shape of reduction-region's result type at index {index} differs from the op's corresponding \
             init-value type: {result} vs {}",
            op.quoted(init)
        );
    }
    if !promotable(&init.element, &accumulator.element) {
        invalid!(
            "The element-type of reduction-region's result type at index {index} is expected to be promotable \
             from the op's corresponding init-value element-type: {result} vs {}",
            op.quoted(init)
        );
    }
    let argument = arguments[second].tensor()?;
    if !promotable(&input.element, &argument.element) {
        invalid!(
            "The element-type of reduction-region's argument at index {second} is expected to be promotable from \
             {}, but got {}",
            op.quoted_element(&input.element),
            op.quoted_element(&argument.element)
        );
    }
    if argument.shape.len() > reducer.allowed.len() {
        let (wanted, given) = (reducer.allowed.len(), argument.shape.len());
        invalid!(
            "The rank of reduction-region's argument at index {second} is expected to be <= {wanted}, got {given}"
        );
    }
    let mut rest = argument.shape.iter().peekable();
    for size in reducer.allowed {
        rest.next_if(|wanted| dims_compatible(*size, **wanted));
    }
    if rest.peek().is_some() {
        invalid!(
            "The shape of reduction-region's argument at index {second} is not compatible with that of \
             reduce-op's input-parameter at index {index}"
        );
    }
    Ok(())
}

/// Inputs have compatible shapes; as many results as inputs.
fn inputs_alike(op: Op<'_>, inputs: &[&Tensor]) -> Check {
    let Some(first) = inputs.first() else { invalid!("requires at least 1 input value") };
    if let Some(index) = inputs.iter().position(|input| !input.shape_compatible(first)) {
        let (a, b) = (op.operand(index), op.operand(0));
        invalid!(
            "expects all inputs to have compatible shapes. Shape at input-index {index} is not compatible with \
             shape at input-index 0: {a} vs {b}"
        );
    }
    if op.result_count() != inputs.len() {
        let (inputs, results) = (inputs.len(), op.result_count());
        invalid!("expects one result per input, but got {inputs} inputs and {results} results");
    }
    Ok(())
}

fn reduce(op: Op<'_>) -> Check {
    let count = op.operand_count() / 2;
    let (inputs, inits) = (op.tensors(0..count)?, op.tensors(count..2 * count)?);
    inputs_alike(op, &inputs)?;
    let (dimensions, rank) = (op.ints("dimensions")?, inputs[0].rank());
    for (index, dimension) in dimensions.iter().enumerate() {
        if !(0..rank).contains(dimension) {
            invalid!("Out-of-bounds dimension {dimension}, expected to be in range [0, {rank})");
        }
        if dimensions[..index].contains(dimension) {
            invalid!("Duplicate reduction dimension: {dimension}");
        }
    }
    let kept = |values: &[i64]| {
        let kept = values.iter().enumerate().filter(|(dim, _)| !dimensions.contains(&(*dim as i64)));
        kept.map(|(_, size)| *size).collect::<Shape>()
    };
    let shape = kept(&inputs[0].shape);
    let bounds: SmallVec<[i64; 2]> = kept(&inputs[0].bounds).into_iter().collect();
    let yielded = reducer(op, &Reducer { region: 0, inputs: &inputs, inits: &inits, allowed: &shape })?;
    for (index, element) in yielded.into_iter().enumerate() {
        op.infers(index, &Tensor { shape: shape.clone(), bounds: bounds.clone(), element })?;
    }
    Ok(())
}

fn reduce_window(op: Op<'_>) -> Check {
    let count = op.operand_count() / 2;
    let (inputs, inits) = (op.tensors(0..count)?, op.tensors(count..2 * count)?);
    inputs_alike(op, &inputs)?;
    let dimensions = op.ints("window_dimensions")?;
    if dimensions.len() != inputs[0].shape.len() {
        let (given, rank) = (dimensions.len(), inputs[0].rank());
        invalid!(
            "expects window-dimensions size == input rank, but got window-dimensions size: {given} and input: {} \
             with rank = {rank}",
            op.operand(0)
        );
    }
    let attrs = WindowAttrs {
        dimensions,
        strides: op.array("window_strides")?,
        base_dilations: op.array("base_dilations")?,
        window_dilations: op.array("window_dilations")?,
        padding: super::windows::padding(op)?,
        reversal: None,
    };
    let windows = windows(&attrs)?;
    let yielded = reducer(op, &Reducer { region: 0, inputs: &inputs, inits: &inits, allowed: dimensions })?;
    for (index, (input, element)) in inputs.iter().zip(yielded).enumerate() {
        let (shape, bounds) = (output_shape(&input.shape, &windows), output_shape(&input.bounds, &windows));
        op.infers(index, &Tensor { shape, bounds: bounds.into_iter().collect(), element })?;
    }
    Ok(())
}

fn select_and_scatter(op: Op<'_>) -> Check {
    let [operand, source, init] = [op.operand(0).tensor()?, op.operand(1).tensor()?, op.operand(2).tensor()?];
    selector(op, operand)?;
    let scalar = Tensor::scalar(source.element.clone());
    let yielded = reducer(op, &Reducer { region: 1, inputs: &[&scalar], inits: &[init], allowed: &[] })?;
    let dimensions = op.array("window_dimensions")?.unwrap_or_default();
    if dimensions.len() != operand.shape.len() {
        let (given, rank) = (dimensions.len(), operand.rank());
        invalid!(
            "expects window-dimensions size == operand rank, but got window-dimensions size: {given} and \
             operand-type: {} with rank = {rank}",
            op.operand(0)
        );
    }
    let windows: Vec<Window> = windows(&WindowAttrs {
        dimensions,
        strides: op.array("window_strides")?,
        base_dilations: None,
        window_dilations: None,
        padding: super::windows::padding(op)?,
        reversal: None,
    })?;
    let shape = output_shape(&operand.shape, &windows);
    let wanted = Tensor { shape, bounds: SmallVec::new(), element: operand.element.clone() };
    let floats = source.element.is_float() && operand.element.is_float();
    if !source.shape_compatible(&wanted) || !(floats || source.element == operand.element) {
        invalid!("expects source-type to be {}, but got {}", op.quoted(&wanted), op.operand(1));
    }
    for element in yielded {
        op.infers(0, &Tensor { element, ..operand.clone() })?;
    }
    Ok(())
}

/// The region that chooses between two elements.
fn selector(op: Op<'_>, operand: &Tensor) -> Check {
    let block = op.block(0)?;
    let (arguments, yielded) = (op.context.arguments(block), op.context.yielded(block));
    if arguments.len() != 2 {
        invalid!("expects the select-region to take 2 parameters, but takes {}", arguments.len());
    }
    let wanted = Tensor::scalar(operand.element.clone());
    for (index, argument) in arguments.iter().enumerate() {
        let given = argument.tensor()?;
        let floats = given.element.is_float() && wanted.element.is_float();
        if !given.shape.is_empty() || !(floats || given.element == wanted.element) {
            let wanted = op.quoted(&wanted);
            invalid!(
                "expects the type of select-region's parameter at index {index} to be {wanted}, but got {argument}"
            );
        }
    }
    match yielded[..] {
        [result] if is_scalar_bool(result.tensor()?) => Ok(()),
        [result] => {
            invalid!("expects the return-type of select-region to be tensor<i1>, but got: {result}")
        }
        _ => invalid!("expects select-region to return single value, but got: {}", yielded.len()),
    }
}

/// `tensor<i1>`.
pub(super) fn is_scalar_bool(tensor: &Tensor) -> bool {
    tensor.shape.is_empty() && tensor.element == Element::Plain(ElementType::Bool)
}

fn sort(op: Op<'_>) -> Check {
    let count = op.operand_count();
    if count == 0 || op.result_count() != count {
        let results = op.result_count();
        invalid!("expects one result per input, but got {count} inputs and {results} results");
    }
    let inputs = op.tensors(0..count)?;
    let rank = inputs[0].rank();
    let dimension = if op.attr("dimension").is_some() { op.int("dimension")? } else { -1 };
    if !(-rank..rank).contains(&dimension) {
        invalid!("dimension attribute value must be in range [-{rank}, {rank}), but found {dimension}");
    }
    let block = op.block(0)?;
    let (arguments, yielded) = (op.context.arguments(block), op.context.yielded(block));
    if arguments.len() != 2 * count {
        let (wanted, given) = (2 * count, arguments.len());
        invalid!("comparator block should have {wanted} arguments, but has {given}");
    }
    for (index, argument) in arguments.iter().enumerate() {
        let wanted = Tensor::scalar(inputs[index / 2].element.clone());
        let given = argument.tensor()?;
        if !given.shape.is_empty() || given.element != wanted.element {
            let wanted = op.quoted(&wanted);
            invalid!("comparator block argument #{index} should be of type {wanted} but got {argument}");
        }
    }
    match yielded[..] {
        [result] if is_scalar_bool(result.tensor()?) => {}
        [result] => invalid!("comparator must return tensor<i1> but got {result}"),
        _ => invalid!("comparator must return single output but got {}", yielded.len()),
    }
    inputs.iter().enumerate().try_for_each(|(index, input)| op.infers(index, input))
}
