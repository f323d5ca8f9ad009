//! Kernels: from fused StableHLO operations through MLIR and LLVM to object code.
//!
//! The fusion analysis of `ckpt-passes` says which operations run as one
//! kernel. [`kernels::compile`] turns a list of such kernels into one shared
//! library of plain C functions:
//!
//! 1. `emit` writes each kernel as MLIR text: structured loops over one
//!    index space, the arithmetic of all fused operations in the innermost one.
//!    Kernels that come out as the same text are compiled once.
//! 2. `index` does the index arithmetic: views, transposes, slices and
//!    broadcasts become affine offsets and cost nothing at run time.
//! 3. The back end lowers the text to the LLVM dialect, lets LLVM vectorise it for the
//!    host, and links one object file.
//!
//! Every operation is rounded to its type, in the same way wherever it is
//! fused: no contraction, no reassociation, no fast-math flags.

mod backend;
mod emit;
mod error;
mod index;
pub mod kernels;

pub use error::CodegenError;
