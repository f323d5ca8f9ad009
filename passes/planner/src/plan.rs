//! Plans: the decision as a value that can be printed, checked and replayed.

use crate::{DerivationId, Problem, ValueId};

/// One step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Run a derivation; all its outputs become live.
    Compute(DerivationId),
    /// Drop a value; its storage goes with its last reference.
    Free(ValueId),
}

/// A schedule with every recomputation and every free spelled out.
/// [`replay()`](crate::replay()) says whether it is legal and what it costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps in order.
    pub steps: Vec<Step>,
}

impl Plan {
    /// The plan that runs `computes` in order and frees each value right after
    /// the last step that needs it before it is computed again. Linear time.
    ///
    /// This is the canonical form of a plan: freeing earlier is impossible,
    /// freeing later never lowers the peak.
    #[must_use]
    pub fn from_computes(problem: &Problem, computes: &[DerivationId]) -> Self {
        let mut needed_later = vec![false; problem.values().len()];
        for &value in problem.outputs() {
            needed_later[value.index()] = true;
        }
        // Walk backwards: a value touched here and not needed later dies here.
        let mut reversed = Vec::with_capacity(computes.len() * 2);
        for &id in computes.iter().rev() {
            let derivation = problem.derivation(id);
            let touched = derivation.inputs.iter().chain(&derivation.outputs);
            let mut dying: Vec<ValueId> = touched
                .copied()
                .filter(|v| !needed_later[v.index()] && !problem.value(*v).resident)
                .collect();
            dying.sort_unstable();
            dying.dedup();
            reversed.extend(dying.into_iter().rev().map(Step::Free));
            reversed.push(Step::Compute(id));
            for &value in &derivation.outputs {
                needed_later[value.index()] = false;
            }
            for &value in &derivation.inputs {
                needed_later[value.index()] = true;
            }
        }
        reversed.reverse();
        Self { steps: reversed }
    }

    /// The program as it stands: no recomputation, each value freed after its last use.
    #[must_use]
    pub fn without_remat(problem: &Problem) -> Self {
        Self::from_computes(problem, problem.order())
    }

    /// The derivations that the plan runs, in order.
    pub fn computes(&self) -> impl Iterator<Item = DerivationId> + '_ {
        self.steps.iter().filter_map(|step| match step {
            Step::Compute(id) => Some(*id),
            Step::Free(_) => None,
        })
    }
}
