//! Factorisation, solve, Fourier transform.

use super::attributes::AttrKind::{Bool, Enum, I64Array};
use super::attributes::{may, must};
use super::facts::{DYNAMIC, Element, Tensor, dims_compatible, shapes_compatible};
use super::signature::Relation::CompatibleElement;
use super::signature::Row;
use super::slots::{FC, FCQ};
use super::view::{Check, Op, invalid, sizes};
use crate::{ElementType, OpKind as K};

const TRANSPOSES: &[&str] = &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"];

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Cholesky, &[FCQ], &[FCQ])
        .relations(&[CompatibleElement])
        .attributes(&[may("lower", Bool)])
        .check(cholesky),
    Row::new(K::TriangularSolve, &[FC, FC], &[FC])
        .relations(&[CompatibleElement])
        .attributes(&[
            must("left_side", Bool),
            must("lower", Bool),
            must("unit_diagonal", Bool),
            must("transpose_a", Enum("transpose", TRANSPOSES)),
        ])
        .check(triangular_solve),
    Row::new(K::Fft, &[FC], &[FC])
        .attributes(&[
            must("fft_type", Enum("fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"])),
            must("fft_length", I64Array),
        ])
        .check(fft),
];

fn cholesky(op: Op<'_>) -> Check {
    let a = op.operand(0).tensor()?;
    let [.., rows, columns] = a.shape[..] else {
        invalid!("argument 'a' must have rank >= 2, got shape {}", sizes(&a.shape))
    };
    if !dims_compatible(rows, columns) {
        invalid!("minor dimensions of 'a' must have equal size, got shape {}", sizes(&a.shape));
    }
    op.infers(0, a)
}

fn triangular_solve(op: Op<'_>) -> Check {
    let (a, b) = (op.operand(0), op.operand(1));
    let (left, right) = (a.tensor()?, b.tensor()?);
    let [ref a_batch @ .., rows, columns] = left.shape[..] else {
        invalid!("operand 'a' must have rank >= 2, but got {a}")
    };
    if !dims_compatible(rows, columns) {
        invalid!("two minor dimensions of operand 'a' must be compatible, but got {a}");
    }
    if left.rank() != right.rank() {
        invalid!("operands must have equal rank, but got {a} and {b}");
    }
    let [ref b_batch @ .., b_rows, b_columns] = right.shape[..] else { return Ok(()) };
    let shared = if op.flag("left_side") { b_rows } else { b_columns };
    if !dims_compatible(columns, shared) {
        invalid!("shared dimension of operands 'a' and 'b' must be compatible, but got {a} and {b}");
    }
    if !shapes_compatible(a_batch, b_batch) {
        invalid!("batch dimensions of the operands must be compatible, but got {a} and {b}");
    }
    if op.enumerated("transpose_a")? == "TRANSPOSE_INVALID" {
        invalid!("Invalid transpose option value for triangular solve");
    }
    op.infers(0, right)
}

fn fft(op: Op<'_>) -> Check {
    let (operand, kind, length) =
        (op.operand(0).tensor()?, op.enumerated("fft_type")?, op.ints("fft_length")?);
    if !(1..=3).contains(&length.len()) {
        invalid!("rank must be between 1 and 3, but got {}", length.len());
    }
    let element = fft_element(op, operand, kind)?;
    let rank = length.len();
    let Some(split) = operand.shape.len().checked_sub(rank) else {
        invalid!(
            "operand rank must not be less than fft rank of {rank} for operand of type {}",
            op.operand(0)
        )
    };
    let (inner, last) = (&operand.shape[split..], length[rank - 1]);
    let mut shape = operand.shape.clone();
    let innermost = shape.len() - 1;
    if kind == "RFFT" {
        if !shapes_compatible(inner, length) {
            let (shape, length) = (sizes(&operand.shape), sizes(length));
            invalid!(
                "RFFT requires innermost dimensions to be compatible with fft_length. Got: {shape} but wanted {length}"
            );
        }
        if last != 0 {
            shape[innermost] = last / 2 + 1;
        }
    }
    if kind == "IRFFT" {
        if !shapes_compatible(&inner[..rank - 1], &length[..rank - 1]) {
            let (shape, length) = (sizes(&operand.shape), sizes(length));
            invalid!(
                "IRFFT requires non-final dimensions to be compatible with fft_length. Got: {shape} but wanted \
                 {length}"
            );
        }
        let size = inner[rank - 1];
        if !(dims_compatible(size, 0) && last == 0 || dims_compatible(size, last / 2 + 1)) {
            let length = sizes(length);
            invalid!(
                "IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: {size} but \
                 fft_length is {length}"
            );
        }
        shape[innermost] = last;
    }
    let mut bounds = operand.bounds.clone();
    if let Some(last) = bounds.last_mut().filter(|_| kind == "RFFT" || kind == "IRFFT") {
        *last = DYNAMIC;
    }
    op.infers(0, &Tensor { shape, bounds, element })
}

/// The element type of a transform's result.
fn fft_element(op: Op<'_>, operand: &Tensor, kind: &str) -> Result<Element, super::view::Stop> {
    use ElementType as E;
    Ok(match (kind, &operand.element) {
        ("RFFT", Element::Plain(E::F32)) => Element::Plain(E::Complex64),
        ("RFFT", Element::Plain(E::F64)) => Element::Plain(E::Complex128),
        ("RFFT", other) => {
            invalid!("RFFT requires f32 or f64 input type, but is given {}", op.quoted_element(other))
        }
        ("IRFFT", Element::Plain(element)) if element.is_complex() => Element::Plain(element.part()),
        (_, Element::Plain(element)) if element.is_complex() => operand.element.clone(),
        _ => invalid!("FFT/IFFT/IRFFT take a complex tensor as input, but is given {}", op.operand(0)),
    })
}
