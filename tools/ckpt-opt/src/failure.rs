//! What can end a command, and its exit code.

use crate::expectations::Seen;
use ckpt_ir::DiagnosticKind;
use std::path::PathBuf;

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The input is refused, with places.
    #[error("{rendered}")]
    Diagnostics {
        /// The gravest kind among them.
        kind: DiagnosticKind,
        /// `file:line:col: error: …` with lines and carets.
        rendered: String,
        /// The same, one by one.
        seen: Vec<Seen>,
    },
    /// The input is not valid and has no lines.
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
    /// The command line is contradictory.
    #[error("{0}")]
    Usage(String),
    /// The budget cannot be met by any plan that was found.
    #[error("{0}")]
    Unmet(String),
    /// The errors are not those that the text expects: `file:line:col: error: …`.
    #[error("{0}")]
    Unexpected(String),
    /// A check of the program failed: `file:line:col: error: …` with line and caret.
    #[error("{0}")]
    CheckFailed(String),
    /// The result contradicts itself: a defect of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Failure {
    /// The exit code that the command-line contract gives this outcome.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Diagnostics { kind: DiagnosticKind::Unsupported, .. } => 3,
            Self::Diagnostics { kind: DiagnosticKind::Limit, .. } => 4,
            Self::Diagnostics { .. } | Self::Unexpected(_) | Self::Invalid { .. } | Self::Io { .. } => 1,
            Self::Usage(_) => 2,
            Self::Unmet(_) => 5,
            Self::CheckFailed(_) => 6,
            Self::Internal(_) => 70,
        }
    }
}
