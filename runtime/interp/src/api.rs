//! Running a function.

use crate::error::{EvalError, Fault};
use crate::liveness::LastUses;
use crate::machine::{Machine, Pause, Resume};
use crate::parallel::Process;
use crate::tensor::Value;
use ckpt_ir::{Module, OpId};

/// Runs a function of `module` on arguments and returns its results.
///
/// # Errors
/// What the evaluator does not cover, invalid operands, exceeded limits and
/// failed checks, each with its operation.
pub fn evaluate(module: &Module, function: OpId, arguments: Vec<Value>) -> Result<Vec<Value>, EvalError> {
    let here = |fault| EvalError { op: function, fault };
    let Some(body) = module.function_body(function) else {
        return Err(here(Fault::Unsupported("a function without a body")));
    };
    let last_uses = LastUses::of(module);
    let mut machine = Machine::new(module, &last_uses, Process { replica: 0, partition: 0 });
    machine.enter(body, arguments.into_iter().collect(), Resume::Answer).map_err(here)?;
    match machine.run() {
        Ok(Pause::Done(values)) => Ok(values.into_vec()),
        Ok(Pause::Waiting(post)) => {
            Err(EvalError { op: post.op, fault: Fault::Unsupported("communication outside run_parallel") })
        }
        Err(fault) => Err(EvalError { op: machine.failed_at().unwrap_or(function), fault }),
    }
}
