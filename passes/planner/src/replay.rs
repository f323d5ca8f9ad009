//! The definition of a plan's legality, peak and time.

use crate::{Bytes, DerivationId, Micros, Plan, Problem, Step, ValueId};

/// What a legal plan costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The largest sum of live storage and workspace over all computes; residents excluded.
    pub peak: Bytes,
    /// Index into the plan's steps of the first compute that reaches the peak.
    pub peak_step: Option<usize>,
    /// Live storage after the last step.
    pub final_bytes: Bytes,
    /// Time of all computes.
    pub time: Micros,
    /// How many computes repeat a derivation's earlier run.
    pub recomputes: usize,
}

/// Why a plan is not legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// A step names an entity that the problem does not have.
    #[error("step {step} names an unknown entity")]
    Unknown {
        /// Index of the step.
        step: usize,
    },
    /// An input is not live.
    #[error("step {step}: {derivation} needs {value}, which is not live")]
    InputNotLive {
        /// Index of the step.
        step: usize,
        /// The derivation.
        derivation: DerivationId,
        /// The missing input.
        value: ValueId,
    },
    /// An output is live already.
    #[error("step {step}: {derivation} yields {value}, which is live already")]
    OutputLive {
        /// Index of the step.
        step: usize,
        /// The derivation.
        derivation: DerivationId,
        /// The output.
        value: ValueId,
    },
    /// A derivation that may run only once runs again.
    #[error("step {step}: {derivation} may not be recomputed")]
    NotRecomputable {
        /// Index of the step.
        step: usize,
        /// The derivation.
        derivation: DerivationId,
    },
    /// A value is freed that is not live, or a resident is freed.
    #[error("step {step}: {value} is freed but not live, or resident")]
    BadFree {
        /// Index of the step.
        step: usize,
        /// The value.
        value: ValueId,
    },
    /// An output of the problem is not live at the end.
    #[error("output {value} is not live at the end")]
    OutputMissing {
        /// The value.
        value: ValueId,
    },
    /// An ordered derivation runs before one that stands before it in the program.
    #[error("step {step}: {derivation} runs out of order")]
    OutOfOrder {
        /// Index of the step.
        step: usize,
        /// The derivation.
        derivation: DerivationId,
    },
    /// A derivation that must run exactly once did not run.
    #[error("{derivation} must run exactly once and does not run")]
    EffectSkipped {
        /// The derivation.
        derivation: DerivationId,
    },
}

/// No storage: a resident, or a value that is not live.
const NO_STORAGE: usize = usize::MAX;

struct Machine<'p> {
    problem: &'p Problem,
    live: Vec<bool>,
    storage_of: Vec<usize>,
    storage_bytes: Vec<Bytes>,
    storage_refs: Vec<u32>,
    runs: Vec<u32>,
    /// Ordered derivations in the program's order, and how many have run.
    ordered: Vec<DerivationId>,
    ordered_done: usize,
    current: Bytes,
    result: Replay,
}

/// Replays `plan`: checks every rule of `ckpt-plan/1` and measures peak and time.
/// Linear in the plan's length plus the problem's size.
///
/// Rules: residents are always live; a compute needs all inputs live and none
/// of its outputs; its memory is live storage (its outputs included) plus
/// workspace; a view takes a reference on its base's storage; storage goes
/// with its last reference; at the end all outputs are live, and a derivation
/// of `order` that is not recomputable has run exactly once.
///
/// # Errors
/// The first broken rule, see [`ReplayError`].
pub fn replay(problem: &Problem, plan: &Plan) -> Result<Replay, ReplayError> {
    let value_count = problem.values().len();
    let mut machine = Machine {
        problem,
        live: problem.values().iter().map(|v| v.resident).collect(),
        storage_of: vec![NO_STORAGE; value_count],
        storage_bytes: Vec::new(),
        storage_refs: Vec::new(),
        runs: vec![0; problem.derivations().len()],
        ordered: problem.order().iter().copied().filter(|d| problem.derivation(*d).ordered).collect(),
        ordered_done: 0,
        current: Bytes(0),
        result: Replay {
            peak: Bytes(0),
            peak_step: None,
            final_bytes: Bytes(0),
            time: Micros(0.0),
            recomputes: 0,
        },
    };
    for (index, &step) in plan.steps.iter().enumerate() {
        match step {
            Step::Compute(id) if id.index() < problem.derivations().len() => machine.compute(index, id)?,
            Step::Free(value) if value.index() < value_count => machine.free(index, value)?,
            _ => return Err(ReplayError::Unknown { step: index }),
        }
    }
    machine.finish()
}

impl Machine<'_> {
    fn compute(&mut self, step: usize, id: DerivationId) -> Result<(), ReplayError> {
        let derivation = self.problem.derivation(id);
        if let Some(&value) = derivation.outputs.iter().find(|v| self.live[v.index()]) {
            return Err(ReplayError::OutputLive { step, derivation: id, value });
        }
        if let Some(&value) = derivation.inputs.iter().find(|v| !self.live[v.index()]) {
            return Err(ReplayError::InputNotLive { step, derivation: id, value });
        }
        if self.runs[id.index()] > 0 {
            if !derivation.recomputable {
                return Err(ReplayError::NotRecomputable { step, derivation: id });
            }
            self.result.recomputes += 1;
        }
        self.runs[id.index()] += 1;
        if derivation.ordered && self.runs[id.index()] == 1 {
            if self.ordered.get(self.ordered_done) != Some(&id) {
                return Err(ReplayError::OutOfOrder { step, derivation: id });
            }
            self.ordered_done += 1;
        }
        match derivation.alias {
            Some(base) => self.make_view(derivation.outputs[0], base),
            None => derivation.outputs.iter().for_each(|&v| self.make_fresh(v)),
        }
        let held = self.current + derivation.workspace;
        if self.result.peak_step.is_none() || held > self.result.peak {
            self.result.peak = held;
            self.result.peak_step = Some(step);
        }
        self.result.time += derivation.time;
        Ok(())
    }

    fn make_view(&mut self, value: ValueId, base: ValueId) {
        let storage = self.storage_of[base.index()];
        self.storage_of[value.index()] = storage;
        self.live[value.index()] = true;
        if storage != NO_STORAGE {
            self.storage_refs[storage] += 1;
        }
    }

    fn make_fresh(&mut self, value: ValueId) {
        let bytes = self.problem.value(value).bytes;
        self.storage_of[value.index()] = self.storage_bytes.len();
        self.storage_bytes.push(bytes);
        self.storage_refs.push(1);
        self.current += bytes;
        self.live[value.index()] = true;
    }

    fn free(&mut self, step: usize, value: ValueId) -> Result<(), ReplayError> {
        if !self.live[value.index()] || self.problem.value(value).resident {
            return Err(ReplayError::BadFree { step, value });
        }
        self.live[value.index()] = false;
        let storage = std::mem::replace(&mut self.storage_of[value.index()], NO_STORAGE);
        if storage != NO_STORAGE {
            self.storage_refs[storage] -= 1;
            if self.storage_refs[storage] == 0 {
                self.current -= self.storage_bytes[storage];
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Replay, ReplayError> {
        if let Some(&value) = self.problem.outputs().iter().find(|v| !self.live[v.index()]) {
            return Err(ReplayError::OutputMissing { value });
        }
        let once =
            |id: &&DerivationId| !self.problem.derivation(**id).recomputable && self.runs[id.index()] == 0;
        if let Some(&derivation) = self.problem.order().iter().find(once) {
            return Err(ReplayError::EffectSkipped { derivation });
        }
        self.result.final_bytes = self.current;
        Ok(self.result)
    }
}
