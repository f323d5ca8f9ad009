//! Proven lower bounds: on the peak of any legal plan, and on the time of any
//! legal plan within a budget.
//!
//! Both hold for every plan that [`replay()`](crate::replay()) accepts: any
//! order of first runs, any number of recomputations, any choice of
//! derivations. The steps:
//!
//! 1. [`relaxed`]: one derivation per value, no views, only what every plan runs.
//! 2. [`instant`]: points that every plan passes, such as the first run of an action.
//! 3. [`closure`]: what is needed after an instant is kept, within the budget,
//!    or computed again. A price per byte makes this a minimum cut ([`flow`]).
//! 4. [`dual`]: the best price; [`branch`]: kept or not, never half.
//! 5. [`time`] and [`peak`] choose the instants.
//!
//! All arithmetic is on integers, times rounded down and payments up, so the
//! bound is never above the truth by rounding.

mod branch;
mod candidates;
mod choice;
mod closure;
mod dual;
mod flow;
mod history;
mod ids;
mod instant;
mod keep_sets;
mod network;
mod options;
mod peak;
mod planes;
mod price;
mod prover;
mod relax;
mod relaxed;
#[cfg(test)]
mod tests;
mod time;

pub(crate) use keep_sets::KeepSets;
pub use options::BoundOptions;
pub use peak::{PeakBound, peak_bound, peak_floor};
pub use time::{Bounds, Certificate, TimeBound, Witness, time_bound};
