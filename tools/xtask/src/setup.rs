//! What a machine needs besides a Rust toolchain, and how to get it.

use anyhow::Context as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A Debian package.
struct Package {
    name: &'static str,
    /// What it is for.
    purpose: &'static str,
    /// A file that is there if it is installed.
    evidence: &'static str,
}

/// What tests use. Crates in `ir/`, `passes/` and `runtime/` need none of it.
const PACKAGES: [Package; 1] = [Package {
    name: "llvm-22-tools",
    purpose: "FileCheck, which the tests in lit-tests use",
    evidence: "/usr/lib/llvm-22/bin/FileCheck",
}];

/// Installs what is missing if it may; else says exactly what is missing, for
/// what, and how to get it. Returns whether all is there.
pub(crate) fn install_missing() -> anyhow::Result<bool> {
    let missing: Vec<&Package> = PACKAGES.iter().filter(|p| !Path::new(p.evidence).exists()).collect();
    if missing.is_empty() {
        return Ok(true);
    }
    let names: Vec<&str> = missing.iter().map(|p| p.name).collect();
    if let Some(mut prefix) = installer() {
        prefix.extend(["apt-get", "install", "-y", "--no-install-recommends"]);
        prefix.extend(&names);
        eprintln!("$ {}", prefix.join(" "));
        let status =
            Command::new(prefix[0]).args(&prefix[1..]).env("DEBIAN_FRONTEND", "noninteractive").status();
        if status.is_ok_and(|s| s.success()) {
            return Ok(true);
        }
        eprintln!("apt-get could not install them; is Debian's source with LLVM 22 known (apt-get update)?");
    }
    for package in missing {
        eprintln!("missing: {} ({})", package.name, package.purpose);
    }
    eprintln!("to install: apt-get install -y {}", names.join(" "));
    Ok(false)
}

/// How a command gets the right to install: nothing as root, `sudo` where it
/// asks for no password, `None` otherwise or where there is no `apt-get`.
fn installer() -> Option<Vec<&'static str>> {
    let quiet = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let status = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|s| s.success())
    };
    if !quiet("apt-get", &["--version"]) {
        return None;
    }
    if user_id().is_ok_and(|id| id == "0") {
        return Some(Vec::new());
    }
    quiet("sudo", &["-n", "true"]).then(|| vec!["sudo", "-n"])
}

fn user_id() -> anyhow::Result<String> {
    let output = Command::new("id").arg("-u").output().context("`id` does not start")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
