//! Operations that move elements: each result element is an operand element
//! found by index arithmetic.

use crate::error::{Outcome, invalid};
use crate::shape::{Shape, checked_count, count, for_each_offset, offset_of, strides};
use crate::tensor::{Data, Storage, Tensor, with_data};
use smallvec::SmallVec;

/// Gathers a strided view of the operand: result index `i` reads operand
/// position `base + Σ i·stride`.
pub(crate) fn strided(operand: &Tensor, shape: &[usize], strides: &[isize], base: isize) -> Tensor {
    fn run<S: Storage>(from: &[S], shape: &[usize], strides: &[isize], base: isize) -> Data {
        let mut out = Vec::with_capacity(count(shape));
        for_each_offset(shape, strides, base, |at| out.push(from[at]));
        S::wrap(out)
    }
    let data = with_data!(&operand.data, v => run(v, shape, strides, base));
    Tensor { element: operand.element, shape: shape.into(), data }
}

fn signed(strides: &[usize]) -> SmallVec<[isize; 6]> {
    strides.iter().map(|s| *s as isize).collect()
}

/// `broadcast_in_dim`: operand dimension `d` becomes result dimension
/// `dimensions[d]`; sizes of one are repeated.
pub(crate) fn broadcast_in_dim(operand: &Tensor, shape: &[usize], dimensions: &[usize]) -> Outcome<Tensor> {
    if dimensions.len() != operand.shape.len() {
        return invalid("broadcast_dimensions has another length than the operand has dimensions");
    }
    checked_count(shape)?;
    if operand.len() == 1 {
        return Ok(operand.splat(shape));
    }
    let from = strides(&operand.shape);
    let mut view: SmallVec<[isize; 6]> = SmallVec::from_elem(0, shape.len());
    for (dim, &target) in dimensions.iter().enumerate() {
        match shape.get(target) {
            Some(size) if operand.shape[dim] == *size => view[target] = from[dim] as isize,
            Some(_) if operand.shape[dim] == 1 => {}
            _ => return invalid("a dimension cannot be broadcast to the result's size"),
        }
    }
    Ok(strided(operand, shape, &view, 0))
}

/// `transpose`.
pub(crate) fn transpose(operand: &Tensor, permutation: &[usize]) -> Outcome<Tensor> {
    if permutation.len() != operand.shape.len()
        || (0..permutation.len()).any(|dim| !permutation.contains(&dim))
    {
        return invalid("permutation does not name each dimension");
    }
    let from = strides(&operand.shape);
    let shape: Shape = permutation.iter().map(|p| operand.shape[*p]).collect();
    let view: SmallVec<[isize; 6]> = permutation.iter().map(|p| from[*p] as isize).collect();
    Ok(strided(operand, &shape, &view, 0))
}

/// `reverse`.
pub(crate) fn reverse(operand: &Tensor, dimensions: &[usize]) -> Outcome<Tensor> {
    let mut view = signed(&strides(&operand.shape));
    let mut base = 0;
    for &dim in dimensions {
        let Some(&size) = operand.shape.get(dim) else { return invalid("no such dimension to reverse") };
        base += (size as isize - 1) * view[dim];
        view[dim] = -view[dim];
    }
    Ok(strided(operand, &operand.shape, &view, base))
}

/// `slice`.
pub(crate) fn slice(
    operand: &Tensor,
    starts: &[usize],
    limits: &[usize],
    steps: &[usize],
) -> Outcome<Tensor> {
    let rank = operand.shape.len();
    if [starts.len(), limits.len(), steps.len()] != [rank; 3] {
        return invalid("a slice needs a start, a limit and a stride for each dimension");
    }
    let from = strides(&operand.shape);
    let mut shape = Shape::new();
    let mut view: SmallVec<[isize; 6]> = SmallVec::new();
    let mut base = 0;
    for dim in 0..rank {
        let (start, limit, step) = (starts[dim], limits[dim], steps[dim]);
        if start > limit || limit > operand.shape[dim] || step == 0 {
            return invalid("a slice reaches beyond its operand");
        }
        shape.push((limit - start).div_ceil(step));
        view.push((from[dim] * step) as isize);
        base += (start * from[dim]) as isize;
    }
    Ok(strided(operand, &shape, &view, base))
}

/// Where a slice of sizes `sizes` starts once it is moved into `shape`.
pub(crate) fn clamp_starts(starts: &[i64], shape: &[usize], sizes: &[usize]) -> Outcome<Shape> {
    if starts.len() != shape.len() || sizes.len() != shape.len() {
        return invalid("a slice needs a start and a size for each dimension");
    }
    let clamp = |((start, shape), size): ((&i64, &usize), &usize)| {
        let last = shape.checked_sub(*size)?;
        Some((*start).clamp(0, last as i64) as usize)
    };
    let starts: Option<Shape> = starts.iter().zip(shape).zip(sizes).map(clamp).collect();
    starts.map_or_else(|| invalid("a slice is larger than its operand"), Ok)
}

/// `dynamic_slice`.
pub(crate) fn dynamic_slice(operand: &Tensor, starts: &[i64], sizes: &[usize]) -> Outcome<Tensor> {
    let starts = clamp_starts(starts, &operand.shape, sizes)?;
    let limits: Shape = starts.iter().zip(sizes).map(|(a, b)| a + b).collect();
    slice(operand, &starts, &limits, &vec![1; sizes.len()])
}

/// `dynamic_update_slice`; in place where nothing else holds the operand.
pub(crate) fn dynamic_update_slice(operand: Tensor, update: &Tensor, starts: &[i64]) -> Outcome<Tensor> {
    let starts = clamp_starts(starts, &operand.shape, &update.shape)?;
    let mut result = operand;
    write_box(&mut result, update, &starts)?;
    Ok(result)
}

/// Writes `update` into `target` from index `starts` on.
fn write_box(target: &mut Tensor, update: &Tensor, starts: &[usize]) -> Outcome<()> {
    fn run<S: Storage>(
        target: &mut Data,
        update: &[S],
        to: &[isize],
        shape: &[usize],
        base: isize,
    ) -> Outcome<()> {
        let Some(target) = S::peek_mut(target) else {
            return invalid("the update has another element type than the operand");
        };
        let mut values = update.iter();
        for_each_offset(shape, to, base, |at| {
            if let Some(value) = values.next() {
                target[at] = *value;
            }
        });
        Ok(())
    }
    let to = strides(&target.shape);
    let base = offset_of(starts, &to) as isize;
    with_data!(&update.data, v => run(&mut target.data, v, &signed(&to), &update.shape, base))
}

/// `concatenate`.
pub(crate) fn concatenate(parts: &[&Tensor], dimension: usize) -> Outcome<Tensor> {
    let Some(first) = parts.first() else { return invalid("nothing to concatenate") };
    if dimension >= first.shape.len() {
        return invalid("no such dimension to concatenate along");
    }
    let mut shape = first.shape.clone();
    shape[dimension] = parts.iter().map(|part| part.shape.get(dimension).copied().unwrap_or(0)).sum();
    fn run<S: Storage>(parts: &[&Tensor], outer: usize, dimension: usize, _: &[S]) -> Outcome<Data> {
        let mut sources = Vec::new();
        for part in parts {
            sources.push((part.elements::<S>()?, count(&part.shape[dimension..])));
        }
        let mut out = Vec::with_capacity(sources.iter().map(|(v, _)| v.len()).sum());
        for row in 0..outer {
            for (source, length) in &sources {
                out.extend_from_slice(&source[row * length..(row + 1) * length]);
            }
        }
        Ok(S::wrap(out))
    }
    let outer = count(&shape[..dimension]);
    let same = |part: &&Tensor| {
        part.shape.len() == shape.len()
            && part.shape.iter().zip(&shape).enumerate().all(|(dim, (a, b))| dim == dimension || a == b)
    };
    if !parts.iter().all(same) {
        return invalid("the operands of concatenate differ in another dimension");
    }
    let data = with_data!(&first.data, v => run(parts, outer, dimension, v))?;
    Ok(Tensor { element: first.element, shape, data })
}

/// Padding of one dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Padding {
    /// Elements before; negative cuts.
    pub(crate) low: i64,
    /// Elements after; negative cuts.
    pub(crate) high: i64,
    /// Elements between neighbours.
    pub(crate) interior: i64,
}

impl Padding {
    /// The size of a padded dimension.
    pub(crate) fn apply(self, size: usize) -> Outcome<usize> {
        let size = size as i128;
        let spread = size + (size - 1).max(0) * i128::from(self.interior);
        let padded = spread + i128::from(self.low) + i128::from(self.high);
        usize::try_from(padded).map_or_else(|_| invalid("padding cuts away more than there is"), Ok)
    }
}

/// `pad`.
pub(crate) fn pad(operand: &Tensor, value: &Tensor, padding: &[Padding]) -> Outcome<Tensor> {
    if padding.len() != operand.shape.len() || padding.iter().any(|p| p.interior < 0) {
        return invalid("pad needs low, high and non-negative interior padding for each dimension");
    }
    let sizes = operand.shape.iter().zip(padding).map(|(size, padding)| padding.apply(*size));
    let shape = sizes.collect::<Outcome<Shape>>()?;
    checked_count(&shape)?;
    if value.len() != 1 || value.element != operand.element {
        return invalid("the padding value is no scalar of the operand's type");
    }
    let mut result = value.splat(shape.clone());
    // The box of operand indices that survive negative padding.
    let mut first = Shape::new();
    let mut kept = Shape::new();
    for ((&size, padding), &padded) in operand.shape.iter().zip(padding).zip(&shape) {
        let step = padding.interior + 1;
        let from = (-padding.low).max(0);
        let from = from.div_euclid(step) + i64::from(from.rem_euclid(step) != 0);
        let to = (padded as i64 - padding.low + step - 1).div_euclid(step).clamp(0, size as i64);
        first.push(from as usize);
        kept.push((to - from).max(0) as usize);
    }
    fn run<S: Storage>(
        to: &mut Data,
        from: &[S],
        kept: &[usize],
        source: (&[isize], isize),
        target: (&[isize], isize),
    ) {
        let Some(to) = S::peek_mut(to) else { return };
        let mut positions = Vec::with_capacity(count(kept));
        for_each_offset(kept, target.0, target.1, |at| positions.push(at));
        let mut positions = positions.into_iter();
        for_each_offset(kept, source.0, source.1, |at| {
            if let Some(position) = positions.next() {
                to[position] = from[at];
            }
        });
    }
    let (from, to) = (strides(&operand.shape), strides(&shape));
    let steps: SmallVec<[isize; 6]> =
        to.iter().zip(padding).map(|(s, p)| *s as isize * (p.interior as isize + 1)).collect();
    let mut target_base = 0;
    for (dim, padding) in padding.iter().enumerate() {
        target_base +=
            (padding.low as isize + first[dim] as isize * (padding.interior as isize + 1)) * to[dim] as isize;
    }
    let source_base = offset_of(&first, &from) as isize;
    with_data!(&operand.data, v => {
        run(&mut result.data, v, &kept, (&signed(&from), source_base), (&steps, target_base));
    });
    Ok(result)
}

/// `iota`: each element is its index along a dimension.
pub(crate) fn iota(element: ckpt_ir::ElementType, shape: &[usize], dimension: usize) -> Outcome<Tensor> {
    use crate::elementwise::convert::convert;
    checked_count(shape)?;
    let Some(&size) = shape.get(dimension) else { return invalid("no such dimension for iota") };
    let line = Tensor::new(ckpt_ir::ElementType::Int(64), &[size][..], (0..size as u64).collect());
    broadcast_in_dim(&convert(&line, element)?, shape, &[dimension])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ckpt_ir::ElementType;

    fn line(values: &[i64]) -> Tensor {
        Tensor::new(ElementType::Int(64), &[values.len()][..], values.iter().map(|x| *x as u64).collect())
    }

    #[test]
    fn padding_may_cut_and_spread() {
        let pad_by = |low, high, interior| {
            pad(&line(&[1, 2, 3]), &line(&[0]).at(0), &[Padding { low, high, interior }])
                .unwrap()
                .to_i64s()
                .unwrap()
        };
        assert_eq!(pad_by(1, 2, 1), [0, 1, 0, 2, 0, 3, 0, 0]);
        assert_eq!(pad_by(-1, 0, 1), [0, 2, 0, 3]);
        assert_eq!(pad_by(0, -2, 1), [1, 0, 2]);
        assert_eq!(pad_by(-3, 0, 0), [] as [i64; 0]);
    }

    #[test]
    fn slices_and_transposes_read_the_right_places() {
        let square = line(&[1, 2, 3, 4, 5, 6]).reshaped(&[2, 3][..]);
        assert_eq!(transpose(&square, &[1, 0]).unwrap().to_i64s().unwrap(), [1, 4, 2, 5, 3, 6]);
        assert_eq!(slice(&square, &[0, 0], &[2, 3], &[1, 2]).unwrap().to_i64s().unwrap(), [1, 3, 4, 6]);
        assert_eq!(reverse(&square, &[1]).unwrap().to_i64s().unwrap(), [3, 2, 1, 6, 5, 4]);
        assert_eq!(dynamic_slice(&square, &[5, -1], &[1, 2]).unwrap().to_i64s().unwrap(), [4, 5]);
    }
}
