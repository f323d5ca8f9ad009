//! The target `bytes`: random bytes, and programs with some bytes changed.

use crate::corpus::Corpus;
use crate::random::Random;

/// One case in so many is made of nothing but random bytes.
const RANDOM_CASES: usize = 20;

/// Bytes of a case that is random altogether, at most.
const MAX_RANDOM_BYTES: usize = 256;

/// Bytes that mean something to the reader.
const ALPHABET: &[u8] = b"\"%#!@^<>()[]{}:=,->?*/\\.+-_ \n\t\r0123456789xeabfiul";

/// An input.
pub(crate) fn input(corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    if random.once_in(RANDOM_CASES) {
        let any = random.once_in(2);
        let length = random.below(MAX_RANDOM_BYTES);
        return (0..length).map(|_| byte(random, any)).collect();
    }
    let mut bytes = corpus.draw(random).as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        mutate(&mut bytes, corpus, random);
    }
    bytes
}

/// Any byte, or one that the reader knows.
fn byte(random: &mut Random, any: bool) -> u8 {
    if any { random.bits() as u8 } else { random.pick(ALPHABET) }
}

fn mutate(bytes: &mut Vec<u8>, corpus: &Corpus, random: &mut Random) {
    let at = random.below(bytes.len());
    let end = (at + 1 + random.below(16)).min(bytes.len());
    // Text that is not UTF-8 is refused at once, so most bytes stay ASCII.
    let any = random.once_in(10);
    match random.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(if any { 8 } else { 7 }),
        1 | 2 if at < bytes.len() => bytes[at] = byte(random, any),
        3 => bytes.insert(at, byte(random, any)),
        4 => drop(bytes.drain(at.min(end)..end)),
        5 => {
            let copy = bytes[at.min(end)..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        6 if random.once_in(4) => bytes.truncate(at),
        _ => {
            let other = corpus.draw(random).as_bytes();
            let from = random.below(other.len());
            let until = (from + random.below(64)).min(other.len());
            bytes.splice(at.min(end)..end, other[from..until].iter().copied());
        }
    }
}
