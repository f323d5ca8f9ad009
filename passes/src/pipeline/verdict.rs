//! What is said of a plan: the report, and the claims that the checker replays.

use crate::PassError;
use crate::egraph::Replacement;
use crate::pipeline::Options;
use crate::pipeline::plan::{Baseline, Met};
use crate::remat::apply::Applied;
use crate::remat::problem::BlockProblem;
use crate::report::{Report, UnfusedPeaks, crossings, peak_moment};
use ckpt_ir::{Bytes, Micros, Module, OpId};
use ckpt_planner as planner;
use std::collections::HashMap;
use std::hash::Hasher as _;

/// The claims that the checker replays: one for each instance of a value that
/// a rule made.
pub(super) fn justify(
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

/// The report of a plan.
pub(super) fn report(
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

/// Peaks in the memory model `ops`.
pub(super) fn unfused_peaks(
    normalised: &Module,
    output: &Module,
    function: OpId,
) -> Result<UnfusedPeaks, PassError> {
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
