//! `ckpt-opt`: the command line of the rematerialisation compiler.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod failure;
mod input_output;
mod plan;
mod policy;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "ckpt-opt",
    version,
    about = "Makes a training step fit a memory budget at the least extra time"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plan a ckpt-graph/1 file and write a ckpt-plan/1 file.
    Plan(plan::PlanArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Plan(args) => plan::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

fn report(failure: &Failure) -> ExitCode {
    eprintln!("ckpt-opt: error: {failure}");
    ExitCode::from(failure.exit_code())
}
