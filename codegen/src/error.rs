//! What can go wrong while kernels are compiled.

use thiserror::Error;

/// A failure of the code generator. Kernels that have no fast path are no
/// failure: they compile to `None`.
#[derive(Debug, Error)]
pub enum CodegenError {
    /// MLIR refused the text of the kernels: a bug of the emitter.
    #[error("internal: MLIR does not accept the kernels: {message}")]
    Invalid {
        /// What MLIR said.
        message: String,
    },
    /// A lowering pass failed: a bug of the emitter or of MLIR.
    #[error("internal: lowering to LLVM failed: {message}")]
    Lowering {
        /// What MLIR said.
        message: String,
    },
    /// LLVM failed to optimise or to write object code.
    #[error("LLVM: {message}")]
    Llvm {
        /// What LLVM said.
        message: String,
    },
    /// The host is none that LLVM has code for.
    #[error("no LLVM target for this host: {message}")]
    Target {
        /// What LLVM said.
        message: String,
    },
    /// The linker is not installed or failed.
    #[error("linking with {linker} failed: {message}")]
    Link {
        /// The program that was run.
        linker: &'static str,
        /// What it said, or why it did not start.
        message: String,
    },
    /// A temporary file could not be written or read.
    #[error("temporary file: {0}")]
    Io(#[from] std::io::Error),
}
