//! The project's own commands. `cargo xtask --help` lists them.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod demo;
mod process;
mod setup;
mod test;
mod tidy;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what is missing, build, and show the saving on a shipped model.
    Demo,
    /// Install what is missing and run every test: format, lints,
    /// documentation, rules of the house, unit and file tests.
    Test,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().task {
        Task::Demo => demo::run(),
        Task::Test => test::run(),
    }
}
