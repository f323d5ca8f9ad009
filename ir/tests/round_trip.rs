//! Reading and printing real programs gives the same text.
#![allow(clippy::panic, clippy::print_stdout)]

use ckpt_ir::SourceText;
use ckpt_ir::text::{PrintOptions, parse, print};
use std::path::{Path, PathBuf};

/// `.mlir` files of a folder of the shared data, or none where it is not there.
fn shared(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(folder);
    let Ok(entries) = std::fs::read_dir(&root) else {
        println!("skipped: there is no ../shared/{folder}");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "mlir"));
    files.sort();
    files
}

fn read_and_print(path: &Path, text: &str) -> String {
    let name = path.display().to_string();
    let source = SourceText::new(&name, text);
    match parse(&source) {
        Ok(module) => print(&module, &PrintOptions::default()),
        Err(errors) => panic!("{}", source.render(&errors[0])),
    }
}

/// The first line in which two texts differ.
fn first_difference<'t>(a: &'t str, b: &'t str) -> Option<(&'t str, &'t str)> {
    let end = "<end>";
    let lines = a.lines().chain([end]).zip(b.lines().chain([end]));
    lines.into_iter().find(|(a, b)| a != b)
}

#[test]
fn models_are_printed_as_they_were_read() {
    for path in shared("models") {
        let text = std::fs::read_to_string(&path).unwrap();
        let printed = read_and_print(&path, &text);
        if let Some((was, is)) = first_difference(&text, &printed) {
            panic!("{}:\n  read    {was}\n  printed {is}", path.display());
        }
    }
}

#[test]
fn printing_is_a_fixpoint_on_the_test_data() {
    for path in shared("corpus/stablehlo/testdata") {
        let text = std::fs::read_to_string(&path).unwrap();
        let once = read_and_print(&path, &text);
        let twice = read_and_print(&path, &once);
        assert_eq!(first_difference(&once, &twice), None, "{}", path.display());
    }
}
