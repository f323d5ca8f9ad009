//! The device `cpu`: plans, lowers, and runs in one arena.

use crate::failure::Failure;
use crate::optimise::optimise;
use crate::program::Program;
use crate::{progress, report};
use ckpt_arena::Effort;
use ckpt_interp::{EvalError, Fault, Tensor, Value};
use ckpt_ir::{Attr, Diagnostic, DiagnosticKind, Module, OpId};
use ckpt_lower::{LowerError, Lowered, lower, needs_evaluator};
use ckpt_passes::manager::Unobserved;
use ckpt_passes::pipeline::{self, Optimized, entry_function};
use ckpt_passes::report::Report;
use ckpt_runtime::{Instance, Output, ProgramError, RunError};
use std::collections::BTreeMap;
use std::time::Instant;

/// How programs are compiled and run.
pub(crate) struct Options {
    pub(crate) remat: pipeline::Options,
    /// 0 is as many as the machine has.
    pub(crate) threads: usize,
    /// Take the time of each step.
    pub(crate) profile: bool,
}

/// A planned and lowered program.
pub(crate) struct Compiled {
    pub(crate) optimized: Box<Optimized>,
    pub(crate) lowered: Lowered,
    seconds: BTreeMap<&'static str, f64>,
}

/// A compiled program with its arena.
pub(crate) struct Cpu {
    report: Report,
    json: serde_json::Value,
    instance: Instance,
}

/// The module with `function` as its only public one.
pub(crate) fn alone(module: &Module, function: OpId) -> Module {
    let mut alone = module.clone();
    let others: Vec<OpId> = module.functions().filter(|other| *other != function).collect();
    for other in others {
        alone.set_attribute(other, "sym_visibility", Attr::String(b"private".as_slice().into()));
    }
    alone
}

/// Plans and lowers the entry function of a program.
pub(crate) fn compile(
    program: &Program,
    module: &Module,
    options: &pipeline::Options,
) -> Result<Compiled, Failure> {
    if let Some(op) = needs_evaluator(module, module.top()) {
        return Err(refuse_lowering(program, module, &LowerError::NeedsEvaluator { op }));
    }
    let start = Instant::now();
    let optimized = optimise(program, module, options, &mut Unobserved)?;
    let mut seconds = BTreeMap::from([("plan", start.elapsed().as_secs_f64())]);
    let start = Instant::now();
    let function = entry_function(&optimized.module).map_err(|e| program.refuse(&optimized.module, &e))?;
    let lowered = progress::during("compiling", || {
        let (module, partition) = (&optimized.module, &optimized.partition);
        lower(module, function, partition, Effort::default(), &mut compiler())
    });
    seconds.insert("compile", start.elapsed().as_secs_f64());
    let lowered = lowered.map_err(|error| refuse_lowering(program, &optimized.module, &error))?;
    Ok(Compiled { optimized, lowered, seconds })
}

impl Compiled {
    /// The report with what the memory plan adds to it.
    pub(crate) fn json(&self) -> Result<serde_json::Value, Failure> {
        let mut json = report::object(&self.optimized.report, &self.seconds)?;
        json["planned_arena_bytes"] = self.lowered.program.arena_bytes.into();
        json["liveness_peak_bytes"] = self.lowered.liveness_peak.0.into();
        json["evaluated_steps"] = evaluated(&self.lowered.program).into();
        Ok(json)
    }
}

/// Steps that the reference evaluator runs, whose tensors lie outside the arena.
fn evaluated(program: &ckpt_runtime::Program) -> usize {
    program.steps().filter(|step| matches!(step.work, ckpt_runtime::Work::Evaluate(_))).count()
}

/// What makes machine code of kernels.
#[cfg(not(feature = "llvm"))]
fn compiler() -> ckpt_lower::NoCompiler {
    ckpt_lower::NoCompiler
}

/// What makes machine code of kernels.
#[cfg(feature = "llvm")]
fn compiler() -> crate::native::Native {
    crate::native::Native
}

impl Cpu {
    /// Compiles the entry function of a program and takes its arena.
    pub(crate) fn new(program: &Program, module: &Module, options: &Options) -> Result<Self, Failure> {
        let compiled = compile(program, module, &options.remat)?;
        let json = compiled.json()?;
        let Compiled { optimized, lowered, .. } = compiled;
        let run = ckpt_runtime::Options { threads: options.threads, profile: options.profile };
        let instance = Instance::new(lowered.program, run).map_err(|error| match error {
            ProgramError::OutOfMemory { .. } => {
                let limit = DiagnosticKind::Limit;
                program.refusal(&[Diagnostic { kind: limit, ..Diagnostic::invalid(0, error.to_string()) }])
            }
            error => Failure::Internal(error.to_string()),
        })?;
        Ok(Self { report: optimized.report, json, instance })
    }

    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// Writes the arguments to their places.
    pub(crate) fn bind(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        for (index, value) in arguments.iter().enumerate() {
            if let Value::Tensor(tensor) = value {
                let bytes = tensor.to_bytes();
                self.instance.set_argument(index, &bytes).map_err(|e| Failure::Internal(e.to_string()))?;
            }
        }
        Ok(())
    }

    /// Runs once.
    pub(crate) fn run(&mut self, program: &Program) -> Result<(), Failure> {
        self.instance.run().map_err(|error| match error {
            RunError::Evaluation { place, error, .. } => refuse_evaluation(program, place, &error),
            error => Failure::Internal(error.to_string()),
        })
    }

    /// The results of the last run.
    pub(crate) fn results(&self) -> Result<Vec<Value>, Failure> {
        let outputs = &self.instance.program().results;
        outputs.iter().enumerate().map(|(index, output)| self.result(index, output)).collect()
    }

    fn result(&self, index: usize, output: &Output) -> Result<Value, Failure> {
        if output.buffer.is_none() {
            return Ok(Value::Token);
        }
        let bytes = self.instance.result(index).map_err(|e| Failure::Internal(e.to_string()))?;
        let shape: Vec<usize> = output.tensor.shape.iter().map(|size| *size as usize).collect();
        let element = output.tensor.element_type();
        let tensor = element.and_then(|element| Tensor::from_bytes(element, &shape, bytes));
        tensor.map(Value::from).ok_or_else(|| Failure::Internal(format!("result {index} has no type")))
    }

    /// The report with what the run adds to it.
    pub(crate) fn json(&self) -> serde_json::Value {
        let mut json = self.json.clone();
        json["measured_peak_bytes"] = self.instance.measured_peak_bytes().into();
        json
    }

    /// Time of each step.
    pub(crate) fn profile(&self) -> serde_json::Value {
        let step = |time: ckpt_runtime::StepTime| {
            serde_json::json!({
                "name": time.name, "kind": time.kind, "how": time.how, "runs": time.runs, "seconds": time.seconds,
            })
        };
        let steps: Vec<serde_json::Value> = self.instance.step_times().into_iter().map(step).collect();
        serde_json::json!({ "format": "ckpt-profile/1", "steps": steps })
    }
}

/// A refusal of the lowering, at the place of its operation.
fn refuse_lowering(program: &Program, module: &Module, error: &LowerError) -> Failure {
    match error {
        LowerError::NoTensor { op, .. } | LowerError::NeedsEvaluator { op } => {
            let offset = module.op(*op).offset as usize;
            program.refusal(&[Diagnostic::unsupported(offset, error.to_string())])
        }
        error => Failure::Internal(error.to_string()),
    }
}

/// A failed step at the place of the operation that it is there for.
fn refuse_evaluation(program: &Program, place: Option<u32>, error: &EvalError) -> Failure {
    let offset = place.map_or(0, |place| place as usize);
    let diagnostic = |kind| Diagnostic { kind, ..Diagnostic::invalid(offset, error.fault.to_string()) };
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
