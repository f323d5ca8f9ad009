//! `reduce`, in the order of the specification's reference: row-major over the
//! operand, the accumulator first.

use crate::error::{Outcome, invalid};
use crate::lanes::Body;
use crate::machine::{Machine, Values};
use crate::movement::strided;
use crate::scalar::{self, Visitor};
use crate::shape::{Shape, advance, checked_count, count, offset_of, strides};
use crate::site::Site;
use crate::tensor::{Storage, Tensor, Value};
use smallvec::SmallVec;

/// Evaluates `reduce`: the first half of the operands are inputs, the rest
/// initial values.
pub(crate) fn reduce(machine: &mut Machine<'_>, site: Site<'_>, operands: &[Value]) -> Outcome<Values> {
    let (inputs, inits) = halves(operands)?;
    let dimensions = site.sizes("dimensions")?;
    let body = Body::of(site.module, site.block(0)?)?;
    let results = reduce_with(machine, &body, &inputs, &inits, &dimensions)?;
    Ok(results.into_iter().map(Value::from).collect())
}

/// Inputs and initial values of an operation that reduces.
pub(crate) fn halves(operands: &[Value]) -> Outcome<(Vec<Tensor>, Vec<Tensor>)> {
    let tensors = operands.iter().map(|v| v.tensor().cloned()).collect::<Outcome<Vec<_>>>()?;
    if tensors.is_empty() || tensors.len() % 2 != 0 {
        return invalid("a reduction needs one initial value for each input");
    }
    let (inputs, inits) = tensors.split_at(tensors.len() / 2);
    let same = inputs.iter().all(|input| input.shape == inputs[0].shape);
    if !same || inits.iter().any(|init| init.len() != 1) {
        return invalid("the inputs of a reduction differ in shape, or an initial value is no scalar");
    }
    Ok((inputs.to_vec(), inits.to_vec()))
}

/// Reduces inputs of one shape over some of their dimensions.
pub(crate) fn reduce_with(
    machine: &mut Machine<'_>,
    body: &Body,
    inputs: &[Tensor],
    inits: &[Tensor],
    dimensions: &[usize],
) -> Outcome<Vec<Tensor>> {
    let shape = &inputs[0].shape;
    if dimensions.iter().any(|dim| *dim >= shape.len()) {
        return invalid("no such dimension to reduce");
    }
    let kept: SmallVec<[usize; 6]> = (0..shape.len()).filter(|dim| !dimensions.contains(dim)).collect();
    let reduced: SmallVec<[usize; 6]> = (0..shape.len()).filter(|dim| dimensions.contains(dim)).collect();
    let result_shape: Shape = kept.iter().map(|dim| shape[*dim]).collect();
    checked_count(&result_shape)?;
    if let ([input], [init], Body::Binary(kind)) = (inputs, inits, body)
        && input.element == init.element
    {
        let fold = Fold { input, init, kept: &kept, result_shape: &result_shape };
        if let Some(result) = scalar::dispatch(*kind, input.element, fold) {
            return Ok(vec![result?]);
        }
    }
    let from = strides(shape);
    let view: SmallVec<[isize; 6]> = kept.iter().map(|dim| from[*dim] as isize).collect();
    let reduced_shape: Shape = reduced.iter().map(|dim| shape[*dim]).collect();
    let reduced_strides: Shape = reduced.iter().map(|dim| from[*dim]).collect();
    let lanes: Shape = SmallVec::from_slice(&[count(&result_shape)]);
    let mut accumulators: Vec<Tensor> = inits.iter().map(|init| init.splat(lanes.clone())).collect();
    if !reduced_shape.contains(&0) && lanes[0] > 0 {
        let mut index: Shape = SmallVec::from_elem(0, reduced.len());
        loop {
            let base = offset_of(&index, &reduced_strides) as isize;
            let mut arguments = accumulators;
            let slices = inputs.iter().map(|input| strided(input, &result_shape, &view, base));
            arguments.extend(slices.map(|slice| slice.reshaped(lanes.clone())));
            accumulators = body.run(machine, &arguments)?;
            if !advance(&mut index, &reduced_shape) {
                break;
            }
        }
    }
    if accumulators.len() != inits.len() {
        return invalid("the body of a reduction returns another number of values");
    }
    Ok(accumulators.into_iter().map(|result| result.reshaped(result_shape.clone())).collect())
}

/// A reduction by one operation.
struct Fold<'a> {
    input: &'a Tensor,
    init: &'a Tensor,
    kept: &'a [usize],
    result_shape: &'a Shape,
}

impl Visitor for Fold<'_> {
    type Output = Outcome<Tensor>;

    fn visit<S: Storage>(self, f: impl Fn(S, S) -> S + Copy) -> Outcome<Tensor> {
        let input = self.input.elements::<S>()?;
        let init = self.init.elements::<S>()?[0];
        let mut result = vec![init; count(self.result_shape)];
        let to = strides(self.result_shape);
        let shape = &self.input.shape;
        let mut target: Shape = SmallVec::from_elem(0, shape.len());
        for (position, &dim) in self.kept.iter().enumerate() {
            target[dim] = to[position];
        }
        let Some((&inner, outer)) = shape.split_last() else {
            return Ok(Tensor::new(self.input.element, Shape::new(), vec![f(init, input[0])]));
        };
        let inner_is_kept = self.kept.last() == Some(&outer.len());
        let mut index: Shape = SmallVec::from_elem(0, outer.len());
        for row in input.chunks_exact(inner.max(1)) {
            let at = offset_of(&index, &target[..outer.len()]);
            if inner_is_kept {
                for (accumulator, value) in result[at..at + inner].iter_mut().zip(row) {
                    *accumulator = f(*accumulator, *value);
                }
            } else {
                result[at] = row.iter().fold(result[at], |accumulator, value| f(accumulator, *value));
            }
            advance(&mut index, outer);
        }
        Ok(Tensor::new(self.input.element, self.result_shape.clone(), result))
    }
}
