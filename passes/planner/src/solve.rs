//! The solver: from a problem and a goal to a plan.

use crate::evict::{self, Search};
use crate::{Bytes, Plan, Problem};

/// What is asked of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The program as it stands.
    KeepAll,
    /// A peak (residents excluded) of at most this, at the least time.
    Budget(Bytes),
    /// The smallest peak.
    SmallestPeak,
}

/// What came of it. An unmet budget is an outcome of its own, never a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A legal plan that meets the goal.
    Met(Plan),
    /// No plan within the budget was found.
    Unmet {
        /// The budget.
        budget: Bytes,
        /// The smallest peak of any plan found.
        smallest: Bytes,
        /// Proven: no legal plan has a smaller peak.
        bound: Bytes,
    },
}

impl Outcome {
    /// The plan, or an empty plan for an unmet budget.
    #[must_use]
    pub fn into_plan(self) -> Plan {
        match self {
            Self::Met(plan) => plan,
            Self::Unmet { .. } => Plan::default(),
        }
    }
}

/// Solves `problem` for `goal` by greedy eviction.
#[must_use]
pub fn solve(problem: &Problem, goal: Goal) -> Outcome {
    match goal {
        Goal::KeepAll => Outcome::Met(Plan::without_remat(problem)),
        Goal::SmallestPeak => Outcome::Met(evict::search(problem, Bytes(0)).smallest),
        Goal::Budget(budget) => match evict::search(problem, budget) {
            Search { met: Some(plan), .. } => Outcome::Met(plan),
            Search { met: None, smallest_peak, .. } => {
                Outcome::Unmet { budget, smallest: smallest_peak, bound: peak_floor(problem) }
            }
        },
    }
}

/// A proven lower bound on the peak of any legal plan: the largest sum of
/// inputs, outputs and workspace that some value's every derivation needs, and
/// the outputs that must all be live at the end. Linear time.
#[must_use]
pub fn peak_floor(problem: &Problem) -> Bytes {
    // A view adds nothing of its own and its base may be a freed value whose
    // storage it holds, so views are left out of the sum: still a lower bound.
    let working_set = |id: &crate::DerivationId| {
        let derivation = problem.derivation(*id);
        let mut touched: Vec<_> = derivation.inputs.iter().chain(&derivation.outputs).copied().collect();
        touched.sort_unstable();
        touched.dedup();
        let own = |v: &&crate::ValueId| !problem.value(**v).resident;
        let bytes: Bytes = touched.iter().filter(own).map(|v| problem.value(*v).bytes).sum();
        bytes + derivation.workspace
    };
    let cheapest = |value: usize| {
        let derivations = problem.derivations_of(crate::ValueId::new(value));
        derivations.iter().map(working_set).min()
    };
    // Only values that the outputs or the once-only derivations need are sure to be computed.
    let outputs: Bytes = {
        let mut outputs = problem.outputs().to_vec();
        outputs.sort_unstable();
        outputs.dedup();
        outputs.iter().filter(|v| !problem.value(**v).resident).map(|v| problem.value(*v).bytes).sum()
    };
    let needed = needed_values(problem);
    let floor = (0..problem.values().len()).filter(|v| needed[*v]).filter_map(cheapest).max();
    floor.unwrap_or(Bytes(0)).max(outputs)
}

/// Values that every legal plan computes: ancestors of the outputs and of
/// once-only derivations through values with a single derivation.
fn needed_values(problem: &Problem) -> Vec<bool> {
    let mut needed = vec![false; problem.values().len()];
    let mut stack = problem.outputs().to_vec();
    for derivation in problem.derivations().iter().filter(|d| !d.recomputable) {
        stack.extend(derivation.outputs.iter().copied());
    }
    while let Some(value) = stack.pop() {
        if std::mem::replace(&mut needed[value.index()], true) {
            continue;
        }
        if let [only] = problem.derivations_of(value) {
            stack.extend(problem.derivation(*only).inputs.iter().copied());
        }
    }
    needed
}
