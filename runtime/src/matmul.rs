//! Matrix products of strided operands.
#![allow(unsafe_code)]

use crate::Element;
use crate::block_product::{Matrix, Shared, Size, gemm_number::Number, multiply};
use crate::element::{Bf16, F16};
use crate::narrow;
use crate::program::{MatMulStep, OuterLoop};
use rayon::prelude::*;

/// Multiplications below which a product is not worth a second thread: about
/// 20 µs on one core, several times what waking a thread costs.
pub(crate) const MIN_PARALLEL_PRODUCTS: u64 = 1 << 19;

/// Loop iterations from which on whole products are spread over the threads
/// rather than parts of each.
pub(crate) const MIN_PARALLEL_LOOPS: usize = 4;

/// The three operands in memory.
#[derive(Clone, Copy)]
pub(crate) struct Operands {
    pub(crate) lhs: *const u8,
    pub(crate) rhs: *const u8,
    pub(crate) out: *mut u8,
}

/// Runs a product.
///
/// # Safety
/// The pointers are those of the step's buffers, of which a validated program
/// says that all elements lie in them and that `out` shares none with the others.
pub(crate) unsafe fn run(step: &MatMulStep, operands: Operands) {
    // SAFETY: the caller's promise, and element types are those of the step.
    unsafe {
        match (step.element, step.result) {
            (Element::F32, Element::F32) => wide::<f32>(step, operands),
            (Element::F64, Element::F64) => wide::<f64>(step, operands),
            (Element::Bf16, Element::Bf16) => narrow::run::<Bf16, Bf16>(step, operands),
            (Element::Bf16, Element::F32) => narrow::run::<Bf16, f32>(step, operands),
            (Element::F16, Element::F16) => narrow::run::<F16, F16>(step, operands),
            (Element::F16, Element::F32) => narrow::run::<F16, f32>(step, operands),
            // Validation lets no other pair through.
            _ => {}
        }
    }
}

/// Whether there is code for these element types.
pub(crate) fn is_supported(element: Element, result: Element) -> bool {
    match element {
        Element::F64 => result == Element::F64,
        Element::F32 => result == Element::F32,
        narrow => result == narrow || result == Element::F32,
    }
}

/// Offsets of all iterations of the loops, in elements.
pub(crate) fn iterations(loops: &[OuterLoop]) -> Vec<OuterLoop> {
    let mut all = vec![OuterLoop { size: 1, ..OuterLoop::default() }];
    for axis in loops {
        let step = |base: &OuterLoop, i: i64| OuterLoop {
            size: 1,
            lhs: base.lhs + i * axis.lhs,
            rhs: base.rhs + i * axis.rhs,
            out: base.out + i * axis.out,
        };
        all = all.iter().flat_map(|base| (0..axis.size as i64).map(move |i| step(base, i))).collect();
    }
    all
}

/// Multiplications of a step.
pub(crate) fn products(step: &MatMulStep) -> u64 {
    let sizes = step.loops.iter().map(|l| l.size).chain([step.m.size, step.n.size]);
    sizes.chain(step.sums.iter().map(|s| s.size)).fold(1, u64::saturating_mul)
}

unsafe fn wide<T: Number>(step: &MatMulStep, operands: Operands) {
    let iterations = iterations(&step.loops);
    let parallel = products(step) >= MIN_PARALLEL_PRODUCTS;
    let spread = parallel && iterations.len() >= MIN_PARALLEL_LOOPS;
    let (lhs, rhs) =
        (Shared(operands.lhs.cast_mut().cast::<T>()), Shared(operands.rhs.cast_mut().cast::<T>()));
    let out = Shared(operands.out.cast::<T>());
    let one = |at: &OuterLoop| {
        let lhs = Shared(lhs.at(step.lhs.offset as isize + at.lhs as isize));
        let rhs = Shared(rhs.at(step.rhs.offset as isize + at.rhs as isize));
        let out = Shared(out.at(step.out.offset as isize + at.out as isize));
        // SAFETY: iterations write disjoint parts of `out`.
        unsafe { sum(step, lhs, rhs, out, parallel && !spread) }
    };
    if spread { iterations.par_iter().for_each(one) } else { iterations.iter().for_each(one) }
}

/// One product over all summed dimensions, outer ones one after the other.
unsafe fn sum<T: Number>(step: &MatMulStep, lhs: Shared<T>, rhs: Shared<T>, out: Shared<T>, parallel: bool) {
    let Some((inner, outer)) = step.sums.split_last() else { return };
    let out = Matrix { start: out.0, row: step.m.out as isize, column: step.n.out as isize };
    let outer: Vec<OuterLoop> =
        outer.iter().map(|s| OuterLoop { size: s.size, lhs: s.lhs, rhs: s.rhs, out: 0 }).collect();
    let size = Size { m: step.m.size as usize, n: step.n.size as usize, k: inner.size as usize };
    let rounds = iterations(&outer);
    if size.k == 0 || rounds.is_empty() {
        for row in 0..size.m as isize {
            for column in 0..size.n as isize {
                // SAFETY: an element of the result.
                unsafe { *out.start.offset(row * out.row + column * out.column) = T::default() }
            }
        }
        return;
    }
    for (round, at) in rounds.iter().enumerate() {
        let lhs = Matrix::read(lhs.at(at.lhs as isize), step.m.lhs as isize, inner.lhs as isize);
        let rhs = Matrix::read(rhs.at(at.rhs as isize), inner.rhs as isize, step.n.rhs as isize);
        // SAFETY: the caller's promise.
        unsafe { multiply(size, out, round > 0, lhs, rhs, parallel) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::tests::{bits_of, values};
    use crate::program::{BufferId, OuterSum, StridedOperand};
    use ckpt_entity::EntityId as _;

    fn operand(index: usize) -> StridedOperand {
        StridedOperand { buffer: BufferId::from_index(index), offset: 0 }
    }

    /// `out[b, m, n] = Σ lhs[b, k, m] · rhs[b, n, k]`: both operands transposed.
    fn step(element: Element, result: Element, [b, m, n, k]: [i64; 4]) -> MatMulStep {
        let axis = |size: i64, lhs, rhs, out| OuterLoop { size: size as u64, lhs, rhs, out };
        MatMulStep {
            element,
            result,
            lhs: operand(0),
            rhs: operand(1),
            out: operand(2),
            loops: vec![axis(b, k * m, n * k, m * n)],
            m: axis(m, 1, 0, n),
            n: axis(n, 0, k, 1),
            sums: vec![OuterSum { size: k as u64, lhs: m, rhs: 1 }],
        }
    }

    fn check(element: Element, result: Element, sizes: [i64; 4]) {
        let [b, m, n, k] = sizes.map(|s| s as usize);
        let (lhs, rhs) = (values(b * k * m, 1), values(b * n * k, 2));
        let step = step(element, result, sizes);
        let (lhs_bytes, lhs) = bits_of(element, &lhs);
        let (rhs_bytes, rhs) = bits_of(element, &rhs);
        let mut outs = Vec::new();
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0u64; (b * m * n * result.bytes() as usize).div_ceil(8)];
            let operands = Operands {
                lhs: lhs_bytes.as_ptr().cast(),
                rhs: rhs_bytes.as_ptr().cast(),
                out: out.as_mut_ptr().cast(),
            };
            let shared =
                (Shared(operands.lhs.cast_mut()), Shared(operands.rhs.cast_mut()), Shared(operands.out));
            pool.install(|| {
                let (lhs, rhs, out) = shared;
                let _ = &shared;
                // SAFETY: the buffers have the step's sizes.
                unsafe { run(&step, Operands { lhs: lhs.at(0), rhs: rhs.at(0), out: out.at(0) }) }
            });
            outs.push(out);
        }
        assert!(outs.iter().all(|out| *out == outs[0]), "{element:?} {sizes:?}: bits differ between threads");
        let got = narrow::tests::numbers(result, &outs[0], b * m * n);
        for batch in 0..b {
            for (row, column) in [(0, 0), (m - 1, n - 1), (m / 2, n / 3)] {
                let terms = (0..k).map(|i| {
                    f64::from(lhs[(batch * k + i) * m + row]) * f64::from(rhs[(batch * n + column) * k + i])
                });
                let want: f64 = terms.sum();
                let found = got[(batch * m + row) * n + column];
                let tolerance = if result.bytes() == 2 { 1e-2 } else { 1e-5 };
                assert!((want - found).abs() <= tolerance * (k as f64).sqrt(), "{element:?} {want} {found}");
            }
        }
    }

    /// A product written transposed is the same to the bit: what a program's
    /// lowering chooses for one use of it must not show in the numbers.
    #[test]
    fn a_product_written_transposed_has_the_same_bits() {
        for element in [Element::F32, Element::Bf16] {
            for [m, n, k] in [[40, 70, 90], [300, 100, 700], [32, 512, 1024], [1024, 512, 32], [9, 900, 33]] {
                let (lhs, rhs) = (values((k * m) as usize, 1), values((n * k) as usize, 2));
                let (lhs, rhs) = (bits_of(element, &lhs).0, bits_of(element, &rhs).0);
                let product = |transposed: bool| {
                    let mut step = step(element, element, [1, m, n, k]);
                    if transposed {
                        (step.m.out, step.n.out) = (1, m);
                    }
                    let mut out = vec![0u64; ((m * n) as usize * element.bytes() as usize).div_ceil(8)];
                    let (lhs, rhs) = (lhs.as_ptr().cast(), rhs.as_ptr().cast());
                    // SAFETY: the buffers have the step's sizes.
                    unsafe { run(&step, Operands { lhs, rhs, out: out.as_mut_ptr().cast() }) }
                    narrow::tests::numbers(element, &out, (m * n) as usize)
                };
                let (plain, turned) = (product(false), product(true));
                let at = |row: i64, column: i64| turned[(column * m + row) as usize];
                let same =
                    |index: usize| plain[index].to_bits() == at(index as i64 / n, index as i64 % n).to_bits();
                assert!((0..plain.len()).all(same), "{element:?} {m} x {n} x {k}");
            }
        }
    }

    #[test]
    fn products_are_right_and_the_same_for_any_number_of_threads() {
        let pairs = [
            (Element::F32, Element::F32),
            (Element::F64, Element::F64),
            (Element::Bf16, Element::Bf16),
            (Element::Bf16, Element::F32),
            (Element::F16, Element::F16),
        ];
        for (element, result) in pairs {
            for sizes in
                [[1, 3, 5, 7], [1, 200, 100, 150], [6, 64, 64, 65], [1, 1, 300, 3000], [2, 300, 1, 2000]]
            {
                check(element, result, sizes);
            }
        }
    }
}
