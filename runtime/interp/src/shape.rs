//! Shapes, strides and index arithmetic, row-major throughout.

use crate::error::{Fault, Outcome};
use smallvec::SmallVec;

/// Sizes, or an index, outermost first.
pub type Shape = SmallVec<[usize; 6]>;

/// Number of elements.
#[must_use]
pub(crate) fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Elements of one tensor that are evaluated at most, whatever their type.
pub(crate) const MAX_ELEMENTS: usize = 1 << 33;

/// Number of elements, if they are few enough to be evaluated.
pub(crate) fn checked_count(shape: &[usize]) -> Outcome<usize> {
    let total = shape.iter().try_fold(1usize, |total, size| total.checked_mul(*size));
    match total {
        Some(total) if total <= MAX_ELEMENTS => Ok(total),
        _ if shape.contains(&0) => Ok(0),
        _ => Err(Fault::LimitExceeded("a tensor is too large to be evaluated")),
    }
}

/// Elements between neighbours along each dimension.
#[must_use]
pub(crate) fn strides(shape: &[usize]) -> Shape {
    let mut strides: Shape = SmallVec::from_elem(1, shape.len());
    for dim in (1..shape.len()).rev() {
        // Shapes without elements may have sizes whose product does not fit.
        strides[dim - 1] = strides[dim].wrapping_mul(shape[dim]);
    }
    strides
}

/// Steps to the next index of `shape` in row-major order; false after the last.
pub(crate) fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for dim in (0..shape.len()).rev() {
        index[dim] += 1;
        if index[dim] < shape[dim] {
            return true;
        }
        index[dim] = 0;
    }
    false
}

/// Position of an index.
pub(crate) fn offset_of(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(i, s)| i * s).sum()
}

/// Index of a position.
pub(crate) fn index_of(mut offset: usize, shape: &[usize]) -> Shape {
    let mut index: Shape = SmallVec::from_elem(0, shape.len());
    for dim in (0..shape.len()).rev() {
        if shape[dim] > 0 {
            index[dim] = offset % shape[dim];
            offset /= shape[dim];
        }
    }
    index
}

/// Calls `visit` with `base + Σ index·stride` for each index of `shape` in
/// row-major order. The innermost dimension is a plain loop.
pub(crate) fn for_each_offset(shape: &[usize], strides: &[isize], base: isize, mut visit: impl FnMut(usize)) {
    if shape.contains(&0) {
        return;
    }
    let Some((&inner, outer)) = shape.split_last() else {
        visit(base as usize);
        return;
    };
    let inner_stride = strides[outer.len()];
    let mut index: Shape = SmallVec::from_elem(0, outer.len());
    loop {
        let start: isize = base + index.iter().zip(strides).map(|(i, s)| *i as isize * s).sum::<isize>();
        for i in 0..inner as isize {
            visit((start + i * inner_stride) as usize);
        }
        if !advance(&mut index, outer) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_the_strides() {
        let mut seen = Vec::new();
        for_each_offset(&[2, 3], &[1, 2], 0, |at| seen.push(at));
        assert_eq!(seen, [0, 2, 4, 1, 3, 5]);
        assert_eq!(strides(&[2, 3, 4]).as_slice(), [12, 4, 1]);
        assert_eq!(index_of(17, &[2, 3, 4]).as_slice(), [1, 1, 1]);
        assert_eq!(offset_of(&[1, 1, 1], &[12, 4, 1]), 17);
    }
}
