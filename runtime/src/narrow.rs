//! Matrix products of 16-bit floats: operands are converted to `f32` in
//! pieces, summed there, and rounded once.
#![allow(unsafe_code)]

use crate::block_product::{Matrix, Shared, Size, multiply};
use crate::element::Narrow;
use crate::matmul::{MIN_PARALLEL_LOOPS, MIN_PARALLEL_PRODUCTS, Operands, iterations, products};
use crate::program::{MatMulStep, OuterLoop};
use crate::scratch::{MAX_SCRATCH_BYTES, with_piece};
use rayon::prelude::*;

/// Rows of the result computed at a time: the more, the less often the right
/// operand is packed again.
const ROWS: usize = 256;

/// Row blocks that a product of many rows has at least, so that threads share evenly.
const MIN_ROW_BLOCKS: usize = 4;

/// Columns computed at a time at least, however long the sums are.
const MIN_COLUMNS: usize = 16;

/// A dimension while packing: size and distance in elements.
pub(crate) type Dim = (usize, isize);

/// Runs a product.
///
/// # Safety
/// As [`crate::matmul::run`].
pub(crate) unsafe fn run<A: Narrow, C: Narrow>(step: &MatMulStep, operands: Operands) {
    let iterations = iterations(&step.loops);
    let parallel = products(step) >= MIN_PARALLEL_PRODUCTS;
    let spread = iterations.len() >= MIN_PARALLEL_LOOPS;
    let lhs = Shared(operands.lhs.cast_mut().cast::<A>());
    let rhs = Shared(operands.rhs.cast_mut().cast::<A>());
    let out = Shared(operands.out.cast::<C>());
    let one = |at: &OuterLoop| {
        let product = Product {
            step,
            lhs: Shared(lhs.at(step.lhs.offset as isize + at.lhs as isize)),
            rhs: Shared(rhs.at(step.rhs.offset as isize + at.rhs as isize)),
            out: Shared(out.at(step.out.offset as isize + at.out as isize)),
            parallel: parallel && !spread,
        };
        // SAFETY: iterations write disjoint parts of `out`.
        unsafe { product.run() }
    };
    if parallel && spread { iterations.par_iter().for_each(one) } else { iterations.iter().for_each(one) }
}

/// One product of two matrices.
struct Product<'a, A, C> {
    step: &'a MatMulStep,
    lhs: Shared<A>,
    rhs: Shared<A>,
    out: Shared<C>,
    parallel: bool,
}

impl<A: Narrow, C: Narrow> Product<'_, A, C> {
    unsafe fn run(&self) {
        let (m, n) = (self.step.m.size as usize, self.step.n.size as usize);
        let k: usize = self.step.sums.iter().map(|s| s.size as usize).product();
        let columns = (MAX_SCRATCH_BYTES / 4 / k.max(1)).max(MIN_COLUMNS).min(n.max(1));
        let rows = ROWS.min(m.div_ceil(MIN_ROW_BLOCKS).next_multiple_of(8)).max(1);
        for first in (0..n).step_by(columns) {
            let columns = columns.min(n - first);
            with_piece(0, k * columns, |packed| {
                // SAFETY: the caller's promise.
                let rhs = unsafe { self.pack_rhs(first, columns, packed) };
                let block = |row: usize| {
                    let rows = rows.min(m - row);
                    // SAFETY: blocks write disjoint rows.
                    unsafe { self.block(row, rows, first, columns, k, &rhs) }
                };
                let starts: Vec<usize> = (0..m).step_by(rows).collect();
                if self.parallel {
                    starts.into_par_iter().for_each(block);
                } else {
                    starts.into_iter().for_each(block);
                }
            });
        }
    }

    /// Converts columns of the right operand into rows of consecutive columns.
    unsafe fn pack_rhs(&self, first: usize, columns: usize, packed: &mut [f32]) -> Packed {
        let start = Shared(self.rhs.at(first as isize * self.step.n.rhs as isize));
        let sums: Vec<Dim> = self.step.sums.iter().map(|s| (s.size as usize, s.rhs as isize)).collect();
        // SAFETY: the caller's promise.
        unsafe { pack_rows(start, (columns, self.step.n.rhs as isize), &sums, packed, self.parallel) }
    }

    unsafe fn block(&self, row: usize, rows: usize, first: usize, columns: usize, k: usize, rhs: &Packed) {
        let start = Shared(self.lhs.at(row as isize * self.step.m.lhs as isize));
        let sums: Vec<Dim> = self.step.sums.iter().map(|s| (s.size as usize, s.lhs as isize)).collect();
        with_piece(1, rows * k, |packed| {
            let sums_inside = self.step.m.lhs != 1 || sums.last().is_some_and(|sum| sum.1 == 1);
            // SAFETY: the caller's promise.
            let lhs =
                unsafe { pack(start, (rows, self.step.m.lhs as isize), &sums, sums_inside, packed, false) };
            with_piece(2, rows * columns, |result| {
                let size = Size { m: rows, n: columns, k };
                let out = Matrix { start: result.as_mut_ptr(), row: columns as isize, column: 1 };
                let lhs = Matrix::read(lhs.start.0, lhs.free, lhs.sum);
                let rhs = Matrix::read(rhs.start.0, rhs.sum, rhs.free);
                // SAFETY: all three are scratch of these sizes.
                unsafe { multiply(size, out, false, lhs, rhs, false) }
                // SAFETY: the caller's promise.
                unsafe { self.store(row, first, columns, result) }
            });
        });
    }

    /// Rounds a block of the result.
    unsafe fn store(&self, row: usize, first: usize, columns: usize, result: &[f32]) {
        let (to_row, to_column) = (self.step.m.out as isize, self.step.n.out as isize);
        if to_row == 1 && to_column != 1 {
            let rows = result.len() / columns.max(1);
            for column in 0..columns {
                let start = self.out.at(row as isize + (first + column) as isize * to_column);
                // SAFETY: a column of the result, which is written transposed.
                let target = unsafe { std::slice::from_raw_parts_mut(start, rows) };
                for (target, value) in target.iter_mut().zip(result[column..].iter().step_by(columns)) {
                    *target = C::store(*value);
                }
            }
            return;
        }
        for (at, values) in result.chunks_exact(columns.max(1)).enumerate() {
            let start = self.out.at((row + at) as isize * to_row + first as isize * to_column);
            if to_column == 1 {
                // SAFETY: a row of the result.
                let target = unsafe { std::slice::from_raw_parts_mut(start, columns) };
                for (target, value) in target.iter_mut().zip(values) {
                    *target = C::store(*value);
                }
                continue;
            }
            for (column, value) in values.iter().enumerate() {
                // SAFETY: an element of the result.
                unsafe { *start.offset(column as isize * to_column) = C::store(*value) }
            }
        }
    }
}

/// An operand in scratch, with its strides.
pub(crate) struct Packed {
    pub(crate) start: Shared<f32>,
    /// Distance along rows of the left or columns of the right operand.
    pub(crate) free: isize,
    /// Distance along the sums.
    pub(crate) sum: isize,
}

/// Summed positions that are packed side by side: a cache line of `f32`, so
/// that an operand that lies contiguously along the sum is read line by line.
const SUMS_AT_ONCE: usize = 16;

/// Converts `sums` × `free` elements into rows of `free`.
///
/// # Safety
/// The elements are in memory.
pub(crate) unsafe fn pack_rows<A: Narrow>(
    start: Shared<A>,
    free: Dim,
    sums: &[Dim],
    packed: &mut [f32],
    parallel: bool,
) -> Packed {
    if free.1 == 1 {
        // SAFETY: the caller's promise.
        return unsafe { pack(start, free, sums, false, packed, parallel) };
    }
    let result = Packed { start: Shared(packed.as_mut_ptr()), free: 1, sum: free.0 as isize };
    let width = free.0.max(1);
    let rows = |(index, rows): (usize, &mut [f32])| {
        let count = rows.len() / width;
        let mut from = [start; SUMS_AT_ONCE];
        for (at, from) in from.iter_mut().enumerate().take(count) {
            *from = Shared(start.at(offset(sums, index * SUMS_AT_ONCE + at)));
        }
        for column in 0..width {
            for (at, from) in from.iter().enumerate().take(count) {
                // SAFETY: the caller's promise.
                rows[at * width + column] = unsafe { (*from.at(column as isize * free.1)).load() };
            }
        }
    };
    if parallel {
        packed.par_chunks_mut(SUMS_AT_ONCE * width).enumerate().for_each(rows);
    } else {
        packed.chunks_mut(SUMS_AT_ONCE * width).enumerate().for_each(rows);
    }
    result
}

/// Converts `free` × `sums` elements into `packed`, densely.
///
/// # Safety
/// The elements are in memory.
unsafe fn pack<A: Narrow>(
    start: Shared<A>,
    free: Dim,
    sums: &[Dim],
    sums_inside: bool,
    packed: &mut [f32],
    parallel: bool,
) -> Packed {
    let k: usize = sums.iter().map(|(size, _)| size).product();
    let result = Packed {
        start: Shared(packed.as_mut_ptr()),
        free: if sums_inside { k as isize } else { 1 },
        sum: if sums_inside { 1 } else { free.0 as isize },
    };
    let (major, minor): (&[Dim], &[Dim]) = if sums_inside { (&[free], sums) } else { (sums, &[free]) };
    let width: usize = minor.iter().map(|(size, _)| size).product();
    if width == 0 {
        return result;
    }
    let line = |(index, line): (usize, &mut [f32])| {
        let from = Shared(start.at(offset(major, index)));
        // SAFETY: the caller's promise.
        unsafe { convert_line(from, minor, line) }
    };
    if parallel {
        packed.par_chunks_mut(width).enumerate().with_min_len(PACK_LINES).for_each(line);
    } else {
        packed.chunks_mut(width).enumerate().for_each(line);
    }
    result
}

/// Lines that one thread packs at least.
const PACK_LINES: usize = 16;

/// Distance of the `index`th element of nested dimensions.
fn offset(dims: &[Dim], index: usize) -> isize {
    let mut rest = index;
    let mut sum = 0;
    for &(size, stride) in dims.iter().rev() {
        sum += (rest % size) as isize * stride;
        rest /= size;
    }
    sum
}

unsafe fn convert_line<A: Narrow>(start: Shared<A>, dims: &[Dim], line: &mut [f32]) {
    let Some((&(size, stride), outer)) = dims.split_last() else { return };
    for (index, part) in line.chunks_mut(size).enumerate() {
        let from = start.at(offset(outer, index));
        if stride == 1 {
            // SAFETY: the caller's promise.
            let source = unsafe { std::slice::from_raw_parts(from, part.len()) };
            for (target, value) in part.iter_mut().zip(source) {
                *target = value.load();
            }
            continue;
        }
        for (at, target) in part.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *target = unsafe { (*from.offset(at as isize * stride)).load() };
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::Element;
    use crate::element::{Bf16, F16, Narrow as _};

    /// Numbers around zero.
    pub(crate) fn values(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// Values as elements in memory, and what they are after rounding to the type.
    pub(crate) fn bits_of(element: Element, values: &[f32]) -> (Vec<u64>, Vec<f32>) {
        let mut bytes: Vec<u8> = Vec::new();
        let mut rounded = Vec::new();
        for &value in values {
            let (raw, value): (Vec<u8>, f32) = match element {
                Element::F32 => (value.to_le_bytes().to_vec(), value),
                Element::F64 => (f64::from(value).to_le_bytes().to_vec(), value),
                Element::Bf16 => {
                    let bits = half::bf16::from_f32(value);
                    (bits.to_le_bytes().to_vec(), bits.to_f32())
                }
                Element::F16 => {
                    let bits = half::f16::from_f32(value);
                    (bits.to_le_bytes().to_vec(), bits.to_f32())
                }
            };
            bytes.extend(raw);
            rounded.push(value);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let words = bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap()));
        (words.collect(), rounded)
    }

    /// Elements in memory as numbers.
    pub(crate) fn numbers(element: Element, words: &[u64], count: usize) -> Vec<f64> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let width = element.bytes() as usize;
        let number = |c: &[u8]| match element {
            Element::F32 => f64::from(f32::from_le_bytes(c.try_into().unwrap())),
            Element::F64 => f64::from_le_bytes(c.try_into().unwrap()),
            Element::Bf16 => f64::from(half::bf16::from_le_bytes(c.try_into().unwrap()).to_f32()),
            Element::F16 => f64::from(half::f16::from_le_bytes(c.try_into().unwrap()).to_f32()),
        };
        bytes.chunks_exact(width).take(count).map(number).collect()
    }

    #[test]
    fn narrow_types_load_what_they_store() {
        for value in values(100, 7) {
            assert!((Bf16::store(value).load() - value).abs() <= value.abs() / 128.0);
            assert!((F16::store(value).load() - value).abs() <= value.abs() / 1024.0 + 1e-7);
        }
    }
}
