//! Running other programs.

use anyhow::{Context as _, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The checkout's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Runs cargo in the checkout with extra environment; fails if it does.
pub(crate) fn cargo(args: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    eprintln!("$ cargo {}", args.join(" "));
    let mut command = Command::new(env!("CARGO"));
    run(command.args(args).envs(env.iter().copied()), "cargo")
}

/// Runs a command in the checkout; fails if it does.
pub(crate) fn run(command: &mut Command, name: &str) -> anyhow::Result<()> {
    let status = command.current_dir(root()).status().with_context(|| format!("`{name}` does not start"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}

/// Runs a command in the checkout and returns what it wrote to standard error.
pub(crate) fn errors_of(command: &mut Command, name: &str) -> anyhow::Result<String> {
    let output = command.current_dir(root()).output().with_context(|| format!("`{name}` does not start"))?;
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if !output.status.success() {
        bail!("`{name}` failed ({}): {text}", output.status);
    }
    Ok(text)
}

/// The `ckpt-opt` that `cargo build --release` leaves, under the target
/// directory that cargo uses.
pub(crate) fn built_command() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release").join("ckpt-opt")
}
