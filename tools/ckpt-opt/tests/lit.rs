//! Runs the `// RUN:` lines of `lit-tests/**/*.mlir`.
//!
//! As in LLVM's lit: each line is a shell command in which `%s` is the test's
//! file, `%S` its folder and `%t` a scratch path; a line that ends in a
//! backslash goes on in the next. `ckpt-opt`, `FileCheck` and `not` are found
//! on the path. Without LLVM's tools the tests are skipped, and say so.

#![allow(clippy::unwrap_used)] // A test that cannot read its files fails.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian's llvm-22-tools has FileCheck and not.
const LLVM_TOOLS: &str = "/usr/lib/llvm-22/bin";

#[test]
fn lit_tests_pass() {
    if !Path::new(LLVM_TOOLS).join("FileCheck").exists() {
        eprintln!("skipped: no FileCheck in {LLVM_TOOLS}; `apt-get install llvm-22-tools` has it");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests");
    let scratch = tempfile::tempdir().unwrap();
    let mut tests = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "mlir") {
                tests.push(path);
            }
        }
    }
    tests.sort();
    let failures: Vec<String> = tests.iter().filter_map(|test| run(test, scratch.path())).collect();
    assert!(!tests.is_empty());
    assert!(failures.is_empty(), "{} of {} failed:\n{}", failures.len(), tests.len(), failures.join("\n"));
}

/// Runs one test; what went wrong if it failed.
fn run(test: &Path, scratch: &Path) -> Option<String> {
    let text = std::fs::read_to_string(test).unwrap();
    let commands = commands(&text);
    if commands.is_empty() {
        return Some(format!("{}: no RUN line", test.display()));
    }
    let temporary: PathBuf = scratch.join(test.file_stem().unwrap());
    for command in commands {
        let command = command
            .replace("%s", &test.display().to_string())
            .replace("%S", &test.parent().unwrap().display().to_string())
            .replace("%t", &temporary.display().to_string());
        let ours = Path::new(env!("CARGO_BIN_EXE_ckpt-opt")).parent().unwrap().display().to_string();
        let path = format!("{ours}:{LLVM_TOOLS}:{}", std::env::var("PATH").unwrap_or_default());
        let shell = ["-o", "pipefail", "-c", &command];
        let output = Command::new("bash").args(shell).env("PATH", path).output().unwrap();
        if !output.status.success() {
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            return Some(format!("{}: {command}\n{out}{err}", test.display()));
        }
    }
    None
}

/// The RUN lines of a test, continuations joined.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let Some((_, command)) = line.split_once("RUN:") else { continue };
        let (command, more) = match command.trim().strip_suffix('\\') {
            Some(command) => (command, true),
            None => (command.trim(), false),
        };
        match commands.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(command),
            None => commands.push(command.to_owned()),
        }
        goes_on = more;
    }
    commands
}
