//! The solver: from a problem and a goal to a plan.

use crate::evict::{self, Search};
use crate::{Bytes, Plan, Problem, peak_floor};

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
