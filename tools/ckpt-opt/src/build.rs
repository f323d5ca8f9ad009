//! `ckpt-opt build`: compiles a program ahead of time.

use crate::cpu;
use crate::failure::Failure;
use crate::input_output;
use crate::optimise::RematArgs;
use crate::program::Program;
use crate::report;
use ckpt_passes::report::text;

/// Arguments of `ckpt-opt build`.
#[derive(clap::Args)]
pub(crate) struct BuildArgs {
    /// An MLIR file with StableHLO, or `-` for standard input.
    model: String,
    #[command(flatten)]
    remat: RematArgs,
    /// What the program is for.
    #[arg(long, value_enum, default_value_t = Target::Cpu)]
    target: Target,
    /// Where the program goes: a file that `ckpt-runtime` loads.
    #[arg(short, long)]
    output: String,
    /// Where the report goes, as JSON.
    #[arg(long)]
    json: Option<String>,
}

/// What a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// This machine's processor.
    Cpu,
}

/// Compiles and writes.
pub(crate) fn run(args: &BuildArgs) -> Result<(), Failure> {
    let program = Program::read(&args.model)?;
    let module = program.module()?;
    let Target::Cpu = args.target;
    let compiled = cpu::compile(&program, &module, &args.remat.options()?)?;
    tell!("{}", text::verdict(&compiled.optimized.report));
    let bytes = compiled.lowered.program.to_bytes().map_err(|e| Failure::Internal(e.to_string()))?;
    input_output::write(&args.output, &bytes)?;
    args.json.as_deref().map_or(Ok(()), |path| report::write_json(path, &compiled.json()?))
}
