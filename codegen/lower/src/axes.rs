//! Dimensions of contractions, merged as far as they lie in a row.

use ckpt_runtime::{Element, OuterLoop, OuterSum};

/// The runtime's name of an element type that it has fast code for.
pub(crate) fn fast_element(element: ckpt_ir::ElementType) -> Option<Element> {
    match element {
        ckpt_ir::ElementType::F32 => Some(Element::F32),
        ckpt_ir::ElementType::F64 => Some(Element::F64),
        ckpt_ir::ElementType::Bf16 => Some(Element::Bf16),
        ckpt_ir::ElementType::F16 => Some(Element::F16),
        _ => None,
    }
}

/// Merges neighbours, outermost first, where for every operand the outer one
/// goes on where the inner one ends.
pub(crate) fn merge(axes: &[OuterLoop]) -> Vec<OuterLoop> {
    let mut merged: Vec<OuterLoop> = Vec::new();
    for &axis in axes.iter().filter(|axis| axis.size != 1) {
        let size = axis.size as i64;
        match merged.last_mut() {
            Some(last)
                if (last.lhs, last.rhs, last.out) == (axis.lhs * size, axis.rhs * size, axis.out * size) =>
            {
                *last = OuterLoop { size: last.size * axis.size, ..axis };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// Takes the largest dimension out of a list; one of size 1 if it is empty.
pub(crate) fn take_largest(axes: &mut Vec<OuterLoop>) -> OuterLoop {
    let largest = (0..axes.len()).rev().max_by_key(|at| axes[*at].size);
    largest.map_or(OuterLoop { size: 1, ..OuterLoop::default() }, |at| axes.remove(at))
}

/// Summed dimensions, the largest one innermost; one at least.
pub(crate) fn sums(axes: &[OuterLoop]) -> Vec<OuterSum> {
    let mut axes = merge(axes);
    let inner = take_largest(&mut axes);
    axes.push(inner);
    axes.iter().map(|a| OuterSum { size: a.size, lhs: a.lhs, rhs: a.rhs }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_merge_and_the_largest_is_innermost() {
        let axis = |size, lhs, rhs| OuterLoop { size, lhs, rhs, out: 0 };
        assert_eq!(merge(&[axis(8, 50, 20), axis(1, 7, 7), axis(5, 10, 4)]), [axis(40, 10, 4)]);
        assert_eq!(merge(&[axis(8, 50, 21), axis(5, 10, 4)]).len(), 2);
        let sums = sums(&[axis(9, 1, 100), axis(3, 40, 7)]);
        assert_eq!(sums.last().map(|s| s.size), Some(9));
    }
}
