//! A proven lower bound on the time within a budget.

use super::branch::{Overhead, branch_and_bound};
use super::closure::{Closure, Cut, Decision};
use super::dual::{Dual, Question, best_prices};
use super::ids::ActionId;
use super::instant::Instant;
use super::peak::{PeakBound, peak_bound_of};
use super::price::Price;
use super::relaxed::Relaxed;
use crate::{Bytes, DerivationId, Micros, Problem, ValueId};
use std::cmp::Reverse;
use std::rc::Rc;

/// How much work a bound may take. All counts, so that the same problem gives
/// the same bound on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundOptions {
    /// Actions visited while instants are ranked; each instant visits every
    /// action about twice. Default 2^25, below half a second; graphs of up to
    /// 4 000 derivations are ranked whole.
    pub ranking_visits: usize,
    /// Instants for which the best price is sought. Default 64. Fewer on large
    /// graphs: see `cut_visits`.
    pub instants: usize,
    /// Instants times actions for which the best price is sought. Default 2^20.
    pub cut_visits: usize,
    /// Instants at which integrality is sought by branch and bound. Default 4.
    pub branched_instants: usize,
    /// Stores looked at by the search for histories behind the peak bound.
    /// Default 2^22, about half a second.
    pub history_visits: usize,
    /// Instants that one proof may join. Default 4.
    pub joined_instants: usize,
    /// Branch-and-bound nodes per instant. Default 400; fewer on large graphs,
    /// where nodes times actions is at most `cut_visits`.
    pub branch_nodes: usize,
}

impl Default for BoundOptions {
    fn default() -> Self {
        Self {
            ranking_visits: 1 << 25,
            instants: 64,
            cut_visits: 1 << 20,
            branched_instants: 4,
            history_visits: 1 << 22,
            joined_instants: 4,
            branch_nodes: 400,
        }
    }
}

/// A lower bound on the time of any legal plan within a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeBound {
    /// Proven: no legal plan within the budget takes less. Infinite if the
    /// budget cannot be met.
    pub lower_bound: Micros,
    /// Where it comes from.
    pub certificate: Certificate,
}

/// Why a time bound holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Certificate {
    /// Everything must run once.
    BaseTime,
    /// Recomputation that is unavoidable after some instants.
    Instants {
        /// Recomputation after the first of them, proven.
        overhead: Micros,
        /// The instants, in their order in every plan.
        witnesses: Vec<Witness>,
    },
    /// No legal plan fits the budget.
    Infeasible(PeakBound),
}

/// An instant at which the budget binds.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The instant: during the first run of this derivation.
    pub during: DerivationId,
    /// The dual price: about the time that one more byte here would save.
    pub micros_per_byte: f64,
    /// Values whose storage is held here in every plan.
    pub held: Vec<ValueId>,
    /// Its bytes, workspace included.
    pub held_bytes: Bytes,
}

/// A lower bound on the time of any legal plan of `problem` whose peak is at
/// most `budget`, with the default [`BoundOptions`].
#[must_use]
pub fn time_bound(problem: &Problem, budget: Bytes) -> TimeBound {
    time_bound_with(problem, budget, &BoundOptions::default())
}

/// [`time_bound`] with given limits.
#[must_use]
pub fn time_bound_with(problem: &Problem, budget: Bytes, options: &BoundOptions) -> TimeBound {
    let relaxed = Relaxed::new(problem);
    let peak = peak_bound_of(&relaxed, options);
    if peak.bytes > budget {
        return infeasible(peak);
    }
    match Prover::new(&relaxed, budget.0, options).prove() {
        Ok(proof) => TimeBound {
            lower_bound: micros(&relaxed, relaxed.base_time + proof.overhead),
            certificate: certificate(&relaxed, &proof),
        },
        Err(Infeasible) => infeasible(peak),
    }
}

fn infeasible(peak: PeakBound) -> TimeBound {
    TimeBound { lower_bound: Micros(f64::INFINITY), certificate: Certificate::Infeasible(peak) }
}

/// Work per instant in units of `cut_visits`.
pub(super) fn size(relaxed: &Relaxed) -> usize {
    (relaxed.actions.len() + relaxed.stores.len()).max(1)
}

/// Actions by how many bytes their first run needs without recomputation, most first.
pub(super) fn ranked_instants(relaxed: &Relaxed, visits: usize) -> Vec<(u64, ActionId)> {
    let stride = (relaxed.actions.len() * size(relaxed)).div_ceil(visits.max(1)).max(1);
    let mut ranked: Vec<(u64, ActionId)> = relaxed
        .action_ids()
        .step_by(stride)
        .map(|a| (Instant::first_run(relaxed, a).bytes_without_remat(relaxed), a))
        .collect();
    ranked.sort_unstable_by_key(|&(bytes, action)| (std::cmp::Reverse(bytes), action));
    ranked
}

/// A proven overhead, and the instants that it is proven at.
#[derive(Default)]
struct Proof {
    overhead: u64,
    instants: Vec<ActionId>,
    prices: Vec<Price>,
    fits: Option<Rc<Cut>>,
}

/// The budget cannot be met.
struct Infeasible;

struct Prover<'a> {
    relaxed: &'a Relaxed,
    budget: u64,
    options: &'a BoundOptions,
    /// First runs that need more than the budget without recomputation, most first.
    candidates: Vec<ActionId>,
    best: Proof,
}

impl<'a> Prover<'a> {
    fn new(relaxed: &'a Relaxed, budget: u64, options: &'a BoundOptions) -> Self {
        let count = options.instants.min((options.cut_visits / size(relaxed)).max(1));
        let candidates = ranked_instants(relaxed, options.ranking_visits)
            .into_iter()
            .take_while(|&(bytes, _)| bytes > budget)
            .map(|(_, action)| action)
            .take(count)
            .collect();
        Self { relaxed, budget, options, candidates, best: Proof::default() }
    }

    fn prove(mut self) -> Result<Proof, Infeasible> {
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
        let nodes = self.options.branch_nodes.min(self.options.cut_visits / size(self.relaxed));
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

/// Scaled time in microseconds.
fn micros(relaxed: &Relaxed, scaled: u64) -> Micros {
    // Below 2^53 and divided by a power of two: exact.
    Micros(scaled as f64 / relaxed.scale)
}

fn certificate(relaxed: &Relaxed, proof: &Proof) -> Certificate {
    if proof.instants.is_empty() {
        return Certificate::BaseTime;
    }
    let instants: Vec<Instant> =
        proof.instants.iter().map(|&a| Instant::first_run(relaxed, a)).collect();
    let closure = Closure::new(relaxed, &instants);
    let witness = |(at, instant): (usize, &Instant)| {
        let stores = instant.live.iter().chain(&closure.must_keep[at]);
        let mut held: Vec<ValueId> = stores.map(|&s| relaxed.store(s).value).collect();
        held.sort_unstable();
        Witness {
            during: relaxed.action(proof.instants[at]).derivation,
            micros_per_byte: proof.prices[at].per_byte() / relaxed.scale,
            held,
            held_bytes: Bytes(closure.held[at]),
        }
    };
    Certificate::Instants {
        overhead: micros(relaxed, proof.overhead),
        witnesses: instants.iter().enumerate().map(witness).collect(),
    }
}
