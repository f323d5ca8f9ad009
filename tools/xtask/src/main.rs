//! The project's own commands. `cargo xtask --help` lists them.
#![allow(clippy::print_stderr)]

use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand};
use std::process::Command;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every test: format, lints, documentation, unit and file tests.
    Test,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().task {
        Task::Test => test(),
    }
}

/// One gate after the other; the first that fails ends the run.
fn test() -> anyhow::Result<()> {
    cargo(&["fmt", "--all", "--check"], &[])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])?;
    cargo(
        &["doc", "--workspace", "--no-deps", "--document-private-items"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )?;
    cargo(&["test", "--workspace"], &[])
}

fn cargo(args: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    eprintln!("$ cargo {}", args.join(" "));
    let status = Command::new(env!("CARGO"))
        .args(args)
        .envs(env.iter().copied())
        .status()
        .context("cargo does not start")?;
    if !status.success() {
        bail!("`cargo {}` failed", args.join(" "));
    }
    Ok(())
}
