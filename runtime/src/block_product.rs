//! One matrix product in memory, by the `gemm` crate.
#![allow(unsafe_code)]

use crate::narrow::pack_rows;
use crate::scratch::{MAX_SCRATCH_BYTES, with_piece};
use gemm::Parallelism;

/// A matrix in memory: first element and distances between rows and columns in elements.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<T> {
    pub(crate) start: *mut T,
    pub(crate) row: isize,
    pub(crate) column: isize,
}

impl<T> Matrix<T> {
    /// A matrix that is only read.
    pub(crate) fn read(start: *const T, row: isize, column: isize) -> Self {
        Self { start: start.cast_mut(), row, column }
    }
}

/// Sums of so few terms are not worth packing operands for: depthwise
/// convolutions and outer products.
const FEW_TERMS: usize = 8;

/// Rows from which on it pays to lay the right operand out anew.
const MIN_TURNED_ROWS: usize = 16;

/// Rows, columns and length of the sums.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

/// `out = lhs · rhs`, or `out += lhs · rhs`. Bits do not depend on the number
/// of threads: it is rows and columns that are split.
///
/// # Safety
/// All elements that sizes and strides reach are in memory that may be read,
/// for `out` written, and `out` shares none with the operands.
pub(crate) unsafe fn multiply<T: gemm_number::Number>(
    size: Size,
    out: Matrix<T>,
    accumulate: bool,
    lhs: Matrix<T>,
    rhs: Matrix<T>,
    parallel: bool,
) {
    if size.k <= FEW_TERMS {
        // SAFETY: the caller's promise.
        unsafe { multiply_few(size, out, accumulate, lhs, rhs) }
        return;
    }
    // SAFETY: the caller's promise.
    if unsafe { T::multiply_specially(size, out, accumulate, lhs, rhs, parallel) } {
        return;
    }
    let parallelism = if parallel { Parallelism::Rayon(0) } else { Parallelism::None };
    // SAFETY: the caller's promise.
    unsafe {
        gemm::gemm(
            size.m,
            size.n,
            size.k,
            out.start,
            out.column,
            out.row,
            accumulate,
            lhs.start,
            lhs.column,
            lhs.row,
            rhs.start,
            rhs.column,
            rhs.row,
            T::ONE,
            T::ONE,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// The same with the right operand, which lies contiguously along the sum,
/// laid out along the columns first: the library takes five times as long for it.
unsafe fn multiply_turned(
    size: Size,
    out: Matrix<f32>,
    accumulate: bool,
    lhs: Matrix<f32>,
    rhs: Matrix<f32>,
    parallel: bool,
) -> bool {
    let count = size.k * size.n;
    if rhs.row != 1 || rhs.column == 1 || size.m < MIN_TURNED_ROWS || 4 * count > MAX_SCRATCH_BYTES {
        return false;
    }
    with_piece(0, count, |packed| {
        let (free, sums) = ((size.n, rhs.column), [(size.k, rhs.row)]);
        // SAFETY: the caller's promise.
        unsafe {
            let rhs = pack_rows(Shared(rhs.start), free, &sums, packed, parallel);
            let rhs = Matrix::read(rhs.start.0, rhs.sum, rhs.free);
            multiply(size, out, accumulate, lhs, rhs, parallel);
        }
    });
    true
}

/// The same by plain loops, term after term, product and sum each rounded.
unsafe fn multiply_few<T: gemm_number::Number>(
    size: Size,
    out: Matrix<T>,
    accumulate: bool,
    lhs: Matrix<T>,
    rhs: Matrix<T>,
) {
    for row in 0..size.m as isize {
        for column in 0..size.n as isize {
            // SAFETY, for all three: elements of the matrices.
            let target = unsafe { &mut *out.start.offset(row * out.row + column * out.column) };
            let mut sum = if accumulate { *target } else { T::default() };
            for term in 0..size.k as isize {
                let a = unsafe { *lhs.start.offset(row * lhs.row + term * lhs.column) };
                let b = unsafe { *rhs.start.offset(term * rhs.row + column * rhs.column) };
                sum = sum + a * b;
            }
            *target = sum;
        }
    }
}

pub(crate) mod gemm_number {
    use super::{Matrix, Size};
    use std::ops::{Add, Mul};

    /// What the library multiplies.
    pub(crate) trait Number:
        Copy + Default + Send + Sync + Add<Output = Self> + Mul<Output = Self> + 'static
    {
        const ONE: Self;

        /// Runs a product of a shape that the library is slow on; says whether it did.
        ///
        /// # Safety
        /// As [`super::multiply`].
        unsafe fn multiply_specially(
            _: Size,
            _: Matrix<Self>,
            _: bool,
            _: Matrix<Self>,
            _: Matrix<Self>,
            _: bool,
        ) -> bool {
            false
        }
    }

    impl Number for f32 {
        const ONE: Self = 1.0;

        #[cfg(target_arch = "x86_64")]
        unsafe fn multiply_specially(
            size: Size,
            out: Matrix<f32>,
            accumulate: bool,
            lhs: Matrix<f32>,
            rhs: Matrix<f32>,
            parallel: bool,
        ) -> bool {
            // SAFETY: the caller's promise.
            unsafe {
                crate::dots::multiply(size, out, accumulate, lhs, rhs, parallel)
                    || super::multiply_turned(size, out, accumulate, lhs, rhs, parallel)
            }
        }
    }

    impl Number for f64 {
        const ONE: Self = 1.0;
    }
}

/// A pointer that threads may share: who uses it keeps to disjoint parts.
#[derive(Clone, Copy)]
pub(crate) struct Shared<T>(pub(crate) *mut T);

// The steps that share pointers write disjoint parts only.
unsafe impl<T> Send for Shared<T> {}
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The pointer, moved by elements.
    pub(crate) fn at(self, elements: isize) -> *mut T {
        self.0.wrapping_offset(elements)
    }
}
