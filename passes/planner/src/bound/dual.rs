//! The best prices: a lower bound on a closure problem with its capacities.
//!
//! For given prices the cut's value minus Σ price × capacity is a lower bound.
//! Over the prices it is concave and piecewise linear; Kelley's cutting planes
//! (1960) find its top: each cut adds a plane to a model, whose top says where
//! to cut next. With one price this is Newton's method (Dinkelbach 1967).
//!
//! Prices are chosen in floating point; the bound is computed from them in
//! integers.

use super::closure::{Closure, Cut, Decision};
use super::planes::{Plane, top};
use super::price::Price;
use std::rc::Rc;

/// Cuts after which the search for the best prices stops, per instant. Newton's
/// method takes ten at most on the graphs that `tools/bench` runs on.
const MAX_CUTS: usize = 24;

/// What the search for the best prices found.
#[derive(Clone, Debug)]
pub(super) enum Dual {
    /// No choice fits the capacities.
    Infeasible,
    /// A bound.
    Bound(Best),
}

/// A bound and the solutions seen on the way.
#[derive(Clone, Debug)]
pub(super) struct Best {
    /// Scaled time of overhead, proven.
    pub(super) bound: u64,
    /// The prices that give it.
    pub(super) prices: Vec<Price>,
    /// Solutions seen, those of the caller first.
    pub(super) pool: Vec<Rc<Cut>>,
}

/// A closure problem with capacities and what is decided.
pub(super) struct Question<'a> {
    /// The problem.
    pub(super) closure: &'a mut Closure,
    /// Per keep arc.
    pub(super) decisions: &'a [Decision],
    /// Per instant the bytes for everything kept, what is decided included.
    pub(super) capacities: &'a [u64],
    /// Solutions known to satisfy the decisions.
    pub(super) pool: Vec<Rc<Cut>>,
    /// Prices to try first.
    pub(super) hint: Option<&'a [Price]>,
    /// The search stops when no price can reach this.
    pub(super) hopeless_below: u64,
}

/// Finds the best prices.
pub(super) fn best_prices(question: Question<'_>) -> Dual {
    let Question { closure, decisions, capacities, pool, hint, hopeless_below } = question;
    let kept: Vec<bool> = decisions.iter().map(|d| *d == Decision::Kept).collect();
    let decided = closure.kept_bytes(&kept);
    let mut left = Vec::new();
    for (capacity, decided) in capacities.iter().zip(decided) {
        let Some(rest) = capacity.checked_sub(decided) else { return Dual::Infeasible };
        left.push(rest);
    }
    let mut search = Search {
        closure,
        decisions,
        capacities,
        left,
        planes: Vec::new(),
        best: Best { bound: 0, prices: vec![Price::default(); capacities.len()], pool: Vec::new() },
    };
    for cut in pool {
        search.know(cut);
    }
    if !search.prepare(hint) {
        return Dual::Infeasible;
    }
    search.climb(hopeless_below)
}

struct Search<'a> {
    closure: &'a mut Closure,
    decisions: &'a [Decision],
    capacities: &'a [u64],
    /// Capacities less what is decided to be kept.
    left: Vec<u64>,
    planes: Vec<Plane>,
    best: Best,
}

impl Search<'_> {
    fn know(&mut self, cut: Rc<Cut>) {
        let bytes = self.closure.kept_bytes(&cut.kept);
        let excess = bytes.iter().zip(self.capacities).map(|(b, c)| *b as f64 - *c as f64);
        self.planes.push(Plane { time: cut.time as f64, excess: excess.collect() });
        self.best.pool.push(cut);
    }

    /// With nothing known: keep all, then as little as can be, then the hint.
    /// False if there is no solution.
    fn prepare(&mut self, hint: Option<&[Price]>) -> bool {
        let count = self.capacities.len();
        if self.best.pool.is_empty() {
            if !self.cut_at(&vec![Price::default(); count]) {
                return false;
            }
            let excess = self.planes.iter().flat_map(|plane| &plane.excess);
            if excess.into_iter().all(|excess| *excess <= 0.0) {
                return true;
            }
            let dearest = self.closure.dearest_price();
            if !self.cut_at(&vec![dearest; count]) {
                return false;
            }
        }
        hint.is_none_or(|hint| self.cut_at(hint))
    }

    /// Cuts at the prices, notes the bound and the plane; false if there is no solution.
    fn cut_at(&mut self, prices: &[Price]) -> bool {
        let Some((value, cut)) = self.closure.cut(prices, self.decisions) else { return false };
        let paid = prices
            .iter()
            .zip(&self.left)
            .try_fold(0u64, |sum, (price, &bytes)| sum.checked_add(price.ceil(bytes)?));
        let bound = paid.map_or(0, |paid| value.saturating_sub(paid));
        if bound > self.best.bound {
            self.best.bound = bound;
            self.best.prices = prices.to_vec();
        }
        self.know(Rc::new(cut));
        true
    }

    fn climb(mut self, hopeless_below: u64) -> Dual {
        let ceiling = self.closure.total_time;
        // Nothing kept, at a penalty above all time: bounds the model's prices.
        let excess = self.capacities.iter().map(|&c| -(c.max(1) as f64)).collect();
        let nothing = Plane { time: 2.0 * ceiling as f64 + 1.0, excess };
        for _ in 0..MAX_CUTS * self.capacities.len() {
            let (height, prices) = top(&nothing, &self.planes);
            // Rounding of prices loses up to a unit per keep arc.
            let rounding = self.closure.keeps.len() as f64 + 2.0;
            if height < hopeless_below as f64 || height <= self.best.bound as f64 + rounding {
                break;
            }
            let prices: Vec<Price> = prices.into_iter().map(Price::new).collect();
            if !self.cut_at(&prices) {
                return Dual::Infeasible;
            }
            if self.best.bound > ceiling {
                return Dual::Infeasible;
            }
        }
        Dual::Bound(self.best)
    }
}
