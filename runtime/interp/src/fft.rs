//! `fft` of all four kinds over the last one to three dimensions, in `f64`.

use crate::elementwise::{complex::C, float};
use crate::error::{Outcome, invalid};
use crate::shape::{MAX_ELEMENTS, Shape, count, strides};
use crate::site::Site;
use crate::tensor::Tensor;

/// Evaluates `fft`.
pub(crate) fn fft(site: Site<'_>, operand: &Tensor) -> Outcome<Tensor> {
    let lengths = site.sizes("fft_length")?;
    let rank = operand.shape.len();
    if lengths.is_empty() || lengths.len() > rank {
        return invalid("fft_length has another length than there are dimensions to transform");
    }
    if lengths.iter().any(|length| *length > MAX_ELEMENTS) {
        return invalid("fft_length is too large");
    }
    let first = rank - lengths.len();
    let mut values = float::unpack_complex(operand)?;
    let mut shape = operand.shape.clone();
    match site.enum_attr("fft_type") {
        Some("FFT") => {
            for dim in (first..rank).rev() {
                along(&mut values, &shape, dim, |line| transform(line, -1.0));
            }
        }
        Some("IFFT") => {
            for dim in first..rank {
                along(&mut values, &shape, dim, inverse);
            }
        }
        Some("RFFT") if lengths[lengths.len() - 1] != shape[rank - 1] => {
            return invalid("fft_length is not the size of the operand's last dimension");
        }
        Some("IRFFT") if lengths[lengths.len() - 1] / 2 + 1 != shape[rank - 1] => {
            return invalid("the operand's last dimension is not half of fft_length and one more");
        }
        Some("RFFT") => {
            along(&mut values, &shape, rank - 1, |line| transform(line, -1.0));
            // The other half is the mirror image of what is kept.
            resize_last(&mut values, &mut shape, lengths[lengths.len() - 1] / 2 + 1, |_| C::new(0.0, 0.0));
            for dim in (first..rank - 1).rev() {
                along(&mut values, &shape, dim, |line| transform(line, -1.0));
            }
        }
        Some("IRFFT") => {
            for dim in first..rank - 1 {
                along(&mut values, &shape, dim, inverse);
            }
            let length = lengths[lengths.len() - 1];
            resize_last(&mut values, &mut shape, length, |line: Line<'_>| line.mirrored(length));
            along(&mut values, &shape, rank - 1, inverse);
        }
        _ => return invalid("fft_type is none of FFT, IFFT, RFFT and IRFFT"),
    }
    let element = site.result_element()?;
    Ok(Tensor { element, shape, data: float::pack_complex(element, values.into_iter())? })
}

/// A line of which an element beyond its end is asked for.
struct Line<'a> {
    values: &'a [C],
    index: usize,
}

impl Line<'_> {
    /// The element that the symmetry of a real signal's transform implies.
    fn mirrored(&self, length: usize) -> C {
        let mirror = (length - self.index) % length.max(1);
        self.values.get(mirror).map_or(C::new(0.0, 0.0), |z| z.conj())
    }
}

/// Cuts or extends the last dimension.
fn resize_last(values: &mut Vec<C>, shape: &mut Shape, length: usize, beyond: impl Fn(Line<'_>) -> C) {
    let Some(last) = shape.last_mut() else { return };
    let old = std::mem::replace(last, length);
    let lines = values.chunks_exact(old.max(1));
    *values = lines
        .flat_map(|line| {
            let beyond = &beyond;
            (0..length).map(move |index| match line.get(index) {
                Some(z) => *z,
                None => beyond(Line { values: line, index }),
            })
        })
        .collect();
}

/// Applies a function to each line along a dimension.
fn along(values: &mut [C], shape: &[usize], dim: usize, f: impl Fn(&[C]) -> Vec<C>) {
    let (length, stride) = (shape[dim], strides(shape)[dim]);
    let lines = count(shape) / length.max(1);
    let mut line = Vec::with_capacity(length);
    for at in 0..lines {
        let start = at / stride * stride * length + at % stride;
        line.clear();
        line.extend((0..length).map(|i| values[start + i * stride]));
        for (i, z) in f(&line).into_iter().enumerate() {
            values[start + i * stride] = z;
        }
    }
}

fn inverse(line: &[C]) -> Vec<C> {
    let scale = line.len() as f64;
    transform(line, 1.0).into_iter().map(|z| z / scale).collect()
}

/// Σ xⱼ·e^(±2πi·jk ÷ n), by splitting off the smallest prime factor (Cooley and
/// Tukey 1965). Cost n times the sum of the prime factors.
fn transform(line: &[C], sign: f64) -> Vec<C> {
    let n = line.len();
    let roots: Vec<C> = (0..n)
        .map(|k| {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / n as f64);
            C::new(cos, sign * sin)
        })
        .collect();
    // Decimate in place, factor by factor: the order of the factors gives the
    // order in which digits of the index are reversed.
    let factors = prime_factors(n);
    let mut values = digit_reversed(line, &factors);
    let mut done = 1;
    for &factor in factors.iter().rev() {
        let size = done * factor;
        let mut next = vec![C::new(0.0, 0.0); n];
        for start in (0..n).step_by(size) {
            for k in 0..size {
                let terms = (0..factor)
                    .map(|part| values[start + part * done + k % done] * roots[part * k % size * (n / size)]);
                next[start + k] = terms.sum();
            }
        }
        values = next;
        done = size;
    }
    values
}

fn prime_factors(mut n: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut factor = 2;
    while factor * factor <= n {
        while n.is_multiple_of(factor) {
            factors.push(factor);
            n /= factor;
        }
        factor += 1;
    }
    if n > 1 {
        factors.push(n);
    }
    factors
}

/// The elements in the order in which repeated decimation by the factors leaves them.
fn digit_reversed(line: &[C], factors: &[usize]) -> Vec<C> {
    let mut order: Vec<usize> = (0..line.len()).collect();
    let mut block = line.len();
    for &factor in factors {
        let rest = block / factor;
        order = order
            .chunks_exact(block)
            .flat_map(|chunk| (0..block).map(move |at| chunk[at % rest * factor + at / rest]))
            .collect();
        block = rest;
    }
    order.into_iter().map(|at| line[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition_for_all_lengths() {
        for n in [1usize, 2, 7, 12, 30] {
            let line: Vec<C> = (0..n).map(|k| C::new(k as f64, (k * k % 5) as f64)).collect();
            for (k, z) in transform(&line, -1.0).into_iter().enumerate() {
                let term = |j: usize| {
                    line[j] * C::from_polar(1.0, -std::f64::consts::TAU * (j * k) as f64 / n as f64)
                };
                let expected: C = (0..n).map(term).sum();
                assert!((z - expected).norm() < 1e-10, "{n} {k} {z} {expected}");
            }
        }
    }
}
