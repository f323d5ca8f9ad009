//! The search for plans: exact where the problem is small; else start
//! somewhere, evict down to the budget, take back what fits, and improve by
//! destroying and repairing. Deterministic: all limits are counts.

mod core;
mod evict;
mod exact;
mod expand;
mod ids;
mod improve;
mod max_tree;
mod provide;
mod random;
mod restore;
mod seed;
mod start;
#[cfg(test)]
mod tests;
mod timeline;
mod workbench;

use self::core::Core;
use self::exact::Exact;
pub(crate) use self::improve::Limits as Improvement;
use self::workbench::{Candidate, Workbench};
use crate::effort::Effort;
use crate::{Bytes, Plan, Problem, replay};

/// Any seed will do; this one is fixed so that plans are the same everywhere.
const SEED: u64 = 0x636b_7074;

/// How often a limit is tightened because views needed more than the core says.
const TIGHTENINGS: usize = 4;

/// What the search says about a budget.
#[derive(Clone, Debug)]
pub(crate) enum Search {
    /// A plan within the budget; `proven` if none takes less time.
    Found {
        /// The plan.
        plan: Plan,
        /// No plan within the budget takes less time.
        proven: bool,
    },
    /// None was found; `proven` if there is none.
    None {
        /// No plan is within the budget.
        proven: bool,
    },
}

/// Searches plans of one problem.
#[derive(Debug)]
pub(crate) struct Searcher<'p> {
    problem: &'p Problem,
    core: Core,
    effort: Effort,
}

impl<'p> Searcher<'p> {
    /// Linear time.
    pub(crate) fn new(problem: &'p Problem, effort: Effort) -> Self {
        Self { problem, core: Core::new(problem), effort }
    }

    /// The best plan within `budget` that is found.
    pub(crate) fn within(&self, budget: Bytes) -> Search {
        let mut limit = i64::try_from(budget.0).unwrap_or(i64::MAX);
        for _ in 0..TIGHTENINGS {
            let found = self.within_core_limit(limit);
            let Search::Found { plan, .. } = &found else { return found };
            // Only a core that is not complete can be wrong about a peak.
            match replay(self.problem, plan) {
                Ok(replayed) if replayed.peak > budget => limit -= (replayed.peak - budget).0 as i64,
                Ok(_) => return found,
                Err(_) => break,
            }
        }
        Search::None { proven: false }
    }

    fn within_core_limit(&self, limit: i64) -> Search {
        match exact::solve(&self.core, limit, self.effort.exact_states()) {
            Exact::Optimal(tasks) => {
                return Search::Found { plan: self.expand(&tasks), proven: self.core.complete };
            }
            Exact::Infeasible => return Search::None { proven: self.core.complete },
            Exact::Unknown => {}
        }
        let mut bench = Workbench::new(&self.core, limit, SEED);
        let base_time = bench.timeline.time();
        if bench.timeline.peak() <= limit {
            return Search::Found { plan: self.expand(&self.core.order), proven: false };
        }
        let starts = start::starts(&mut bench, self.problem, true);
        let Some(best) = starts.into_iter().next() else { return Search::None { proven: false } };
        let limits = self.effort.improvement(self.core.stores.len());
        let improved = improve::improve(&mut bench, best, base_time, limits);
        Search::Found { plan: self.expand(&improved.tasks), proven: false }
    }

    /// A plan with the smallest peak that is found, by bisection between `floor`
    /// and the program's own peak, and whether it is proven to be the smallest.
    pub(crate) fn smallest(&self, floor: Bytes) -> (Plan, bool) {
        let mut bench = Workbench::new(&self.core, 0, SEED);
        let base_time = bench.timeline.time();
        let mut best = bench.candidate(base_time / bench.timeline.peak().max(1) as f64);
        let mut feasible = bench.timeline.peak();
        let mut infeasible = i64::try_from(floor.0).unwrap_or(i64::MAX) - 1;
        let mut proven = true;
        while infeasible + (feasible >> SMALLEST_PRECISION).max(1) < feasible {
            bench.limit = infeasible + (feasible - infeasible) / 2;
            match self.any_within(&mut bench) {
                Ok(candidate) => {
                    best = candidate;
                    bench.timeline.reset(&best.tasks);
                    feasible = bench.timeline.peak();
                }
                Err(known) => {
                    infeasible = bench.limit;
                    proven &= known;
                }
            }
        }
        bench.limit = feasible;
        let limits = self.effort.improvement(self.core.stores.len());
        let improved = improve::improve(&mut bench, best, base_time, limits);
        (self.expand(&improved.tasks), proven && infeasible + 1 >= feasible)
    }

    /// Some plan within the bench's limit, or whether there is proven to be none.
    fn any_within(&self, bench: &mut Workbench<'_>) -> Result<Candidate, bool> {
        match exact::solve(&self.core, bench.limit, self.effort.exact_states() / 16) {
            Exact::Optimal(tasks) => {
                bench.timeline.reset(&tasks);
                let price = bench.timeline.time() / bench.timeline.peak().max(1) as f64;
                return Ok(bench.candidate(price));
            }
            Exact::Infeasible => return Err(self.core.complete),
            Exact::Unknown => {}
        }
        bench.timeline.reset(&self.core.order);
        // Minimum cuts take longer and reach lower.
        let mut starts = start::starts(bench, self.problem, false);
        if starts.is_empty() {
            starts = start::starts(bench, self.problem, true);
        }
        starts.into_iter().next().ok_or(false)
    }

    fn expand(&self, tasks: &[ids::TaskId]) -> Plan {
        expand::expand(self.problem, &self.core, tasks)
    }
}

/// Smallest peaks are sought to this part of themselves: 2^-13.
const SMALLEST_PRECISION: u32 = 13;
