//! Convolutions as matrix products of gathered pieces of the input with the
//! kernel: forward, input gradient and filter gradient alike, since strides,
//! dilations and dimension numbers are all in the gathering.
#![allow(unsafe_code)]

use crate::Element;
use crate::block_product::{Matrix, Shared, Size, multiply};
use crate::element::{Bf16, F16, Narrow};
use crate::matmul::{MIN_PARALLEL_PRODUCTS, Operands};
use crate::patches::{Patches, collapse, distance};
use crate::program::ConvolutionStep;
use crate::scratch::with_piece;
use rayon::prelude::*;

/// Rows of the result that are computed at a time at most: the more, the less
/// often the kernel is packed again.
const ROWS: usize = 256;

/// Row blocks that a product of many rows has at least, so that threads share evenly.
const MIN_ROW_BLOCKS: usize = 4;

/// Terms of the sums that are gathered at a time: with [`ROWS`], 1 MiB of `f32`.
const TERMS: usize = 1024;

/// Runs a convolution.
///
/// # Safety
/// The pointers are those of the step's buffers, of which a validated program
/// says that all elements lie in them and that `out` shares none with the others.
pub(crate) unsafe fn run(step: &ConvolutionStep, operands: Operands) {
    // SAFETY: the caller's promise, and element types are those of the step.
    unsafe {
        match (step.element, step.result) {
            (Element::F32, Element::F32) => groups::<f32, f32>(step, operands),
            (Element::Bf16, Element::Bf16) => groups::<Bf16, Bf16>(step, operands),
            (Element::Bf16, Element::F32) => groups::<Bf16, f32>(step, operands),
            (Element::F16, Element::F16) => groups::<F16, F16>(step, operands),
            (Element::F16, Element::F32) => groups::<F16, f32>(step, operands),
            // Validation lets no other pair through.
            _ => {}
        }
    }
}

/// Whether there is code for these element types.
pub(crate) fn is_supported(element: Element, result: Element) -> bool {
    element != Element::F64 && (result == element || result == Element::F32)
}

unsafe fn groups<A: Narrow, C: Narrow>(step: &ConvolutionStep, operands: Operands) {
    let patches = Patches::of(step);
    for group in 0..step.groups.size as isize {
        let lhs = operands.lhs.cast_mut().cast::<A>();
        let rhs = operands.rhs.cast_mut().cast::<A>();
        let out = operands.out.cast::<C>();
        let convolution = Convolution {
            step,
            patches: &patches,
            lhs: Shared(lhs.wrapping_offset(group * step.groups.lhs as isize)),
            rhs: Shared(rhs.wrapping_offset(group * step.groups.rhs as isize)),
            out: Shared(out.wrapping_offset(group * step.groups.out as isize)),
        };
        // SAFETY: the caller's promise.
        unsafe { convolution.run() }
    }
}

/// One group.
struct Convolution<'a, A, C> {
    step: &'a ConvolutionStep,
    patches: &'a Patches,
    lhs: Shared<A>,
    rhs: Shared<A>,
    out: Shared<C>,
}

/// The kernel as a matrix of `f32`.
#[derive(Clone, Copy)]
struct Kernel {
    start: Shared<f32>,
    row: isize,
    column: isize,
}

/// Rows that lie evenly in the result, and the terms summed in this round.
#[derive(Clone, Copy)]
struct Piece {
    rows: (usize, usize),
    terms: (usize, usize),
}

impl<A: Narrow, C: Narrow> Convolution<'_, A, C> {
    unsafe fn run(&self) {
        let (rows, even_rows, row_stride) = collapse(&self.patches.rows);
        let (terms, even_terms, term_stride) = collapse(&self.patches.columns);
        let columns = self.step.outputs.size as usize;
        if rows == 0 || columns == 0 {
            return;
        }
        let products = [rows, terms, columns].into_iter().fold(1u64, |n, size| n.saturating_mul(size as u64));
        let parallel = products >= MIN_PARALLEL_PRODUCTS;
        let block = ROWS.min(rows.div_ceil(MIN_ROW_BLOCKS).next_multiple_of(8)).min(even_rows);
        // Sums are kept in the result itself only where it holds f32; elsewhere all terms are gathered at once.
        let round = if C::IS_F32 { TERMS } else { terms.max(1) };
        let in_place = A::IS_F32 && even_terms == terms;
        let mut blocks = Vec::new();
        for even in (0..rows).step_by(even_rows.max(1)) {
            let starts = (even..even + even_rows).step_by(block.max(1));
            blocks.extend(starts.map(|start| (start, (start + block).min(even + even_rows))));
        }
        for first in (0..terms.max(1)).step_by(round) {
            let last = (first + round).min(terms);
            let work = |kernel: Kernel| {
                let one = |rows: &(usize, usize)| {
                    let piece = Piece { rows: *rows, terms: (first, last) };
                    // SAFETY: blocks write disjoint rows.
                    unsafe { self.piece(piece, row_stride, kernel) }
                };
                if parallel { blocks.par_iter().for_each(one) } else { blocks.iter().for_each(one) }
            };
            if in_place {
                let start = Shared(self.rhs.at(first as isize * term_stride).cast::<f32>());
                work(Kernel { start, row: term_stride, column: self.step.outputs.rhs as isize });
            } else {
                with_piece(0, (last - first) * columns, |packed| {
                    // SAFETY: the caller's promise.
                    unsafe { self.pack_kernel((first, last), columns, packed, parallel) }
                    let start = Shared(packed.as_mut_ptr());
                    work(Kernel { start, row: columns as isize, column: 1 });
                });
            }
        }
    }

    /// Converts rows of the kernel.
    unsafe fn pack_kernel(&self, terms: (usize, usize), columns: usize, packed: &mut [f32], parallel: bool) {
        let stride = self.step.outputs.rhs as isize;
        let line = |(term, line): (usize, &mut [f32])| {
            let start = self.rhs.at(distance(&self.patches.columns, terms.0 + term));
            for (column, target) in line.iter_mut().enumerate() {
                // SAFETY: an element of the kernel.
                *target = unsafe { (*start.offset(column as isize * stride)).load() };
            }
        };
        if parallel {
            packed.par_chunks_mut(columns).enumerate().with_min_len(16).for_each(line);
        } else {
            packed.chunks_mut(columns).enumerate().for_each(line);
        }
    }

    unsafe fn piece(&self, piece: Piece, row_stride: isize, kernel: Kernel) {
        let (rows, terms) = (piece.rows.1 - piece.rows.0, piece.terms.1 - piece.terms.0);
        let columns = self.step.outputs.size as usize;
        let size = Size { m: rows, n: columns, k: terms };
        let start = self.out.at(distance(&self.patches.rows, piece.rows.0));
        let rhs = Matrix::read(kernel.start.0, kernel.row, kernel.column);
        let accumulate = piece.terms.0 > 0;
        with_piece(1, rows * terms, |gathered| {
            // SAFETY: the caller's promise.
            unsafe { self.patches.gather(self.lhs, piece.rows, piece.terms, gathered) }
            let (row, column) =
                if self.patches.rows_inside { (1, rows as isize) } else { (terms as isize, 1) };
            let lhs = Matrix::read(gathered.as_ptr(), row, column);
            if C::IS_F32 {
                let column = self.step.outputs.out as isize;
                let out = Matrix { start: start.cast::<f32>(), row: row_stride, column };
                // SAFETY: rows of the result, which no other piece writes.
                unsafe { multiply(size, out, accumulate, lhs, rhs, false) }
                return;
            }
            with_piece(2, rows * columns, |sums| {
                let out = Matrix { start: sums.as_mut_ptr(), row: columns as isize, column: 1 };
                // SAFETY: scratch of this size.
                unsafe { multiply(size, out, false, lhs, rhs, false) }
                for (index, value) in sums.iter().enumerate() {
                    let (row, column) = ((index / columns) as isize, (index % columns) as isize);
                    // SAFETY: an element of the result.
                    unsafe {
                        *start.offset(row * row_stride + column * self.step.outputs.out as isize) =
                            C::store(*value);
                    }
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::tests::{bits_of, numbers, values};
    use crate::program::{BufferId, ConvAxis, ConvSpatial, OuterSum};
    use ckpt_entity::EntityId as _;

    /// Two groups of NHWC images under HWIO kernels.
    fn forward(element: Element, spatial: [ConvSpatial; 2]) -> ConvolutionStep {
        const GROUPS: i64 = 2;
        let (batch, features, outputs) = (3, 4i64, 5i64);
        let [y, x] = spatial;
        let (lhs, out, rhs) = (GROUPS * features, GROUPS * outputs, GROUPS * outputs);
        let axis = |size: i64, lhs, rhs, out| ConvAxis { size: size as u64, lhs, rhs, out };
        let (wide_in, wide_out, wide) = (x.input as i64, x.output as i64, x.kernel as i64);
        let image = (y.input as i64 * wide_in * lhs, y.output as i64 * wide_out * out);
        ConvolutionStep {
            element,
            result: element,
            lhs: BufferId::from_index(0),
            rhs: BufferId::from_index(1),
            out: BufferId::from_index(2),
            groups: axis(GROUPS, features, outputs, outputs),
            batch: axis(batch, image.0, 0, image.1),
            features: OuterSum { size: features as u64, lhs: 1, rhs },
            outputs: axis(outputs, 0, 1, 1),
            spatial: vec![
                ConvSpatial { lhs: wide_in * lhs, rhs: wide * features * rhs, out: wide_out * out, ..y },
                ConvSpatial { lhs, rhs: features * rhs, out, ..x },
            ],
        }
    }

    /// The definition, term by term.
    fn defined(step: &ConvolutionStep, lhs: &[f32], rhs: &[f32], out: &mut [f64]) {
        let [y, x] = [step.spatial[0], step.spatial[1]];
        let at = |d: &ConvSpatial, o: u64, t: u64| {
            let tap = if d.reversed { d.kernel - 1 - t } else { t };
            let at = (o * d.step + tap * d.kernel_dilation) as i64 - d.pad_low;
            let whole = at >= 0 && at % d.input_dilation as i64 == 0;
            (whole && at / (d.input_dilation as i64) < d.input as i64).then(|| at / d.input_dilation as i64)
        };
        let range = |size: u64| 0..size as i64;
        for (g, b, o) in range(step.groups.size).flat_map(|g| {
            range(step.batch.size).flat_map(move |b| range(step.outputs.size).map(move |o| (g, b, o)))
        }) {
            for (oy, ox) in (0..y.output).flat_map(|oy| (0..x.output).map(move |ox| (oy, ox))) {
                let mut sum = 0.0;
                for (ty, tx) in (0..y.kernel).flat_map(|ty| (0..x.kernel).map(move |tx| (ty, tx))) {
                    let (Some(iy), Some(ix)) = (at(&y, oy, ty), at(&x, ox, tx)) else { continue };
                    for f in range(step.features.size) {
                        let l = g * step.groups.lhs + b * step.batch.lhs + f * step.features.lhs;
                        let r = g * step.groups.rhs + o * step.outputs.rhs + f * step.features.rhs;
                        let l = l + iy * y.lhs + ix * x.lhs;
                        let r = r + ty as i64 * y.rhs + tx as i64 * x.rhs;
                        sum += f64::from(lhs[l as usize]) * f64::from(rhs[r as usize]);
                    }
                }
                let place = g * step.groups.out + b * step.batch.out + o * step.outputs.out;
                out[(place + oy as i64 * y.out + ox as i64 * x.out) as usize] = sum;
            }
        }
    }

    fn check(step: &ConvolutionStep) {
        let [y, x] = [step.spatial[0], step.spatial[1]];
        let count = |size: u64, spatial: u64, channels: u64| (size * spatial * channels) as usize;
        let channels = step.features.size * step.groups.size;
        let filters = step.outputs.size * step.groups.size;
        let lhs = values(count(step.batch.size, y.input * x.input, channels), 3);
        let rhs = values(count(step.features.size, y.kernel * x.kernel, filters), 4);
        let outs = count(step.batch.size, y.output * x.output, filters);
        let (lhs_bytes, lhs) = bits_of(step.element, &lhs);
        let (rhs_bytes, rhs) = bits_of(step.element, &rhs);
        let mut out = vec![u64::MAX; (outs * step.result.bytes() as usize).div_ceil(8)];
        let operands = Operands {
            lhs: lhs_bytes.as_ptr().cast(),
            rhs: rhs_bytes.as_ptr().cast(),
            out: out.as_mut_ptr().cast(),
        };
        // SAFETY: the buffers have the step's sizes.
        unsafe { run(step, operands) }
        let mut want = vec![0.0; outs];
        defined(step, &lhs, &rhs, &mut want);
        let tolerance = if step.result == Element::F32 { 1e-4 } else { 0.1 };
        for (index, (got, want)) in numbers(step.result, &out, outs).iter().zip(&want).enumerate() {
            assert!((got - want).abs() < tolerance, "{index}: {got} for {want} in {step:?}");
        }
    }

    #[test]
    fn windows_of_all_kinds_agree_with_the_definition() {
        let plain = ConvSpatial {
            input: 9,
            kernel: 3,
            output: 9,
            step: 1,
            pad_low: 1,
            input_dilation: 1,
            kernel_dilation: 1,
            ..ConvSpatial::default()
        };
        let kinds = [
            plain,
            ConvSpatial { step: 2, output: 4, pad_low: 0, ..plain },
            ConvSpatial { input_dilation: 2, output: 17, ..plain },
            ConvSpatial { kernel_dilation: 3, output: 5, pad_low: 1, ..plain },
            ConvSpatial { reversed: true, ..plain },
            ConvSpatial { pad_low: -2, output: 5, ..plain },
        ];
        for y in kinds {
            for x in kinds {
                check(&forward(Element::F32, [y, x]));
            }
            check(&forward(Element::Bf16, [y, plain]));
        }
    }

    #[test]
    fn the_filter_gradient_is_a_convolution_with_other_dimension_numbers() {
        // [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]: batch and features change places.
        let (images, size, channels, filters) = (2i64, 6i64, 3i64, 4i64);
        let axis = |size: i64, lhs, rhs, out| ConvAxis { size: size as u64, lhs, rhs, out };
        let dim = ConvSpatial {
            input: size as u64,
            kernel: size as u64,
            output: 3,
            step: 1,
            pad_low: 1,
            input_dilation: 1,
            kernel_dilation: 1,
            ..ConvSpatial::default()
        };
        check(&ConvolutionStep {
            element: Element::F32,
            result: Element::F32,
            lhs: BufferId::from_index(0),
            rhs: BufferId::from_index(1),
            out: BufferId::from_index(2),
            groups: axis(1, 0, 0, 0),
            batch: axis(channels, 1, 0, filters),
            features: OuterSum {
                size: images as u64,
                lhs: size * size * channels,
                rhs: size * size * filters,
            },
            outputs: axis(filters, 0, 1, 1),
            spatial: vec![
                ConvSpatial { lhs: size * channels, rhs: size * filters, out: 3 * channels * filters, ..dim },
                ConvSpatial { lhs: channels, rhs: filters, out: channels * filters, ..dim },
            ],
        });
    }
}
