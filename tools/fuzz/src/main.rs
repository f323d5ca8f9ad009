//! `ckpt-fuzz`: random and mutated programs through everything that a program
//! goes through; what crashes, hangs, takes too much memory, prints as another
//! program or computes something else is a defect and kept as a file.
//!
//! Cases are numbered; a case is a function of target, seed, number and corpus.

mod bytes;
mod case;
mod corpus;
mod findings;
mod progress;
mod random;
mod supervisor;
mod tokens;
mod worker;

use anyhow::Context as _;
use clap::Parser as _;
use corpus::Corpus;
use std::path::PathBuf;
use std::process::ExitCode;

/// Bytes that a worker may hold. An allocation beyond fails and ends the worker.
const MAX_BYTES: usize = 512 << 20;

#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, MAX_BYTES);

/// What inputs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// Random bytes, and programs with bytes changed.
    Bytes,
    /// Programs with tokens changed.
    Tokens,
}

/// Feeds random and mutated programs to the compiler.
#[derive(Debug, clap::Parser)]
#[command(args_override_self = true)]
struct Args {
    target: Target,
    /// Inputs are a function of it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long to go on.
    #[arg(long, default_value_t = 30.0)]
    seconds: f64,
    /// Folders of `.mlir` files. Default: lit-tests, and shared data where it lies beside the checkout.
    #[arg(long)]
    corpus: Vec<PathBuf>,
    /// Where inputs that show a defect go.
    #[arg(long, default_value = "target/fuzz")]
    out: PathBuf,
    /// The first case's number.
    #[arg(long, default_value_t = 0)]
    start: u64,
    /// Write the input of this case to standard output and run nothing.
    #[arg(long)]
    case: Option<u64>,
    /// Run this file, and say what is wrong.
    #[arg(long)]
    file: Option<PathBuf>,
    /// Run cases in this process; counters are in this file.
    #[arg(long, hide = true)]
    worker: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some(file) = &args.file {
        let input = std::fs::read(file).with_context(|| file.display().to_string())?;
        let reached = case::run(&input, &mut random::Random::of_case(args.seed, args.start))?;
        report(&format!("{reached:?}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let folders = if args.corpus.is_empty() {
        corpus::DEFAULT_FOLDERS.iter().map(PathBuf::from).collect()
    } else {
        args.corpus.clone()
    };
    let corpus = Corpus::read(&folders)?;
    if let Some(number) = args.case {
        let (input, _) = worker::input(args.target, &corpus, args.seed, number);
        std::io::Write::write_all(&mut std::io::stdout(), &input)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(progress) = &args.worker {
        worker::run(&args, &corpus, progress)?;
        return Ok(ExitCode::SUCCESS);
    }
    let summary = supervisor::run(&args, &corpus)?;
    report(&text(&args, &corpus, &summary))?;
    let defects = summary.crashes + summary.hangs + summary.progress.defects;
    Ok(if defects == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(args: &Args, corpus: &Corpus, summary: &supervisor::Summary) -> String {
    let progress = &summary.progress;
    let [refused, valid, optimized, evaluated] = progress.reached;
    let cases = progress.case + 1 - args.start;
    let (slow, slow_case) = (progress.slowest.0 as f64 / 1e6, progress.slowest.1);
    let (large, large_case) = (progress.largest.0 >> 20, progress.largest.1);
    format!(
        "{:?}, seed {}, {} programs, {} s: {cases} cases, {refused} refused, {valid} valid, {optimized} \
         optimised, {evaluated} evaluated; {} crashes, {} hangs, {} other defects (see {}); slowest {slow:.3} s \
         (case {slow_case}), most memory {large} MiB (case {large_case})",
        args.target,
        args.seed,
        corpus.len(),
        args.seconds,
        summary.crashes,
        summary.hangs,
        progress.defects,
        args.out.display(),
    )
}

fn report(text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{text}").context("standard output")
}
