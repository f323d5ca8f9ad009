//! A proven lower bound on the time within a budget.

use super::candidates;
use super::closure::Closure;
use super::ids::ActionId;
use super::instant::Instant;
use super::options::BoundOptions;
use super::peak::{PeakBound, peak_bound_of};
use super::prover::{Infeasible, Proof, Prover};
use super::relaxed::Relaxed;
use crate::{Bytes, DerivationId, Micros, Problem, ValueId};

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
/// most `budget`, with the default [`BoundOptions`]. For several budgets of one
/// problem, [`Bounds`] shares what does not depend on the budget.
#[must_use]
pub fn time_bound(problem: &Problem, budget: Bytes) -> TimeBound {
    Bounds::new(problem, BoundOptions::default()).time(budget)
}

/// The bounds of one problem, for any number of budgets.
///
/// ```
/// use ckpt_planner::{BoundOptions, Bounds, Bytes, graph_file::read_graph};
/// // `a` is needed at both ends of a chain: a, b, c, d(a, c).
/// let graph = read_graph(br#"{"format":"ckpt-graph/1","name":"g","nodes":[
///   {"name":"a","time":3,"bytes":[4]}, {"name":"b","time":1,"bytes":[4],"inputs":[[0,0]]},
///   {"name":"c","time":1,"bytes":[9],"inputs":[[1,0]]},
///   {"name":"d","time":1,"bytes":[1],"inputs":[[0,0],[2,0]]}],
///   "outputs":[[3,0]],"order":[0,1,2,3]}"#).unwrap();
/// let bounds = Bounds::new(&graph.problem, BoundOptions::default());
/// assert_eq!(bounds.peak().bytes, Bytes(14)); // while d runs
/// assert_eq!(bounds.time(Bytes(17)).lower_bound.0, 6.0); // all kept
/// assert_eq!(bounds.time(Bytes(16)).lower_bound.0, 9.0); // a, b and c do not fit
/// assert!(bounds.time(Bytes(13)).lower_bound.0.is_infinite());
/// ```
#[derive(Debug)]
pub struct Bounds {
    relaxed: Relaxed,
    options: BoundOptions,
    /// First runs by the bytes that they need without recomputation, most first.
    ranked: Vec<(u64, ActionId)>,
    peak: PeakBound,
}

impl Bounds {
    /// Does what does not depend on the budget. O(instants × size) time.
    #[must_use]
    pub fn new(problem: &Problem, options: BoundOptions) -> Self {
        let relaxed = Relaxed::new(problem);
        let ranked = candidates::ranked(&relaxed, options.ranking_visits);
        let peak = peak_bound_of(&relaxed, &ranked, &options);
        Self { relaxed, options, ranked, peak }
    }

    /// A lower bound on the peak of any legal plan.
    #[must_use]
    pub fn peak(&self) -> &PeakBound {
        &self.peak
    }

    /// A lower bound on the time of any legal plan whose peak is at most `budget`.
    #[must_use]
    pub fn time(&self, budget: Bytes) -> TimeBound {
        let infeasible = |peak| TimeBound {
            lower_bound: Micros(f64::INFINITY),
            certificate: Certificate::Infeasible(peak),
        };
        if self.peak.bytes > budget {
            return infeasible(self.peak.clone());
        }
        match Prover::new(&self.relaxed, &self.ranked, budget.0, &self.options).prove() {
            Ok(proof) => TimeBound {
                lower_bound: micros(&self.relaxed, self.relaxed.base_time + proof.overhead),
                certificate: certificate(&self.relaxed, &proof),
            },
            // No choice of what to keep fits: every peak is above the budget.
            Err(Infeasible) => infeasible(PeakBound { bytes: Bytes(budget.0 + 1), ..self.peak.clone() }),
        }
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
    let instants: Vec<Instant> = proof.instants.iter().map(|&a| Instant::first_run(relaxed, a)).collect();
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
