//! A proven lower bound on the time within a budget.

use super::branch::{Overhead, branch_and_bound};
use super::closure::{Closure, Decision, PRICE_SHIFT, Price};
use super::dual::{Dual, best_price};
use super::ids::ActionId;
use super::instant::Instant;
use super::peak::{PeakBound, peak_bound_of};
use super::relaxed::Relaxed;
use crate::{Bytes, DerivationId, Micros, Problem, ValueId};

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
    /// Recomputation that is unavoidable after one instant.
    Instant {
        /// The instant: during the first run of this derivation.
        during: DerivationId,
        /// Recomputation after it, proven.
        overhead: Micros,
        /// The dual price: time that one more byte of budget would save.
        micros_per_byte: f64,
        /// Values whose storage is held there in every plan.
        held: Vec<ValueId>,
        /// Its bytes, workspace included.
        held_bytes: Bytes,
    },
    /// No legal plan fits the budget.
    Infeasible(PeakBound),
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
        return TimeBound {
            lower_bound: Micros(f64::INFINITY),
            certificate: Certificate::Infeasible(peak),
        };
    }
    let found = best_instant(&relaxed, budget.0, options);
    certify(&relaxed, &found)
}

struct Found {
    overhead: u64,
    instant: Option<(ActionId, Price)>,
    infeasible: bool,
}

/// Work per instant in units of `cut_visits`.
fn size(relaxed: &Relaxed) -> usize {
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

fn best_instant(relaxed: &Relaxed, budget: u64, options: &BoundOptions) -> Found {
    let mut found = Found { overhead: 0, instant: None, infeasible: false };
    let size = size(relaxed);
    let count = options.instants.min((options.cut_visits / size).max(1));
    let mut by_bound: Vec<(u64, ActionId, Price)> = Vec::new();
    let mut hint = None;
    let ranked = ranked_instants(relaxed, options.ranking_visits);
    for &(_, action) in ranked.iter().take_while(|(bytes, _)| *bytes > budget).take(count) {
        let mut closure = Closure::new(relaxed, &Instant::first_run(relaxed, action));
        let open = vec![Decision::Open; closure.stores.len()];
        let Some(capacity) = budget.checked_sub(closure.held) else {
            found.infeasible = true;
            return found;
        };
        match best_price(&mut closure, &open, capacity, hint, found.overhead) {
            Dual::Infeasible => {
                found.infeasible = true;
                return found;
            }
            Dual::Bound(best) => {
                by_bound.push((best.bound, action, best.price));
                if best.bound > found.overhead {
                    found.overhead = best.bound;
                    found.instant = Some((action, best.price));
                    hint = Some(best.price);
                }
            }
        }
    }
    by_bound.sort_unstable_by_key(|&(bound, action, _)| (std::cmp::Reverse(bound), action));
    let nodes = options.branch_nodes.min(options.cut_visits / size);
    for &(_, action, price) in by_bound.iter().take(options.branched_instants) {
        let mut closure = Closure::new(relaxed, &Instant::first_run(relaxed, action));
        match branch_and_bound(&mut closure, budget, Some(price), nodes, u64::MAX) {
            Overhead::Infeasible => found.infeasible = true,
            Overhead::AtLeast(overhead, price) if overhead > found.overhead => {
                found.overhead = overhead;
                found.instant = Some((action, price));
            }
            Overhead::AtLeast(..) => {}
        }
    }
    found
}

/// Scaled time in microseconds, rounded down.
fn micros(relaxed: &Relaxed, scaled: u64) -> Micros {
    // Below 2^53 and divided by a power of two: exact.
    Micros(scaled as f64 / relaxed.scale)
}

fn certify(relaxed: &Relaxed, found: &Found) -> TimeBound {
    if found.infeasible {
        let peak = peak_bound_of(relaxed, &BoundOptions::default());
        return TimeBound {
            lower_bound: Micros(f64::INFINITY),
            certificate: Certificate::Infeasible(peak),
        };
    }
    let lower_bound = micros(relaxed, relaxed.base_time + found.overhead);
    let Some((action, price)) = found.instant else {
        return TimeBound { lower_bound, certificate: Certificate::BaseTime };
    };
    let closure = Closure::new(relaxed, &Instant::first_run(relaxed, action));
    let live = Instant::first_run(relaxed, action).live;
    let stores = live.iter().chain(&closure.must_keep);
    let mut held: Vec<ValueId> = stores.map(|&s| relaxed.store(s).value).collect();
    held.sort_unstable();
    TimeBound {
        lower_bound,
        certificate: Certificate::Instant {
            during: relaxed.action(action).derivation,
            overhead: micros(relaxed, found.overhead),
            micros_per_byte: price.0 as f64 / (1u64 << PRICE_SHIFT) as f64 / relaxed.scale,
            held,
            held_bytes: Bytes(closure.held),
        },
    }
}
