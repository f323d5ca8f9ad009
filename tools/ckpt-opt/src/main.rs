//! `ckpt-opt`: the command line of the rematerialisation compiler.
#![allow(clippy::print_stderr, clippy::print_stdout)]

/// A line for the user on standard error. What cannot be written there is lost:
/// a full disk behind it is no reason to lose the work as well.
macro_rules! tell {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($part)*);
    }};
}

/// The same without the end of the line.
macro_rules! tell_part {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($part)*);
    }};
}

mod build;
mod cpu;
mod expectations;
mod explain;
mod failure;
mod input_output;
#[cfg(feature = "llvm")]
mod native;
mod npz;
mod optimise;
mod pareto;
mod passes;
mod plan;
mod program;
mod progress;
mod random;
mod report;
mod reproducer;
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
    /// Run the command line that a reproducer holds on the text that it holds.
    #[arg(long, value_name = "FILE")]
    run_reproducer: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Compile a program ahead of time, for the runtime.
    Build(build::BuildArgs),
    /// Say where the memory goes and why each value is kept or recomputed.
    Explain(explain::ExplainArgs),
    /// Plan a ckpt-graph/1 file and write a ckpt-plan/1 file.
    Plan(plan::PlanArgs),
    /// Run a program and the checks that it holds.
    Run(run::RunArgs),
}

fn main() -> ExitCode {
    let cli = match reproducer::command_line() {
        Ok(arguments) => Cli::parse_from(arguments),
        Err(failure) => return report_failure(&failure),
    };
    let work = || match &cli.command {
        Some(Command::Build(args)) => build::run(args),
        Some(Command::Explain(args)) => explain::run(args),
        Some(Command::Plan(args)) => plan::run(args),
        Some(Command::Run(args)) => run::run(args),
        None => transform::run(&cli.transform),
    };
    match std::panic::catch_unwind(work) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => report_failure(&failure),
        // The panic's message and place are on standard error already.
        Err(_) => report_failure(&Failure::Internal("a panic, see above".to_owned())),
    }
}

fn report_failure(failure: &Failure) -> ExitCode {
    match failure {
        // Diagnostics carry their own `file:line:col: error:`.
        Failure::Diagnostics { rendered, .. }
        | Failure::CheckFailed(rendered)
        | Failure::Unexpected(rendered) => tell_part!("{rendered}"),
        failure => tell!("ckpt-opt: error: {failure}"),
    }
    if matches!(failure, Failure::Internal(_)) {
        tell!("this is a defect of ckpt-opt, not of the input; nothing was written");
        if let Some(path) = reproducer::write() {
            tell!("please report it with {}, which holds the input and the command line", path.display());
        }
    }
    ExitCode::from(failure.exit_code())
}
