//! What to keep at one point of the program's order: starting points for a search.
//!
//! The [closure problem](super::closure) at an instant given by a position in
//! the order, not by what every plan does; its solutions are no bounds, but
//! say what a plan that follows the order had best keep there.

use super::branch::{Found, Overhead, branch_and_bound};
use super::closure::{Closure, Decision};
use super::dual::{Dual, Question, best_prices};
use super::instant::Instant;
use super::relaxed::Relaxed;
use crate::{Bytes, DerivationId, Problem, ValueId};

/// Solutions of the closure problem at one position.
#[derive(Debug)]
pub(crate) struct KeepSets {
    relaxed: Relaxed,
    position: Vec<usize>,
}

/// The first store counts this part of its bytes more than the last.
const TIE_PART: u64 = 64;

/// Branch-and-bound nodes for a choice that fills a budget exactly.
const BRANCH_NODES: usize = 400;

/// Nodes times actions and stores, for the same.
const BRANCH_VISITS: usize = 1 << 20;

impl KeepSets {
    /// Linear time.
    pub(crate) fn new(problem: &Problem) -> Self {
        let mut position = vec![usize::MAX; problem.derivations().len()];
        for (at, id) in problem.order().iter().enumerate() {
            position[id.index()] = at;
        }
        Self { relaxed: Relaxed::new(problem), position }
    }

    /// Sets of roots to keep (ascending) at the first run of `derivation` in the
    /// program's order: those that fill `exact` budgets best, and those
    /// seen on the way to the best prices for each of `budgets`, distinct.
    /// A few minimum cuts per budget.
    pub(crate) fn at(
        &self,
        derivation: DerivationId,
        budgets: &[Bytes],
        exact: &[Bytes],
    ) -> Vec<Vec<ValueId>> {
        let Some(instant) = self.instant(derivation) else { return Vec::new() };
        let mut closure = Closure::new(&self.relaxed, std::slice::from_ref(&instant));
        let mut found: Vec<Vec<ValueId>> = Vec::new();
        for budget in exact {
            let nodes = BRANCH_NODES.min(BRANCH_VISITS / self.relaxed.size());
            if let Overhead::AtLeast(Found { fits: Some(cut), .. }) =
                branch_and_bound(&mut closure, budget.0, None, nodes)
            {
                found.push(self.keep_set(&closure, &cut));
            }
        }
        self.break_ties(&mut closure);
        let decisions = vec![Decision::Open; closure.keeps.len()];
        for budget in budgets {
            let Some(capacity) = budget.0.checked_sub(closure.held[0]) else { continue };
            let question = Question {
                closure: &mut closure,
                decisions: &decisions,
                capacities: &[capacity],
                pool: Vec::new(),
                hint: None,
                hopeless_below: 0,
            };
            let Dual::Bound(best) = best_prices(question) else { continue };
            for cut in best.pool {
                let choice = self.keep_set(&closure, &cut);
                if !found.contains(&choice) {
                    found.push(choice);
                }
            }
        }
        found
    }

    /// Makes early stores a little dearer to keep. Repeated blocks would else
    /// all be dropped at the same price, or none of them; and what is dropped
    /// early is made again late, when memory is free.
    fn break_ties(&self, closure: &mut Closure) {
        let count = self.relaxed.actions.len() as u64 + 1;
        for keep in &mut closure.keeps {
            let Some(store) = keep.store else { continue };
            let later = count - self.relaxed.store(store).maker.index() as u64;
            keep.bytes += (keep.bytes as u128 * u128::from(later) / u128::from(count * TIE_PART)) as u64;
        }
    }

    fn keep_set(&self, closure: &Closure, cut: &super::closure::Cut) -> Vec<ValueId> {
        let chosen = closure.keeps.iter().zip(&cut.kept).filter(|(_, kept)| **kept);
        let stores = chosen.filter_map(|(keep, _)| keep.store).chain(closure.must_keep[0].iter().copied());
        let mut kept: Vec<ValueId> = stores.map(|s| self.relaxed.store(s).value).collect();
        kept.sort_unstable();
        kept
    }

    fn instant(&self, derivation: DerivationId) -> Option<Instant> {
        let relaxed = &self.relaxed;
        let at = self.position[derivation.index()];
        let here = relaxed.action_ids().find(|a| relaxed.action(*a).derivation == derivation)?;
        let placed = |a| self.position[relaxed.action(a).derivation.index()];
        let action = relaxed.action(here);
        let mut live: Vec<_> = action.inputs.iter().chain(&action.outputs).copied().collect();
        live.sort_unstable();
        live.dedup();
        Some(Instant {
            before: relaxed.action_ids().map(|a| placed(a) <= at).collect(),
            after: relaxed.action_ids().map(|a| placed(a) > at).collect(),
            live,
            workspace: action.workspace,
        })
    }
}
