//! The schedule of a block that application has written: what the checker
//! recomputes the peak by, and the lowering emits.

use crate::cost::Device;
use crate::remat::nested::NestedCosts;
use ckpt_entity::EntitySet;
use ckpt_ir::schedule::{Kernel, KernelPartition};
use ckpt_ir::{BlockId, Module, OpId};

/// The schedule of `block`: `kernels` are its root operations in execution
/// order, everything else is computed inside the kernels that read it. Loops
/// and branches carry schedules of their own. Linear in what lies in the block.
#[must_use]
pub fn partition(module: &Module, block: BlockId, kernels: &[OpId], device: &Device) -> KernelPartition {
    let roots: EntitySet<OpId> = kernels.iter().copied().collect();
    let mut partition = KernelPartition::new(block);
    partition.kernels = kernels.iter().copied().map(Kernel::single).collect();
    let ops = module.block(block).ops.iter().copied();
    partition.inlined =
        ops.filter(|op| !roots.contains(*op) && !module.op(*op).kind.is_terminator()).collect();
    for &root in kernels.iter().filter(|op| !module.op(**op).regions.is_empty()) {
        partition.nested.extend(NestedCosts::below(module, root, device).into_schedules());
    }
    partition
}
