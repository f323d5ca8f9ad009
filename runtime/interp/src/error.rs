//! What can end an evaluation.

use ckpt_ir::OpId;

/// Why an operation was not evaluated, without its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The program is valid, the evaluator does not cover it.
    #[error("not supported by the reference evaluator: {0}")]
    Unsupported(&'static str),
    /// Operands or attributes contradict the specification.
    #[error("invalid: {0}")]
    InvalidArgument(&'static str),
    /// One of the program's own checks failed.
    #[error("check failed at index {index:?}: got {got}, expected {expected}")]
    CheckFailed {
        /// Where the first difference is.
        index: Vec<usize>,
        /// The value there.
        got: String,
        /// The value that the program expects.
        expected: String,
    },
    /// A documented limit is exceeded.
    #[error("limit exceeded: {0}")]
    LimitExceeded(&'static str),
    /// Processes wait for one another, or for data that nobody sends.
    #[error("the processes wait for one another forever")]
    Deadlock,
}

/// A fault with the operation that it happened at.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{op}: {fault}")]
pub struct EvalError {
    /// The operation.
    pub op: OpId,
    /// What is wrong.
    pub fault: Fault,
}

/// What the evaluation of an operation yields.
pub(crate) type Outcome<T> = Result<T, Fault>;

/// An invalid operand or attribute.
pub(crate) fn invalid<T>(why: &'static str) -> Outcome<T> {
    Err(Fault::InvalidArgument(why))
}

/// Something that is not covered.
pub(crate) fn unsupported<T>(what: &'static str) -> Outcome<T> {
    Err(Fault::Unsupported(what))
}
