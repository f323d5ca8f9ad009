//! Runs the `// RUN:` lines of `lit-tests/**/*.mlir`, several files at a time;
//! `script.rs` says what a line may hold.
//!
//! `LIT_FILTER=remat/` runs only the files whose path has this part, as with
//! LLVM's lit. `LIT_TESTS=skip` runs none, for machines without `FileCheck`.

#![allow(clippy::unwrap_used)] // A test that cannot read its files fails.

mod script;

use script::Tools;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Folders of files that tests read, which are no tests themselves, as in LLVM's lit.
const INPUT_FOLDER: &str = "Inputs";

#[test]
fn lit_tests_pass() {
    if std::env::var("LIT_TESTS").is_ok_and(|value| value == "skip") {
        println!("skipped: LIT_TESTS=skip");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests").canonicalize().unwrap();
    let filter = std::env::var("LIT_FILTER").unwrap_or_default();
    let mut tests = test_files(&root);
    tests.retain(|test| test.to_string_lossy().contains(&filter));
    assert!(!tests.is_empty(), "no test under {} has {filter:?} in its path", root.display());

    let scratch = tempfile::tempdir().unwrap();
    let tools = Tools::find(scratch.path()).unwrap_or_else(|missing| panic!("{missing}"));
    let failures = failures(&tests, |index, test| {
        let folder = scratch.path().join(format!("test-{index}"));
        std::fs::create_dir(&folder).unwrap();
        script::run(test, &folder, &tools)
    });
    println!("{} lit tests", tests.len());
    assert!(
        failures.is_empty(),
        "{} of {} lit tests failed:\n\n{}",
        failures.len(),
        tests.len(),
        failures.join("\n")
    );
}

/// All tests below a folder, in the order of their paths.
fn test_files(root: &Path) -> Vec<PathBuf> {
    let mut tests = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != INPUT_FOLDER) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "mlir") {
                tests.push(path);
            }
        }
    }
    tests.sort();
    tests
}

/// What went wrong in which test, in the tests' order, whatever the order of the runs.
fn failures(tests: &[PathBuf], run: impl Fn(usize, &Path) -> Result<(), String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(test) = tests.get(index) else { return };
                    if let Err(failure) = run(index, test) {
                        found.lock().unwrap_or_else(PoisonError::into_inner).push((index, failure));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort();
    found.into_iter().map(|(_, failure)| failure).collect()
}
