//! Attributes as numbers.

use ckpt_ir::{Attr, ElementType, Module, OpId};

/// A list of integers; none if it is left out or of another kind.
pub(crate) fn ints(module: &Module, op: OpId, name: &str) -> Option<Vec<i64>> {
    match module.attr(op, name)? {
        Attr::DenseIntArray { values, .. } => Some(values.clone()),
        Attr::Dense(dense) => {
            let ty = module.types.as_tensor(dense.ty)?;
            let count = ty.element_count()? as usize;
            let width = ty.element.byte_width() as usize;
            let number = |bytes: &[u8]| {
                let mut word = [if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 }; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                i64::from_le_bytes(word)
            };
            if width > 8 || !(ty.element.is_integer() || ty.element == ElementType::Bool) {
                return None;
            }
            let values: Vec<i64> = dense.bytes.chunks_exact(width).map(number).collect();
            Some(if dense.splat { vec![*values.first()?; count] } else { values })
        }
        Attr::Array(items) if items.is_empty() => Some(Vec::new()),
        _ => None,
    }
}

/// A list of integers of a known length, `default` for each if it is left out.
pub(crate) fn ints_or(module: &Module, op: OpId, name: &str, count: usize, default: i64) -> Option<Vec<i64>> {
    match module.attr(op, name) {
        None => Some(vec![default; count]),
        Some(_) => ints(module, op, name).filter(|values| values.len() == count),
    }
}

/// One integer.
pub(crate) fn int(module: &Module, op: OpId, name: &str) -> Option<i64> {
    match module.attr(op, name)? {
        Attr::Int { value, .. } => i64::try_from(*value).ok(),
        _ => None,
    }
}
