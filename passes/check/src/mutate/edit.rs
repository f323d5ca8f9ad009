//! Small changes to a module's blocks.

use ckpt_ir::{BlockId, Module, OpId, ValueId};
use std::collections::HashMap;

/// A copy of an operation with all that it holds, in no block yet.
pub fn clone_op(module: &mut Module, op: OpId) -> OpId {
    let mut values = HashMap::new();
    let root = shallow_clone(module, op, &mut values);
    // Outer operations are copied before inner ones, earlier before later, so
    // that every operand of a copy has its own copy already.
    let mut stack = vec![(op, root)];
    while let Some((from, to)) = stack.pop() {
        for region in module.op(from).regions.clone() {
            let new_region = module.create_region(to);
            for block in module.region(region).blocks.clone() {
                let new_block = module.create_block(new_region);
                clone_block(module, block, new_block, &mut values, &mut stack);
            }
        }
    }
    root
}

/// Copies a block's arguments and operations, leaving their regions to `stack`.
fn clone_block(
    module: &mut Module,
    from: BlockId,
    to: BlockId,
    values: &mut HashMap<ValueId, ValueId>,
    stack: &mut Vec<(OpId, OpId)>,
) {
    for argument in module.block(from).arguments.clone() {
        let copy = module.add_argument(to, module.value_type(argument));
        values.insert(argument, copy);
    }
    for op in module.block(from).ops.clone() {
        let copy = shallow_clone(module, op, values);
        module.append(to, copy);
        stack.push((op, copy));
    }
}

/// Copies an operation without its regions.
fn shallow_clone(module: &mut Module, op: OpId, values: &mut HashMap<ValueId, ValueId>) -> OpId {
    let data = module.op(op).clone();
    let name = module.op_name(op).to_owned();
    let operands: Vec<ValueId> = data.operands.iter().map(|v| values.get(v).copied().unwrap_or(*v)).collect();
    let types: Vec<_> = data.results.iter().map(|result| module.value_type(*result)).collect();
    let copy = module.create_unknown_op(&name, &operands, &types, data.loc);
    module.op_mut(copy).properties = data.properties;
    module.op_mut(copy).attributes = data.attributes;
    for (old, new) in data.results.into_iter().zip(module.op(copy).results.clone()) {
        values.insert(old, new);
    }
    copy
}

/// Takes an operation out of its block.
pub(super) fn remove(module: &mut Module, op: OpId) {
    if let Some(block) = module.op(op).parent {
        let ops = module.block(block).ops.iter().copied().filter(|other| *other != op).collect();
        module.set_block_ops(block, ops);
    }
}

/// Lists `op` before `anchor`.
pub(super) fn insert_before(module: &mut Module, anchor: OpId, op: OpId) {
    insert(module, anchor, op, 0);
}

/// Lists `op` after `anchor`.
pub(super) fn insert_after(module: &mut Module, anchor: OpId, op: OpId) {
    insert(module, anchor, op, 1);
}

fn insert(module: &mut Module, anchor: OpId, op: OpId, offset: usize) {
    let Some(block) = module.op(anchor).parent else { return };
    let mut ops = module.block(block).ops.clone();
    let Some(at) = ops.iter().position(|other| *other == anchor) else { return };
    ops.insert(at + offset, op);
    module.set_block_ops(block, ops);
}
