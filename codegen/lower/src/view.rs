//! Strided views: how an operand lies in the buffer it is a view of.

use crate::attributes::ints;
use crate::values::Values;
use ckpt_ir::{Module, OpId, OpKind, ValueDef, ValueId};
use ckpt_runtime::BufferId;

/// A dimension: size and distance in elements.
pub(crate) type Dim = (u64, i64);

/// A value's elements in a buffer.
pub(crate) struct View {
    pub(crate) buffer: BufferId,
    /// The first element.
    pub(crate) offset: u64,
    pub(crate) dims: Vec<Dim>,
}

impl View {
    /// How `value` lies in the nearest buffer that it is a strided view of;
    /// none if there is no such buffer. Linear in the chain of views.
    pub(crate) fn of(values: &Values<'_>, value: ValueId) -> Option<Self> {
        let module = values.module;
        let mut chain = Vec::new();
        let mut base = value;
        while values.own(base).is_none() {
            let ValueDef::Result { op, index } = module.value_def(base) else { return None };
            let data = module.op(op);
            match data.kind {
                OpKind::OptimizationBarrier => base = *data.operands.get(index as usize)?,
                OpKind::Reshape | OpKind::Transpose | OpKind::Slice | OpKind::BroadcastInDim => {
                    chain.push(op);
                    base = *data.operands.first()?;
                }
                _ => return None,
            }
        }
        let shape = module.tensor_type(base)?.static_shape()?;
        let mut view = Self { buffer: values.own(base)?, offset: 0, dims: row_major(&shape) };
        for op in chain.into_iter().rev() {
            view.step(module, op)?;
        }
        Some(view)
    }

    fn step(&mut self, module: &Module, op: OpId) -> Option<()> {
        let shape = module.tensor_type(*module.op(op).results.first()?)?.static_shape()?;
        match module.op(op).kind {
            OpKind::Reshape => self.dims = reshape(&self.dims, &shape)?,
            OpKind::Transpose => {
                let order = ints(module, op, "permutation")?;
                let pick = |at: &i64| self.dims.get(usize::try_from(*at).ok()?).copied();
                self.dims = order.iter().map(pick).collect::<Option<_>>()?;
            }
            OpKind::Slice => {
                let (starts, strides) = (ints(module, op, "start_indices")?, ints(module, op, "strides")?);
                for (at, dim) in self.dims.iter_mut().enumerate() {
                    let (start, by) = (*starts.get(at)?, *strides.get(at)?);
                    self.offset = self.offset.checked_add_signed(start.checked_mul(dim.1)?)?;
                    *dim = (*shape.get(at)?, dim.1.checked_mul(by)?);
                }
            }
            OpKind::BroadcastInDim => {
                let map = ints(module, op, "broadcast_dimensions")?;
                let mut dims: Vec<Dim> = shape.iter().map(|size| (*size, 0)).collect();
                for (from, to) in map.iter().enumerate() {
                    let (size, stride) = *self.dims.get(from)?;
                    dims.get_mut(usize::try_from(*to).ok()?)?.1 = if size == 1 { 0 } else { stride };
                }
                self.dims = dims;
            }
            _ => return None,
        }
        Some(())
    }
}

/// Dimensions of a dense tensor.
pub(crate) fn row_major(shape: &[u64]) -> Vec<Dim> {
    let mut stride = 1u64;
    let mut dims: Vec<Dim> = Vec::with_capacity(shape.len());
    for &size in shape.iter().rev() {
        dims.push((size, stride as i64));
        stride = stride.saturating_mul(size);
    }
    dims.reverse();
    dims
}

/// Splits and merges dimensions where strides allow it: each group of merged
/// dimensions must lie one after the other.
fn reshape(dims: &[Dim], shape: &[u64]) -> Option<Vec<Dim>> {
    if shape.contains(&0) {
        return Some(row_major(shape));
    }
    let mut runs: Vec<Dim> = Vec::new();
    for &(size, stride) in dims.iter().filter(|(size, _)| *size != 1) {
        match runs.last_mut() {
            Some((run, last)) if *last == size as i64 * stride => {
                *run *= size;
                *last = stride;
            }
            _ => runs.push((size, stride)),
        }
    }
    let mut out = vec![(1, 0); shape.len()];
    let mut next = shape.len();
    for &(size, stride) in runs.iter().rev() {
        let (mut left, mut stride) = (size, stride);
        while left > 1 {
            next = next.checked_sub(1)?;
            let dim = shape[next];
            if left % dim != 0 {
                return None;
            }
            out[next] = (dim, if dim == 1 { 0 } else { stride });
            stride *= dim as i64;
            left /= dim;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_split_and_merge_where_they_lie_in_a_row() {
        let sliced = [(8, 1536), (16, 96), (32, 1)];
        assert_eq!(reshape(&sliced, &[8, 16, 2, 16]), Some(vec![(8, 1536), (16, 96), (2, 16), (16, 1)]));
        assert_eq!(reshape(&sliced, &[8, 512]), None);
        assert_eq!(reshape(&sliced, &[128, 32]), Some(vec![(128, 96), (32, 1)]));
        assert_eq!(reshape(&[(1, 5), (4, 1)], &[4]), Some(vec![(4, 1)]));
    }
}
