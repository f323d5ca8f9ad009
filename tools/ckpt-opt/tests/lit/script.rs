//! One test: its RUN lines as bash scripts.
//!
//! A line that ends in a backslash goes on in the next RUN line. In a line
//!
//! - `%s` is the test's file, `%S` its folder, `%t` a path of its own in a
//!   scratch folder, which is also the working folder; `%%` is a percent sign;
//! - `ckpt-opt` and `FileCheck` are found on the path;
//! - `not COMMAND` succeeds if the command refuses its work: a crash or an
//!   internal error (70 and above) is no refusal;
//! - `not --exit N COMMAND` succeeds if the command's exit code is N.
//!
//! Any command that fails ends the test, also one in a loop or a pipe.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What stands before every line. Messages go past the line's redirections.
const PRELUDE: &str = r#"
set -euo pipefail
exec 9>&2
not() {
  local want=any got=0
  if [ "$1" = --exit ]; then want=$2; shift 2; fi
  "$@" || got=$?
  case $want in
    any) [ "$got" -ne 0 ] && [ "$got" -lt 70 ] ;;
    *) [ "$got" -eq "$want" ] ;;
  esac || { echo "exit code $got where 'not' wants $want: $*" >&9; return 1; }
}
"#;

/// Seconds after which a line counts as hanging; each takes a fraction of one.
const TIME_LIMIT_S: &str = "120";

/// Where `FileCheck` is looked for beyond the path: Debian's folder of LLVM's tools.
const LLVM_FOLDER: &str = "/usr/lib/llvm-22/bin";

/// The programs that lines call.
pub(crate) struct Tools {
    /// The path with a folder in front that holds just these programs.
    path: std::ffi::OsString,
}

impl Tools {
    /// Finds the programs and links to them from a folder in `scratch`.
    ///
    /// # Errors
    /// There is no `FileCheck`; the text says how to get it.
    pub(crate) fn find(scratch: &Path) -> Result<Self, String> {
        let old = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&old).collect();
        folders.push(LLVM_FOLDER.into());
        let programs = folders.iter().flat_map(|f| [f.join("FileCheck-22"), f.join("FileCheck")]);
        let file_check = programs.into_iter().find(|program| program.is_file()).ok_or(
            "lit tests need FileCheck: install llvm-22-tools (`cargo xtask test` does), or leave them out with LIT_TESTS=skip",
        )?;
        let ours = scratch.join("bin");
        std::fs::create_dir(&ours).unwrap();
        symlink(env!("CARGO_BIN_EXE_ckpt-opt"), ours.join("ckpt-opt")).unwrap();
        symlink(file_check, ours.join("FileCheck")).unwrap();
        folders.insert(0, ours);
        Ok(Self { path: std::env::join_paths(folders).unwrap() })
    }
}

/// Runs one test in a scratch folder of its own.
///
/// # Errors
/// What failed: the file, the command and what it wrote.
pub(crate) fn run(test: &Path, scratch: &Path, tools: &Tools) -> Result<(), String> {
    let commands = commands(&std::fs::read_to_string(test).unwrap());
    if commands.is_empty() {
        return Err(format!("{}: no RUN line", test.display()));
    }
    let quoted = |path: &Path| format!("'{}'", path.display());
    for command in commands {
        let line = command
            .replace("%s", &quoted(test))
            .replace("%S", &quoted(test.parent().unwrap()))
            .replace("%t", &quoted(&scratch.join("t")))
            .replace("%%", "%");
        let output = shell(&line).env("PATH", &tools.path).current_dir(scratch).output().unwrap();
        if !output.status.success() {
            let out = String::from_utf8_lossy(&output.stdout);
            let err = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {} of\n  {line}\n{out}{err}", test.display(), output.status));
        }
    }
    Ok(())
}

/// The command that runs one line.
fn shell(line: &str) -> Command {
    let mut shell = Command::new("timeout");
    shell.args([TIME_LIMIT_S, "bash", "-c", &format!("{PRELUDE}{line}\n")]);
    shell
}

/// The RUN lines of a test, continuations joined.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let Some(command) = line.trim().strip_prefix("// RUN:") else { continue };
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

#[test]
fn lines_that_end_in_a_backslash_go_on() {
    let text = "// RUN: a \\\n// text\n// RUN:   b\nfunc\n  // RUN: c";
    assert_eq!(commands(text), ["a b", "c"]);
}

#[test]
fn lines_fail_with_any_of_their_commands() {
    let passes = |line| shell(line).output().unwrap().status.success();
    assert!(passes("true; not false; not --exit 3 bash -c 'exit 3'; false || true"));
    for line in [
        "false; true",
        "false | true",
        "for i in 1 2; do test $i = 2; done",
        "not true",
        "not --exit 3 false; true",
        "not bash -c 'exit 70'",
        "not no-such-program",
    ] {
        assert!(!passes(line), "{line}");
    }
}
