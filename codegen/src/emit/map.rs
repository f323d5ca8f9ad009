//! Kernels that compute each element of their outputs by itself.

use super::attrs::shape_of;
use super::kernel::{Draft, Outputs};
use super::nest::Rows;
use super::{Emitted, NoPath, cone::Cone};

/// One loop over the elements of outputs of one size. The last value says which
/// rows would have been better.
pub(super) fn map(cone: &mut Cone<'_>, outputs: &Outputs, rows: Rows) -> Emitted<Draft> {
    let part = rows.open(cone, outputs.range);
    let column = cone.open_loop(part.columns.0, part.columns.1, 1, (0, rows.row - 1));
    let position = part.base.plus(1, &column);
    let mut elements = Vec::new();
    for &(value, _) in &outputs.values {
        let shape = shape_of(cone.module, value).ok_or(NoPath::Shape)?;
        let index = cone.indices.unflatten(&position, &shape);
        elements.push(cone.element(value, &index)?);
    }
    for (&(value, pointer), element) in outputs.values.iter().zip(elements) {
        let ty = cone.element_type(value)?;
        cone.store(ty, pointer, &position, element);
    }
    let better = rows.refined(cone, &column);
    for _ in 0..=part.loops {
        cone.close_loop();
    }
    Ok(Draft { extent: rows.extent(), better })
}
