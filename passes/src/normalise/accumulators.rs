//! Accumulators of their own for scatters.
//!
//! A scatter updates a buffer. If the constant that it starts from is written
//! once and read by others too, that buffer would have to live as long as they
//! do, where each of them can do with the constant. It is also what evaluators
//! count on that update in place (StableHLO's reference interpreter does).

use crate::clone::{ValueMap, clone_op};
use ckpt_ir::{Module, OpId, OpKind, Uses, ValueId};
use std::collections::HashMap;

/// Gives each scatter whose accumulator is a constant, or broadcast from one,
/// and shared, a copy of that operation. Returns how many. Linear time.
pub(super) fn separate_accumulators(module: &mut Module) -> usize {
    let uses = Uses::below(module, module.top());
    let mut shared: HashMap<OpId, Vec<(OpId, usize)>> = HashMap::new();
    for op in module.walk(module.top()) {
        let data = module.op(op);
        if data.kind != OpKind::Scatter {
            continue;
        }
        for (index, &value) in data.operands[..data.results.len()].iter().enumerate() {
            if let Some(maker) = module.defining_op(value)
                && uses.of(value).len() > 1
                && is_constant(module, maker)
            {
                shared.entry(op).or_default().push((maker, index));
            }
        }
    }
    let scatters: Vec<OpId> = shared.keys().copied().collect();
    let mut count = 0;
    let mut blocks: Vec<_> = scatters.iter().filter_map(|op| module.op(*op).parent).collect();
    blocks.sort_unstable();
    blocks.dedup();
    for block in blocks {
        let mut ops = Vec::new();
        for op in module.block(block).ops.clone() {
            for (maker, index) in shared.remove(&op).unwrap_or_default() {
                let copy = clone_op(module, maker, &mut ValueMap::default());
                let value: ValueId = module.op(copy).results[0];
                module.op_mut(op).operands[index] = value;
                ops.push(copy);
                count += 1;
            }
            ops.push(op);
        }
        module.set_block_ops(block, ops);
    }
    count
}

/// Whether an operation yields a constant or a broadcast of one.
fn is_constant(module: &Module, op: OpId) -> bool {
    let data = module.op(op);
    match data.kind {
        OpKind::Constant => true,
        OpKind::BroadcastInDim => module
            .defining_op(data.operands[0])
            .is_some_and(|above| module.op(above).kind == OpKind::Constant),
        _ => false,
    }
}
