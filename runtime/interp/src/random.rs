//! Random numbers: the counter-based generators bit for bit as XLA has them
//! (`xla/hlo/builder/lib/prng.cc`), and `rng`, which is free to choose.

use crate::elementwise::{convert::convert, float, integer};
use crate::error::{Outcome, invalid, unsupported};
use crate::machine::Values;
use crate::movement::slice;
use crate::shape::{Shape, checked_count, count};
use crate::site::{Site, static_shape};
use crate::tensor::{Storage, Tensor};
use ckpt_ir::ElementType;
use smallvec::{SmallVec, smallvec};

/// ThreeFry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3", 2011).
fn three_fry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    /// The key schedule's parity constant.
    const PARITY: u32 = 0x1BD1_1BDA;
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let [mut x, mut y] = [counter[0].wrapping_add(keys[0]), counter[1].wrapping_add(keys[1])];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        x = x.wrapping_add(keys[(group + 1) % 3]);
        y = y.wrapping_add(keys[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    [x, y]
}

/// Philox-4x32 with 10 rounds (the same paper).
fn philox(key: [u32; 2], counter: u128) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let mut x: [u32; 4] = std::array::from_fn(|word| (counter >> (32 * word)) as u32);
    let mut key = key;
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let a = u64::from(MULTIPLIERS[0]) * u64::from(x[0]);
        let b = u64::from(MULTIPLIERS[1]) * u64::from(x[2]);
        let high = |product: u64| (product >> 32) as u32;
        x = [high(b) ^ x[1] ^ key[0], b as u32, high(a) ^ x[3] ^ key[1], a as u32];
    }
    x
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Evaluates `rng_bit_generator`: the new state and the bits.
pub(crate) fn rng_bit_generator(site: Site<'_>, state: &Tensor) -> Outcome<Values> {
    let ty = site.result_type(1)?;
    let Some(shape) = static_shape(ty) else { return unsupported("random bits of unknown size") };
    let words: Vec<u64> = match state.element.bit_width() {
        64 => state.elements::<u64>()?.to_vec(),
        32 => state.elements::<u32>()?.chunks_exact(2).map(|pair| joined([pair[0], pair[1]])).collect(),
        _ => return invalid("the state of a random generator is of 32 or 64-bit integers"),
    };
    let mut words = words;
    let three_fry = match site.enum_attr("rng_algorithm") {
        Some("THREE_FRY") => true,
        Some("PHILOX") => false,
        // The default is the generator that the state fits.
        _ => words.len() == 2,
    };
    let bits = if three_fry {
        three_fry_bits(&mut words, ty.element, &shape)?
    } else {
        philox_bits(&mut words, ty.element, &shape)?
    };
    let state_data = match state.element.bit_width() {
        64 => Storage::wrap(words),
        _ => Storage::wrap(words.into_iter().flat_map(halves).collect::<Vec<u32>>()),
    };
    Ok(smallvec![Tensor { data: state_data, ..state.clone() }.into(), bits.into()])
}

/// Bits of a result type out of words of 32 or 64 bits.
fn packed(element: ElementType, shape: Shape, words: impl Iterator<Item = u64>) -> Outcome<Tensor> {
    if integer::Width::of(element).is_none() {
        return unsupported("random bits of this type");
    }
    let data = integer::pack(element, words.map(|word| word as i64))?;
    Ok(Tensor { element, shape, data })
}

fn three_fry_bits(state: &mut [u64], element: ElementType, shape: &[usize]) -> Outcome<Tensor> {
    let [key, counter] = state else { return invalid("the state of THREE_FRY has two 64-bit words") };
    let (key, start) = (halves(*key), *counter);
    let block = |at: usize| three_fry(key, halves(start.wrapping_add(at as u64)));
    if element.bit_width() == 64 {
        *counter = start.wrapping_add(count(shape) as u64);
        return packed(element, shape.into(), (0..count(shape)).map(|at| joined(block(at))));
    }
    // Narrower numbers come in pairs that are neighbours along one dimension:
    // the first of even size, else the largest.
    let Some(along) = split_dimension(shape) else {
        *counter = start.wrapping_add(1);
        return packed(element, shape.into(), std::iter::once(u64::from(block(0)[0])));
    };
    let mut half: Shape = shape.into();
    half[along] = half[along].div_ceil(2);
    *counter = start.wrapping_add(count(&half) as u64);
    let inner = count(&half[along + 1..]);
    let mut even: Shape = shape.into();
    even[along] = 2 * half[along];
    // Position of the whole: (outer, pair, which, inner); of the half: (outer, pair, inner).
    let word = |at: usize| {
        let (rest, inside) = (at / inner, at % inner);
        u64::from(block(rest / 2 * inner + inside)[rest % 2])
    };
    let whole = packed(element, even.clone(), (0..count(&even)).map(word))?;
    let starts: Shape = SmallVec::from_elem(0, shape.len());
    slice(&whole, &starts, shape, &vec![1; shape.len()])
}

fn split_dimension(shape: &[usize]) -> Option<usize> {
    let even = shape.iter().position(|size| size % 2 == 0);
    even.or_else(|| {
        let largest = shape.iter().copied().max()?;
        shape.iter().position(|size| *size == largest)
    })
}

fn philox_bits(state: &mut [u64], element: ElementType, shape: &[usize]) -> Outcome<Tensor> {
    let (key, low, high) = match state {
        [key, low] => (halves(*key), *low, 0),
        [key, low, high] => (halves(*key), *low, *high),
        _ => return invalid("the state of PHILOX has two or three 64-bit words"),
    };
    let start = u128::from(low) | u128::from(high) << 64;
    let total = count(shape);
    let words_each = if element.bit_width() == 64 { 2 } else { 1 };
    let blocks = (total * words_each).div_ceil(4);
    let words: Vec<u32> = (0..blocks).flat_map(|at| philox(key, start.wrapping_add(at as u128))).collect();
    let next = start.wrapping_add(blocks as u128);
    state[1] = next as u64;
    if let Some(high) = state.get_mut(2) {
        *high = (next >> 64) as u64;
    }
    let word = |at: usize| match words_each {
        2 => joined([words[2 * at], words[2 * at + 1]]),
        _ => u64::from(words[at]),
    };
    packed(element, shape.into(), (0..total).map(word))
}

/// Evaluates `rng`. The numbers depend on how many the machine drew before,
/// so that every run of a program draws the same.
pub(crate) fn rng(
    site: Site<'_>,
    a: &Tensor,
    b: &Tensor,
    shape: &Tensor,
    drawn: &mut u64,
) -> Outcome<Tensor> {
    /// An arbitrary key of this evaluator's own.
    const KEY: [u32; 2] = [0x636b_7074, 0x2d6f_7074];
    let shape = shape.to_i64s()?.into_iter().map(crate::site::size).collect::<Outcome<Shape>>()?;
    checked_count(&shape)?;
    let bound = |tensor: &Tensor| convert(tensor, ElementType::F64)?.elements::<f64>().map(|v| v[0]);
    let (a, b) = (bound(a)?, bound(b)?);
    let mut uniform = || {
        *drawn += 1;
        (joined(three_fry(KEY, halves(*drawn))) >> 11) as f64 / (1u64 << 53) as f64
    };
    let normal = site.enum_attr("rng_distribution") == Some("NORMAL");
    let values: Vec<f64> = (0..count(&shape))
        .map(|_| {
            let u = uniform();
            if normal {
                // Box and Muller's transform.
                let radius = libm::sqrt(-2.0 * libm::log(1.0 - u));
                a + b * radius * libm::cos(std::f64::consts::TAU * uniform())
            } else {
                a + (b - a) * u
            }
        })
        .collect();
    let element = site.result_element()?;
    if element.is_float() {
        return Ok(Tensor { element, shape, data: float::pack(element, values.into_iter())? });
    }
    let values = values.into_iter().map(f64::floor).collect();
    convert(&Tensor::new::<f64>(ElementType::F64, shape, values), element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_the_paper() {
        // Random123's kat_vectors.
        assert_eq!(three_fry([0; 2], [0; 2]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(three_fry([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(philox([0; 2], 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 2], u128::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }
}
