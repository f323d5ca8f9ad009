//! `chlo.top_k`.

use crate::elementwise::{complex::C, float};
use crate::error::{Outcome, invalid};
use crate::shape::Shape;
use crate::tensor::{Storage, Tensor};
use ckpt_ir::ElementType;

/// The `k` largest elements of each line of the last dimension, largest first,
/// and their positions. Equal elements keep their order; NaN counts as largest.
pub(crate) fn top_k(operand: &Tensor, k: usize) -> Outcome<(Tensor, Tensor)> {
    let Some((&length, outer)) = operand.shape.split_last() else {
        return invalid("top_k needs a dimension");
    };
    if k > length {
        return invalid("top_k asks for more elements than there are");
    }
    let keys = sort_keys(operand)?;
    let lines = outer.iter().product::<usize>();
    let (mut positions, mut indices) = (Vec::new(), Vec::new());
    for line in 0..lines {
        let start = line * length;
        let mut order: Vec<usize> = (start..start + length).collect();
        order.sort_by(|a, b| keys[*b].cmp(&keys[*a]));
        positions.extend_from_slice(&order[..k]);
        indices.extend(order[..k].iter().map(|at| (at - start) as u32));
    }
    let mut shape: Shape = outer.into();
    shape.push(k);
    let values = operand.pick(shape.clone(), &positions);
    Ok((values, Tensor { element: ElementType::Int(32), shape, data: u32::wrap(indices) }))
}

/// Integers in the order of the elements.
fn sort_keys(operand: &Tensor) -> Outcome<Vec<(i64, i64)>> {
    if operand.element.is_complex() {
        let key = |z: &C| (float::total_order(z.re), float::total_order(z.im));
        return Ok(float::unpack_complex(operand)?.iter().map(key).collect());
    }
    if operand.element.is_float() {
        let positive_nan = |x: f64| if x.is_nan() { f64::NAN.copysign(1.0) } else { x };
        let values = float::unpack(operand)?;
        return Ok(values.into_iter().map(|x| (float::total_order(positive_nan(x)), 0)).collect());
    }
    let unsigned = matches!(operand.element, ElementType::Uint(64));
    let flip = if unsigned { i64::MIN } else { 0 };
    Ok(operand.to_i64s()?.into_iter().map(|x| (x ^ flip, 0)).collect())
}
