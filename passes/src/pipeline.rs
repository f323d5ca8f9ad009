//! The pipeline: from a module and a policy to the module that keeps it.

use crate::cost::Device;
use crate::fusion::classify;
use crate::normalise::{NormaliseStats, normalise};
use crate::phase::forward_kernels;
use crate::remat::apply::{Applied, Barriers, apply};
use crate::remat::keep;
use crate::remat::kernel::Context;
use crate::remat::nested::NestedCosts;
use crate::remat::problem::{BlockProblem, build};
use crate::report::{Held, Report, crossings, peak_moment};
use crate::{PassError, Policy};
use ckpt_ir::{Bytes, Micros, Module, OpId};
use ckpt_planner as planner;
use std::hash::Hasher as _;

/// What the pipeline is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The policy. Default: none.
    pub policy: Policy,
    /// The device that times are estimated for. Default: the `a100` description.
    pub device: Device,
    /// How clones are kept apart from their originals. Default: barriers.
    pub barriers: Barriers,
}

impl Default for Options {
    fn default() -> Self {
        Self { policy: Policy::None, device: Device::default(), barriers: Barriers::default() }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The policy is kept.
    Met(Box<Optimized>),
    /// No plan within the budget was found.
    Unmet(Box<Unmet>),
}

/// A module that keeps its policy, with the evidence.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The module after normalisation, before the plan was applied: what the
    /// checker compares with.
    pub normalised: Module,
    /// The module that runs the plan.
    pub module: Module,
    /// What was made.
    pub applied: Applied,
    /// What normalisation did.
    pub normalise: NormaliseStats,
    /// The verdict.
    pub report: Report,
}

/// Why a budget cannot be met.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmet {
    /// The budget, arguments included.
    pub budget: Bytes,
    /// The smallest peak of any plan found, arguments included.
    pub smallest: Bytes,
    /// Proven: no plan has a smaller peak, arguments included.
    pub bound: Bytes,
    /// Bytes of the arguments.
    pub argument_bytes: Bytes,
    /// What the plan with the smallest peak holds there, largest first.
    pub blocking: Vec<Held>,
}

/// The function that is optimised: `@main`, or the only public one.
///
/// # Errors
/// There is none, or it is only declared.
pub fn entry_function(module: &Module) -> Result<OpId, PassError> {
    let public = |op: &OpId| module.string_attr(*op, "sym_visibility") != Some("private");
    let mut candidates = module.functions().filter(public);
    let entry = module.function("main").or_else(|| match (candidates.next(), candidates.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    });
    match entry {
        Some(function) if module.function_body(function).is_some() => Ok(function),
        _ => Err(PassError::NoEntry),
    }
}

/// Normalises `module`, plans its entry function for the policy and applies the plan.
///
/// # Errors
/// A program that cannot be planned, see [`PassError`]; a budget that cannot
/// be met is an [`Outcome`].
pub fn optimize(mut module: Module, options: &Options) -> Result<Outcome, PassError> {
    let stats = normalise(&mut module, options.policy == Policy::None)?;
    let function = entry_function(&module)?;
    let body = module.function_body(function).ok_or(PassError::NoEntry)?;
    let roles = classify(&module, body);
    let nested = NestedCosts::below(&module, function, &options.device);
    let ctx = Context { module: &module, roles: &roles, device: &options.device, nested: &nested };
    let name = module.string_attr(function, "sym_name").unwrap_or("main").to_owned();
    let block = build(&ctx, body, &name)?;
    let planned = plan(&module, function, &block, options.policy)?;
    let planned = match planned {
        Planned::Met(planned) => planned,
        Planned::Unmet(unmet) => return Ok(Outcome::Unmet(unmet)),
    };
    let report = report(&module, options, &block, &planned);
    let mut output = module.clone();
    let applied = apply(&mut output, body, &block, &planned.plan, options.barriers);
    Ok(Outcome::Met(Box::new(Optimized {
        normalised: module,
        module: output,
        applied,
        normalise: stats,
        report,
    })))
}

/// A plan with what the report needs to know of its making.
struct Met {
    plan: planner::Plan,
    budget: Option<Bytes>,
    baseline: planner::Replay,
    replayed: planner::Replay,
    boundary: usize,
}

enum Planned {
    Met(Met),
    Unmet(Box<Unmet>),
}

fn plan(module: &Module, function: OpId, block: &BlockProblem, policy: Policy) -> Result<Planned, PassError> {
    let problem = &block.problem;
    let without = planner::Plan::without_remat(problem);
    let baseline = planner::replay(problem, &without).map_err(PassError::Replay)?;
    let peak_position = baseline.peak_step.map_or(0, |at| {
        without.steps[..at].iter().filter(|s| matches!(s, planner::Step::Compute(_))).count()
    });
    let boundary = forward_kernels(module, function, block, peak_position);
    let arguments = Bytes(problem.resident_bytes().0);
    let activations = |limit: Bytes| planner::Goal::Budget(planner::Bytes(limit.0));
    let base_peak = Bytes(baseline.peak.0);
    let (goal, budget) = match policy {
        Policy::None => (planner::Goal::KeepAll, None),
        Policy::Min => (planner::Goal::SmallestPeak, None),
        Policy::Activations(size) => {
            let limit = size.resolve(base_peak);
            (activations(limit), Some(Bytes(limit.0.saturating_add(arguments.0))))
        }
        Policy::Budget(size) => {
            let total = size.resolve(base_peak + arguments);
            (activations(total.saturating_sub(arguments)), Some(total))
        }
        Policy::Sqrt | Policy::Full => {
            let plan = if policy == Policy::Sqrt {
                keep::sqrt(block, boundary)
            } else {
                keep::full(block, boundary)
            };
            let replayed = planner::replay(problem, &plan).map_err(PassError::Replay)?;
            return Ok(Planned::Met(Met { plan, budget: None, baseline, replayed, boundary }));
        }
    };
    match planner::solve(problem, goal) {
        planner::Outcome::Met(plan) => {
            let replayed = planner::replay(problem, &plan).map_err(PassError::Replay)?;
            Ok(Planned::Met(Met { plan, budget, baseline, replayed, boundary }))
        }
        planner::Outcome::Unmet { smallest, bound, .. } => {
            let tightest = planner::solve(problem, planner::Goal::SmallestPeak).into_plan();
            Ok(Planned::Unmet(Box::new(Unmet {
                budget: budget.unwrap_or_default(),
                smallest: Bytes(smallest.0) + arguments,
                bound: Bytes(bound.0) + arguments,
                argument_bytes: arguments,
                blocking: peak_moment(module, block, &tightest, boundary).held,
            })))
        }
    }
}

fn report(module: &Module, options: &Options, block: &BlockProblem, met: &Met) -> Report {
    let problem = &block.problem;
    let arguments = Bytes(problem.resident_bytes().0);
    let base_time = problem.base_time();
    Report {
        memory_model: "kernels",
        device: options.device.name.clone(),
        budget: met.budget,
        argument_bytes: arguments,
        baseline_peak: Bytes(met.baseline.peak.0) + arguments,
        peak: Bytes(met.replayed.peak.0) + arguments,
        base_time: Micros(base_time.0),
        time: Micros(met.replayed.time.0),
        lower_bound: Micros(base_time.0),
        optimal: met.replayed.time <= base_time,
        plan_hash: plan_hash(&met.plan),
        kernels: problem.order().len(),
        peak_moment: peak_moment(module, block, &met.plan, met.boundary),
        crossing: crossings(module, block, &met.plan, met.boundary),
    }
}

/// A digest of a plan's steps, the same on every machine.
fn plan_hash(plan: &planner::Plan) -> u64 {
    let mut hasher = fnv::FnvHasher::default();
    for step in &plan.steps {
        let (tag, index) = match *step {
            planner::Step::Compute(id) => (b'c', id.index()),
            planner::Step::Free(id) => (b'f', id.index()),
        };
        hasher.write(&[tag]);
        hasher.write(&(index as u64).to_le_bytes());
    }
    hasher.finish()
}
