//! Operations whose shapes come from operands.

use crate::convolution;
use crate::elementwise::convert::convert;
use crate::error::{Outcome, invalid, unsupported};
use crate::gather_scatter;
use crate::movement::{self, Padding};
use crate::shape::{Shape, count};
use crate::site::{Site, size};
use crate::tensor::Tensor;
use ckpt_ir::{ElementType, OpKind};
use smallvec::SmallVec;

/// Evaluates an operation whose shapes come from operands; none if it is another.
pub(crate) fn evaluate(site: Site<'_>, kind: OpKind, operands: &[Tensor]) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    Some(match (kind, operands) {
        (K::DynamicReshape, [operand, shape]) => dynamic_reshape(site, operand, shape),
        (K::DynamicBroadcastInDim, [operand, shape]) => dynamic_broadcast_in_dim(site, operand, shape),
        (K::DynamicIota, [shape]) => dynamic_iota(site, shape),
        (K::DynamicPad, [operand, value, low, high, interior]) => {
            dynamic_pad(operand, value, [low, high, interior])
        }
        (K::RealDynamicSlice, [operand, starts, limits, steps]) => {
            real_dynamic_slice(operand, starts, limits, steps)
        }
        (K::DynamicGather, [operand, indices, sizes]) => {
            sizes.to_i64s().and_then(|sizes| gather_scatter::gather(site, operand, indices, &sizes))
        }
        (K::DynamicConv, [input, kernel, padding]) => {
            convolution::convolution(site, input, kernel, Some(padding))
        }
        (K::GetDimensionSize, [operand]) => get_dimension_size(site, operand),
        (K::SetDimensionSize, [operand, size]) => set_dimension_size(site, operand, size),
        _ => return None,
    })
}

/// The shape of the result that an operand gives, which must be what the
/// result's type says where it says something.
fn result_shape(site: Site<'_>, shape: &Tensor) -> Outcome<Shape> {
    let shape = sizes_of(shape)?;
    match site.result_shape() {
        Some(known) if known != shape => invalid("the result has another shape than its type says"),
        _ => Ok(shape),
    }
}

/// Sizes out of a vector of integers.
fn sizes_of(tensor: &Tensor) -> Outcome<Shape> {
    tensor.to_i64s()?.into_iter().map(size).collect()
}

fn dynamic_reshape(site: Site<'_>, operand: &Tensor, shape: &Tensor) -> Outcome<Tensor> {
    let shape = result_shape(site, shape)?;
    if count(&shape) != operand.len() {
        return invalid("dynamic_reshape changes the number of elements");
    }
    Ok(operand.clone().reshaped(shape))
}

fn dynamic_broadcast_in_dim(site: Site<'_>, operand: &Tensor, shape: &Tensor) -> Outcome<Tensor> {
    movement::broadcast_in_dim(operand, &result_shape(site, shape)?, &site.sizes("broadcast_dimensions")?)
}

fn dynamic_iota(site: Site<'_>, shape: &Tensor) -> Outcome<Tensor> {
    movement::iota(site.result_element()?, &result_shape(site, shape)?, site.size("iota_dimension")?)
}

fn dynamic_pad(operand: &Tensor, value: &Tensor, amounts: [&Tensor; 3]) -> Outcome<Tensor> {
    let [low, high, interior] = amounts.map(Tensor::to_i64s);
    let all = low?.into_iter().zip(high?).zip(interior?);
    let padding: Vec<Padding> = all.map(|((low, high), interior)| Padding { low, high, interior }).collect();
    movement::pad(operand, value, &padding)
}

fn real_dynamic_slice(operand: &Tensor, starts: &Tensor, limits: &Tensor, steps: &Tensor) -> Outcome<Tensor> {
    movement::slice(operand, &sizes_of(starts)?, &sizes_of(limits)?, &sizes_of(steps)?)
}

fn get_dimension_size(site: Site<'_>, operand: &Tensor) -> Outcome<Tensor> {
    match operand.shape.get(site.size("dimension")?) {
        Some(&size) => {
            let size = Tensor::new(ElementType::Int(64), Shape::new(), vec![size as u64]);
            convert(&size, site.result_element()?)
        }
        None => invalid("get_dimension_size names no dimension"),
    }
}

/// Cuts a dimension to a size, which is what the elements beyond it amount to.
fn set_dimension_size(site: Site<'_>, operand: &Tensor, new: &Tensor) -> Outcome<Tensor> {
    let dimension = site.size("dimension")?;
    let new = size(new.to_i64()?)?;
    let mut limits = operand.shape.clone();
    match limits.get_mut(dimension) {
        Some(limit) if new <= *limit => *limit = new,
        Some(_) => return unsupported("a dimension larger than its bound"),
        None => return invalid("set_dimension_size names no dimension"),
    }
    let rank = limits.len();
    let starts: Shape = SmallVec::from_elem(0, rank);
    movement::slice(operand, &starts, &limits, &vec![1; rank])
}
