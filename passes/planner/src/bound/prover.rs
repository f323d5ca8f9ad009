//! The search for the instants that prove the most overhead.

use super::branch::{Overhead, branch_and_bound};
use super::closure::{Closure, Cut, Decision};
use super::dual::{Dual, Question, best_prices};
use super::ids::ActionId;
use super::instant::Instant;
use super::options::BoundOptions;
use super::price::Price;
use super::relaxed::Relaxed;
use std::cmp::Reverse;
use std::rc::Rc;

/// A proven overhead, and the instants that it is proven at.
#[derive(Default)]
pub(super) struct Proof {
    /// Scaled time.
    pub(super) overhead: u64,
    /// The actions whose first runs they are, in topological order.
    pub(super) instants: Vec<ActionId>,
    /// Their prices.
    pub(super) prices: Vec<Price>,
    /// The cheapest solution seen that satisfies them.
    fits: Option<Rc<Cut>>,
}

/// The budget cannot be met.
pub(super) struct Infeasible;

/// Looks for proofs within one budget.
pub(super) struct Prover<'a> {
    relaxed: &'a Relaxed,
    budget: u64,
    options: &'a BoundOptions,
    /// First runs that need more than the budget without recomputation, most first.
    candidates: Vec<ActionId>,
    best: Proof,
}

impl<'a> Prover<'a> {
    /// `ranked`: first runs by the bytes that they need without recomputation, most first.
    pub(super) fn new(
        relaxed: &'a Relaxed,
        ranked: &[(u64, ActionId)],
        budget: u64,
        options: &'a BoundOptions,
    ) -> Self {
        let count = options.instants.min((options.cut_visits / relaxed.size()).max(1));
        let tight = ranked.iter().take_while(|(bytes, _)| *bytes > budget);
        let candidates = tight.map(|&(_, action)| action).take(count).collect();
        Self { relaxed, budget, options, candidates, best: Proof::default() }
    }

    /// The best proof found.
    pub(super) fn prove(mut self) -> Result<Proof, Infeasible> {
        let singles = self.single_instants()?;
        for (_, action, prices) in singles.into_iter().take(self.options.branched_instants) {
            self.branch(vec![action], Some(&prices))?;
        }
        while self.best.instants.len() < self.options.joined_instants {
            let before = self.best.instants.len();
            match self.most_violated()? {
                Some(action) => {
                    let mut instants = self.best.instants.clone();
                    instants.push(action);
                    instants.sort_unstable();
                    self.branch(instants, None)?;
                }
                None => break,
            }
            if self.best.instants.len() == before {
                break;
            }
        }
        Ok(self.best)
    }

    fn closure(&self, actions: &[ActionId]) -> Closure {
        let first_run = |&action: &ActionId| Instant::first_run(self.relaxed, action);
        Closure::new(self.relaxed, &actions.iter().map(first_run).collect::<Vec<_>>())
    }

    /// The dual bound of one closure problem.
    fn dual(
        &self,
        closure: &mut Closure,
        hint: Option<&[Price]>,
        hopeless_below: u64,
    ) -> Result<(u64, Vec<Price>), Infeasible> {
        let left = closure.held.iter().map(|&held| self.budget.checked_sub(held));
        let capacities: Vec<u64> = left.collect::<Option<_>>().ok_or(Infeasible)?;
        let decisions = vec![Decision::Open; closure.keeps.len()];
        let question = Question {
            closure,
            decisions: &decisions,
            capacities: &capacities,
            pool: Vec::new(),
            hint,
            hopeless_below,
        };
        match best_prices(question) {
            Dual::Infeasible => Err(Infeasible),
            Dual::Bound(best) => Ok((best.bound, best.prices)),
        }
    }

    /// Dual bounds at every candidate, best first.
    fn single_instants(&mut self) -> Result<Vec<(u64, ActionId, Vec<Price>)>, Infeasible> {
        let mut found: Vec<(u64, ActionId, Vec<Price>)> = Vec::new();
        let mut best: Option<(u64, Vec<Price>)> = None;
        for &action in &self.candidates {
            let hint = best.as_ref().map(|(_, prices)| &prices[..]);
            let hopeless_below = best.as_ref().map_or(0, |(bound, _)| *bound);
            let (bound, prices) = self.dual(&mut self.closure(&[action]), hint, hopeless_below)?;
            if bound > hopeless_below {
                best = Some((bound, prices.clone()));
            }
            found.push((bound, action, prices));
        }
        found.sort_by_key(|&(bound, action, _)| (Reverse(bound), action));
        Ok(found)
    }

    /// Tries for a better proof at the given instants together.
    fn branch(&mut self, actions: Vec<ActionId>, hint: Option<&[Price]>) -> Result<(), Infeasible> {
        let nodes = self.options.branch_nodes.min(self.options.cut_visits / self.relaxed.size());
        let mut closure = self.closure(&actions);
        match branch_and_bound(&mut closure, self.budget, hint, nodes) {
            Overhead::Infeasible => return Err(Infeasible),
            Overhead::AtLeast(found) if found.bound > self.best.overhead => {
                self.best = Proof {
                    overhead: found.bound,
                    instants: actions,
                    prices: found.prices,
                    fits: found.fits,
                };
            }
            Overhead::AtLeast(_) => {}
        }
        Ok(())
    }

    /// The instant at which the recomputations that satisfy the best proof's
    /// instants need most besides.
    fn most_violated(&self) -> Result<Option<ActionId>, Infeasible> {
        let Some(fits) = &self.best.fits else { return Ok(None) };
        let mut free = vec![false; self.relaxed.actions.len()];
        fits.again.iter().for_each(|a| free[a.index()] = true);
        let mut best: Option<(u64, ActionId)> = None;
        for &action in &self.candidates {
            let instant = Instant::first_run(self.relaxed, action);
            let comparable = |a: &ActionId| instant.before[a.index()] || instant.after[a.index()];
            if self.best.instants.contains(&action) || !self.best.instants.iter().all(comparable) {
                continue;
            }
            let mut closure = Closure::new(self.relaxed, &[instant]);
            closure.uncharge(&free);
            let least = best.map_or(1, |(bound, _)| bound);
            let (bound, _) = self.dual(&mut closure, None, least)?;
            if best.is_none_or(|(least, _)| bound > least) && bound > 0 {
                best = Some((bound, action));
            }
        }
        Ok(best.map(|(_, action)| action))
    }
}
