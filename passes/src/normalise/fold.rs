//! Operations that are the identity.

use crate::clone::ValueMap;
use crate::loops::is_passed_through;
use ckpt_ir::{BlockId, Module, OpId, OpKind, ValueId};

/// Removes operations whose result is, bit for bit, their operand: reshapes,
/// converts, broadcasts and transposes to the same type, and optimisation
/// barriers unless they are kept. Returns how many went. Linear.
pub(crate) fn fold(module: &mut Module, keep_barriers: bool) -> usize {
    let mut folded = 0;
    for function in module.functions().collect::<Vec<_>>() {
        let mut replaced = ValueMap::default();
        let blocks: Vec<BlockId> = module
            .walk(function)
            .into_iter()
            .flat_map(|op| module.op(op).regions.iter())
            .flat_map(|region| module.region(*region).blocks.iter().copied())
            .collect();
        for block in blocks {
            let ops = module.block(block).ops.clone();
            let mut kept = Vec::with_capacity(ops.len());
            for &op in &ops {
                match same_values(module, op, keep_barriers) {
                    Some(values) => {
                        for (old, new) in module.op(op).results.iter().zip(values) {
                            replaced.insert(*old, new);
                        }
                    }
                    None => {
                        redirect_loop_invariants(module, op, &mut replaced);
                        kept.push(op);
                    }
                }
            }
            folded += ops.len() - kept.len();
            if kept.len() < ops.len() {
                module.set_block_ops(block, kept);
            }
        }
        super::inline::redirect(module, function, &replaced);
    }
    folded
}

/// Lets users of a loop result that the body passes through read the initial
/// value: the loop then need not keep a second copy alive.
fn redirect_loop_invariants(module: &Module, op: OpId, replaced: &mut ValueMap) {
    if module.op(op).kind != OpKind::While {
        return;
    }
    for (index, &result) in module.op(op).results.iter().enumerate() {
        if is_passed_through(module, op, index) {
            replaced.insert(result, module.op(op).operands[index]);
        }
    }
}

/// The values that the results of an identity equal.
fn same_values(module: &Module, op: OpId, keep_barriers: bool) -> Option<Vec<ValueId>> {
    let data = module.op(op);
    if data.kind == OpKind::OptimizationBarrier {
        return (!keep_barriers).then(|| data.operands.to_vec());
    }
    let (&[operand], &[result]) = (&data.operands[..], &data.results[..]) else { return None };
    if module.value_type(operand) != module.value_type(result) {
        return None;
    }
    let identity = match data.kind {
        OpKind::Reshape | OpKind::Convert | OpKind::BitcastConvert => true,
        OpKind::BroadcastInDim => is_identity_permutation(module, op, "broadcast_dimensions"),
        OpKind::Transpose => is_identity_permutation(module, op, "permutation"),
        _ => false,
    };
    identity.then(|| vec![operand])
}

fn is_identity_permutation(module: &Module, op: OpId, name: &str) -> bool {
    let Some(ckpt_ir::Attr::DenseIntArray { values, .. }) = module.attr(op, name) else {
        return false;
    };
    values.iter().enumerate().all(|(index, value)| *value == index as i64)
}
