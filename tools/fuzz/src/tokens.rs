//! The target `tokens`: programs of which some tokens are changed, so that most
//! cases get past the reader's first lines.

use crate::corpus::Corpus;
use crate::random::Random;

/// Numbers at the ends of what fits.
const EXTREMES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "8",
    "127",
    "128",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1.0",
    "-0.0",
    "1.0e400",
    "1.0e-400",
    "0x7FC00000",
    "0xFF",
    "0x0",
];

/// Tokens that fit in many places.
const WORDS: &[&str] = &[
    "f32",
    "f64",
    "bf16",
    "f16",
    "f8E4M3FN",
    "i1",
    "i4",
    "i8",
    "ui8",
    "i32",
    "ui32",
    "i64",
    "index",
    "complex<f32>",
    "tensor<f32>",
    "tensor<0xf32>",
    "tensor<?xf32>",
    "tensor<*xf32>",
    "tensor<2x3xf32>",
    "tuple<>",
    "!stablehlo.token",
    "dense<>",
    "dense<0>",
    "array<i64>",
    "array<i64: 0, 1>",
    "[]",
    "{}",
    "()",
    "<",
    ">",
    "loc(unknown)",
    "unit",
    "true",
    "false",
    "@main",
    "stablehlo.add",
    "stablehlo.constant",
    "stablehlo.reduce",
    "stablehlo.while",
    "return",
];

/// An input.
pub(crate) fn input(corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    let mut tokens = split(corpus.draw(random));
    let mut mutations = 1;
    while mutations < MAX_MUTATIONS && random.once_in(2) {
        mutations += 1;
    }
    for _ in 0..mutations {
        mutate(&mut tokens, corpus, random);
    }
    tokens.concat().into_bytes()
}

/// Mutations of one case; half of the cases have one.
const MAX_MUTATIONS: usize = 5;

/// Tokens of a run that is deleted, doubled or taken from elsewhere, at most.
const MAX_RUN: usize = 24;

fn mutate<'c>(tokens: &mut Vec<&'c str>, corpus: &'c Corpus, random: &mut Random) {
    let at = random.below(tokens.len());
    let run = if random.once_in(2) { 1 } else { MAX_RUN };
    let end = (at + 1 + random.below(run)).min(tokens.len());
    match random.below(9) {
        0 => drop(tokens.drain(at.min(end)..end)),
        1 => {
            let copy = tokens[at.min(end)..end].to_vec();
            tokens.splice(at..at, copy);
        }
        2 => {
            let other = random.below(tokens.len());
            if other < tokens.len() {
                tokens.swap(at, other);
            }
        }
        3 => {
            let other = split(corpus.draw(random));
            let from = random.below(other.len());
            let until = (from + 1 + random.below(MAX_RUN)).min(other.len());
            tokens.splice(at.min(end)..end, other[from.min(until)..until].iter().copied());
        }
        4 | 5 => {
            replace_like(tokens, random, |token| token.starts_with(|c: char| c.is_ascii_digit()), EXTREMES)
        }
        6 => {
            replace_like(tokens, random, |token| token.starts_with(|c: char| c.is_ascii_alphabetic()), WORDS)
        }
        7 => {
            // A value, a type or a word elsewhere in the same text.
            let from = random.below(tokens.len());
            if from < tokens.len() {
                tokens[at] = tokens[from];
            }
        }
        _ => {
            let word = if random.once_in(2) { random.pick(WORDS) } else { random.pick(EXTREMES) };
            tokens.insert(at, word);
        }
    }
}

/// Replaces a token of a kind, if there is one behind a random place.
fn replace_like<'c>(
    tokens: &mut [&'c str],
    random: &mut Random,
    kind: impl Fn(&str) -> bool,
    by: &[&'c str],
) {
    let from = random.below(tokens.len());
    if let Some(token) = tokens.iter_mut().skip(from).find(|token| kind(token)) {
        *token = random.pick(by);
    }
}

/// What a byte belongs to.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Class {
    Blank,
    Digit,
    Word,
    Sign,
}

fn class(byte: u8) -> Class {
    match byte {
        b' ' | b'\n' | b'\t' | b'\r' => Class::Blank,
        b'0'..=b'9' => Class::Digit,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'$' | 0x80.. => Class::Word,
        _ => Class::Sign,
    }
}

/// A text's tokens: runs of blanks, of digits, of letters (with the digits in
/// them), strings, and single signs; together they are the text.
fn split(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let first = class(bytes[at]);
        let same = |byte: &u8| class(*byte) == first || first == Class::Word && class(*byte) == Class::Digit;
        let length = match bytes[at] {
            b'"' => bytes[at + 1..].iter().position(|b| matches!(b, b'"' | b'\n')).map_or(1, |end| end + 2),
            _ if first == Class::Sign => 1,
            _ => bytes[at..].iter().take_while(|byte| same(byte)).count(),
        };
        tokens.push(&text[at..at + length]);
        at += length;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_text() {
        let text = "%0 = \"a b\"(%arg1) : tensor<2x3xf32> \"open\né";
        let tokens = split(text);
        assert_eq!(tokens.concat(), text);
        assert!(tokens.contains(&"\"a b\"") && tokens.contains(&"arg1") && tokens.contains(&"2"));
    }
}
