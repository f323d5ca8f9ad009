//! `ckpt-opt run`: runs a program and its checks.

use crate::cpu::{self, Cpu};
use crate::failure::Failure;
use crate::npz;
use crate::optimise::{RematArgs, optimise};
use crate::program::Program;
use crate::{random, report};
use ckpt_interp::{EvalError, Fault, Tensor, Value, evaluate};
use ckpt_ir::{Diagnostic, DiagnosticKind, Module, OpId, Type};
use ckpt_passes::manager::Unobserved;
use ckpt_passes::pipeline::entry_function;
use ckpt_passes::report::text;
use std::collections::BTreeMap;
use std::time::Instant;

/// Arguments of `ckpt-opt run`.
#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// An MLIR file with StableHLO, or `-` for standard input.
    model: String,
    #[command(flatten)]
    remat: RematArgs,
    /// What runs the program.
    #[arg(long, value_enum, default_value_t = Device::Interp)]
    device: Device,
    /// Threads of the device cpu; 0 is as many as the machine has. Results do not depend on it.
    #[arg(long, default_value_t = 0, value_parser = parse_threads)]
    threads: usize,
    /// Where the time of each step goes, as JSON; the device cpu has it.
    #[arg(long)]
    profile: Option<String>,
    /// Arguments `arg0, arg1, …`; bf16 as its bits in uint16.
    #[arg(long, conflicts_with = "seed")]
    inputs: Option<String>,
    /// Draws the arguments: floats are 0.1 × standard normal, integers 0 or 1.
    #[arg(long)]
    seed: Option<u64>,
    /// Where arguments and results `out0, out1, …` go.
    #[arg(long)]
    outputs: Option<String>,
    /// How often the program runs.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Read the file as pieces between `// -----` lines; each is run.
    #[arg(long, visible_alias = "split-input-file")]
    split: bool,
    /// Where the report goes, as JSON.
    #[arg(long)]
    json: Option<String>,
}

/// What runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Device {
    /// The reference evaluator.
    Interp,
    /// Compiled kernels in one arena.
    Cpu,
}

impl Device {
    /// Its name on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Interp => "interp",
            Self::Cpu => "cpu",
        }
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| *threads <= ckpt_runtime::MAX_THREADS);
    threads.ok_or_else(|| format!("write a number up to {}", ckpt_runtime::MAX_THREADS))
}

/// One function's run.
struct Run {
    arguments: Vec<Value>,
    results: Vec<Value>,
    seconds: Vec<f64>,
    /// What the report says besides the times.
    report: serde_json::Value,
}

/// Runs the program and writes what was asked for.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let file = Program::read(&args.model)?;
    let pieces = if args.split { file.pieces() } else { vec![file] };
    let mut last = None;
    for program in &pieces {
        let module = program.module()?;
        last = run_piece(args, program, &module)?.or(last);
    }
    match &last {
        Some(run) => write_outputs(args, run),
        None if args.split => Ok(()),
        None => Err(Failure::Usage(
            "no function to run: there is no @main, and not exactly one public function".into(),
        )),
    }
}

/// Runs the functions of one program; the last run is returned.
fn run_piece(args: &RunArgs, program: &Program, module: &Module) -> Result<Option<Run>, Failure> {
    if args.device == Device::Cpu {
        return run_on_cpu(args, program, module);
    }
    if args.remat.remat.is_some() {
        let optimized = optimise(program, module, &args.remat.options()?, &mut Unobserved)?;
        tell!("{}", text::verdict(&optimized.report));
        let entry = entry_function(&optimized.module).map_err(|e| program.refuse(&optimized.module, &e))?;
        let mut run = run_function(args, program, &optimized.module, entry)?;
        run.report = report::object(&optimized.report, &BTreeMap::new())?;
        return Ok(Some(run));
    }
    let mut last = None;
    for function in functions_to_run(module) {
        last = Some(run_function(args, program, module, function)?);
    }
    Ok(last)
}

/// Runs the functions of one program compiled. What cannot be planned, such as
/// dynamic sizes, goes to the reference evaluator unless a policy was asked for.
fn run_on_cpu(args: &RunArgs, program: &Program, module: &Module) -> Result<Option<Run>, Failure> {
    let options =
        cpu::Options { remat: args.remat.options()?, threads: args.threads, profile: args.profile.is_some() };
    let mut last = None;
    for function in functions_to_run(module) {
        let run = match Cpu::new(program, &cpu::alone(module, function), &options) {
            Ok(cpu) => run_compiled(args, program, module, function, cpu)?,
            Err(Failure::Diagnostics { seen, .. }) if args.remat.remat.is_none() => {
                let why = seen.first().map_or("", |seen| &seen.message);
                tell!("the reference evaluator runs this program whole: {why}");
                let mut run = run_function(args, program, module, function)?;
                run.report["evaluated"] = true.into();
                run
            }
            Err(failure) => return Err(failure),
        };
        last = Some(run);
    }
    Ok(last)
}

fn run_compiled(
    args: &RunArgs,
    program: &Program,
    module: &Module,
    function: OpId,
    mut cpu: Cpu,
) -> Result<Run, Failure> {
    if args.remat.remat.is_some() {
        tell!("{}", text::verdict(cpu.report()));
    }
    let arguments = arguments(args, program, module, function)?;
    let mut seconds = Vec::new();
    for _ in 0..args.repeat {
        cpu.bind(&arguments)?;
        let start = Instant::now();
        cpu.run(program)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    if let Some(path) = &args.profile {
        report::write_json(path, &cpu.profile())?;
    }
    let results = cpu.results()?;
    Ok(Run { arguments, results, seconds, report: cpu.json() })
}

/// `@main` if there is one, else every public function without arguments, else
/// the only public function.
fn functions_to_run(module: &Module) -> Vec<OpId> {
    if let Some(main) = module.function("main") {
        return vec![main];
    }
    let body = |function: &OpId| module.function_body(*function);
    let public = |function: &OpId| module.string_attr(*function, "sym_visibility") != Some("private");
    let functions: Vec<OpId> = module.functions().filter(|f| public(f) && body(f).is_some()).collect();
    let closed = |function: &OpId| body(function).is_some_and(|b| module.block(b).arguments.is_empty());
    if functions.iter().any(closed) {
        return functions.into_iter().filter(closed).collect();
    }
    if functions.len() == 1 { functions } else { Vec::new() }
}

fn run_function(args: &RunArgs, program: &Program, module: &Module, function: OpId) -> Result<Run, Failure> {
    let arguments = arguments(args, program, module, function)?;
    let report = serde_json::json!({ "format": "ckpt-report/1" });
    let mut run = Run { arguments, results: Vec::new(), seconds: Vec::new(), report };
    for _ in 0..args.repeat {
        let start = Instant::now();
        run.results =
            evaluate(module, function, run.arguments.clone()).map_err(|e| refuse(program, module, &e))?;
        run.seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(run)
}

/// The arguments of a function: from the file, or drawn.
fn arguments(
    args: &RunArgs,
    program: &Program,
    module: &Module,
    function: OpId,
) -> Result<Vec<Value>, Failure> {
    let Some(body) = module.function_body(function) else { return Ok(Vec::new()) };
    let mut archive = args.inputs.as_deref().map(npz::Archive::open).transpose()?;
    let mut random = random::Normal::new(args.seed.unwrap_or(0));
    let mut values = Vec::new();
    for (index, &parameter) in module.block(body).arguments.iter().enumerate() {
        if *module.types.get(module.value_type(parameter)) == Type::Token {
            values.push(Value::Token);
            continue;
        }
        let ty = module.tensor_type(parameter);
        let shape = ty.and_then(|ty| ty.static_shape());
        let (Some(ty), Some(shape)) = (ty, shape) else {
            let what = format!("argument {index} has a type or size that cannot be drawn or read");
            let at = module.op(function).offset as usize;
            return Err(program.refusal(&[Diagnostic::unsupported(at, what)]));
        };
        if ty.bytes().is_none_or(|bytes| bytes.0 > ckpt_interp::MAX_TENSOR_BYTES) {
            let what = format!("argument {index} has more than {} bytes", ckpt_interp::MAX_TENSOR_BYTES);
            return Err(program.refusal(&[Diagnostic::limit(module.op(function).offset as usize, what)]));
        }
        let shape: Vec<usize> = shape.iter().map(|size| *size as usize).collect();
        let tensor = match &mut archive {
            Some(archive) => archive.tensor(&format!("arg{index}"), ty.element, &shape)?,
            None => random.tensor(ty.element, &shape)?,
        };
        values.push(tensor.into());
    }
    Ok(values)
}

/// An evaluation's failure at the place of its operation.
fn refuse(program: &Program, module: &Module, error: &EvalError) -> Failure {
    let op = module.op(error.op);
    let message = format!("'{}': {}", module.op_name(error.op), error.fault);
    let offset = if op.offset == u32::MAX { 0 } else { op.offset as usize };
    let diagnostic = |kind| Diagnostic { kind, ..Diagnostic::invalid(offset, message.clone()) };
    match error.fault {
        Fault::Unsupported(_) => program.refusal(&[diagnostic(DiagnosticKind::Unsupported)]),
        Fault::LimitExceeded(_) => program.refusal(&[diagnostic(DiagnosticKind::Limit)]),
        Fault::InvalidArgument(_) | Fault::Deadlock => {
            program.refusal(&[diagnostic(DiagnosticKind::Invalid)])
        }
        Fault::CheckFailed { .. } => {
            Failure::CheckFailed(program.source().render(&diagnostic(DiagnosticKind::Invalid)))
        }
    }
}

fn write_outputs(args: &RunArgs, run: &Run) -> Result<(), Failure> {
    if let Some(path) = &args.outputs {
        let named = |prefix: &'static str, values: &'_ [Value]| -> Vec<(String, Tensor)> {
            let tensors = values.iter().enumerate().filter_map(|(index, value)| match value {
                Value::Tensor(tensor) => Some((format!("{prefix}{index}"), tensor.clone())),
                _ => None,
            });
            tensors.collect()
        };
        let mut arrays = named("arg", &run.arguments);
        arrays.extend(named("out", &run.results));
        let borrowed: Vec<(String, &Tensor)> = arrays.iter().map(|(name, t)| (name.clone(), t)).collect();
        npz::write(path, &borrowed)?;
    }
    if let Some(path) = &args.json {
        let mut report = run.report.clone();
        report["device"] = args.device.name().into();
        report["step_seconds"] = run.seconds[1..].into();
        report::write_json(path, &report)?;
    }
    Ok(())
}
