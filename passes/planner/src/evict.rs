//! Greedy eviction: starting from the program as it stands, drop a value over
//! a gap between two uses and recompute it before the later one, again and
//! again, until the peak fits.
//!
//! State: the sequence of computes; frees follow from it
//! ([`Plan::from_computes`]). Each round looks at the step where the peak
//! stands, takes the values that are live across it but not used there, and
//! tries to recompute each right before its next use, from values that are
//! live there. The candidate with the most bytes per microsecond wins
//! (XLA's `HloRematerialization` and DTR score alike). A value may be dropped
//! any number of times.

use crate::{Bytes, DerivationId, Plan, Problem, ValueId, replay};

/// Rounds after which the search gives up, per derivation of the problem.
/// Arbitrary: each round lowers the memory at one peak, and deep recomputation
/// needs a few rounds per value.
const ROUNDS_PER_DERIVATION: usize = 4;

/// What the search found.
pub(crate) struct Search {
    /// A plan within the budget.
    pub(crate) met: Option<Plan>,
    /// The plan with the smallest peak seen.
    pub(crate) smallest: Plan,
    /// Its peak.
    pub(crate) smallest_peak: Bytes,
}

/// Searches for a plan whose peak is at most `budget`.
/// O(rounds × (length + live values)) time.
pub(crate) fn search(problem: &Problem, budget: Bytes) -> Search {
    let mut computes = problem.order().to_vec();
    let mut best =
        Search { met: None, smallest: Plan::without_remat(problem), smallest_peak: Bytes(u64::MAX) };
    let rounds = ROUNDS_PER_DERIVATION * problem.derivations().len();
    for _ in 0..=rounds {
        let plan = Plan::from_computes(problem, &computes);
        let Ok(replayed) = replay(problem, &plan) else { break };
        if replayed.peak < best.smallest_peak {
            best.smallest_peak = replayed.peak;
            best.smallest = plan.clone();
        }
        if replayed.peak <= budget {
            best.met = Some(plan);
            break;
        }
        let Some(peak_step) = replayed.peak_step else { break };
        let peak_at = plan.steps[..peak_step].iter().filter(|s| matches!(s, crate::Step::Compute(_))).count();
        match best_eviction(problem, &computes, peak_at) {
            Some((position, derivation)) => computes.insert(position, derivation),
            None => break,
        }
    }
    best
}

/// The best value to drop across the compute at `peak_at`: where to insert
/// which derivation. Looks at every value that is live across the peak.
fn best_eviction(
    problem: &Problem,
    computes: &[DerivationId],
    peak_at: usize,
) -> Option<(usize, DerivationId)> {
    let uses = Uses::around(problem, computes, peak_at);
    let mut best: Option<(f64, usize, DerivationId)> = None;
    for index in 0..problem.values().len() {
        let value = ValueId::new(index);
        let Some(next_use) = uses.live_across(value) else { continue };
        let bytes = problem.value(value).bytes;
        if bytes == Bytes(0) {
            continue;
        }
        for &id in problem.derivations_of(value) {
            let derivation = problem.derivation(id);
            let single = derivation.outputs.len() == 1;
            if !derivation.recomputable || !single || !uses.inputs_live_at(problem, id, next_use) {
                continue;
            }
            let score = bytes.0 as f64 / derivation.time.0.max(f64::MIN_POSITIVE);
            if best.is_none_or(|(s, ..)| score > s) {
                best = Some((score, next_use, id));
            }
        }
    }
    best.map(|(_, position, id)| (position, id))
}

/// No use.
const NEVER: usize = usize::MAX;

/// Where each value is used around one position of the sequence.
struct Uses {
    at: usize,
    /// Computed before `at`.
    made: Vec<bool>,
    /// Touched by the compute at `at` itself.
    touched: Vec<bool>,
    /// First use after `at`; `NEVER` if it is computed again before.
    next: Vec<usize>,
    /// Last use after `at` before it is computed again; the end for outputs.
    last: Vec<usize>,
}

impl Uses {
    fn around(problem: &Problem, computes: &[DerivationId], at: usize) -> Self {
        let count = problem.values().len();
        let mut uses = Self {
            at,
            made: problem.values().iter().map(|v| v.resident).collect(),
            touched: vec![false; count],
            next: vec![NEVER; count],
            last: vec![NEVER; count],
        };
        for &id in &computes[..at] {
            problem.derivation(id).outputs.iter().for_each(|v| uses.made[v.index()] = true);
        }
        let here = problem.derivation(computes[at]);
        here.inputs.iter().chain(&here.outputs).for_each(|v| uses.touched[v.index()] = true);
        let mut remade = vec![false; count];
        here.outputs.iter().for_each(|v| remade[v.index()] = true);
        for (position, &id) in computes.iter().enumerate().skip(at + 1) {
            for value in problem.derivation(id).inputs.iter().filter(|v| !remade[v.index()]) {
                uses.last[value.index()] = position;
                if uses.next[value.index()] == NEVER {
                    uses.next[value.index()] = position;
                }
            }
            problem.derivation(id).outputs.iter().for_each(|v| remade[v.index()] = true);
        }
        for value in problem.outputs().iter().filter(|v| !remade[v.index()]) {
            uses.last[value.index()] = computes.len();
        }
        uses
    }

    /// The next use of a value that is live across the position and idle at it.
    fn live_across(&self, value: ValueId) -> Option<usize> {
        let v = value.index();
        (self.made[v] && !self.touched[v] && self.next[v] != NEVER).then_some(self.next[v])
    }

    /// Whether all inputs of a derivation are live at `position` if nothing else changes.
    fn inputs_live_at(&self, problem: &Problem, id: DerivationId, position: usize) -> bool {
        problem.derivation(id).inputs.iter().all(|v| {
            problem.value(*v).resident
                || (self.made[v.index()]
                    && position > self.at
                    && self.last[v.index()] != NEVER
                    && self.last[v.index()] >= position)
        })
    }
}
