//! `cholesky` and `triangular_solve`, over batches of matrices, in `f64`.

use crate::elementwise::{complex, complex::C, float};
use crate::error::{Outcome, invalid};
use crate::site::Site;
use crate::tensor::Tensor;

/// Batch count, rows and columns of a batch of matrices.
fn matrices(tensor: &Tensor) -> Outcome<(usize, usize, usize)> {
    match tensor.shape[..] {
        [ref batch @ .., rows, columns] => Ok((batch.iter().product(), rows, columns)),
        _ => invalid("matrices are needed here"),
    }
}

/// Evaluates `cholesky`: L with L·Lᴴ = A, or U with Uᴴ·U = A; the other triangle
/// is zero. NaN where A is not positive definite.
pub(crate) fn cholesky(site: Site<'_>, operand: &Tensor) -> Outcome<Tensor> {
    let (batch, n, columns) = matrices(operand)?;
    if n != columns {
        return invalid("cholesky needs square matrices");
    }
    let lower = site.flag("lower");
    let values = float::unpack_complex(operand)?;
    let mut result = vec![C::new(0.0, 0.0); values.len()];
    for matrix in 0..batch {
        let base = matrix * n * n;
        let given = |row: usize, column: usize| {
            if lower { values[base + row * n + column] } else { values[base + column * n + row].conj() }
        };
        let factor = cholesky_factor(n, given);
        for row in 0..n {
            for column in 0..=row {
                let value = factor[row * n + column];
                if lower {
                    result[base + row * n + column] = value;
                } else {
                    result[base + column * n + row] = value.conj();
                }
            }
        }
    }
    let data = float::pack_complex(operand.element, result.into_iter())?;
    Ok(Tensor { data, ..operand.clone() })
}

/// The lower factor of a Hermitian matrix of which the lower triangle is given
/// (Golub and Van Loan, algorithm 4.2.1).
fn cholesky_factor(n: usize, given: impl Fn(usize, usize) -> C) -> Vec<C> {
    let mut factor = vec![C::new(0.0, 0.0); n * n];
    for column in 0..n {
        let squares: f64 = (0..column).map(|k| factor[column * n + k].norm_sqr()).sum();
        let diagonal = libm::sqrt(given(column, column).re - squares);
        factor[column * n + column] = C::new(diagonal, 0.0);
        for row in column + 1..n {
            let products: C = (0..column).map(|k| factor[row * n + k] * factor[column * n + k].conj()).sum();
            factor[row * n + column] = (given(row, column) - products) / diagonal;
        }
    }
    factor
}

/// Evaluates `triangular_solve`: x with op(A)·x = b, or x·op(A) = b. Only the
/// named triangle of A is read.
pub(crate) fn triangular_solve(site: Site<'_>, a: &Tensor, b: &Tensor) -> Outcome<Tensor> {
    let ((batch, n, columns), (_, rows, right)) = (matrices(a)?, matrices(b)?);
    let left = site.flag("left_side");
    if n != columns || n != if left { rows } else { right } || a.shape.len() != b.shape.len() {
        return invalid("the operands of triangular_solve do not fit");
    }
    let transpose = site.enum_attr("transpose_a").unwrap_or("NO_TRANSPOSE");
    let (transposed, conjugated) = (transpose != "NO_TRANSPOSE", transpose == "ADJOINT");
    let (lower, unit) = (site.flag("lower"), site.flag("unit_diagonal"));
    let coefficients = float::unpack_complex(a)?;
    let mut values = float::unpack_complex(b)?;
    // x·A = b is Aᵀ·xᵀ = bᵀ.
    let swapped = transposed == left;
    let forward = lower != swapped;
    for matrix in 0..batch {
        let given = |row: usize, column: usize| {
            let (row, column) = if swapped { (column, row) } else { (row, column) };
            let value = coefficients[matrix * n * n + row * n + column];
            if conjugated { value.conj() } else { value }
        };
        let base = matrix * rows * right;
        let lines = if left { right } else { rows };
        for line in 0..lines {
            let at = |i: usize| if left { base + i * right + line } else { base + line * right + i };
            for step in 0..n {
                let row = if forward { step } else { n - 1 - step };
                let known = if forward { 0..row } else { row + 1..n };
                let products: C = known.map(|column| given(row, column) * values[at(column)]).sum();
                let rest = values[at(row)] - products;
                values[at(row)] = if unit { rest } else { complex::divide(rest, given(row, row)) };
            }
        }
    }
    let data = float::pack_complex(b.element, values.into_iter())?;
    Ok(Tensor { data, ..b.clone() })
}
