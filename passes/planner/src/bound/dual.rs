//! The best price: a lower bound on a closure problem with its capacity.
//!
//! For a price λ the cut's value minus λ × capacity is a lower bound; over λ
//! it is concave and piecewise linear, each solution of the closure problem
//! being a line `time + λ (bytes − capacity)` above it. Newton's method on two
//! lines, one of a solution that fits and one of one that does not, reaches
//! the top in a few cuts (Dinkelbach 1967; Gallo, Grigoriadis, Tarjan 1989).

use super::closure::{Closure, Cut, Decision, Price};

/// Cuts after which the search for the best price stops. Newton's method needs
/// about ten at most on the graphs in `tools/bench`; the limit only guards against slow tails.
const MAX_CUTS: usize = 24;

/// What the search for the best price found.
#[derive(Clone, Debug)]
pub(super) enum Dual {
    /// No choice fits the capacity.
    Infeasible,
    /// A bound.
    Bound(Best),
}

/// A bound with its price and the two solutions that meet there.
#[derive(Clone, Debug)]
pub(super) struct Best {
    /// Scaled time of overhead, proven.
    pub(super) bound: u64,
    /// The price that gives the bound.
    pub(super) price: Price,
    /// A solution that fits the capacity.
    pub(super) fits: Option<Cut>,
    /// A cheaper solution that does not.
    pub(super) exceeds: Option<Cut>,
}

/// Finds the best price for `closure` with `capacity` bytes left for what is
/// not decided. `hint` is tried first; the search stops early when it is
/// certain that no price reaches `hopeless_below`.
pub(super) fn best_price(
    closure: &mut Closure,
    decisions: &[Decision],
    capacity: u64,
    hint: Option<Price>,
    hopeless_below: u64,
) -> Dual {
    let mut search = Search { capacity, best: (0, Price(0)), fits: None, exceeds: None };
    // Price 0: keep all that is needed.
    match closure.cut(Price(0), decisions) {
        None => return Dual::Infeasible,
        Some(cut) => search.add(cut, Price(0)),
    }
    if search.fits.is_none() {
        match closure.fewest_bytes(decisions) {
            None => return Dual::Infeasible,
            Some(bytes) if bytes > capacity => return Dual::Infeasible,
            Some(_) => {}
        }
    }
    let mut next = hint.filter(|_| search.fits.is_none());
    for _ in 0..MAX_CUTS {
        let Some(price) = next.take().or_else(|| search.next_price()) else { break };
        if search.limit() < hopeless_below {
            break;
        }
        let Some(cut) = closure.cut(price, decisions) else { return Dual::Infeasible };
        let before = search.limit();
        search.add(cut, price);
        if search.fits.is_some() && search.exceeds.is_some() && search.limit() >= before {
            break;
        }
    }
    Dual::Bound(Best {
        bound: search.best.0,
        price: search.best.1,
        fits: search.fits,
        exceeds: search.exceeds,
    })
}

struct Search {
    capacity: u64,
    best: (u64, Price),
    fits: Option<Cut>,
    exceeds: Option<Cut>,
}

impl Search {
    fn add(&mut self, cut: Cut, price: Price) {
        let paid = price.ceil(self.capacity);
        let bound = paid.map_or(0, |paid| cut.value.saturating_sub(paid));
        if bound > self.best.0 {
            self.best = (bound, price);
        }
        let side = if cut.bytes <= self.capacity { &mut self.fits } else { &mut self.exceeds };
        *side = Some(cut);
    }

    /// Where the two lines meet; without a solution that fits, a price well
    /// above the last.
    fn next_price(&self) -> Option<Price> {
        match (&self.fits, &self.exceeds) {
            (Some(fits), Some(exceeds)) if fits.time > exceeds.time => {
                Some(Price::at(fits.time - exceeds.time, exceeds.bytes - fits.bytes))
            }
            (None, Some(exceeds)) => {
                // The line's value at the best price seen doubles its weight.
                let over = exceeds.bytes - self.capacity;
                let doubled = Price(self.best.1.0.saturating_mul(4));
                Some(doubled.max(Price::at(exceeds.time.max(1 << 20), over)))
            }
            _ => None,
        }
    }

    /// The value of the two lines where they meet, rounded up.
    fn limit(&self) -> u64 {
        let (Some(fits), Some(exceeds)) = (&self.fits, &self.exceeds) else {
            return self.fits.as_ref().map_or(u64::MAX, |fits| fits.time);
        };
        let rise = u128::from(fits.time.saturating_sub(exceeds.time));
        let over = u128::from(exceeds.bytes - self.capacity);
        let step = u128::from(exceeds.bytes - fits.bytes);
        let value = u128::from(exceeds.time) + (rise * over).div_ceil(step);
        u64::try_from(value).unwrap_or(u64::MAX)
    }
}
