//! How much work a solver may do: counts, never seconds, so that plans are the
//! same on every machine.

use crate::BoundOptions;
use crate::search::Improvement;

/// A level of effort from 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effort(u8);

/// Limits of one level.
struct Limits {
    /// Rounds of improvement at most.
    rounds: usize,
    /// Evictions in all rounds, times stores, at most.
    visits: usize,
    /// States of the exact search.
    exact_states: usize,
    /// Instants at which a bound is sought.
    instants: usize,
    /// Nodes of branch and bound for each.
    branch_nodes: usize,
}

/// Level 1 to 5. Level 3 takes seconds on graphs of a thousand values.
const LEVELS: [Limits; 5] = [
    Limits { rounds: 0, visits: 0, exact_states: 1 << 14, instants: 8, branch_nodes: 40 },
    Limits { rounds: 1_500, visits: 6_000_000, exact_states: 1 << 17, instants: 32, branch_nodes: 200 },
    Limits { rounds: 12_000, visits: 40_000_000, exact_states: 1 << 19, instants: 64, branch_nodes: 400 },
    Limits { rounds: 60_000, visits: 300_000_000, exact_states: 1 << 21, instants: 128, branch_nodes: 2_000 },
    Limits {
        rounds: 400_000,
        visits: 2_000_000_000,
        exact_states: 1 << 22,
        instants: 256,
        branch_nodes: 8_000,
    },
];

/// Stores from which a problem counts as large: what costs time linear in the
/// problem is then done less often.
pub(crate) const LARGE: usize = 3_000;

/// How many evictions a round of improvement is worth on large problems.
const ROUND_COST: usize = 16;

impl Effort {
    /// The level, from 1 (a quick answer) to 5; `None` outside.
    #[must_use]
    pub fn new(level: u8) -> Option<Self> {
        (1..=LEVELS.len() as u8).contains(&level).then_some(Self(level))
    }

    fn limits(self) -> &'static Limits {
        &LEVELS[usize::from(self.0) - 1]
    }

    /// Limits of improvement on a problem of so many stores.
    pub(crate) fn improvement(self, stores: usize) -> Improvement {
        let Limits { rounds, visits, .. } = *self.limits();
        let evictions = visits / stores.max(1);
        // A round looks at all repetitions, whatever it evicts.
        let rounds = if stores >= LARGE { rounds.min(evictions / ROUND_COST) } else { rounds.min(evictions) };
        Improvement { rounds, evictions }
    }

    /// States that the exact search may look at.
    pub(crate) fn exact_states(self) -> usize {
        self.limits().exact_states
    }

    /// Limits of the bounds.
    pub(crate) fn bound_options(self) -> BoundOptions {
        let limits = self.limits();
        BoundOptions {
            instants: limits.instants,
            branch_nodes: limits.branch_nodes,
            ..BoundOptions::default()
        }
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self(3)
    }
}
