//! `ckpt-opt explain`: where the memory goes, and why.

use crate::failure::Failure;
use crate::input_output;
use crate::optimise::{RematArgs, optimise};
use crate::program::Program;
use ckpt_passes::manager::Unobserved;
use ckpt_passes::report::text;

/// Arguments of `ckpt-opt explain`.
#[derive(clap::Args)]
pub(crate) struct ExplainArgs {
    /// An MLIR file with StableHLO, or `-` for standard input.
    input: String,
    #[command(flatten)]
    remat: RematArgs,
    /// Where the explanation goes.
    #[arg(short, default_value = "-")]
    output: String,
}

/// Plans the program and explains the plan.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let program = Program::read(&args.input)?;
    let module = program.module()?;
    let optimized = optimise(&program, &module, &args.remat.options()?, &mut Unobserved)?;
    let place = |value| program.place(&optimized.module, value);
    input_output::write(&args.output, text::explain(&optimized.report, &place).as_bytes())
}
