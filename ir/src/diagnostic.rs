//! Errors in a text, with their place.

use std::fmt::Write as _;

/// An error at a place of the text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which of the four outcomes that are kept apart this is.
    pub kind: DiagnosticKind,
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong, as one sentence without a full stop; names the
    /// constraint and the values in conflict.
    pub message: String,
    /// Further places that matter, each with its sentence.
    pub notes: Vec<(usize, String)>,
}

/// What kind of refusal a diagnostic is; the command line's exit codes follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The program is not valid.
    Invalid,
    /// The program is valid and uses something that is not supported.
    Unsupported,
    /// A documented limit is exceeded.
    Limit,
}

impl Diagnostic {
    /// An invalid program at `offset`.
    #[must_use]
    pub fn invalid(offset: usize, message: impl Into<String>) -> Self {
        Self { kind: DiagnosticKind::Invalid, offset, message: message.into(), notes: Vec::new() }
    }

    /// Something unsupported at `offset`.
    #[must_use]
    pub fn unsupported(offset: usize, message: impl Into<String>) -> Self {
        Self { kind: DiagnosticKind::Unsupported, ..Self::invalid(offset, message) }
    }

    /// A limit exceeded at `offset`.
    #[must_use]
    pub fn limit(offset: usize, message: impl Into<String>) -> Self {
        Self { kind: DiagnosticKind::Limit, ..Self::invalid(offset, message) }
    }

    /// The same with a note.
    #[must_use]
    pub fn with_note(mut self, offset: usize, message: impl Into<String>) -> Self {
        self.notes.push((offset, message.into()));
        self
    }
}

/// A text with the name by which the user knows it.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// The file's name, or `<stdin>`.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Added to line numbers, for a piece of a split file.
    pub first_line: usize,
}

/// Columns shown of a line; longer lines are cut around the caret.
const SHOWN_COLUMNS: usize = 120;

impl<'a> SourceText<'a> {
    /// A whole file.
    #[must_use]
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text, first_line: 0 }
    }

    /// Line and column of a byte offset, both from one; the column counts bytes, as MLIR's does.
    #[must_use]
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        (line + self.first_line, before.len() - line_start + 1)
    }

    /// `file:line:col: error: message`, the line and a caret, then the notes
    /// in the same form.
    #[must_use]
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let mut out = String::new();
        self.render_one(&mut out, diagnostic.offset, "error", &diagnostic.message);
        for (offset, message) in &diagnostic.notes {
            self.render_one(&mut out, *offset, "note", message);
        }
        out
    }

    fn render_one(&self, out: &mut String, offset: usize, severity: &str, message: &str) {
        let (line, column) = self.line_and_column(offset);
        let _ = writeln!(out, "{}:{line}:{column}: {severity}: {message}", self.name);
        let offset = offset.min(self.text.len());
        let start = offset - (column - 1);
        let rest = &self.text[start..];
        let text = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let text = text.trim_end_matches('\r');
        let cut = (column - 1).saturating_sub(SHOWN_COLUMNS / 2);
        let cut = (cut..=column - 1).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let shown: String = text[cut..].chars().take(SHOWN_COLUMNS).collect();
        let caret = text.get(cut..(column - 1).min(text.len())).map_or(0, |before| before.chars().count());
        let _ = writeln!(out, "  {}\n  {}^", shown.replace('\t', " "), " ".repeat(caret));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_is_rendered_with_its_line_and_a_caret() {
        let source = SourceText::new("a.mlir", "first\nsecond line\n");
        let shown = source.render(&Diagnostic::invalid(13, "no such thing").with_note(0, "see here"));
        let expected = "a.mlir:2:8: error: no such thing\n  second line\n         ^\n\
                        a.mlir:1:1: note: see here\n  first\n  ^\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}é{}", "x".repeat(1000), "y".repeat(1000));
        let shown = SourceText::new("a", &text).render(&Diagnostic::invalid(1000, "here"));
        assert!(shown.lines().all(|line| line.chars().count() <= SHOWN_COLUMNS + 2));
    }
}
