//! The default command: read, rematerialise, print.

use crate::failure::Failure;
use crate::optimise::{RematArgs, optimise};
use crate::pareto::{self, ParetoArgs};
use crate::passes::PassArgs;
use crate::program::Program;
use crate::{expectations, input_output, passes, report};
use ckpt_ir::Module;
use ckpt_ir::text::{PrintOptions, SPLIT_MARKER, print};
use ckpt_passes::Policy;
use ckpt_passes::manager::{Pipeline, Run};
use ckpt_passes::pipeline::frontier;
use ckpt_passes::report::text;
use std::collections::BTreeMap;
use std::time::Instant;

/// Arguments of the default command.
#[derive(clap::Args)]
pub(crate) struct TransformArgs {
    /// An MLIR file with StableHLO, or `-` for standard input.
    #[arg(default_value = "-")]
    input: String,
    /// Where the program goes.
    #[arg(short, default_value = "-")]
    output: String,
    #[command(flatten)]
    remat: RematArgs,
    #[command(flatten)]
    passes: PassArgs,
    #[command(flatten)]
    pareto: ParetoArgs,
    /// Where the report goes, as JSON.
    #[arg(long)]
    json: Option<String>,
    /// Print locations.
    #[arg(long = "mlir-print-debuginfo")]
    debug_info: bool,
    /// Print every operation in generic form.
    #[arg(long = "mlir-print-op-generic")]
    generic: bool,
    /// Print the seconds of each phase to standard error.
    #[arg(long, visible_alias = "mlir-timing")]
    timing: bool,
    /// Transform each piece between `// -----` lines by itself.
    #[arg(long, conflicts_with = "json")]
    split_input_file: bool,
    /// Compare the errors with `expected-error` comments; nothing is written.
    #[arg(long)]
    verify_diagnostics: bool,
}

/// Reads, rematerialises if asked to, and prints.
pub(crate) fn run(args: &TransformArgs) -> Result<(), Failure> {
    if args.passes.list_passes {
        return input_output::write("-", passes::list().as_bytes());
    }
    let to_file = |path: &&String| *path != "-" && *path == &args.output;
    if args.json.iter().chain(&args.pareto.pareto).any(|path| to_file(&path)) {
        return Err(Failure::Usage(format!("{} cannot take two outputs", args.output)));
    }
    let mut phases = Phases::default();
    let file = Program::read(&args.input)?;
    let pieces = if args.split_input_file { file.pieces() } else { vec![file] };
    if args.verify_diagnostics {
        return verify_diagnostics(args, &pieces, &mut phases);
    }
    let outputs =
        pieces.iter().map(|piece| transform(args, piece, &mut phases)).collect::<Result<Vec<_>, _>>()?;
    input_output::write(&args.output, outputs.join(&format!("{SPLIT_MARKER}\n")).as_bytes())?;
    phases.finish(args.timing)
}

/// One program's text after the transformation.
fn transform(args: &TransformArgs, program: &Program, phases: &mut Phases) -> Result<String, Failure> {
    let module = phases.time("read", || program.module())?;
    let print_options = PrintOptions { debug_info: args.debug_info, generic: args.generic };
    if let Some(path) = &args.pareto.pareto {
        let options = args.remat.options()?;
        let points = usize::from(args.pareto.pareto_points);
        let curve = phases.time("frontier", || frontier(module.clone(), &options, points));
        let curve = curve.map_err(|error| program.refuse(&module, &error))?;
        pareto::write(path, &curve.points, curve.resident, curve.base_time)?;
    }
    if let Some(pipeline) = args.passes.pipeline()? {
        let module = run_pipeline(args, program, module, &pipeline, phases)?;
        return Ok(phases.time("print", || print(&module, &print_options)));
    }
    if args.remat.remat.is_none() && args.json.is_none() {
        return Ok(phases.time("print", || print(&module, &print_options)));
    }
    let options = args.remat.options()?;
    let mut watcher = args.passes.watcher(print_options.clone());
    let optimized = phases.time("optimise", || optimise(program, &module, &options, &mut watcher))?;
    phases.seconds.extend(watcher.finish()?);
    // Without a policy the program stays as it is written; the report is about it.
    let output = if options.policy == Policy::None { &module } else { &optimized.module };
    let printed = phases.time("print", || print(output, &print_options));
    if let Some(path) = &args.json {
        report::write(path, &optimized.report, &phases.seconds)?;
    }
    tell!("{}", text::verdict(&optimized.report));
    Ok(printed)
}

/// Runs a pipeline of passes; a rematerialisation among them is reported.
fn run_pipeline(
    args: &TransformArgs,
    program: &Program,
    mut module: Module,
    pipeline: &Pipeline,
    phases: &mut Phases,
) -> Result<Module, Failure> {
    let print_options = PrintOptions { debug_info: args.debug_info, generic: args.generic };
    let mut watcher = args.passes.watcher(print_options);
    let mut run = Run::new(&mut watcher);
    let ended = phases.time("passes", || pipeline.run(&mut module, &mut run));
    let (statistics, optimized) = (run.statistics, run.optimized);
    ended.map_err(|error| program.refuse(&module, &error))?;
    phases.seconds.extend(watcher.finish()?);
    args.passes.print_statistics(&statistics);
    if let Some(optimized) = optimized {
        if let Some(path) = &args.json {
            report::write(path, &optimized.report, &phases.seconds)?;
        }
        tell!("{}", text::verdict(&optimized.report));
    }
    Ok(module)
}

/// Transforms each piece and compares its errors with those that it expects.
fn verify_diagnostics(args: &TransformArgs, pieces: &[Program], phases: &mut Phases) -> Result<(), Failure> {
    let mut differences = String::new();
    for piece in pieces {
        let seen = match transform(args, piece, phases) {
            Ok(_) => Vec::new(),
            Err(Failure::Diagnostics { seen, .. }) => seen,
            Err(failure) => return Err(failure),
        };
        differences.push_str(&expectations::differences(&piece.source(), &seen));
    }
    if differences.is_empty() { Ok(()) } else { Err(Failure::Unexpected(differences)) }
}

/// Seconds of each phase.
#[derive(Default)]
struct Phases {
    seconds: BTreeMap<&'static str, f64>,
}

impl Phases {
    fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        *self.seconds.entry(name).or_default() += start.elapsed().as_secs_f64();
        result
    }

    fn finish(&self, print: bool) -> Result<(), Failure> {
        if print {
            for (name, seconds) in &self.seconds {
                tell!("{seconds:9.3} s  {name}");
            }
        }
        Ok(())
    }
}
