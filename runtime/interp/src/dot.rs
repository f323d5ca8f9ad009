//! Contractions. Operands are converted to the result's type; every product and
//! every sum is rounded to it; sums run row-major over the contracted indices.

use crate::elementwise::convert::convert;
use crate::elementwise::{complex, float, integer};
use crate::error::{Outcome, invalid, unsupported};
use crate::format::Format;
use crate::movement::transpose;
use crate::shape::{Shape, checked_count, count};
use crate::site::Site;
use crate::tensor::{Data, Storage, Tensor};
use ckpt_ir::{Attr, DotDims, ElementType};
use float::with_codec;
use num_complex::Complex;

/// Sizes of a batched matrix product `[batch, m, k] × [batch, k, n]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) batch: usize,
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
}

/// Evaluates `dot_general`.
pub(crate) fn dot_general(site: Site<'_>, lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    let Some(Attr::DotDims(dims)) = site.attr("dot_dimension_numbers") else {
        return invalid("dot_general needs dimension numbers");
    };
    contract(lhs, rhs, dims, site.result_element()?)
}

/// Evaluates `dot`: contracts the last dimension with the first.
pub(crate) fn dot(site: Site<'_>, lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    let Some(last) = lhs.shape.len().checked_sub(1) else { return invalid("dot needs vectors or matrices") };
    let dims = DotDims { lhs_contracting: vec![last as i64], rhs_contracting: vec![0], ..DotDims::default() };
    contract(lhs, rhs, &dims, site.result_element()?)
}

/// Contracts two tensors; the result has the batch dimensions, then the other
/// dimensions of the left operand, then those of the right.
pub(crate) fn contract(lhs: &Tensor, rhs: &Tensor, dims: &DotDims, element: ElementType) -> Outcome<Tensor> {
    let (lhs, rhs) = (convert(lhs, element)?, convert(rhs, element)?);
    let left = Roles::of(lhs.shape.len(), &dims.lhs_batching, &dims.lhs_contracting)?;
    let right = Roles::of(rhs.shape.len(), &dims.rhs_batching, &dims.rhs_contracting)?;
    let sizes = |tensor: &Tensor, dims: &[usize]| dims.iter().map(|d| tensor.shape[*d]).collect::<Shape>();
    let (batch, contracted) = (sizes(&lhs, &left.batch), sizes(&lhs, &left.contracted));
    if batch != sizes(&rhs, &right.batch) || contracted != sizes(&rhs, &right.contracted) {
        return invalid("the operands of a contraction differ in a dimension that they share");
    }
    let (rows, columns) = (sizes(&lhs, &left.free), sizes(&rhs, &right.free));
    let lhs = transpose(&lhs, &[&left.batch[..], &left.free, &left.contracted].concat())?;
    let rhs = transpose(&rhs, &[&right.batch[..], &right.contracted, &right.free].concat())?;
    let all = Sizes { batch: count(&batch), m: count(&rows), k: count(&contracted), n: count(&columns) };
    let shape: Shape = batch.iter().chain(&rows).chain(&columns).copied().collect();
    checked_count(&shape)?;
    let data = matrix_product(&lhs, &rhs, all)?;
    Ok(Tensor { element, shape, data })
}

/// What the dimensions of an operand are for.
struct Roles {
    batch: Vec<usize>,
    contracted: Vec<usize>,
    free: Vec<usize>,
}

impl Roles {
    fn of(rank: usize, batch: &[i64], contracted: &[i64]) -> Outcome<Self> {
        let dims = |dims: &[i64]| {
            let valid = |dim: &i64| usize::try_from(*dim).ok().filter(|dim| *dim < rank);
            dims.iter().map(valid).collect::<Option<Vec<usize>>>()
        };
        let (Some(batch), Some(contracted)) = (dims(batch), dims(contracted)) else {
            return invalid("dimension numbers name a dimension that is not there");
        };
        let free = (0..rank).filter(|dim| !batch.contains(dim) && !contracted.contains(dim)).collect();
        Ok(Self { batch, contracted, free })
    }
}

/// The batched product of row-major matrices of one element type.
pub(crate) fn matrix_product(lhs: &Tensor, rhs: &Tensor, sizes: Sizes) -> Outcome<Data> {
    match (&lhs.data, &rhs.data) {
        (Data::F32(a), Data::F32(b)) => Ok(product(a, b, sizes, 0.0, |sum, x, y| sum + x * y)),
        (Data::F64(a), Data::F64(b)) => Ok(product(a, b, sizes, 0.0, |sum, x, y| sum + x * y)),
        (Data::U16(a), Data::U16(b)) if lhs.element == ElementType::Bf16 => Ok(bf16_product(a, b, sizes)),
        (Data::C64(a), Data::C64(b)) => {
            let zero = Complex::new(0.0, 0.0);
            Ok(product(a, b, sizes, zero, |sum: Complex<f32>, x: Complex<f32>, y| sum + x * y))
        }
        (Data::C128(a), Data::C128(b)) => {
            let zero = Complex::new(0.0, 0.0);
            Ok(product(a, b, sizes, zero, |sum, x, y| sum + complex::multiply(x, y, |x| x)))
        }
        _ if lhs.element.is_float() => narrow_float_product(lhs, rhs, sizes),
        _ if lhs.element == ElementType::Bool => {
            let (a, b) = (lhs.elements::<u8>()?, rhs.elements::<u8>()?);
            Ok(product(a, b, sizes, 0, |sum, x, y| sum | x & y))
        }
        _ if integer::Width::of(lhs.element).is_some() => {
            // Wrapping is a ring homomorphism: once at the end is as good as at every step.
            let (a, b) = (lhs.to_i64s()?, rhs.to_i64s()?);
            let step = |sum: i64, x: i64, y: i64| sum.wrapping_add(x.wrapping_mul(y));
            let sums = product_elements(&a, &b, sizes, 0, step);
            integer::pack(lhs.element, sums.into_iter())
        }
        _ => unsupported("a contraction of this element type"),
    }
}

/// `bf16`, each step in `f32` and rounded. Products are exact in `f32` or round
/// to zero, sums have more than 2·8 + 2 digits, so that rounding twice is
/// rounding once.
fn bf16_product(a: &[u16], b: &[u16], sizes: Sizes) -> Data {
    let widen = |v: &[u16]| v.iter().map(|x| f32::from_bits(u32::from(*x) << 16)).collect::<Vec<_>>();
    // Adding to the bits of a NaN leaves a NaN: its low half is zero.
    let round = |x: f32| {
        let bits = x.to_bits();
        f32::from_bits(bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
    };
    let step = |sum: f32, x: f32, y: f32| round(sum + round(x * y));
    let sums = product_elements(&widen(a), &widen(b), sizes, 0.0, step);
    Storage::wrap(sums.into_iter().map(|x| (x.to_bits() >> 16) as u16).collect())
}

fn narrow_float_product(lhs: &Tensor, rhs: &Tensor, sizes: Sizes) -> Outcome<Data> {
    let (a, b) = (float::unpack(lhs)?, float::unpack(rhs)?);
    with_codec!(lhs.element, Unit, load, store => {
        let round = |x: f64| { let unit: Unit = store(x); load(unit) };
        let sums = product_elements(&a, &b, sizes, 0.0, |sum, x, y| round(sum + round(x * y)));
        float::pack(lhs.element, sums.into_iter())
    })
}

fn product<T: Storage>(a: &[T], b: &[T], sizes: Sizes, zero: T, step: impl Fn(T, T, T) -> T + Copy) -> Data {
    T::wrap(product_elements(a, b, sizes, zero, step))
}

/// Rows and columns of the block of sums that is held in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// The batched product with `step(sum, x, y)` for each multiplication, in order of `k`.
fn product_elements<T: Copy>(
    a: &[T],
    b: &[T],
    sizes: Sizes,
    zero: T,
    step: impl Fn(T, T, T) -> T + Copy,
) -> Vec<T> {
    let Sizes { batch, m, k, n } = sizes;
    let mut out = vec![zero; batch * m * n];
    let mut panel = vec![[zero; COLUMNS]; k];
    for batch in 0..batch {
        let a = &a[batch * m * k..(batch + 1) * m * k];
        let b = &b[batch * k * n..(batch + 1) * k * n];
        let out = &mut out[batch * m * n..(batch + 1) * m * n];
        for column in (0..n).step_by(COLUMNS) {
            let width = COLUMNS.min(n - column);
            for (row, packed) in panel.iter_mut().enumerate() {
                packed[..width].copy_from_slice(&b[row * n + column..][..width]);
            }
            for row in (0..m).step_by(ROWS) {
                let height = ROWS.min(m - row);
                let sums = block(a, row, height, k, &panel, zero, step);
                for (r, sums) in sums.iter().take(height).enumerate() {
                    out[(row + r) * n + column..][..width].copy_from_slice(&sums[..width]);
                }
            }
        }
    }
    out
}

#[inline]
fn block<T: Copy>(
    a: &[T],
    row: usize,
    height: usize,
    k: usize,
    panel: &[[T; COLUMNS]],
    zero: T,
    step: impl Fn(T, T, T) -> T + Copy,
) -> [[T; COLUMNS]; ROWS] {
    let mut sums = [[zero; COLUMNS]; ROWS];
    // A short block repeats its last row; the copies are thrown away.
    let rows: [&[T]; ROWS] = std::array::from_fn(|r| &a[(row + r.min(height - 1)) * k..][..k]);
    for (at, packed) in panel.iter().enumerate() {
        for r in 0..ROWS {
            let x = rows[r][at];
            for c in 0..COLUMNS {
                sums[r][c] = step(sums[r][c], x, packed[c]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_every_size_agree_with_the_definition() {
        for (m, k, n) in [(1, 1, 1), (5, 3, 9), (4, 0, 8), (3, 7, 17)] {
            let a: Vec<i64> = (0..(m * k) as i64).collect();
            let b: Vec<i64> = (0..(k * n) as i64).map(|x| x * 3 - 5).collect();
            let got = product_elements(&a, &b, Sizes { batch: 1, m, k, n }, 0, |s, x, y| s + x * y);
            for row in 0..m {
                for column in 0..n {
                    let expected: i64 = (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
                    assert_eq!(got[row * n + column], expected);
                }
            }
        }
    }
}
