//! The lexical layer: a position in the text.

use crate::Diagnostic;

/// What reading returns.
pub(super) type Read<T> = Result<T, Diagnostic>;

/// A position in the text. White space and comments are skipped before every token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

/// Characters of MLIR's bare identifiers after the first.
fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// Characters of names after `%`, `@`, `#`, `!`, `^`.
fn is_suffix(byte: u8) -> bool {
    is_identifier(byte) || byte == b'-'
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// Skips white space and `//` comments.
    pub(super) fn skip(&mut self) {
        let bytes = self.bytes();
        loop {
            while self.at < bytes.len() && bytes[self.at].is_ascii_whitespace() {
                self.at += 1;
            }
            if !bytes[self.at..].starts_with(b"//") {
                return;
            }
            let rest = &bytes[self.at..];
            self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        }
    }

    /// The offset of the next token.
    pub(super) fn here(&mut self) -> usize {
        self.skip();
        self.at
    }

    /// The first byte of the next token.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.bytes().get(self.at).copied()
    }

    /// Whether the next token starts with `token`.
    pub(super) fn looking_at(&mut self, token: &str) -> bool {
        self.skip();
        self.bytes()[self.at..].starts_with(token.as_bytes())
    }

    /// Takes `token` if it is next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let there = self.looking_at(token);
        if there {
            self.at += token.len();
        }
        there
    }

    /// Takes the word `word` if it is next and ends there.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.skip();
        let rest = &self.bytes()[self.at..];
        let there =
            rest.starts_with(word.as_bytes()) && !rest.get(word.len()).is_some_and(|b| is_identifier(*b));
        if there {
            self.at += word.len();
        }
        there
    }

    pub(super) fn expect(&mut self, token: &str) -> Read<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("'{token}'"))) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("'{word}'"))) }
    }

    /// An error at the next token.
    pub(super) fn expected(&mut self, what: &str) -> Diagnostic {
        let at = self.here();
        if at >= self.text.len() {
            return Diagnostic::invalid(at, format!("expected {what}, found the end of the text"));
        }
        Diagnostic::invalid(at, format!("expected {what}"))
    }

    /// A bare identifier, dots included.
    pub(super) fn identifier(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = &self.bytes()[self.at..];
        let first = *rest.first()?;
        if !(first.is_ascii_alphabetic() || first == b'_') {
            return None;
        }
        let length = rest.iter().position(|b| !is_identifier(*b)).unwrap_or(rest.len());
        Some(self.take(length))
    }

    fn take(&mut self, length: usize) -> &'t str {
        let taken = &self.text[self.at..self.at + length];
        self.at += length;
        taken
    }

    /// The name after a sigil that is next (`%`, `^`, `#`, `!`), dots included.
    pub(super) fn sigil_name(&mut self, sigil: u8) -> Option<&'t str> {
        if self.peek() != Some(sigil) {
            return None;
        }
        let rest = &self.bytes()[self.at + 1..];
        let length = rest.iter().position(|b| !is_suffix(*b)).unwrap_or(rest.len());
        if length == 0 {
            return None;
        }
        self.at += 1;
        Some(self.take(length))
    }

    /// A symbol name after `@`, bare or quoted.
    pub(super) fn symbol_name(&mut self) -> Read<String> {
        if self.peek() != Some(b'@') {
            return Err(self.expected("a symbol name '@…'"));
        }
        if self.bytes().get(self.at + 1) == Some(&b'"') {
            self.at += 1;
            let bytes = self.string()?;
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        self.sigil_name(b'@').map(str::to_owned).ok_or_else(|| self.expected("a symbol name '@…'"))
    }

    /// A quoted string, unescaped.
    pub(super) fn string(&mut self) -> Read<Vec<u8>> {
        let start = self.here();
        let raw = self.raw_string()?;
        if !raw.contains(&b'\\') {
            return Ok(raw.to_vec());
        }
        let mut out = Vec::with_capacity(raw.len());
        let mut bytes = raw.iter();
        while let Some(&byte) = bytes.next() {
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            let escaped = match (bytes.next(), bytes.as_slice().first()) {
                (Some(b'n'), _) => b'\n',
                (Some(b't'), _) => b'\t',
                (Some(quoted @ (b'"' | b'\\')), _) => *quoted,
                (Some(high), Some(low)) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                    bytes.next();
                    hex_digit(*high) * 16 + hex_digit(*low)
                }
                _ => return Err(Diagnostic::invalid(start, "unknown escape in a string")),
            };
            out.push(escaped);
        }
        Ok(out)
    }

    /// The inside of a quoted string, escapes as they stand.
    pub(super) fn raw_string(&mut self) -> Read<&'t [u8]> {
        let start = self.here();
        if self.bytes().get(start) != Some(&b'"') {
            return Err(self.expected("a string"));
        }
        let bytes = self.bytes();
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(b'\n') | None => {
                    return Err(Diagnostic::invalid(start, "the string does not end"));
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok(&bytes[start + 1..at])
    }

    /// The text of a number token: sign, digits, point, exponent, or `0x…`.
    pub(super) fn number(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = &self.bytes()[self.at..];
        let sign = usize::from(rest.first() == Some(&b'-'));
        if !rest.get(sign).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let digits = |from: usize| from + rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        if rest[sign] == b'0' && rest.get(sign + 1) == Some(&b'x') {
            let hex = rest[sign + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
            if hex > 0 {
                return Some(self.take(sign + 2 + hex));
            }
        }
        let mut end = digits(sign);
        if rest.get(end) == Some(&b'.') {
            end = digits(end + 1);
            if matches!(rest.get(end), Some(b'e' | b'E')) {
                let signed = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
                if rest.get(end + 1 + signed).is_some_and(u8::is_ascii_digit) {
                    end = digits(end + 1 + signed);
                }
            }
        }
        Some(self.take(end))
    }

    /// An integer that fits `i64`.
    pub(super) fn integer(&mut self) -> Read<i64> {
        let start = self.here();
        let text = self.number().ok_or_else(|| self.expected("an integer"))?;
        let parsed = match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok().map(|bits| bits as i64),
            None => text.parse().ok(),
        };
        parsed.ok_or_else(|| Diagnostic::invalid(start, "expected an integer of at most 64 bits"))
    }

    /// Takes everything up to the closing bracket of `open`, which was just
    /// taken, quotes and inner brackets respected; returns it with the bracket.
    pub(super) fn balanced(&mut self, open: u8) -> Read<&'t str> {
        let start = self.at;
        let bytes = self.bytes();
        let mut expected = vec![closing(open)];
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.raw_string()?;
                    continue;
                }
                b'-' if bytes.get(self.at + 1) == Some(&b'>') => self.at += 1,
                b'(' | b'[' | b'{' | b'<' => expected.push(closing(byte)),
                b')' | b']' | b'}' | b'>' => {
                    if expected.pop() != Some(byte) {
                        break;
                    }
                    if expected.is_empty() {
                        self.at += 1;
                        return Ok(&self.text[start..self.at]);
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        Err(Diagnostic::invalid(start.saturating_sub(1), "the bracket is not closed"))
    }
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => b'>',
    }
}

fn hex_digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        b'A'..=b'F' => byte - b'A' + 10,
        _ => 0,
    }
}
