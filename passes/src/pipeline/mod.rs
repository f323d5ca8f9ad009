//! The pipeline: from a module and a policy to the module that keeps it.

mod plan;
mod verdict;

use crate::cost::Device;
use crate::egraph::rules::RuleSet;
use crate::egraph::{Replacement, improve};
use crate::manager::{Observer, Unobserved};
use crate::normalise::{NormaliseStats, normalise, remove_unused};
use crate::remat::apply::{Applied, Barriers, apply};
use crate::remat::partition::partition;
use crate::report::{Held, Report};
use crate::{PassError, Policy};
use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{Bytes, Module, OpId};
use ckpt_planner as planner;
use plan::{Planned, Variant, baseline, best_variant, curve};
use verdict::{justify, report, unfused_peaks};

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
    /// The rules of the e-graph that may be used. Default: those that are bitwise.
    pub rules: RuleSet,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::None,
            device: Device::default(),
            barriers: Barriers::default(),
            effort: planner::Effort::default(),
            rules: RuleSet::default(),
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

/// Plans of a program at several budgets.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontier {
    /// The plans, the smallest budget first; bytes without [`Self::resident`].
    pub points: Vec<planner::ParetoPoint>,
    /// Bytes of the arguments that are held throughout.
    pub resident: planner::Bytes,
    /// Time of the program without rematerialisation.
    pub base_time: planner::Micros,
}

/// The frontier of peak against time of the entry function, at `points`
/// budgets; the policy plays no part. Takes as many times as long as a plan.
///
/// # Errors
/// As [`optimize`].
pub fn frontier(mut module: Module, options: &Options, points: usize) -> Result<Frontier, PassError> {
    normalise(&mut module, false)?;
    let function = entry_function(&module)?;
    let body = module.function_body(function).ok_or(PassError::NoEntry)?;
    let base_time = planner::Micros(baseline(&module, function, body, &options.device)?.time.0);
    if !improve(&mut module, function, body, &options.rules).is_empty() {
        remove_unused(&mut module);
    }
    let (points, resident) = curve(&module, function, options, points)?;
    Ok(Frontier { points, resident, base_time })
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
        _ => improve(&mut module, function, body, &options.rules),
    };
    if !replacements.is_empty() {
        remove_unused(&mut module);
    }
    observer.after("rules", &module);
    let variant = best_variant(module, replacements, function, options, &baseline)?;
    let Variant { module, replacements, block, planned } = variant;
    let met = match planned {
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
