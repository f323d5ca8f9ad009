//! Normalisation: what every later pass may rely on.
//!
//! - **Computes** an equal module in a simpler form.
//! - **Requires** a verified module.
//! - **Guarantees** that functions reachable from the entry hold no calls
//!   except inside composites, that no two pure operations of a block are
//!   equal (but for the accumulators of scatters), that no pure operation is unused, and that no
//!   `optimization_barrier` is left: the planner decides anew what the barriers
//!   of `jax.checkpoint` had decided.
//! - **Complexity** linear in the module after inlining.
//! - **Limits** [`inline::MAX_INLINED_OPS`].

mod accumulators;
mod cse;
mod dce;
mod fold;
pub mod inline;
mod structure;

pub(crate) use cse::merge_equal;
pub(crate) use dce::remove_unused;
pub(crate) use fold::fold;
pub(crate) use inline::redirect;

use crate::PassError;
use ckpt_ir::Module;

/// What normalisation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormaliseStats {
    /// Calls replaced by the body of their callee.
    pub calls_inlined: usize,
    /// Operations that gave way to an equal one.
    pub merged: usize,
    /// Operations that were the identity, barriers included.
    pub folded: usize,
    /// Operations removed because nothing used them.
    pub removed: usize,
}

/// Normalises `module` in place. With `keep_repeats` what optimisation barriers
/// hold apart is not merged, for reporting on a program as it stands; the
/// barriers go in either case, since a barrier is its operands' own bytes.
///
/// # Errors
/// Recursive calls and programs over the inlining limit.
pub fn normalise(module: &mut Module, keep_repeats: bool) -> Result<NormaliseStats, PassError> {
    let calls_inlined = inline::inline_calls(module)?;
    let mut folded = fold(module, keep_repeats);
    let merged = merge_equal(module);
    if keep_repeats {
        folded += fold(module, false);
    }
    let removed = remove_unused(module);
    accumulators::separate_accumulators(module);
    Ok(NormaliseStats { calls_inlined, merged, folded, removed })
}
