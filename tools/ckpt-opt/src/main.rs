//! `ckpt-opt`: the command line of the rematerialisation compiler.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod explain;
mod failure;
mod input_output;
mod npz;
mod optimise;
mod plan;
mod program;
mod random;
mod report;
mod run;
mod transform;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "ckpt-opt",
    version,
    about = "Makes a training step fit a memory budget at the least extra time",
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    transform: transform::TransformArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Say where the memory goes and why each value is kept or recomputed.
    Explain(explain::ExplainArgs),
    /// Plan a ckpt-graph/1 file and write a ckpt-plan/1 file.
    Plan(plan::PlanArgs),
    /// Run a program and the checks that it holds.
    Run(run::RunArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Some(Command::Explain(args)) => explain::run(args),
        Some(Command::Plan(args)) => plan::run(args),
        Some(Command::Run(args)) => run::run(args),
        None => transform::run(&cli.transform),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report_failure(&failure),
    }
}

fn report_failure(failure: &Failure) -> ExitCode {
    match failure {
        // Diagnostics carry their own `file:line:col: error:`.
        Failure::Diagnostics { rendered, .. } | Failure::CheckFailed(rendered) => eprint!("{rendered}"),
        failure => eprintln!("ckpt-opt: error: {failure}"),
    }
    ExitCode::from(failure.exit_code())
}
