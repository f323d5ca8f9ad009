//! `reduce_window` and `select_and_scatter`.

use crate::error::{Outcome, invalid};
use crate::gather_scatter::update_at;
use crate::lanes::Body;
use crate::machine::{Machine, Values};
use crate::movement::{Padding, pad, strided};
use crate::reduction::halves;
use crate::shape::{Shape, advance, checked_count, count, strides};
use crate::site::Site;
use crate::tensor::{Tensor, Value};
use smallvec::SmallVec;

/// Evaluates `reduce_window`: each result element reduces a window of the
/// padded inputs, padding included, row-major, the accumulator first.
pub(crate) fn reduce_window(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    operands: &[Value],
) -> Outcome<Values> {
    let (inputs, inits) = halves(operands)?;
    let rank = inputs[0].shape.len();
    let window = site.sizes("window_dimensions")?;
    let steps = site.sizes_or("window_strides", rank, 1)?;
    let base_dilations = site.sizes_or("base_dilations", rank, 1)?;
    let dilations = site.sizes_or("window_dilations", rank, 1)?;
    let padding = site.padding("padding", rank)?;
    if window.len() != rank || [&steps, &base_dilations, &dilations].iter().any(|v| v.contains(&0)) {
        return invalid("reduce_window needs a size for each dimension, and positive strides and dilations");
    }
    let padding: Vec<Padding> = padding
        .iter()
        .zip(&base_dilations)
        .map(|((low, high), dilation)| Padding { low: *low, high: *high, interior: *dilation as i64 - 1 })
        .collect();
    let padded = inputs.iter().zip(&inits).map(|(input, init)| pad(input, init, &padding));
    let padded = padded.collect::<Outcome<Vec<Tensor>>>()?;
    let span = |dim: usize| window[dim].saturating_sub(1).saturating_mul(dilations[dim]).saturating_add(1);
    let shape: Shape = (0..rank)
        .map(|dim| match padded[0].shape[dim].checked_sub(span(dim)) {
            Some(room) if window[dim] > 0 => room / steps[dim] + 1,
            _ => 0,
        })
        .collect();
    let from = strides(&padded[0].shape);
    let view: SmallVec<[isize; 6]> =
        (0..rank).map(|dim| from[dim].saturating_mul(steps[dim]) as isize).collect();
    let body = Body::of(site.module, site.block(0)?)?;
    let lanes = checked_count(&shape)?;
    let mut accumulators: Vec<Tensor> = inits.iter().map(|init| init.splat(&[lanes][..])).collect();
    let mut index: Shape = SmallVec::from_elem(0, rank);
    if lanes > 0 && !window.contains(&0) {
        loop {
            let base: usize = (0..rank).map(|dim| index[dim] * dilations[dim] * from[dim]).sum();
            let slices = padded.iter().map(|input| strided(input, &shape, &view, base as isize));
            let mut arguments = accumulators;
            arguments.extend(slices.map(|slice| slice.reshaped(&[lanes][..])));
            accumulators = body.run(machine, &arguments)?;
            if !advance(&mut index, &window) {
                break;
            }
        }
    }
    Ok(accumulators.into_iter().map(|result| result.reshaped(shape.clone()).into()).collect())
}

/// Evaluates `select_and_scatter`: each source element goes to the element that
/// its window of the operand selects.
pub(crate) fn select_and_scatter(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    operands: &[Value],
) -> Outcome<Values> {
    let [operand, source, init] = operands else {
        return invalid("select_and_scatter needs an operand, a source and an initial value");
    };
    let (operand, source, init) = (operand.tensor()?, source.tensor()?, init.tensor()?);
    let rank = operand.shape.len();
    let geometry = Geometry {
        window: site.sizes_or("window_dimensions", rank, 1)?,
        steps: site.sizes_or("window_strides", rank, 1)?,
        low: site.padding("padding", rank)?.into_iter().map(|(low, _)| low).collect(),
    };
    if source.shape.len() != rank {
        return invalid("the source has another number of dimensions than the operand");
    }
    let select = Body::of(site.module, site.block(0)?)?;
    let targets = selected(machine, &select, operand, &source.shape, &geometry)?;
    let scatter = Body::of(site.module, site.block(1)?)?;
    let result = init.splat(operand.shape.clone());
    if source.is_empty() {
        return Ok(smallvec::smallvec![result.into()]);
    }
    // Each source element is first combined with the initial value, then with
    // what the result holds, which here stands second.
    let lanes = &[source.len()][..];
    let first = scatter.run(machine, &[init.splat(lanes), source.clone().reshaped(lanes)])?;
    let swapped = matches!(scatter, Body::Binary(kind) if commutes(kind));
    let results = if swapped {
        update_at(machine, &scatter, vec![result], &first, &targets)?
    } else {
        scatter_one_by_one(machine, &scatter, result, &first, &targets)?
    };
    Ok(results.into_iter().map(Value::from).collect())
}

/// Operations whose operands may change places without changing a bit.
fn commutes(kind: ckpt_ir::OpKind) -> bool {
    use ckpt_ir::OpKind as K;
    matches!(kind, K::Add | K::Multiply | K::And | K::Or | K::Xor)
}

fn scatter_one_by_one(
    machine: &mut Machine<'_>,
    scatter: &Body,
    mut result: Tensor,
    values: &[Tensor],
    targets: &[Option<usize>],
) -> Outcome<Vec<Tensor>> {
    let one = |tensor: Tensor| tensor.reshaped(&[1][..]);
    for (at, target) in targets.iter().enumerate() {
        let (Some(target), [values]) = (*target, values) else { continue };
        let updated = scatter.run(machine, &[one(values.at(at)), one(result.at(target))])?;
        match &updated[..] {
            [value] => result.set(target, value),
            _ => return invalid("the scatter body returns another number of values"),
        }
    }
    Ok(vec![result])
}

struct Geometry {
    window: Vec<usize>,
    steps: Vec<usize>,
    low: Vec<i64>,
}

/// The position in the operand that each window selects.
fn selected(
    machine: &mut Machine<'_>,
    select: &Body,
    operand: &Tensor,
    source_shape: &[usize],
    geometry: &Geometry,
) -> Outcome<Vec<Option<usize>>> {
    let lanes = count(source_shape);
    let mut chosen: Vec<Option<usize>> = vec![None; lanes];
    let mut index: Shape = SmallVec::from_elem(0, geometry.window.len());
    if lanes == 0 || operand.is_empty() || geometry.window.contains(&0) {
        return Ok(chosen);
    }
    loop {
        let current = positions(&operand.shape, source_shape, geometry, &index);
        let best: Vec<usize> = chosen.iter().map(|at| at.unwrap_or(0)).collect();
        let here: Vec<usize> = current.iter().map(|at| at.unwrap_or(0)).collect();
        let arguments = [operand.pick(&[lanes][..], &best), operand.pick(&[lanes][..], &here)];
        let kept = select.run(machine, &arguments)?;
        let Some(kept) = kept.first() else { return invalid("the select body returns nothing") };
        for (lane, keep) in kept.elements::<u8>()?.iter().enumerate() {
            if current[lane].is_some() && (chosen[lane].is_none() || *keep == 0) {
                chosen[lane] = current[lane];
            }
        }
        if !advance(&mut index, &geometry.window) {
            return Ok(chosen);
        }
    }
}

/// Where each window has its element `offset`; none for padding.
fn positions(
    shape: &[usize],
    source_shape: &[usize],
    geometry: &Geometry,
    offset: &[usize],
) -> Vec<Option<usize>> {
    let to = strides(shape);
    let mut out = Vec::with_capacity(count(source_shape));
    let mut index: Shape = SmallVec::from_elem(0, source_shape.len());
    loop {
        let mut position = Some(0);
        for dim in 0..shape.len() {
            let start = index[dim].saturating_mul(geometry.steps[dim]) as i64;
            let at = start.saturating_add(offset[dim] as i64).saturating_sub(geometry.low[dim]);
            let inside = at >= 0 && at < shape[dim] as i64;
            position = position.filter(|_| inside).map(|p| p + at as usize * to[dim]);
        }
        out.push(position);
        if !advance(&mut index, source_shape) {
            return out;
        }
    }
}
