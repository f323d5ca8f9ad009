//! Products of few rows or columns whose operands both lie contiguously along
//! the sum: dot products straight from memory, since packing an operand costs
//! more than multiplying it.
#![allow(unsafe_code)]

use crate::block_product::{Matrix, Shared, Size};
use rayon::prelude::*;
use std::arch::x86_64::{
    __m512, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_maskz_loadu_ps, _mm512_reduce_add_ps, _mm512_setzero_ps,
};

/// Numbers per vector.
const LANES: usize = 16;

/// Rows and columns of the block of sums that is held in registers: 16 sums and
/// 8 operands of 32 registers.
const BLOCK: usize = 4;

/// Rows or columns up to which this is faster than packing: on a Zen 5 the two
/// meet between 64 and 128.
const MAX_ROWS: usize = 64;

/// Columns that one thread takes at a time.
const COLUMNS_PER_TASK: usize = 64;

/// Runs a product if its shape and this machine suit; says whether it did. The
/// sum of each element is taken in one order, whatever the number of threads.
///
/// # Safety
/// As [`crate::block_product::multiply`].
pub(crate) unsafe fn multiply(
    size: Size,
    out: Matrix<f32>,
    accumulate: bool,
    lhs: Matrix<f32>,
    rhs: Matrix<f32>,
    parallel: bool,
) -> bool {
    let contiguous = lhs.column == 1 && rhs.row == 1 && size.k >= LANES;
    if !contiguous || size.m.min(size.n) > MAX_ROWS || !is_x86_feature_detected!("avx512f") {
        return false;
    }
    // Threads share the longer side.
    if size.m > size.n {
        let turned = |matrix: Matrix<f32>| Matrix { row: matrix.column, column: matrix.row, ..matrix };
        let size = Size { m: size.n, n: size.m, k: size.k };
        // SAFETY: the transposed product, and the processor has the instructions.
        unsafe { spread(size, turned(out), accumulate, turned(rhs), turned(lhs), parallel) }
    } else {
        // SAFETY: as above.
        unsafe { spread(size, out, accumulate, lhs, rhs, parallel) }
    }
    true
}

unsafe fn spread(
    size: Size,
    out: Matrix<f32>,
    accumulate: bool,
    lhs: Matrix<f32>,
    rhs: Matrix<f32>,
    parallel: bool,
) {
    let starts: Vec<usize> = (0..size.n).step_by(COLUMNS_PER_TASK).collect();
    let (to, from_lhs, from_rhs) = (Shared(out.start), Shared(lhs.start), Shared(rhs.start));
    let [out, lhs, rhs] = [out, lhs, rhs].map(|matrix| (matrix.row, matrix.column));
    let task = |first: &usize| {
        let columns = COLUMNS_PER_TASK.min(size.n - first);
        let at = *first as isize;
        let matrix = |start, (row, column)| Matrix { start, row, column };
        let (to, from) = (matrix(to.at(at * out.1), out), matrix(from_rhs.at(at * rhs.1), rhs));
        // SAFETY: tasks write disjoint columns.
        unsafe { columns_of(Size { n: columns, ..size }, to, accumulate, matrix(from_lhs.at(0), lhs), from) }
    };
    if parallel { starts.par_iter().for_each(task) } else { starts.iter().for_each(task) }
}

#[target_feature(enable = "avx512f")]
unsafe fn columns_of(size: Size, out: Matrix<f32>, accumulate: bool, lhs: Matrix<f32>, rhs: Matrix<f32>) {
    for column in (0..size.n).step_by(BLOCK) {
        for row in (0..size.m).step_by(BLOCK) {
            let (rows, columns) = (BLOCK.min(size.m - row), BLOCK.min(size.n - column));
            // A short block repeats its last row and column; the copies are thrown away.
            let line = |matrix: Matrix<f32>, stride: isize, first: usize, count: usize| {
                std::array::from_fn(|at| {
                    matrix.start.wrapping_offset((first + at.min(count - 1)) as isize * stride).cast_const()
                })
            };
            // SAFETY: rows and columns of the operands.
            let sums = unsafe {
                block(line(lhs, lhs.row, row, rows), line(rhs, rhs.column, column, columns), size.k)
            };
            for (r, sums) in sums.iter().enumerate().take(rows) {
                for (c, sum) in sums.iter().enumerate().take(columns) {
                    let at = (row + r) as isize * out.row + (column + c) as isize * out.column;
                    // SAFETY: an element of the result.
                    let target = unsafe { &mut *out.start.offset(at) };
                    *target = if accumulate { *target + sum } else { *sum };
                }
            }
        }
    }
}

#[target_feature(enable = "avx512f")]
unsafe fn block(lhs: [*const f32; BLOCK], rhs: [*const f32; BLOCK], k: usize) -> [[f32; BLOCK]; BLOCK] {
    let mut sums: [[__m512; BLOCK]; BLOCK] = [[_mm512_setzero_ps(); BLOCK]; BLOCK];
    let whole = k - k % LANES;
    for at in (0..whole).step_by(LANES) {
        // SAFETY: within the rows of the operands.
        let (a, b) =
            unsafe { (lhs.map(|p| _mm512_loadu_ps(p.add(at))), rhs.map(|p| _mm512_loadu_ps(p.add(at)))) };
        for r in 0..BLOCK {
            for c in 0..BLOCK {
                sums[r][c] = _mm512_fmadd_ps(a[r], b[c], sums[r][c]);
            }
        }
    }
    if whole < k {
        let mask = ((1u32 << (k - whole)) - 1) as u16;
        // SAFETY: the mask leaves out what lies beyond the rows.
        let (a, b) = unsafe {
            (
                lhs.map(|p| _mm512_maskz_loadu_ps(mask, p.add(whole))),
                rhs.map(|p| _mm512_maskz_loadu_ps(mask, p.add(whole))),
            )
        };
        for r in 0..BLOCK {
            for c in 0..BLOCK {
                sums[r][c] = _mm512_fmadd_ps(a[r], b[c], sums[r][c]);
            }
        }
    }
    sums.map(|row| row.map(|sum| _mm512_reduce_add_ps(sum)))
}
