//! Reading dense literals, straight into packed bytes.

use super::cursor::Read;
use super::float;
use super::operations::Reader;
use crate::{Attr, DenseElements, Diagnostic, ElementType, TensorType, Type};

/// The bits of a number for a floating-point type: decimal, or `0x…` as bits.
pub(super) fn float_bits(text: &str, element: ElementType) -> Result<u64, String> {
    let bad = || format!("'{text}' is no value of type {element}");
    if let Some(hex) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).map_err(|_| bad())?;
        let fits = element.bit_width() >= 64 || bits >> element.bit_width() == 0;
        return if fits { Ok(bits) } else { Err(bad()) };
    }
    float::parse(text, element).ok_or_else(bad)
}

/// An integer token; `0x…` is unsigned.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// One element as it was written.
enum Written<'t> {
    Number(&'t str),
    Bool(bool),
    Complex(&'t str, &'t str),
}

/// What the brackets of a literal say of its shape.
#[derive(Default)]
struct Brackets {
    /// Length of each depth, outermost first, once known.
    lengths: Vec<u64>,
    /// Elements seen so far at each open depth.
    counts: Vec<u64>,
}

impl<'t> Reader<'t> {
    /// After `dense`.
    pub(super) fn dense(&mut self) -> Read<Attr> {
        self.cursor.expect("<")?;
        let start = self.cursor.here();
        // The type stands behind the values, so the values are skipped first.
        let before = self.cursor;
        self.skip_values()?;
        self.cursor.expect(">")?;
        self.cursor.expect(":")?;
        let ty = self.ty()?;
        let after = self.cursor;
        self.cursor = before;
        let attr = match self.module.types.get(ty).clone() {
            Type::Tensor(tensor) => self.values(start, ty, &tensor)?,
            Type::UnrankedTensor(_) => {
                return Err(Diagnostic::invalid(start, "the type of a literal must have a static shape"));
            }
            _ => {
                let text = &after.text[start - "dense<".len()..after.at];
                Attr::Opaque(self.module.names.intern(text))
            }
        };
        self.cursor = after;
        Ok(attr)
    }

    /// Skips to the `>` that ends the values: it stands in no string and no
    /// bracket, and values hold no other `>`.
    fn skip_values(&mut self) -> Read<()> {
        let bytes = self.cursor.text.as_bytes();
        if self.cursor.peek() == Some(b'"') {
            self.cursor.raw_string()?;
            return Ok(());
        }
        let rest = &bytes[self.cursor.at..];
        match rest.iter().position(|byte| *byte == b'>') {
            Some(length) => {
                self.cursor.at += length;
                Ok(())
            }
            None => Err(self.cursor.expected("'>' after the values of the literal")),
        }
    }

    fn values(&mut self, start: usize, ty: crate::TypeId, tensor: &TensorType) -> Read<Attr> {
        let Some(count) = tensor.element_count() else {
            return Err(Diagnostic::invalid(
                start,
                "a literal needs a static shape of fewer than 2^64 elements",
            ));
        };
        let element = tensor.element;
        if self.cursor.peek() == Some(b'"') {
            return self.hex_blob(ty, element, count);
        }
        if self.cursor.peek() == Some(b'>') {
            return match count {
                0 => Ok(Attr::Dense(DenseElements { ty, bytes: [].into(), splat: false })),
                _ => Err(Diagnostic::invalid(start, format!("no values for {count} elements"))),
            };
        }
        let mut bytes = Vec::new();
        if self.cursor.peek() != Some(b'[') {
            self.element(element, &mut bytes)?;
            return Ok(Attr::Dense(DenseElements { ty, bytes: bytes.into(), splat: true }));
        }
        let shape = self.bracketed(element, &mut bytes)?;
        let expected = tensor.static_shape().unwrap_or_default();
        let same = shape == expected || (count == 0 && shape.iter().product::<u64>() == 0);
        if !same {
            let message = format!("the literal has shape {shape:?}, its type has {expected:?}");
            return Err(Diagnostic::invalid(start, message));
        }
        let width = element.byte_width() as usize;
        let splat = count > 0 && bytes.chunks_exact(width).all(|chunk| chunk == &bytes[..width]);
        if splat {
            bytes.truncate(width);
        }
        Ok(Attr::Dense(DenseElements { ty, bytes: bytes.into(), splat }))
    }

    /// `[[1, 2], [3, 4]]`; returns the shape that the brackets have.
    fn bracketed(&mut self, element: ElementType, bytes: &mut Vec<u8>) -> Read<Vec<u64>> {
        let mut brackets = Brackets::default();
        loop {
            let at = self.cursor.here();
            match self.cursor.peek() {
                Some(b'[') => {
                    self.cursor.at += 1;
                    brackets.counts.push(0);
                    if brackets.counts.len() > super::MAX_NESTING {
                        return Err(Diagnostic::limit(at, "the literal nests too deep"));
                    }
                    if brackets.lengths.len() < brackets.counts.len() {
                        if !bytes.is_empty() {
                            return Err(Diagnostic::invalid(at, "a bracket stands beside a value"));
                        }
                        brackets.lengths.push(u64::MAX);
                    }
                    continue;
                }
                Some(b']') => self.cursor.at += 1,
                _ => {
                    self.element(element, bytes)?;
                    let deepest = brackets.counts.len() == brackets.lengths.len();
                    let Some(count) = brackets.counts.last_mut().filter(|_| deepest) else {
                        return Err(Diagnostic::invalid(at, "a value stands beside a bracket"));
                    };
                    *count += 1;
                    if self.cursor.eat(",") {
                        continue;
                    }
                    self.cursor.expect("]")?;
                }
            }
            // One or several brackets close here.
            loop {
                let depth = brackets.counts.len();
                let count = brackets.counts.pop().unwrap_or(0);
                let length = &mut brackets.lengths[depth - 1];
                if *length == u64::MAX {
                    *length = count;
                } else if *length != count {
                    return Err(Diagnostic::invalid(
                        at,
                        format!("{count} elements where {length} stood before"),
                    ));
                }
                let Some(outer) = brackets.counts.last_mut() else { return Ok(brackets.lengths) };
                *outer += 1;
                if self.cursor.eat(",") {
                    break;
                }
                self.cursor.expect("]")?;
            }
        }
    }

    fn element(&mut self, element: ElementType, bytes: &mut Vec<u8>) -> Read<()> {
        let at = self.cursor.here();
        let written = self.written()?;
        pack(&written, element, bytes).map_err(|why| Diagnostic::invalid(at, why))
    }

    fn written(&mut self) -> Read<Written<'t>> {
        if self.cursor.eat_word("true") {
            return Ok(Written::Bool(true));
        }
        if self.cursor.eat_word("false") {
            return Ok(Written::Bool(false));
        }
        if self.cursor.eat("(") {
            let re = self.cursor.number().ok_or_else(|| self.cursor.expected("a number"))?;
            self.cursor.expect(",")?;
            let im = self.cursor.number().ok_or_else(|| self.cursor.expected("a number"))?;
            self.cursor.expect(")")?;
            return Ok(Written::Complex(re, im));
        }
        self.cursor.number().map(Written::Number).ok_or_else(|| self.cursor.expected("a value"))
    }

    /// `"0x…"`: the elements' bytes; booleans packed eight to a byte.
    fn hex_blob(&mut self, ty: crate::TypeId, element: ElementType, count: u64) -> Read<Attr> {
        let start = self.cursor.here();
        let raw = self.cursor.raw_string()?;
        let bad = |why: String| Err(Diagnostic::invalid(start, why));
        let Some(digits) = raw.strip_prefix(b"0x") else {
            return bad("a string of elements starts with 0x".into());
        };
        let Some(mut bytes) = unhex(digits) else {
            return bad("a string of elements holds an even number of hexadecimal digits".into());
        };
        let width = element.byte_width();
        if element == ElementType::Bool {
            if bytes.len() as u64 == count.div_ceil(8) {
                bytes = (0..count).map(|i| bytes[(i / 8) as usize] >> (i % 8) & 1).collect();
            } else if bytes.len() == 1 && count > 8 {
                let splat = bytes[0] & 1;
                return Ok(Attr::Dense(DenseElements { ty, bytes: [splat].into(), splat: true }));
            }
        }
        let splat = bytes.len() as u64 == width && count != 1;
        if !splat && Some(bytes.len() as u64) != count.checked_mul(width) {
            return bad(format!(
                "the string holds {} bytes, the type needs {count} elements of {width}",
                bytes.len()
            ));
        }
        let splat = splat || count == 1;
        Ok(Attr::Dense(DenseElements { ty, bytes: bytes.into(), splat }))
    }
}

/// Stands for what is no hexadecimal digit: its high bits are set.
const NO_DIGIT: u8 = 0xff;

/// The value of each byte as a hexadecimal digit.
const HEX: [u8; 256] = {
    let mut table = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// The bytes that pairs of digits stand for; none if something else stands among them.
fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let mut seen = 0;
    let byte = |[high, low]: &[u8; 2]| {
        let (high, low) = (HEX[usize::from(*high)], HEX[usize::from(*low)]);
        seen |= high | low;
        high << 4 | low & 0xf
    };
    let bytes = pairs.iter().map(byte).collect();
    (rest.is_empty() && seen < 16).then_some(bytes)
}

/// Appends the bytes of one element.
fn pack(written: &Written<'_>, element: ElementType, bytes: &mut Vec<u8>) -> Result<(), String> {
    let mut push = |bits: u64, element: ElementType| {
        bytes.extend_from_slice(&bits.to_le_bytes()[..element.byte_width() as usize]);
    };
    match (written, element) {
        (Written::Complex(re, im), _) if element.is_complex() => {
            push(float_bits(re, element.part())?, element.part());
            push(float_bits(im, element.part())?, element.part());
        }
        (Written::Bool(value), ElementType::Bool) => push(u64::from(*value), element),
        (Written::Number(text), _) if element.is_float() => {
            if !text.contains('.') && !text.starts_with("0x") {
                return Err(format!("'{text}' is an integer, expected a value of type {element}"));
            }
            push(float_bits(text, element)?, element);
        }
        (Written::Number(text), _) if !element.is_complex() => {
            push(integer_bits(text, element)?, element);
        }
        _ => return Err(format!("expected a value of type {element}")),
    }
    Ok(())
}

/// The two's complement of an integer token, if the type holds it.
pub(super) fn integer_bits(text: &str, element: ElementType) -> Result<u64, String> {
    let value = integer(text).ok_or_else(|| format!("'{text}' is no integer"))?;
    let bits = element.bit_width();
    let (low, high) = match element {
        ElementType::Bool => (-1, 1),
        ElementType::Uint(_) => (0, (1i128 << bits) - 1),
        // Signless integers may be written signed or unsigned.
        _ => (-(1i128 << (bits - 1)), (1i128 << bits) - 1),
    };
    if value < low || value > high || text.contains('.') {
        return Err(format!("'{text}' is no value of type {element}"));
    }
    if element == ElementType::Bool {
        return Ok(u64::from(value != 0));
    }
    // Narrow integers lie sign-extended in their byte.
    let narrow = (value << (128 - bits)) >> (128 - bits);
    Ok(match element {
        ElementType::Uint(_) => value as u64,
        _ => narrow as u64,
    })
}
