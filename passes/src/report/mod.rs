//! What a compilation reports: the verdict, the peak, and the fate of every
//! value that crosses from the forward to the backward pass.

pub mod text;

use crate::phase::Phase;
use crate::remat::problem::BlockProblem;
use ckpt_ir::{Bytes, Category, Effect, Micros, Module, ValueId};
use ckpt_planner::{Plan, Problem, Step};
use std::fmt;

/// The verdict and its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// `kernels` or `ops`.
    pub memory_model: &'static str,
    /// Name of the device that times are estimated for.
    pub device: String,
    /// The budget in bytes, arguments included; none for policies without one.
    pub budget: Option<Bytes>,
    /// Bytes of the arguments, which both peaks include.
    pub argument_bytes: Bytes,
    /// Peak without rematerialisation.
    pub baseline_peak: Bytes,
    /// Peak of the plan.
    pub peak: Bytes,
    /// Both peaks in the memory model `ops`, where every operation's result is
    /// a buffer: what an engine that fuses nothing may need.
    pub unfused: UnfusedPeaks,
    /// Time without rematerialisation.
    pub base_time: Micros,
    /// Time of the plan.
    pub time: Micros,
    /// Proven for any legal plan within the budget.
    pub lower_bound: Micros,
    /// Whether the plan is proven optimal.
    pub optimal: bool,
    /// A digest of the plan, the same on every machine.
    pub plan_hash: u64,
    /// Kernels of the program without rematerialisation.
    pub kernels: usize,
    /// Where the plan has its peak.
    pub peak_moment: PeakMoment,
    /// Values made in the forward pass and needed in the backward pass.
    pub crossing: Vec<Crossing>,
}

/// Peaks in the memory model `ops`, arguments included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfusedPeaks {
    /// Of the normalised program.
    pub baseline: Bytes,
    /// Of the rewritten program.
    pub planned: Bytes,
}

/// The step at which the plan holds the most.
#[derive(Clone, Debug, PartialEq)]
pub struct PeakMoment {
    /// The kernel that runs: its root's name.
    pub kernel: String,
    /// Its operation.
    pub operation: String,
    /// Its pass.
    pub phase: Phase,
    /// Bytes of the arguments that are held.
    pub argument_bytes: Bytes,
    /// What else is held, and donated arguments; largest first.
    pub held: Vec<Held>,
}

/// A buffer that is held at the peak.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Its name in the text.
    pub name: String,
    /// The operation that made it.
    pub operation: String,
    /// The block's value.
    pub value: ValueId,
    /// Its size.
    pub bytes: Bytes,
    /// What it is.
    pub kind: HeldKind,
}

/// What a buffer is at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HeldKind {
    /// An argument.
    Argument,
    /// A result of the function.
    Result,
    /// Made in the forward pass, held for the backward pass.
    Saved,
    /// Made again.
    Recomputed,
    /// Anything else: used soon.
    Temporary,
}

/// A value that the backward pass needs of the forward pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// Its name in the text.
    pub name: String,
    /// The operation that makes it.
    pub operation: String,
    /// The block's value.
    pub value: ValueId,
    /// Its size.
    pub bytes: Bytes,
    /// What the plan does with it.
    pub fate: Fate,
    /// Time of making it once more, what it reads being there.
    pub recompute_time: Micros,
}

/// What a plan does with a value that crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Kept, because it may not be made again.
    Pinned(PinReason),
    /// Kept, because anything else costs more time or the budget allows it.
    Kept,
    /// Made again this many times.
    Recomputed(u32),
    /// Neither: its readers compute it inside themselves, or it is made only in
    /// the backward pass.
    NotNeeded,
}

/// Why a value may not be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PinReason {
    /// It comes from hidden random state.
    Rng,
    /// It comes from an operation with effects, or an unknown one.
    Effect,
    /// It comes from a collective.
    Collective,
    /// It comes from a custom call.
    CustomCall,
}

impl PinReason {
    /// The reason of an operation that may not be recomputed.
    pub(crate) fn of(module: &Module, op: ckpt_ir::OpId) -> Self {
        match (module.effect(op), module.op(op).kind.category()) {
            (Effect::HiddenState, _) => Self::Rng,
            (Effect::Collective, _) => Self::Collective,
            (Effect::Pure, Category::Call) => Self::CustomCall,
            _ => Self::Effect,
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pinned(PinReason::Rng) => f.write_str("pinned-rng"),
            Self::Pinned(PinReason::Effect) => f.write_str("pinned-effect"),
            Self::Pinned(PinReason::Collective) => f.write_str("collective"),
            Self::Pinned(PinReason::CustomCall) => f.write_str("custom-call"),
            Self::Kept => f.write_str("cheaper-to-save"),
            Self::Recomputed(times) => write!(f, "recomputed {times}x"),
            Self::NotNeeded => f.write_str("not-needed"),
        }
    }
}

impl fmt::Display for HeldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Argument => "argument",
            Self::Result => "result",
            Self::Saved => "saved",
            Self::Recomputed => "recomputed",
            Self::Temporary => "temporary",
        })
    }
}

impl Report {
    /// Time of all recomputation over the time without, in percent.
    #[must_use]
    pub fn overhead_percent(&self) -> f64 {
        percent_over(self.time, self.base_time)
    }

    /// The proven lower bound on the overhead, in percent.
    #[must_use]
    pub fn lower_bound_percent(&self) -> f64 {
        percent_over(self.lower_bound, self.base_time)
    }

    /// Values kept for the backward pass.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.crossing.iter().filter(|c| matches!(c.fate, Fate::Kept | Fate::Pinned(_))).count()
    }

    /// Values made again.
    #[must_use]
    pub fn recomputed(&self) -> usize {
        self.crossing.iter().filter(|c| matches!(c.fate, Fate::Recomputed(_))).count()
    }
}

fn percent_over(time: Micros, base: Micros) -> f64 {
    if base.0 > 0.0 { 100.0 * (time.0 - base.0) / base.0 } else { 0.0 }
}

/// Where a plan holds the most, and what.
pub(crate) fn peak_moment(module: &Module, block: &BlockProblem, plan: &Plan, boundary: usize) -> PeakMoment {
    let problem = &block.problem;
    let Some(step) = ckpt_planner::replay(problem, plan).ok().and_then(|r| r.peak_step) else {
        return PeakMoment {
            kernel: String::new(),
            operation: String::new(),
            phase: Phase::Forward,
            argument_bytes: block.argument_bytes,
            held: Vec::new(),
        };
    };
    let phase_of = phases(problem, boundary);
    let mut live = vec![None; problem.values().len()];
    let mut made_before = vec![0u32; problem.values().len()];
    let mut current = None;
    for step in &plan.steps[..=step] {
        match *step {
            Step::Compute(id) => {
                current = Some(id);
                for value in &problem.derivation(id).outputs {
                    live[value.index()] = Some(made_before[value.index()]);
                    made_before[value.index()] += 1;
                }
            }
            Step::Free(value) => live[value.index()] = None,
        }
    }
    let mut held: Vec<Held> = Vec::new();
    let now = current.map_or(Phase::Forward, |id| phase_of[id.index()]);
    for (index, made) in live.iter().enumerate() {
        let Some(made_before) = made else { continue };
        let id = ckpt_planner::ValueId::new(index);
        let maker = problem.derivations_of(id).first();
        let kind = if *made_before > 0 {
            HeldKind::Recomputed
        } else if maker.is_some_and(|d| block.root(*d).is_none()) {
            HeldKind::Argument
        } else if problem.outputs().contains(&id) {
            HeldKind::Result
        } else if now == Phase::Backward && maker.is_some_and(|d| phase_of[d.index()] == Phase::Forward) {
            HeldKind::Saved
        } else {
            HeldKind::Temporary
        };
        let value = block.values[index];
        held.push(Held {
            name: problem.value(id).name.clone(),
            operation: operation_of(module, value),
            value,
            bytes: Bytes(problem.value(id).bytes.0),
            kind,
        });
    }
    held.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.value.cmp(&b.value)));
    let root = current.and_then(|id| block.root(id));
    let donated = held.iter().filter(|h| h.kind == HeldKind::Argument).map(|h| h.bytes);
    let argument_bytes = block.resident_bytes() + donated.sum();
    PeakMoment {
        kernel: root.map(|op| module.value_name_or_op(op)).unwrap_or_default(),
        operation: root.map(|op| module.op_name(op).to_owned()).unwrap_or_default(),
        phase: now,
        argument_bytes,
        held,
    }
}

/// The phase of each derivation that the program's order has; expanded
/// variants belong to the phase of their value's own.
fn phases(problem: &Problem, boundary: usize) -> Vec<Phase> {
    let mut phases = vec![Phase::Backward; problem.derivations().len()];
    for id in &problem.order()[..boundary] {
        for value in &problem.derivation(*id).outputs {
            problem.derivations_of(*value).iter().for_each(|d| phases[d.index()] = Phase::Forward);
        }
    }
    phases
}

fn operation_of(module: &Module, value: ValueId) -> String {
    module.defining_op(value).map_or_else(|| "argument".to_owned(), |op| module.op_name(op).to_owned())
}

/// The fate of every value that the forward pass makes and the backward pass
/// reads in the program without rematerialisation.
pub(crate) fn crossings(
    module: &Module,
    block: &BlockProblem,
    plan: &Plan,
    boundary: usize,
) -> Vec<Crossing> {
    let problem = &block.problem;
    let mut forward = vec![false; problem.values().len()];
    for id in &problem.order()[..boundary] {
        problem.derivation(*id).outputs.iter().for_each(|v| forward[v.index()] = true);
    }
    let mut crosses = vec![false; problem.values().len()];
    for id in &problem.order()[boundary..] {
        for value in problem.derivation(*id).inputs.iter().filter(|v| forward[v.index()]) {
            crosses[value.index()] = true;
        }
    }
    let kept = kept_values(problem, plan, boundary);
    let mut runs = vec![0u32; problem.values().len()];
    for id in plan.computes() {
        problem.derivation(id).outputs.iter().for_each(|v| runs[v.index()] += 1);
    }
    let value = |index: usize| {
        let id = ckpt_planner::ValueId::new(index);
        let maker = problem.derivations_of(id)[0];
        let op = block.root(maker)?;
        let derivation = problem.derivation(maker);
        let fate = if !derivation.recomputable {
            Fate::Pinned(PinReason::of(module, op))
        } else if runs[index] > 1 {
            Fate::Recomputed(runs[index] - 1)
        } else if kept[index] {
            Fate::Kept
        } else {
            Fate::NotNeeded
        };
        Some(Crossing {
            name: problem.value(id).name.clone(),
            operation: module.op_name(op).to_owned(),
            value: block.values[index],
            bytes: Bytes(problem.value(id).bytes.0),
            fate,
            recompute_time: Micros(derivation.time.0),
        })
    };
    let mut crossing: Vec<Crossing> = (0..crosses.len()).filter(|i| crosses[*i]).filter_map(value).collect();
    crossing.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.value.cmp(&b.value)));
    crossing
}

/// Values that are live in the plan when its last kernel of the forward order has run first.
fn kept_values(problem: &Problem, plan: &Plan, boundary: usize) -> Vec<bool> {
    let mut first = vec![true; problem.derivations().len()];
    let forward: std::collections::HashSet<_> = problem.order()[..boundary].iter().collect();
    let end = plan.steps.iter().enumerate().filter_map(|(index, step)| match step {
        Step::Compute(id) if forward.contains(id) && std::mem::take(&mut first[id.index()]) => Some(index),
        _ => None,
    });
    let end = end.last().map_or(0, |index| index + 1);
    let mut live = vec![false; problem.values().len()];
    for step in &plan.steps[..end] {
        match *step {
            Step::Compute(id) => problem.derivation(id).outputs.iter().for_each(|v| live[v.index()] = true),
            Step::Free(value) => live[value.index()] = false,
        }
    }
    live
}
