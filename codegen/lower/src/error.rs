//! Why a function cannot be lowered.

use ckpt_ir::{OpId, ValueId};
use thiserror::Error;

/// Why a function cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LowerError {
    /// The function has no body.
    #[error("the function has no body")]
    NoBody,
    /// An operation that only a run by one evaluator from start to end can do:
    /// it has state, talks to others, or makes tuples.
    #[error("{op} runs in the reference evaluator only")]
    NeedsEvaluator {
        /// The operation.
        op: OpId,
    },
    /// A value that has no place in memory: its type is no tensor of static sizes.
    #[error("{value} is no tensor of known sizes")]
    NoTensor {
        /// The value.
        value: ValueId,
        /// The operation that needs it.
        op: OpId,
    },
    /// An operation that is not as the verifier demands.
    #[error("{op} is not as it must be: {what}")]
    Malformed {
        /// The operation.
        op: OpId,
        /// What is missing.
        what: &'static str,
    },
    /// The compiler failed, which is a defect.
    #[error("the compiler failed: {0}")]
    Compiler(String),
    /// The memory plan failed its check: a defect.
    #[error("the memory plan is wrong: {0}")]
    Layout(#[from] ckpt_arena::LayoutError),
}
