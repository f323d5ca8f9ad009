//! Common subexpressions.

use super::structure::{OpKey, key};
use crate::clone::ValueMap;
use ckpt_ir::{BlockId, Effect, Module, OpId, OpKind};
use std::collections::HashMap;

/// Lets every pure operation give way to an equal earlier one of the same
/// block. Returns how many did. Linear in the module.
pub(crate) fn merge_equal(module: &mut Module) -> usize {
    let mut merged = 0;
    for function in module.functions().collect::<Vec<_>>() {
        let mut replaced = ValueMap::default();
        let blocks: Vec<BlockId> = module
            .walk(function)
            .into_iter()
            .flat_map(|op| module.op(op).regions.iter())
            .flat_map(|region| module.region(*region).blocks.iter().copied())
            .collect();
        for block in blocks {
            merged += merge_in_block(module, block, &mut replaced);
        }
        super::inline::redirect(module, function, &replaced);
    }
    merged
}

fn merge_in_block(module: &mut Module, block: BlockId, replaced: &mut ValueMap) -> usize {
    let mut first: HashMap<OpKey, OpId> = HashMap::new();
    let ops = module.block(block).ops.clone();
    let mut kept = Vec::with_capacity(ops.len());
    for &op in &ops {
        // A barrier stands for "do not merge"; it must keep its own identity.
        let mergeable = !module.op(op).results.is_empty()
            && module.op(op).kind != OpKind::OptimizationBarrier
            && module.effect(op) == Effect::Pure;
        if !mergeable {
            kept.push(op);
            continue;
        }
        match first.entry(key(module, op, replaced)) {
            std::collections::hash_map::Entry::Vacant(slot) => {
                slot.insert(op);
                kept.push(op);
            }
            std::collections::hash_map::Entry::Occupied(slot) => {
                let earlier = module.op(*slot.get()).results.clone();
                for (old, new) in module.op(op).results.iter().zip(earlier) {
                    replaced.insert(*old, new);
                }
            }
        }
    }
    let merged = ops.len() - kept.len();
    if merged > 0 {
        module.set_block_ops(block, kept);
    }
    merged
}
