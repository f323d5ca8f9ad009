//! The pipeline: from a module and a policy to the module that keeps it.

use crate::cost::Device;
use crate::egraph::{Replacement, improve, rules};
use crate::fusion::classify;
use crate::manager::{Observer, Unobserved};
use crate::normalise::{NormaliseStats, normalise, remove_unused};
use crate::phase::forward_kernels;
use crate::remat::apply::{Applied, Barriers, apply};
use crate::remat::keep;
use crate::remat::kernel::Context;
use crate::remat::nested::NestedCosts;
use crate::remat::partition::partition;
use crate::remat::problem::{BlockProblem, build, donated_arguments};
use crate::report::{Held, Report, UnfusedPeaks, crossings, peak_moment};
use crate::{PassError, Policy};
use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{BlockId, Bytes, Micros, Module, OpId};
use ckpt_planner as planner;
use std::collections::HashMap;
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
    /// How much work the planner may do.
    pub effort: planner::Effort,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::None,
            device: Device::default(),
            barriers: Barriers::default(),
            effort: planner::Effort::default(),
        }
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
    /// What rules of the e-graph replaced.
    pub replacements: Vec<Replacement>,
    /// The schedule by which the peak is promised.
    pub partition: KernelPartition,
    /// What the checker found.
    pub checked: ckpt_check::Report,
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
    /// Whether there is proven to be no plan within the budget.
    pub infeasible: bool,
    /// Bytes of the arguments.
    pub argument_bytes: Bytes,
    /// What the plan with the smallest peak holds there, largest first.
    pub blocking: Vec<Held>,
}

/// The function that is optimised: `@main`, or the only public one.
///
/// # Errors
/// There is none, it is only declared, or it does not return.
pub fn entry_function(module: &Module) -> Result<OpId, PassError> {
    let public = |op: &OpId| module.string_attr(*op, "sym_visibility") != Some("private");
    let mut candidates = module.functions().filter(public);
    let entry = module.function("main").or_else(|| match (candidates.next(), candidates.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    });
    match entry {
        Some(function) => match module.function_body(function).map(|body| module.terminator(body)) {
            Some(Some(_)) => Ok(function),
            Some(None) => Err(PassError::NoReturn { op: function }),
            None => Err(PassError::NoEntry),
        },
        None => Err(PassError::NoEntry),
    }
}

/// Normalises `module`, plans its entry function for the policy and applies the plan.
///
/// # Errors
/// A program that cannot be planned, see [`PassError`]; a budget that cannot
/// be met is an [`Outcome`].
pub fn optimize(module: Module, options: &Options) -> Result<Outcome, PassError> {
    optimize_observed(module, options, &mut Unobserved)
}

/// The same, watched: `normalise`, `rules` and `apply` are the stages that
/// change the module.
///
/// # Errors
/// As [`optimize`].
pub fn optimize_observed(
    mut module: Module,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, PassError> {
    observer.before("normalise", &module);
    let stats = normalise(&mut module, options.policy == Policy::None)?;
    observer.after("normalise", &module);
    let function = entry_function(&module)?;
    let body = module.function_body(function).ok_or(PassError::NoEntry)?;
    let normalised = module.clone();
    let baseline = baseline(&module, function, body, &options.device)?;
    observer.before("rules", &module);
    let replacements = match options.policy {
        Policy::None => Vec::new(),
        _ => improve(&mut module, function, body, rules::Class::Bitwise),
    };
    if !replacements.is_empty() {
        remove_unused(&mut module);
    }
    observer.after("rules", &module);
    let block = state(&module, function, body, &options.device)?;
    let met = match plan(&module, function, &block, options.policy, options.effort, &baseline)? {
        Planned::Met(met) => met,
        Planned::Unmet(unmet) => return Ok(Outcome::Unmet(unmet)),
    };
    observer.before("apply", &module);
    let mut output = module.clone();
    let applied = apply(&mut output, body, &block, &met.plan, options.barriers);
    observer.after("apply", &output);
    let partition = partition(&output, body, &applied.kernels, &options.device);
    let justifications = justify(&output, &replacements, &applied);
    let unfused = unfused_peaks(&normalised, &output, function)?;
    let report = report(&module, options, &block, &met, &baseline, unfused);
    let claims = ckpt_check::Claims {
        peak_bytes: Some(report.peak),
        partition: Some(&partition),
        justifications: &justifications,
    };
    let checked =
        ckpt_check::check(&normalised, &output, &claims).map_err(|r| PassError::Refused(Box::new(r)))?;
    Ok(Outcome::Met(Box::new(Optimized {
        normalised,
        module: output,
        applied,
        normalise: stats,
        replacements,
        partition,
        checked,
        report,
    })))
}

/// The claims that the checker replays: one for each instance of a value that
/// a rule made.
fn justify(
    output: &Module,
    replacements: &[Replacement],
    applied: &Applied,
) -> Vec<ckpt_check::Justification> {
    let mut copies: HashMap<OpId, Vec<OpId>> = HashMap::new();
    for &(copy, original) in applied.virtual_clones.iter().chain(&applied.clones) {
        copies.entry(original).or_default().push(copy);
    }
    let instances = |op: OpId| [op].into_iter().chain(copies.get(&op).into_iter().flatten().copied());
    let in_block = |op: &OpId| output.op(*op).parent.is_some();
    let mut claims = Vec::new();
    for replacement in replacements {
        let helpers: Vec<OpId> =
            replacement.made.iter().flat_map(|op| instances(*op)).filter(in_block).collect();
        let Some(maker) = output.defining_op(replacement.replacement) else { continue };
        for instance in instances(maker).filter(in_block) {
            claims.push(ckpt_check::Justification {
                rule: replacement.rule.to_owned(),
                output: output.op(instance).results[0],
                input: replacement.original,
                helpers: helpers.clone(),
            });
        }
    }
    claims
}

/// The program without rules and without rematerialisation.
struct Baseline {
    /// Everything held, arguments included.
    peak: Bytes,
    time: Micros,
    kernels: usize,
}

fn baseline(module: &Module, function: OpId, body: BlockId, device: &Device) -> Result<Baseline, PassError> {
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
struct Met {
    plan: planner::Plan,
    budget: Option<Bytes>,
    replayed: planner::Replay,
    boundary: usize,
    lower_bound: Micros,
    optimal: bool,
}

enum Planned {
    Met(Met),
    Unmet(Box<Unmet>),
}

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

fn report(
    module: &Module,
    options: &Options,
    block: &BlockProblem,
    met: &Met,
    baseline: &Baseline,
    unfused: UnfusedPeaks,
) -> Report {
    let time = Micros(met.replayed.time.0);
    Report {
        memory_model: "kernels",
        device: options.device.name.clone(),
        budget: met.budget,
        argument_bytes: block.argument_bytes,
        baseline_peak: baseline.peak,
        peak: Bytes(met.replayed.peak.0) + block.resident_bytes(),
        unfused,
        base_time: baseline.time,
        time,
        lower_bound: met.lower_bound,
        optimal: met.optimal,
        plan_hash: plan_hash(&met.plan),
        kernels: baseline.kernels,
        peak_moment: peak_moment(module, block, &met.plan, met.boundary),
        crossing: crossings(module, block, &met.plan, met.boundary),
    }
}

fn unfused_peaks(normalised: &Module, output: &Module, function: OpId) -> Result<UnfusedPeaks, PassError> {
    let peak =
        |module: &Module| ckpt_check::check_peak_per_op(module, function).map_err(PassError::UnfusedPeak);
    Ok(UnfusedPeaks { baseline: peak(normalised)?, planned: peak(output)? })
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
