//! MLIR text: reading and printing.
//!
//! [`parse`] reads the pretty form that JAX, Keras and torch-mlir print and the
//! generic form of any operation; [`print()`] writes the pretty form again, byte
//! for byte as MLIR would, so that a diff of input and output shows only what a
//! pass did. Which form an operation has is a row of the table in `form.rs`, shared
//! by both directions.
//!
//! The canonical form in memory: inherent attributes are in `properties`,
//! sorted by name, whichever way they were written; attributes that the text
//! leaves out are absent, defaults included.
//!
//! Limits: [`MAX_NESTING`] regions, types and attributes inside one another;
//! [`MAX_DIAGNOSTICS`] errors per run.

mod attributes;
mod cursor;
mod decimal;
mod float;
mod form;
mod literal;
mod locations;
mod operations;
mod pretty;
mod printer;
mod types;

pub use printer::{PrintOptions, print};
pub(crate) use printer::{attribute_text, type_text};

use crate::{Diagnostic, Module, SourceText};

/// Regions, types and attributes that may lie inside one another. MLIR has no
/// limit and overflows its stack; no real program nests a tenth of this.
pub const MAX_NESTING: usize = 200;

/// Errors reported before reading stops.
pub const MAX_DIAGNOSTICS: usize = 20;

/// The first bytes of MLIR bytecode.
const BYTECODE_MAGIC: &[u8] = b"ML\xefR";

/// Text out of the bytes of a file.
///
/// # Errors
/// MLIR bytecode, with the advice how to print text, and text that is not UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, Diagnostic> {
    if bytes.starts_with(BYTECODE_MAGIC) {
        return Err(Diagnostic::invalid(
            0,
            "this is MLIR bytecode; print it as text first, for example with `module.operation.get_asm()` \
             in Python or `stablehlo-translate --deserialize`",
        ));
    }
    std::str::from_utf8(bytes)
        .map_err(|error| Diagnostic::invalid(error.valid_up_to(), "the text is not valid UTF-8"))
}

/// Reads one module: with or without the enclosing `module { }`. Linear in the text.
///
/// # Errors
/// Up to [`MAX_DIAGNOSTICS`] located errors.
pub fn parse(source: &SourceText<'_>) -> Result<Module, Vec<Diagnostic>> {
    operations::Reader::new(source.text).module()
}

/// The marker between the pieces of a split file.
pub const SPLIT_MARKER: &str = "// -----";

/// The pieces of a file that `// -----` lines separate, each with the number of
/// lines before it.
pub fn split_pieces<'a>(text: &'a str, marker: &str) -> Vec<(usize, &'a str)> {
    let mut pieces = Vec::new();
    let (mut start, mut first_line, mut offset) = (0, 0, 0);
    for (line_number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end().starts_with(marker) {
            pieces.push((first_line, &text[start..offset]));
            start = offset + line.len();
            first_line = line_number + 1;
        }
        offset += line.len();
    }
    pieces.push((first_line, &text[start..]));
    pieces
}
