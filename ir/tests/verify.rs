//! What the verifier says of programs, next to the programs.
//!
//! Each `tests/verify/*.mlir` is split at `// -----` lines. A piece says with
//! `// expected-error@+N {{text}}` which text an error N lines below must
//! contain (`@-N` above, nothing for the same line); a piece without such
//! comments must be valid. Errors and comments match one to one.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

use ckpt_ir::text::{SPLIT_MARKER, parse, split_pieces};
use ckpt_ir::{SourceText, verify};
use std::path::{Path, PathBuf};

/// A line and a text.
type Line = (usize, String);

/// Files of a folder in order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let mut files: Vec<PathBuf> = entries.unwrap_or_default();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    files.sort();
    files
}

/// What the comments of a piece expect.
fn expected(piece: &str) -> Vec<Line> {
    let mut expected = Vec::new();
    for (number, line) in piece.lines().enumerate() {
        let Some((_, rest)) = line.split_once("// expected-error") else { continue };
        let (offset, text) = rest.split_once("{{").unwrap();
        let offset: isize = offset.trim().trim_start_matches('@').parse().unwrap_or(0);
        let text = text.rsplit_once("}}").unwrap().0;
        expected.push((number.checked_add_signed(offset).unwrap() + 1, text.to_owned()));
    }
    expected
}

/// What reading and verifying say.
fn found(source: &SourceText<'_>) -> Vec<Line> {
    let errors = match parse(source) {
        Ok(module) => verify(&module),
        Err(errors) => errors,
    };
    errors.into_iter().map(|error| (source.line_and_column(error.offset).0, error.message)).collect()
}

#[test]
fn errors_are_found_where_the_programs_expect_them() {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify"));
    assert!(!files.is_empty());
    let mut wrong = String::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for (first_line, piece) in split_pieces(&text, SPLIT_MARKER) {
            let mut expected = expected(piece);
            for (line, message) in found(&SourceText::new(&name, piece)) {
                let known = expected.iter().position(|(at, text)| *at == line && message.contains(text));
                match known {
                    Some(at) => drop(expected.remove(at)),
                    None => wrong += &format!("{name}:{}: unexpected: {message}\n", first_line + line),
                }
            }
            for (line, text) in expected {
                wrong += &format!("{name}:{}: missing: {text}\n", first_line + line);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// StableHLO's own invalid programs are refused, the valid ones beside them are not.
#[test]
fn the_specifications_tests_are_told_apart() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/stablehlo/invalid");
    let files = files(&folder);
    if files.is_empty() {
        println!("skipped: there is no ../shared/corpus/stablehlo/invalid");
    }
    let mut wrong = String::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        for (index, (_, piece)) in split_pieces(&text, SPLIT_MARKER).into_iter().enumerate() {
            let invalid = piece.contains("expected-error");
            let found = found(&SourceText::new("piece", piece));
            if invalid == found.is_empty() {
                wrong += &format!("{} piece {index}: {found:?}\n", path.display());
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
