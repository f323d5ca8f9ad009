//! Plans from a set of values to keep: the classic policies, which decide
//! without looking at the budget.

use crate::remat::problem::BlockProblem;
use ckpt_planner::{DerivationId, Plan, Problem, ValueId};

/// Chen's policy: the forward pass is cut into ⌈√n⌉ stretches of equal length,
/// and what crosses a cut is kept. `boundary` is the number of kernels of the
/// forward pass. Linear in the problem.
#[must_use]
pub fn sqrt(problem: &BlockProblem, boundary: usize) -> Plan {
    let problem = &problem.problem;
    let segments = (boundary as f64).sqrt().ceil().max(1.0) as usize;
    let length = boundary.div_ceil(segments).max(1);
    let mut made_at = vec![usize::MAX; problem.values().len()];
    let mut kept = vec![false; problem.values().len()];
    for (position, &id) in problem.order()[..boundary].iter().enumerate() {
        let derivation = problem.derivation(id);
        for &value in &derivation.inputs {
            let made = made_at[value.index()];
            kept[value.index()] |= made != usize::MAX && made / length != position / length;
        }
        derivation.outputs.iter().for_each(|v| made_at[v.index()] = position);
    }
    plan_keeping(problem, boundary, &|value| kept[value.index()])
}

/// Keeps nothing that can be recomputed.
#[must_use]
pub fn full(problem: &BlockProblem, boundary: usize) -> Plan {
    plan_keeping(&problem.problem, boundary, &|_| false)
}

/// The plan that runs the first `boundary` kernels in order, then each later
/// kernel after recomputing, once, what it needs that was neither kept nor
/// recomputed since; what is recomputed stays until its last use.
fn plan_keeping(problem: &Problem, boundary: usize, keep: &dyn Fn(ValueId) -> bool) -> Plan {
    let order = problem.order();
    let mut maker: Vec<Option<DerivationId>> = vec![None; problem.values().len()];
    let mut available: Vec<bool> = problem.values().iter().map(|v| v.resident).collect();
    let mut computes: Vec<DerivationId> = order[..boundary].to_vec();
    for &id in &order[..boundary] {
        let derivation = problem.derivation(id);
        for &value in &derivation.outputs {
            maker[value.index()] = Some(id);
            // All results of one kernel are recomputed together, so they are kept together.
            available[value.index()] =
                !derivation.recomputable || derivation.outputs.iter().any(|v| keep(*v));
        }
    }
    for &id in &order[boundary..] {
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            let derivation = problem.derivation(top);
            if top != id && derivation.outputs.iter().all(|v| available[v.index()]) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let missing = derivation.inputs.iter().filter(|v| !available[v.index()]);
            stack.extend(missing.filter_map(|v| maker[v.index()]));
            if stack.len() == before {
                stack.pop();
                computes.push(top);
                derivation.outputs.iter().for_each(|v| available[v.index()] = true);
            }
        }
    }
    Plan::from_computes(problem, &computes)
}
