//! Copying operations within a module.

use ckpt_entity::EntityId as _;
use ckpt_ir::{BlockId, Module, OpId, ValueId};
use std::collections::HashMap;

/// Where the operands of a copy come from: original value to value of the copy.
/// Values that are not in the map stand for themselves.
#[derive(Clone, Debug, Default)]
pub struct ValueMap {
    map: HashMap<usize, ValueId>,
}

impl ValueMap {
    /// The value that stands for `value`.
    #[must_use]
    pub fn get(&self, value: ValueId) -> ValueId {
        self.map.get(&value.index()).copied().unwrap_or(value)
    }

    /// Lets `new` stand for `old`.
    pub fn insert(&mut self, old: ValueId, new: ValueId) {
        self.map.insert(old.index(), new);
    }
}

/// Copies an operation with everything inside it, in no block yet. Its results
/// are entered into `map`. Linear in what is copied; nesting is walked with a
/// stack.
pub fn clone_op(module: &mut Module, op: OpId, map: &mut ValueMap) -> OpId {
    clone(None, module, op, map)
}

/// The same, copying the operation as it stands in `source`: an earlier state
/// of `module`, whose ids still mean the same.
pub fn clone_op_as_in(source: &Module, module: &mut Module, op: OpId, map: &mut ValueMap) -> OpId {
    clone(Some(source), module, op, map)
}

fn clone(source: Option<&Module>, module: &mut Module, op: OpId, map: &mut ValueMap) -> OpId {
    let copy = clone_shell(source, module, op, map);
    let mut blocks: Vec<(BlockId, BlockId)> = Vec::new();
    clone_region_frames(source, module, op, copy, map, &mut blocks);
    while let Some((from, to)) = blocks.pop() {
        // Operations of one block are copied in order, so that operands are
        // mapped before they are used; what lies inside them is copied later,
        // which is sound because nothing outside can use it.
        let ops = source.unwrap_or(module).block(from).ops.clone();
        for op in ops {
            let copy = clone_shell(source, module, op, map);
            module.append(to, copy);
            clone_region_frames(source, module, op, copy, map, &mut blocks);
        }
    }
    copy
}

/// Copies an operation without its regions.
fn clone_shell(source: Option<&Module>, module: &mut Module, op: OpId, map: &mut ValueMap) -> OpId {
    let original = source.unwrap_or(module).op(op).clone();
    let operands: Vec<ValueId> = original.operands.iter().map(|v| map.get(*v)).collect();
    let results: Vec<_> = original.results.iter().map(|v| module.value_type(*v)).collect();
    let name = module.op_name(op).to_owned();
    let copy = module.create_unknown_op(&name, &operands, &results, original.loc);
    let new = module.op_mut(copy);
    new.properties = original.properties;
    new.attributes = original.attributes;
    new.offset = original.offset;
    let new_results = module.op(copy).results.clone();
    for (old, new) in original.results.iter().zip(new_results) {
        map.insert(*old, new);
        if let Some(name) = module.value_name(*old).map(str::to_owned) {
            module.set_value_name(new, &name);
        }
    }
    copy
}

/// Makes the regions and blocks of a copy, with arguments and without operations.
fn clone_region_frames(
    source: Option<&Module>,
    module: &mut Module,
    op: OpId,
    copy: OpId,
    map: &mut ValueMap,
    blocks: &mut Vec<(BlockId, BlockId)>,
) {
    for region in source.unwrap_or(module).op(op).regions.clone() {
        let new_region = module.create_region(copy);
        for block in module.region(region).blocks.clone() {
            let new_block = module.create_block(new_region);
            for argument in module.block(block).arguments.clone() {
                let new = module.add_argument(new_block, module.value_type(argument));
                if let Some(name) = module.value_name(argument).map(str::to_owned) {
                    module.set_value_name(new, &name);
                }
                map.insert(argument, new);
            }
            module.block_mut(new_block).argument_locs = module.block(block).argument_locs.clone();
            blocks.push((block, new_block));
        }
    }
}
