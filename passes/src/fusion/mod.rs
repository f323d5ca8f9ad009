//! Fusion: which values of a block become buffers, and which are computed
//! inside the kernels that read them.
//!
//! - **Computes** a [`Role`] for every value of a block: *roots* are buffers,
//!   made by one kernel each; *virtual* values are recomputed inside every
//!   kernel that needs them and have no bytes. A kernel is a root operation with
//!   the virtual operations between it and the roots it reads ([`Cone`]).
//! - **Requires** a normalised block of static shapes.
//! - **Guarantees** that operands which a kernel must find in memory (of dots,
//!   convolutions, scatters, loops…) are roots or strided views of roots, and
//!   that every result of the block is a root or a view of one.
//! - **Complexity** linear in the block times [`CLASSIFY_ROUNDS`].
//! - **Limits** [`MAX_CONE_OPS`], [`MAX_CONE_INPUTS`], [`MAX_VIRTUAL_FLOPS`].
//!
//! The rule for a fusible value: one consuming kernel: fuse. Several: fuse into
//! each of them if that makes them read no more bytes than the value itself has
//! (a *narrow* cone) and costs few operations per element; otherwise it is a
//! root. One analysis, shared by the memory model, the planner and the lowering.

mod cone;
mod roles;
mod strided;

pub use cone::Cone;
pub use roles::{Role, Roles, classify, is_fusible, is_recomputable, kind_is_fusible};
pub use strided::is_strided_view;

/// Rounds of classification. Each round can only turn roots into virtual
/// values where an earlier round found fewer consuming kernels; on the training
/// steps in the project's corpus nothing changes after the third.
pub const CLASSIFY_ROUNDS: usize = 3;

/// Operations fused into one kernel; a longer chain is cut by a root. GPU
/// compilers stop between 100 and 1000; the value is from there, not measured.
pub const MAX_CONE_OPS: usize = 256;

/// Buffers that one kernel reads; beyond, registers for pointers run out.
pub const MAX_CONE_INPUTS: usize = 24;

/// Operations per element that a value with several consuming kernels may cost
/// and still be computed in each of them: a tanh-GELU with its derivative has
/// about 60.
pub const MAX_VIRTUAL_FLOPS: u64 = 72;
