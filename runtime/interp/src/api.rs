//! Running a function.

use crate::error::{EvalError, Fault};
use crate::limits::Limits;
use crate::liveness::LastUses;
use crate::machine::Machine;
use crate::parallel::{Grid, Process, Scheduler};
use crate::tensor::Value;
use ckpt_ir::{Module, OpId};
use std::collections::VecDeque;

/// Runs a function of `module` on arguments and returns its results.
///
/// # Errors
/// What the evaluator does not cover, invalid operands, exceeded limits and
/// failed checks, each with its operation.
pub fn evaluate(module: &Module, function: OpId, arguments: Vec<Value>) -> Result<Vec<Value>, EvalError> {
    evaluate_within(module, function, arguments, Limits::default())
}

/// The same within `limits`, which each process of `interpreter.run_parallel` has for itself.
///
/// # Errors
/// As [`evaluate`]; [`Fault::LimitExceeded`] over the limits.
pub fn evaluate_within(
    module: &Module,
    function: OpId,
    arguments: Vec<Value>,
    limits: Limits,
) -> Result<Vec<Value>, EvalError> {
    let here = |fault| EvalError { op: function, fault };
    let Some(body) = module.function_body(function) else {
        return Err(here(Fault::Unsupported("a function without a body")));
    };
    let last_uses = LastUses::of(module);
    // Outside run_parallel a program is the only process of its grid.
    let grid = Grid { replicas: 1, partitions: 1 };
    let machine = Machine::new(module, &last_uses, Process { replica: 0, partition: 0 }, limits);
    let mut scheduler = Scheduler::new(module, grid, VecDeque::new());
    scheduler.add(machine, body, arguments.into_iter().collect()).map_err(here)?;
    match scheduler.run() {
        Ok(results) => Ok(results.into_iter().flatten().collect()),
        Err(fault) => Err(EvalError { op: scheduler.failed_at().unwrap_or(function), fault }),
    }
}
