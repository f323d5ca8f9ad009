//! The e-graph: other ways to obtain the values of a block.
//!
//! - **Computes** equalities between the block's values and new operations, by
//!   equality saturation (Willsey et al. 2021) over the table of rules in
//!   [`rules`], and applies those that no plan would do without: where a buffer
//!   gives way to a computation that every reader can do itself, for less
//!   memory and less time.
//! - **Requires** a normalised block.
//! - **Guarantees** that every replaced value is bitwise equal, by a named rule
//!   of class [`rules::Class::Bitwise`] ([`Replacement`]), which the checker replays.
//! - **Complexity** linear in the block per iteration.
//! - **Limits** [`MAX_ITERATIONS`], [`MAX_NODES_PER_OP`]: counts, never seconds,
//!   so that plans are the same on every machine.
//!
//! Duplication does not live here: an e-graph merges a clone with its original.
//! Whether an operation may be recomputed is a property of the operation that
//! is chosen, not of its class.

mod backward;
mod build;
mod extract;
mod language;
pub mod rules;

pub use backward::{Passes, improve_backward};
pub use extract::{Replacement, improve};
pub use language::{ClassFacts, Facts, Signature, SignatureId, TensorGraph, TensorNode};

/// Iterations of saturation. The rules of the table feed each other at most
/// twice on the training steps of the project's corpus.
pub const MAX_ITERATIONS: usize = 8;

/// Nodes that saturation may reach, per operation of the block. Bitwise rules
/// add under a tenth (see the ablation in `RELIABILITY.md`).
pub const MAX_NODES_PER_OP: usize = 4;
