//! The abstract rematerialisation problem and its plans.
//!
//! A [`Problem`] is an AND-OR graph: *values* with sizes, and *derivations*
//! that compute values from other values at a cost. Several derivations may
//! yield the same value. A [`Plan`] is a sequence of steps "compute by this
//! derivation" and "free this value"; [`replay()`] is the definition of what a
//! plan costs and whether it is legal. Nothing here knows of any IR:
//! `ckpt-graph/1` and `ckpt-plan/1` ([`graph_file`]) are the file formats, so
//! the planner can be used and judged alone.

mod bound;
mod effort;
pub mod graph_file;
mod ids;
mod pareto;
mod plan;
mod problem;
mod replay;
mod search;
mod solve;
#[cfg(test)]
mod testing;

pub use bound::{
    BoundOptions, Bounds, Certificate, PeakBound, TimeBound, Witness, peak_bound, peak_floor, time_bound,
};
pub use ckpt_entity::{Bytes, Micros};
pub use effort::Effort;
pub use ids::{DerivationId, ValueId};
pub use pareto::{ParetoPoint, pareto};
pub use plan::{Plan, Step};
pub use problem::{Derivation, Problem, ProblemError, Value};
pub use replay::{Replay, ReplayError, replay};
pub use solve::{Goal, Outcome, Solution, Unmet, solve};
