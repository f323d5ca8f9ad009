//! The solver: from a problem and a goal to a plan with its certificate.

use crate::search::{Search, Searcher};
use crate::{Bounds, Bytes, Effort, Micros, PeakBound, Plan, Problem, replay};

/// What is asked of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The program as it stands.
    KeepAll,
    /// A peak (residents excluded) of at most this, at the least time.
    Budget(Bytes),
    /// The smallest peak, and among the plans with it little time.
    SmallestPeak,
}

/// A plan and what is proven about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The plan.
    pub plan: Plan,
    /// Proven: no legal plan whose peak is no larger takes less time.
    pub lower_bound: Micros,
    /// Whether the plan is proven to be the best for its goal.
    pub optimal: bool,
}

/// A budget for which no plan was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmet {
    /// The budget.
    pub budget: Bytes,
    /// The smallest peak of any plan found.
    pub smallest: Bytes,
    /// A plan with that peak.
    pub tightest: Plan,
    /// Proven: no legal plan has a smaller peak than [`PeakBound::bytes`].
    pub bound: PeakBound,
    /// Whether there is proven to be no plan within the budget.
    pub infeasible: bool,
}

/// What came of it. An unmet budget is an outcome of its own, never a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A legal plan that meets the goal.
    Met(Solution),
    /// No plan within the budget was found.
    Unmet(Box<Unmet>),
}

/// Solves `problem` for `goal`. Deterministic; time is bounded by the counts
/// that `effort` stands for.
#[must_use]
pub fn solve(problem: &Problem, goal: Goal, effort: Effort) -> Outcome {
    let searcher = Searcher::new(problem, effort);
    let bounds = Bounds::new(problem, effort.bound_options());
    match goal {
        Goal::KeepAll => {
            let plan = Plan::without_remat(problem);
            let peak = peak_of(problem, &plan);
            Outcome::Met(certified(&bounds, plan, peak, false, problem))
        }
        Goal::SmallestPeak => Outcome::Met(smallest(&searcher, &bounds, problem)),
        Goal::Budget(budget) => match searcher.within(budget) {
            Search::Found { plan, proven } => Outcome::Met(certified(&bounds, plan, budget, proven, problem)),
            Search::None { proven } => {
                let tightest = smallest(&searcher, &bounds, problem).plan;
                let smallest = peak_of(problem, &tightest);
                let bound = bounds.peak().clone();
                let infeasible = proven || bound.bytes > budget;
                Outcome::Unmet(Box::new(Unmet { budget, smallest, tightest, bound, infeasible }))
            }
        },
    }
}

fn peak_of(problem: &Problem, plan: &Plan) -> Bytes {
    replay(problem, plan).map_or(Bytes(u64::MAX), |replayed| replayed.peak)
}

fn time_of(problem: &Problem, plan: &Plan) -> Micros {
    plan.computes().map(|d| problem.derivation(d).time).sum()
}

/// A plan with the bound for its budget.
fn certified(bounds: &Bounds, plan: Plan, budget: Bytes, proven: bool, problem: &Problem) -> Solution {
    let time = time_of(problem, &plan);
    let bound = bounds.time(budget).lower_bound;
    let lower_bound = if proven || bound > time { time } else { bound };
    Solution { plan, lower_bound, optimal: proven || nearly(time, lower_bound) }
}

/// Bounds round times down by less than this part of the base time.
const ROUNDING: f64 = 1e-9;

fn nearly(time: Micros, bound: Micros) -> bool {
    time.0 <= bound.0 * (1.0 + ROUNDING)
}

fn smallest(searcher: &Searcher<'_>, bounds: &Bounds, problem: &Problem) -> Solution {
    let floor = bounds.peak().bytes;
    let (plan, proven) = searcher.smallest(floor);
    let peak = peak_of(problem, &plan);
    Solution { optimal: proven || peak <= floor, ..certified(bounds, plan, peak, false, problem) }
}
