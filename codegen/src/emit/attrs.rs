//! Attributes of operations, as integers.

use ckpt_ir::{Attr, DenseElements, Module, OpId, ValueId};

/// An integer array attribute, or the numbers of a dense one.
pub(crate) fn ints(module: &Module, op: OpId, name: &str) -> Option<Vec<i64>> {
    match module.attr(op, name)? {
        Attr::DenseIntArray { values, .. } => Some(values.clone()),
        Attr::Dense(dense) => dense_ints(module, dense),
        _ => None,
    }
}

fn dense_ints(module: &Module, dense: &DenseElements) -> Option<Vec<i64>> {
    let count = module.types.as_tensor(dense.ty)?.element_count()?;
    let read = |chunk: &[u8]| chunk.try_into().ok().map(i64::from_le_bytes);
    let values: Option<Vec<i64>> = dense.bytes.chunks(8).map(read).collect();
    let values = values?;
    if dense.splat { Some(vec![*values.first()?; usize::try_from(count).ok()?]) } else { Some(values) }
}

/// An integer attribute.
pub(crate) fn int(module: &Module, op: OpId, name: &str) -> Option<i64> {
    match module.attr(op, name)? {
        Attr::Int { value, .. } => i64::try_from(*value).ok(),
        _ => None,
    }
}

/// The static shape of a tensor, its sizes signed as index arithmetic needs them.
pub(crate) fn shape_of(module: &Module, value: ValueId) -> Option<Vec<i64>> {
    let shape = module.tensor_type(value)?.static_shape()?;
    shape.into_iter().map(|size| i64::try_from(size).ok()).collect()
}
