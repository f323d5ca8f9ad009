//! One matrix product in memory, by the `gemm` crate.
#![allow(unsafe_code)]

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
    use std::ops::{Add, Mul};

    /// What the library multiplies.
    pub(crate) trait Number:
        Copy + Default + Send + Sync + Add<Output = Self> + Mul<Output = Self> + 'static
    {
        const ONE: Self;
    }

    impl Number for f32 {
        const ONE: Self = 1.0;
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
