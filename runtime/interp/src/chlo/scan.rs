//! `chlo.scan`: a body along one dimension, with values that it carries on.

use crate::error::{Outcome, invalid, unsupported};
use crate::machine::{Machine, Values};
use crate::movement::{concatenate, slice};
use crate::shape::Shape;
use crate::site::Site;
use crate::tensor::{Tensor, Value};

/// Runs the body on each slice of the inputs along `dimension`; the results are
/// its outputs, one slice each step, and what it carries at the end.
pub(crate) fn scan(machine: &mut Machine<'_>, site: Site<'_>, operands: &Values) -> Outcome<Values> {
    let tensors = operands.iter().map(|value| value.tensor().cloned()).collect::<Outcome<Vec<Tensor>>>()?;
    let inputs_count = segment(site, "operandSegmentSizes")?;
    let outputs_count = segment(site, "resultSegmentSizes")?;
    let dimension = site.size("dimension")?;
    let body = site.block(0)?;
    let inputs = tensors.get(..inputs_count).unwrap_or_default();
    let mut carried: Values = operands.iter().skip(inputs_count).cloned().collect();
    let steps = match inputs.first().map(|input| input.shape.get(dimension)) {
        Some(Some(size)) => *size,
        Some(None) => return invalid("the dimension of a scan is out of bounds"),
        None => site.size("scan_dim_size")?,
    };
    let mut outputs: Vec<Vec<Tensor>> = vec![Vec::with_capacity(steps); outputs_count];
    for step in 0..steps {
        let at = if site.flag("is_reverse") { steps - 1 - step } else { step };
        let slices = inputs.iter().map(|input| row(input, dimension, at).map(Value::from));
        let mut arguments = slices.collect::<Outcome<Values>>()?;
        arguments.append(&mut carried);
        let mut results = machine.invoke(body, arguments)?.into_iter();
        for output in &mut outputs {
            let Some(result) = results.next() else { return invalid("a scan's body returns too little") };
            output.push(result.tensor()?.clone());
        }
        carried = results.collect();
    }
    let mut results = Values::new();
    for (index, mut rows) in outputs.into_iter().enumerate() {
        if site.flag("is_reverse") {
            rows.reverse();
        }
        results.push(stacked(site, index, &rows, dimension)?.into());
    }
    results.append(&mut carried);
    Ok(results)
}

/// The first of an attribute's two counts.
fn segment(site: Site<'_>, name: &str) -> Outcome<usize> {
    match site.sizes(name)?[..] {
        [first, _] => Ok(first),
        _ => invalid("a scan's operands and results are in two segments"),
    }
}

/// One slice, without the dimension.
fn row(input: &Tensor, dimension: usize, at: usize) -> Outcome<Tensor> {
    if dimension >= input.shape.len() || at >= input.shape[dimension] {
        return invalid("the inputs of a scan differ in size");
    }
    let mut starts = Shape::from_elem(0, input.shape.len());
    let mut limits = input.shape.clone();
    (starts[dimension], limits[dimension]) = (at, at + 1);
    let row = slice(input, &starts, &limits, &Shape::from_elem(1, limits.len()))?;
    let mut shape = row.shape.clone();
    shape.remove(dimension);
    Ok(row.reshaped(shape))
}

/// Slices put together along a dimension that they do not have yet.
fn stacked(site: Site<'_>, index: usize, rows: &[Tensor], dimension: usize) -> Outcome<Tensor> {
    if rows.is_empty() {
        let ty = site.result_type(index)?;
        let empty =
            crate::site::static_shape(ty).and_then(|shape| Tensor::from_bytes(ty.element, &shape, &[]));
        return empty.map_or_else(|| unsupported("a result of this type"), Ok);
    }
    let widened: Vec<Tensor> = rows
        .iter()
        .map(|row| {
            let mut shape = row.shape.clone();
            shape.insert(dimension.min(shape.len()), 1);
            row.clone().reshaped(shape)
        })
        .collect();
    concatenate(&widened.iter().collect::<Vec<_>>(), dimension)
}
