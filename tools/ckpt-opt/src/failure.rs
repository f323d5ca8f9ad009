//! What can end a command, and its exit code.

use ckpt_planner::Bytes;
use std::path::PathBuf;

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The input is not valid.
    #[error("{path}: {message}")]
    Invalid {
        /// The file as named by the user.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The budget cannot be met by any plan that was found.
    #[error(
        "budget {budget} cannot be met: the smallest peak found is {smallest}, no plan can need less than {bound}"
    )]
    Unmet {
        /// The budget.
        budget: Bytes,
        /// The smallest peak of any plan found.
        smallest: Bytes,
        /// Proven: no legal plan has a smaller peak.
        bound: Bytes,
    },
    /// The result contradicts itself: a defect of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Failure {
    /// The exit code that the command-line contract gives this outcome.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Invalid { .. } | Self::Io { .. } => 1,
            Self::Unmet { .. } => 5,
            Self::Internal(_) => 70,
        }
    }
}
