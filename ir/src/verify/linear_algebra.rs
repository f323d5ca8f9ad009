//! Fourier transforms, factorisations and random numbers.

use super::Verdict;
use super::site::{Site, compatible, require, same_size};
use crate::{Dim, ElementType, OpKind, TensorType};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    if site.op.operands.iter().chain(&site.op.results).any(|v| site.is_opaque(*v)) {
        return Ok(());
    }
    match site.kind() {
        OpKind::Fft => fft(site),
        OpKind::Cholesky => cholesky(site),
        OpKind::TriangularSolve => triangular_solve(site),
        _ => rng(site),
    }
}

fn fft(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(result)) = (site.operand(0), site.result(0)) else { return Ok(()) };
    let (Some(kind), Some(lengths)) = (site.word("fft_type"), site.ints("fft_length")) else { return Ok(()) };
    let dims = lengths.len();
    require((1..=3).contains(&dims) && dims <= operand.rank(), || {
        format!(
            "fft_length has {dims} numbers; 1 to 3 are possible, and no more than the rank of {}",
            site.show(operand)
        )
    })?;
    let parts = [operand.element.part(), result.element.part()];
    require(
        parts.iter().all(|e| matches!(e, ElementType::F32 | ElementType::F64)) && parts[0] == parts[1],
        || {
            format!(
                "works on f32 and f64 and keeps the precision, but has {} and {}",
                site.show(operand),
                site.show(result)
            )
        },
    )?;
    let complex = operand.element.is_complex();
    require(complex == (kind != "RFFT"), || format!("{kind} does not take {}", site.show(operand)))?;
    require(result.element.is_complex() == (kind != "IRFFT"), || {
        format!("{kind} does not give {}", site.show(result))
    })?;
    let first = operand.rank() - dims;
    let expected = |shape: &[Dim], what: &str, at: usize, length: i64| {
        require(same_size(shape[at], Dim::Static(length as u64)), || {
            format!("{what} must have {length} elements in dimension {at}")
        })
    };
    let mut shape = operand.shape.clone();
    for (index, &length) in lengths.iter().enumerate() {
        let at = first + index;
        let half = if length > 0 { length / 2 + 1 } else { 0 };
        match (kind, index + 1 == dims) {
            ("RFFT", true) => {
                expected(&operand.shape, "the operand", at, length)?;
                shape[at] = Dim::Static(half as u64);
            }
            ("IRFFT", true) => {
                expected(&operand.shape, "the operand", at, half)?;
                shape[at] = Dim::Static(length as u64);
            }
            _ => expected(&operand.shape, "the operand", at, length)?,
        }
    }
    site.result_is(0, &shape, result.element)
}

/// The last two sizes are the same.
fn square(site: &Site<'_>, ty: &TensorType) -> Verdict {
    require(ty.rank() >= 2 && same_size(ty.shape[ty.rank() - 1], ty.shape[ty.rank() - 2]), || {
        format!("needs square matrices, but has {}", site.show(ty))
    })?;
    require(ty.element.is_float() || ty.element.is_complex(), || {
        format!("needs floats or complex numbers, but has {}", site.show(ty))
    })
}

fn cholesky(site: &Site<'_>) -> Verdict {
    let Some(operand) = site.operand(0) else { return Ok(()) };
    square(site, operand)?;
    site.result_is(0, &operand.shape, operand.element)
}

fn triangular_solve(site: &Site<'_>) -> Verdict {
    let (Some(a), Some(b)) = (site.operand(0), site.operand(1)) else { return Ok(()) };
    square(site, a)?;
    let rank = a.rank();
    let same =
        b.rank() == rank && b.element == a.element && compatible(&a.shape[..rank - 2], &b.shape[..rank - 2]);
    require(same, || {
        format!(
            "needs operands of one rank, element type and batch, but has {} and {}",
            site.show(a),
            site.show(b)
        )
    })?;
    let left = matches!(site.attr("left_side"), Some(crate::Attr::Bool(true)));
    let shared = b.shape[if left { rank - 2 } else { rank - 1 }];
    require(same_size(shared, a.shape[rank - 1]), || {
        format!("{} and {} do not multiply", site.show(a), site.show(b))
    })?;
    let transpose = site.word("transpose_a");
    require(transpose != Some("TRANSPOSE_INVALID"), || "transpose_a is invalid".to_owned())?;
    site.result_is(0, &b.shape, b.element)
}

fn rng(site: &Site<'_>) -> Verdict {
    let (Some(a), Some(b), Some(shape)) = (site.operand(0), site.operand(1), site.operand(2)) else {
        return Ok(());
    };
    require(a.shape.is_empty() && b.shape.is_empty(), || {
        format!("needs scalars, but has {} and {}", site.show(a), site.show(b))
    })?;
    require(a.element == b.element, || {
        format!("needs scalars of one type, but has {} and {}", site.show(a), site.show(b))
    })?;
    let normal = site.word("rng_distribution") == Some("NORMAL");
    require(!normal || a.element.is_float(), || format!("normal numbers are floats, not {}", site.show(a)))?;
    require(a.element.is_float() || a.element.is_integer() || a.element == ElementType::Bool, || {
        format!("does not draw {}", site.show(a))
    })?;
    let Some(result) = site.result(0) else { return Ok(()) };
    let rank = Dim::Static(result.rank() as u64);
    require(shape.rank() == 1 && same_size(shape.shape[0], rank), || {
        format!(
            "the shape operand {} does not have a number for each dimension of {}",
            site.show(shape),
            site.show(result)
        )
    })?;
    if let Some(sizes) = site.constant_ints(2) {
        let drawn: Vec<Dim> = sizes.iter().map(|size| Dim::Static(*size as u64)).collect();
        site.result_is(0, &drawn, a.element)?;
    }
    require(result.element == a.element, || format!("draws {}, not {}", site.show(a), site.show(result)))
}
