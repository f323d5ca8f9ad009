//! What a machine needs besides a Rust toolchain, and how to get it.

use crate::process::root;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// A Debian package.
struct Package {
    name: &'static str,
    /// What it is for.
    purpose: &'static str,
    /// A file that is there if it is installed.
    evidence: &'static str,
    /// The part of the checkout that uses it: where that is not, it is not missed.
    user: &'static str,
}

/// The part of the checkout that holds tests in MLIR text.
pub(crate) const LIT_TESTS: &str = "lit-tests";

/// The part of the checkout that compiles through LLVM and MLIR.
const CODEGEN: &str = "codegen";

/// Arguments of cargo that leave out what needs LLVM, where it cannot be used:
/// `ckpt-opt` then runs kernels in the reference evaluator.
pub(crate) fn without_llvm(unusable: &BTreeSet<&'static str>) -> &'static [&'static str] {
    if unusable.contains(CODEGEN) { &["--no-default-features"] } else { &[] }
}

/// What builds and tests use. Crates in `ir/`, `passes/` and `runtime/` need none of it.
const PACKAGES: [Package; 9] = [
    Package {
        name: "llvm-22-tools",
        purpose: "FileCheck, which the tests in lit-tests call",
        evidence: "/usr/lib/llvm-22/bin/FileCheck",
        user: LIT_TESTS,
    },
    Package {
        name: "llvm-22",
        purpose: "llvm-config, which the builds of inkwell and melior ask",
        evidence: "/usr/lib/llvm-22/bin/llvm-config",
        user: CODEGEN,
    },
    Package {
        name: "llvm-22-dev",
        purpose: "LLVM's headers and libraries, which inkwell and melior link to",
        evidence: "/usr/include/llvm-c-22/llvm-c/Core.h",
        user: CODEGEN,
    },
    Package {
        name: "libmlir-22-dev",
        purpose: "MLIR's C interface, which melior links to",
        evidence: "/usr/lib/llvm-22/include/mlir-c/IR.h",
        user: CODEGEN,
    },
    Package {
        name: "mlir-22-tools",
        purpose: "mlir-opt and mlir-tblgen, which melior's build calls",
        evidence: "/usr/lib/llvm-22/bin/mlir-opt",
        user: CODEGEN,
    },
    Package {
        name: "clang-22",
        purpose: "the C compiler that links MLIR's C interface into one library",
        evidence: "/usr/bin/clang-22",
        user: CODEGEN,
    },
    Package {
        name: "lld-22",
        purpose: "the linker of the same, and of ahead-of-time artefacts",
        evidence: "/usr/bin/ld.lld-22",
        user: CODEGEN,
    },
    Package {
        name: "libpolly-22-dev",
        purpose: "the library that llvm-config names among LLVM's own",
        evidence: "/usr/lib/llvm-22/lib/libPolly.a",
        user: CODEGEN,
    },
    Package {
        name: "libzstd-dev",
        purpose: "a library that llvm-config names and that llvm-22-dev does not ask for everywhere",
        evidence: "/usr/include/zstd.h",
        user: CODEGEN,
    },
];

/// Installs what is missing if it may; else says exactly what is missing, for
/// what, and how to get it. Returns the parts of the checkout that still cannot
/// be used, each once.
pub(crate) fn install_missing() -> BTreeSet<&'static str> {
    let missing = missing(&root());
    if missing.is_empty() {
        return BTreeSet::new();
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    if let Some(right) = right_to_install() {
        // The list of packages may be old or, in a fresh container, empty.
        apt_get(&right, &["update"]);
        apt_get(&right, &[&["install", "-y", "--no-install-recommends"], &names[..]].concat());
    }
    let missing: Vec<&Package> = missing.into_iter().filter(|package| !package.is_there()).collect();
    for package in &missing {
        eprintln!("missing: {} ({})", package.name, package.purpose);
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
        eprintln!("to install: apt-get install -y --no-install-recommends {}", names.join(" "));
        eprintln!("if apt-get does not know them, add a source that has LLVM 22: this command adds none");
    }
    missing.iter().map(|package| package.user).collect()
}

impl Package {
    fn is_there(&self) -> bool {
        Path::new(self.evidence).exists()
    }
}

/// The packages that the checkout at `root` uses and that are not there.
fn missing(root: &Path) -> Vec<&'static Package> {
    PACKAGES.iter().filter(|package| root.join(package.user).exists() && !package.is_there()).collect()
}

fn apt_get(right: &[&str], arguments: &[&str]) {
    // Through `env`, since sudo hands no environment on.
    let line = [right, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat();
    eprintln!("$ {}", line.join(" "));
    // What did not come is found by its absence.
    let _ = Command::new(line[0]).args(&line[1..]).status();
}

/// How a command gets the right to install: nothing as root, `sudo` where it
/// asks for no password, `None` otherwise or where there is no `apt-get`.
fn right_to_install() -> Option<Vec<&'static str>> {
    let quiet = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let status = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|s| s.success())
    };
    if !quiet("apt-get", &["--version"]) {
        return None;
    }
    let id = Command::new("id").arg("-u").output();
    if id.is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
        return Some(Vec::new());
    }
    quiet("sudo", &["-n", "true"]).then(|| vec!["sudo", "-n"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_checkout_uses_is_missed() {
        assert_eq!(missing(Path::new("/nowhere")).len(), 0);
        let users = PACKAGES.iter().map(|package| package.user);
        assert!(users.clone().any(|user| root().join(user).exists()), "no package has a user");
        assert!(PACKAGES.iter().all(|package| package.evidence.starts_with('/')));
    }
}
