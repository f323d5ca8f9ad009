//! A schedule of a block: which operations run together as one kernel, in
//! which order.
//!
//! The fusion analysis makes it, the planner prices it, `apply` orders the text
//! by it, the lowering emits it and the checker recomputes its peak: one value
//! that all of them read.

use crate::{BlockId, Module, OpId};
use ckpt_entity::Bytes;
use std::collections::BTreeMap;

/// Operations that run as one: what they hand to each other has no buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The operations, in any order; the block's order decides among them.
    pub ops: Vec<OpId>,
    /// Scratch memory that the kernel needs while it runs, beyond operands and
    /// results and beyond what the regions and callees of its operations hold.
    pub workspace: Bytes,
}

impl Kernel {
    /// A kernel of one operation, without workspace.
    #[must_use]
    pub fn single(op: OpId) -> Self {
        Self { ops: vec![op], workspace: Bytes(0) }
    }
}

/// The kernels of one block, in execution order.
///
/// Every operation of the block but its terminator is in exactly one kernel or
/// is inlined. The order is legal if no kernel reads a value that a later one
/// makes and operations with effects keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPartition {
    /// The block.
    pub block: BlockId,
    /// Its kernels, in execution order.
    pub kernels: Vec<Kernel>,
    /// Operations without effects that are computed inside whatever kernel reads
    /// them: they have no buffer, run as no step, and hold their operands until
    /// they are read for the last time.
    pub inlined: Vec<OpId>,
    /// Updates that write into the buffer of their first operand, a carried
    /// value of the loop whose body this is, and have no buffer of their own.
    pub in_place: Vec<OpId>,
    /// Schedules of the blocks inside `while`, `if` and `case`, by block. A
    /// block without one runs each operation as a kernel of its own.
    pub nested: BTreeMap<BlockId, KernelPartition>,
}

impl KernelPartition {
    /// A schedule without kernels.
    #[must_use]
    pub fn new(block: BlockId) -> Self {
        Self {
            block,
            kernels: Vec::new(),
            inlined: Vec::new(),
            in_place: Vec::new(),
            nested: BTreeMap::new(),
        }
    }

    /// The memory model `ops`: each operation a kernel of its own, in the
    /// block's order, nothing inlined.
    #[must_use]
    pub fn per_op(module: &Module, block: BlockId) -> Self {
        let ops = module.block(block).ops.iter().copied();
        let steps = ops.filter(|op| !module.op(*op).kind.is_terminator());
        Self { kernels: steps.map(Kernel::single).collect(), ..Self::new(block) }
    }
}
