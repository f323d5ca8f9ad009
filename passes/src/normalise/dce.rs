//! Removal of unused operations.

use ckpt_entity::{EntitySet, EntityVec};
use ckpt_ir::{BlockId, Effect, Module, OpId, ValueId};

/// Removes operations without effects whose results nothing uses, everywhere
/// below the top-level module. Linear. Returns how many went.
pub(crate) fn remove_unused(module: &mut Module) -> usize {
    let ops = module.walk(module.top());
    let mut uses: EntityVec<ValueId, u32> = EntityVec::filled(0, module.value_count());
    for op in &ops {
        for operand in &module.op(*op).operands {
            uses[*operand] += 1;
        }
    }
    let mut removed: EntitySet<OpId> = EntitySet::new();
    // Users stand after definitions in a walk, so one backward sweep finds chains.
    for &op in ops.iter().rev() {
        let removable = !module.op(op).results.is_empty()
            && module.op(op).results.iter().all(|r| uses[*r] == 0)
            && matches!(module.effect(op), Effect::Pure | Effect::HiddenState);
        if !removable {
            continue;
        }
        for inner in module.walk(op) {
            if removed.insert(inner) {
                for operand in &module.op(inner).operands {
                    uses[*operand] -= 1;
                }
            }
        }
    }
    let blocks: Vec<BlockId> = ops
        .iter()
        .filter(|op| !removed.contains(**op))
        .flat_map(|op| module.op(*op).regions.iter())
        .flat_map(|region| module.region(*region).blocks.iter().copied())
        .collect();
    for block in blocks {
        let kept: Vec<OpId> =
            module.block(block).ops.iter().copied().filter(|op| !removed.contains(*op)).collect();
        if kept.len() < module.block(block).ops.len() {
            module.set_block_ops(block, kept);
        }
    }
    removed.len()
}
