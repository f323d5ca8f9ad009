//! Rematerialisation: from a normalised block to a planner problem, and from
//! a plan back to a block.
//!
//! - [`problem`] states the block as values and derivations: one value per
//!   buffer, one derivation per kernel that can make it;
//! - the planner decides;
//! - [`apply`] turns the plan into operations, with clones behind barriers.

pub mod apply;
pub mod keep;
pub mod kernel;
pub mod nested;
pub mod order;
pub mod partition;
pub mod problem;
