//! Which chains of views are mere strides.

use ckpt_ir::{Attr, Module, OpId, OpKind};

/// One dimension of a strided view: size and distance in elements.
type StridedDim = (u64, u64);

/// Whether the values from `base` on, through `chain` (innermost first), are
/// addressable in `base`'s row-major buffer by sizes, strides and an offset:
/// what a strided matrix product reads without a copy. Linear in the ranks.
#[must_use]
pub fn is_strided_view(module: &Module, base: ckpt_ir::ValueId, chain: &[OpId]) -> bool {
    let Some(shape) = module.tensor_type(base).and_then(ckpt_ir::TensorType::static_shape) else {
        return false;
    };
    let mut dims = row_major(&shape);
    for &op in chain {
        let Some(next) = step(module, op, &dims) else { return false };
        dims = next;
    }
    true
}

fn row_major(shape: &[u64]) -> Vec<StridedDim> {
    let mut stride = 1u64;
    let mut dims: Vec<StridedDim> = Vec::with_capacity(shape.len());
    for &size in shape.iter().rev() {
        dims.push((size, stride));
        stride = stride.saturating_mul(size);
    }
    dims.reverse();
    dims
}

fn step(module: &Module, op: OpId, dims: &[StridedDim]) -> Option<Vec<StridedDim>> {
    let result = *module.op(op).results.first()?;
    let shape = module.tensor_type(result)?.static_shape()?;
    match module.op(op).kind {
        OpKind::Reshape => reshape(dims, &shape),
        OpKind::Transpose => {
            let permutation = int_array(module, op, "permutation")?;
            permutation.iter().map(|p| dims.get(usize::try_from(*p).ok()?).copied()).collect()
        }
        OpKind::BroadcastInDim => {
            let map = int_array(module, op, "broadcast_dimensions")?;
            let mut out: Vec<StridedDim> = shape.iter().map(|size| (*size, 0)).collect();
            for (from, to) in map.iter().enumerate() {
                let slot = out.get_mut(usize::try_from(*to).ok()?)?;
                let (size, stride) = *dims.get(from)?;
                slot.1 = if size == 1 { 0 } else { stride };
            }
            Some(out)
        }
        OpKind::Slice => {
            let strides = int_array(module, op, "strides")?;
            let sliced = dims.iter().zip(&strides).zip(&shape);
            sliced
                .map(|(((_, stride), by), size)| {
                    Some((*size, stride.saturating_mul(u64::try_from(*by).ok()?)))
                })
                .collect()
        }
        _ => None,
    }
}

/// Splits and merges dimensions where the strides allow it: each group of
/// merged dimensions must be contiguous within itself.
fn reshape(dims: &[StridedDim], shape: &[u64]) -> Option<Vec<StridedDim>> {
    if shape.contains(&0) {
        return Some(row_major(shape));
    }
    let mut runs: Vec<StridedDim> = Vec::new();
    for &(size, stride) in dims.iter().filter(|(size, _)| *size != 1) {
        match runs.last_mut() {
            Some((run, last)) if *last == size.saturating_mul(stride) => {
                *run = run.saturating_mul(size);
                *last = stride;
            }
            _ => runs.push((size, stride)),
        }
    }
    let mut out = vec![(1, 0); shape.len()];
    let mut next = shape.len();
    // From the innermost run outwards, give each run the new dimensions that it splits into.
    for &(size, stride) in runs.iter().rev() {
        let (mut left, mut stride) = (size, stride);
        while left > 1 {
            next = next.checked_sub(1)?;
            let dim = shape[next];
            if left % dim != 0 {
                return None;
            }
            out[next] = (dim, if dim == 1 { 0 } else { stride });
            stride = stride.saturating_mul(dim);
            left /= dim;
        }
    }
    Some(out)
}

fn int_array(module: &Module, op: OpId, name: &str) -> Option<Vec<i64>> {
    match module.attr(op, name)? {
        Attr::DenseIntArray { values, .. } => Some(values.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_innermost_dimension_stays_strided() {
        // [8, 16, 96] sliced to [8, 16, 32] keeps the stride of 96; splitting 32 is fine.
        let sliced = [(8, 1536), (16, 96), (32, 1)];
        assert_eq!(reshape(&sliced, &[8, 16, 2, 16]), Some(vec![(8, 1536), (16, 96), (2, 16), (16, 1)]));
        // Merging the sliced dimension with the one before is not.
        assert_eq!(reshape(&sliced, &[8, 512]), None);
        // Merging the two outer ones is.
        assert_eq!(reshape(&sliced, &[128, 32]), Some(vec![(128, 96), (32, 1)]));
    }

    #[test]
    fn ones_come_and_go() {
        assert_eq!(reshape(&[(4, 3), (3, 1)], &[1, 4, 1, 3]), Some(vec![(1, 0), (4, 3), (1, 0), (3, 1)]));
        assert_eq!(reshape(&[(1, 5), (4, 1)], &[4]), Some(vec![(4, 1)]));
    }
}
