//! Forward and backward.

use crate::fusion::is_fusible;
use crate::remat::problem::BlockProblem;
use ckpt_ir::{Module, OpId};

/// Which pass of a training step a kernel belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Computes the loss.
    Forward,
    /// Everything after it: gradients and the optimiser.
    Backward,
}

/// The number of kernels of the forward pass: those up to the last one that
/// the function's first result, if it is a scalar float, depends on. A function
/// whose first result is no scalar float has no loss; then it is the number of
/// kernels up to `peak_position`. Linear in the problem.
#[must_use]
pub fn forward_kernels(module: &Module, function: OpId, block: &BlockProblem, peak_position: usize) -> usize {
    loss_boundary(module, function, block).unwrap_or(peak_position + 1).min(block.problem.order().len())
}

fn loss_boundary(module: &Module, function: OpId, block: &BlockProblem) -> Option<usize> {
    let terminator = module.terminator(module.function_body(function)?)?;
    let loss = *module.op(terminator).operands.first()?;
    let ty = module.tensor_type(loss)?;
    if ty.rank() != 0 || !ty.element.is_float() {
        return None;
    }
    let problem = &block.problem;
    let mut maker = vec![None; problem.values().len()];
    for (position, &id) in problem.order().iter().enumerate() {
        problem.derivation(id).outputs.iter().for_each(|v| maker[v.index()] = Some(position));
    }
    let mut seen = vec![false; problem.order().len()];
    let mut stack: Vec<usize> =
        problem.outputs().first().and_then(|v| maker[v.index()]).into_iter().collect();
    let mut last = None;
    while let Some(position) = stack.pop() {
        if std::mem::replace(&mut seen[position], true) {
            continue;
        }
        let id = problem.order()[position];
        // A fusible kernel waits for its reader, so its place says nothing.
        if block.root(id).is_some_and(|root| !is_fusible(module, root)) {
            last = last.max(Some(position));
        }
        stack.extend(problem.derivation(id).inputs.iter().filter_map(|v| maker[v.index()]));
    }
    last.map(|position| position + 1)
}
