//! Planning a function's body, with and without the equalities that pay only
//! in some plans.

use crate::cost::Device;
use crate::egraph::{Replacement, improve_backward};
use crate::fusion::classify;
use crate::normalise::remove_unused;
use crate::phase::forward_kernels;
use crate::pipeline::{Options, Unmet};
use crate::remat::keep;
use crate::remat::kernel::Context;
use crate::remat::nested::NestedCosts;
use crate::remat::problem::{BlockProblem, build, donated_arguments};
use crate::report::peak_moment;
use crate::{PassError, Policy};
use ckpt_ir::{BlockId, Bytes, Micros, Module, OpId};
use ckpt_planner as planner;

/// A form of the program with its plan.
pub(super) struct Variant {
    pub(super) module: Module,
    /// What rules replaced in it.
    pub(super) replacements: Vec<Replacement>,
    pub(super) block: BlockProblem,
    pub(super) planned: Planned,
}

/// Plans the program as it is and with the equalities that are for the backward
/// pass alone, if there are any, and takes the better plan. What is proven then
/// holds for both forms.
pub(super) fn best_variant(
    module: Module,
    replacements: Vec<Replacement>,
    function: OpId,
    options: &Options,
    baseline: &Baseline,
) -> Result<Variant, PassError> {
    let body = module.function_body(function).ok_or(PassError::NoEntry)?;
    let state_and_plan = |module: Module, replacements: Vec<Replacement>| {
        let block = state(&module, function, body, &options.device)?;
        let planned = plan(&module, function, &block, options.policy, options.effort, baseline)?;
        Ok::<_, PassError>(Variant { module, replacements, block, planned })
    };
    let plain = state_and_plan(module, replacements)?;
    let searched = matches!(options.policy, Policy::Budget(_) | Policy::Activations(_) | Policy::Min);
    if !searched {
        return Ok(plain);
    }
    let mut module = plain.module.clone();
    let boundary = forward_kernels(&module, function, &plain.block, peak_position(&plain.block.problem)?);
    let passes = plain.block.passes(boundary);
    let adopted = improve_backward(&mut module, body, &options.rules, &passes);
    if adopted.is_empty() {
        return Ok(plain);
    }
    remove_unused(&mut module);
    let replacements = plain.replacements.iter().cloned().chain(adopted).collect();
    let rewritten = state_and_plan(module, replacements)?;
    Ok(better(plain, rewritten))
}

/// Plans at several budgets, of the program with the equalities that are adopted always.
pub(super) fn curve(
    module: &Module,
    function: OpId,
    options: &Options,
    points: usize,
) -> Result<(Vec<planner::ParetoPoint>, planner::Bytes), PassError> {
    let body = module.function_body(function).ok_or(PassError::NoEntry)?;
    let block = state(module, function, body, &options.device)?;
    Ok((planner::pareto(&block.problem, points, options.effort), block.problem.resident_bytes()))
}

/// The better of two, with bounds that hold for either.
fn better(a: Variant, b: Variant) -> Variant {
    let (mut taken, other) = match (&a.planned, &b.planned) {
        (Planned::Met(x), Planned::Met(y)) => {
            // Without a budget the smaller peak counts, else the shorter time.
            let key = |met: &Met, block: &BlockProblem| {
                let peak = met.replayed.peak.0 + block.resident_bytes().0;
                (if met.budget.is_some() { 0 } else { peak }, met.replayed.time.0, peak)
            };
            if key(y, &b.block) < key(x, &a.block) { (b, a) } else { (a, b) }
        }
        (Planned::Unmet(_), Planned::Met(_)) => (b, a),
        (Planned::Met(_), Planned::Unmet(_)) => (a, b),
        (Planned::Unmet(x), Planned::Unmet(y)) if y.smallest < x.smallest => (b, a),
        (Planned::Unmet(_), Planned::Unmet(_)) => (a, b),
    };
    match (&mut taken.planned, &other.planned) {
        (Planned::Met(met), Planned::Met(other)) => {
            met.lower_bound = Micros(met.lower_bound.0.min(other.lower_bound.0));
            met.optimal &= met.replayed.time.0 <= met.lower_bound.0;
        }
        // Another form may meet the budget although no plan was found; then it
        // takes at least what it takes without a budget.
        (Planned::Met(met), Planned::Unmet(unmet)) if !unmet.infeasible => {
            let free =
                planner::solve(&other.block.problem, planner::Goal::KeepAll, planner::Effort::default());
            let bound = match free {
                planner::Outcome::Met(solution) => solution.lower_bound.0,
                planner::Outcome::Unmet(_) => 0.0,
            };
            met.lower_bound = Micros(met.lower_bound.0.min(bound));
            met.optimal &= met.replayed.time.0 <= bound;
        }
        (Planned::Unmet(unmet), Planned::Unmet(other)) => {
            unmet.bound = unmet.bound.min(other.bound);
            unmet.infeasible &= other.infeasible;
        }
        (Planned::Met(_) | Planned::Unmet(_), _) => {}
    }
    taken
}

/// The program without rules and without rematerialisation.
pub(super) struct Baseline {
    /// Everything held, arguments included.
    pub(super) peak: Bytes,
    pub(super) time: Micros,
    pub(super) kernels: usize,
}

/// What the program needs as it stands.
pub(super) fn baseline(
    module: &Module,
    function: OpId,
    body: BlockId,
    device: &Device,
) -> Result<Baseline, PassError> {
    let block = state(module, function, body, device)?;
    let problem = &block.problem;
    let plan = planner::Plan::without_remat(problem);
    let replayed = planner::replay(problem, &plan).map_err(PassError::Replay)?;
    Ok(Baseline {
        peak: Bytes(replayed.peak.0) + block.resident_bytes(),
        time: Micros(problem.base_time().0),
        kernels: problem.order().iter().filter(|id| block.kernel(**id).is_some()).count(),
    })
}

/// States a function's body as a planner problem.
fn state(module: &Module, function: OpId, body: BlockId, device: &Device) -> Result<BlockProblem, PassError> {
    let roles = classify(module, body);
    let nested = NestedCosts::below(module, function, device);
    let ctx = Context { module, roles: &roles, device, nested: &nested };
    let name = module.string_attr(function, "sym_name").unwrap_or("main");
    build(&ctx, body, &donated_arguments(module, function), name)
}

/// A plan with what the report needs to know of its making.
pub(super) struct Met {
    pub(super) plan: planner::Plan,
    pub(super) budget: Option<Bytes>,
    pub(super) replayed: planner::Replay,
    pub(super) boundary: usize,
    pub(super) lower_bound: Micros,
    pub(super) optimal: bool,
}

/// What came of planning.
pub(super) enum Planned {
    Met(Met),
    Unmet(Box<Unmet>),
}

/// Plans one form of the program.
fn plan(
    module: &Module,
    function: OpId,
    block: &BlockProblem,
    policy: Policy,
    effort: planner::Effort,
    baseline: &Baseline,
) -> Result<Planned, PassError> {
    let problem = &block.problem;
    let boundary = forward_kernels(module, function, block, peak_position(problem)?);
    let (arguments, resident) = (block.argument_bytes, block.resident_bytes());
    let within =
        |total: Bytes| (planner::Goal::Budget(planner::Bytes(total.saturating_sub(resident).0)), Some(total));
    let (goal, budget) = match policy {
        Policy::None => (planner::Goal::KeepAll, None),
        Policy::Min => (planner::Goal::SmallestPeak, None),
        Policy::Activations(size) => {
            let limit = size.resolve(baseline.peak.saturating_sub(arguments));
            within(Bytes(limit.0.saturating_add(arguments.0)))
        }
        Policy::Budget(size) => within(size.resolve(baseline.peak)),
        Policy::Sqrt | Policy::Full => {
            let plan = if policy == Policy::Sqrt {
                keep::sqrt(block, boundary)
            } else {
                keep::full(block, boundary)
            };
            return met(problem, plan, None, boundary, None);
        }
    };
    match planner::solve(problem, goal, effort) {
        planner::Outcome::Met(planner::Solution { plan, lower_bound, optimal }) => {
            met(problem, plan, budget, boundary, Some((lower_bound, optimal)))
        }
        planner::Outcome::Unmet(unmet) => Ok(Planned::Unmet(Box::new(Unmet {
            budget: budget.unwrap_or_default(),
            smallest: Bytes(unmet.smallest.0) + resident,
            bound: Bytes(unmet.bound.bytes.0) + resident,
            infeasible: unmet.infeasible,
            argument_bytes: arguments,
            blocking: peak_moment(module, block, &unmet.tightest, boundary).held,
        }))),
    }
}

/// A plan with its replay. `proven`: a bound on its time and whether it is
/// optimal; without, the bound is the time of the program as it stands.
fn met(
    problem: &planner::Problem,
    plan: planner::Plan,
    budget: Option<Bytes>,
    boundary: usize,
    proven: Option<(planner::Micros, bool)>,
) -> Result<Planned, PassError> {
    let replayed = planner::replay(problem, &plan).map_err(PassError::Replay)?;
    let base = problem.base_time();
    let (lower_bound, optimal) = proven.unwrap_or_else(|| (base, replayed.time <= base));
    // The proof allows for rounding; what is proven optimal is its own bound.
    let lower_bound = if optimal { Micros(replayed.time.0) } else { Micros(lower_bound.0) };
    Ok(Planned::Met(Met { plan, budget, replayed, boundary, lower_bound, optimal }))
}

/// How many kernels run before the one at which the program as it stands holds the most.
fn peak_position(problem: &planner::Problem) -> Result<usize, PassError> {
    let plan = planner::Plan::without_remat(problem);
    let replayed = planner::replay(problem, &plan).map_err(PassError::Replay)?;
    let before = &plan.steps[..replayed.peak_step.unwrap_or(0)];
    Ok(before.iter().filter(|step| matches!(step, planner::Step::Compute(_))).count())
}
