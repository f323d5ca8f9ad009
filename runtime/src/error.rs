//! What can go wrong.

use ckpt_interp::EvalError;
use thiserror::Error;

/// Why bytes are not a program that can run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// The bytes do not start as a program does.
    #[error("this is no program of ckpt-opt")]
    Foreign,
    /// The program is of a version that this runtime does not read.
    #[error("the program has version {found}, this runtime reads {supported}")]
    Version {
        /// The program's version.
        found: u32,
        /// The version that is read.
        supported: u32,
    },
    /// There are fewer bytes than the header says.
    #[error("the program is cut off: {found} of {expected} bytes")]
    Truncated {
        /// Bytes that are there.
        found: u64,
        /// Bytes that the header promises.
        expected: u64,
    },
    /// The bytes are not those that were written.
    #[error("the program is damaged: its checksum differs")]
    Damaged,
    /// The content contradicts itself.
    #[error("the program is not consistent: {0}")]
    Inconsistent(String),
    /// The text of a step is not StableHLO.
    #[error("step '{step}' holds text that cannot be read: {message}")]
    Text {
        /// The step.
        step: String,
        /// What the reader says.
        message: String,
    },
    /// The shared object cannot be loaded or lacks a symbol.
    #[error("the program's kernels cannot be loaded: {0}")]
    Library(String),
    /// The system has no memory of the planned size.
    #[error("no memory for an arena of {bytes} bytes")]
    OutOfMemory {
        /// The arena.
        bytes: u64,
    },
    /// No threads can be started.
    #[error("no threads can be started: {0}")]
    Threads(String),
}

/// Why a run ended without results.
#[derive(Clone, Debug, Error)]
pub enum RunError {
    /// There is no such argument or result.
    #[error("there is no {what} {index}")]
    NoSuch {
        /// `argument` or `result`.
        what: &'static str,
        /// The index asked for.
        index: usize,
    },
    /// Bytes of another length than the argument or result has.
    #[error("{what} {index} has {expected} bytes, not {found}")]
    Length {
        /// `argument` or `result`.
        what: &'static str,
        /// Which.
        index: usize,
        /// Its size.
        expected: u64,
        /// What was given.
        found: u64,
    },
    /// An argument was never given, or was donated to an earlier run.
    #[error("argument {index} holds no value: it was not given since it was last donated")]
    Missing {
        /// Which.
        index: usize,
    },
    /// The reference evaluator refused a step.
    #[error("step '{step}': {error}")]
    Evaluation {
        /// The step.
        step: String,
        /// Place of its operation in the text the program came from.
        place: Option<u32>,
        /// Why.
        error: EvalError,
    },
    /// A step yields something other than the tensors it was compiled for.
    #[error("step '{step}' yields other values than planned")]
    Yield {
        /// The step.
        step: String,
    },
}
