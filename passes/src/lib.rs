//! Normalisation, analyses, e-graph, rematerialisation and its application.

pub mod clone;
pub mod cost;
pub mod egraph;
mod error;
pub mod fusion;
pub mod loops;
pub mod manager;
pub mod normalise;
pub mod phase;
pub mod pipeline;
mod policy;
pub mod remat;
pub mod report;

pub use ckpt_planner::Effort;
pub use error::PassError;
pub use policy::{Policy, PolicyError, Size};
