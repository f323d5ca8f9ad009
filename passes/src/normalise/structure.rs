//! Structural identity of operations, regions included.

use crate::clone::ValueMap;
use ckpt_entity::EntityId as _;
use ckpt_ir::{Module, OpId, ValueId};
use std::collections::HashMap;

/// What two operations have in common if they compute the same: name,
/// attributes, operands, result types and the structure of their regions, with
/// everything defined inside numbered from the start of the operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OpKey(Vec<u32>);

/// Marks values that are numbered locally, to keep them apart from outer ones.
const LOCAL: u32 = 1 << 31;

/// The key of an operation; operands follow `replaced` first.
pub(super) fn key(module: &Module, op: OpId, replaced: &ValueMap) -> OpKey {
    let mut words = Vec::with_capacity(8);
    let mut local: HashMap<ValueId, u32> = HashMap::new();
    for inner in module.walk(op) {
        let data = module.op(inner);
        words.push(data.name.index() as u32);
        words.push(data.operands.len() as u32);
        for &operand in &data.operands {
            let outer = replaced.get(operand);
            words.push(local.get(&operand).map_or(outer.index() as u32, |n| n | LOCAL));
        }
        let attrs = data.properties.iter().chain(&data.attributes);
        words.push((data.properties.len() + data.attributes.len()) as u32);
        words.extend(attrs.flat_map(|(name, attr)| [name.index() as u32, attr.index() as u32]));
        words.push(data.results.len() as u32);
        words.extend(data.results.iter().map(|r| module.value_type(*r).index() as u32));
        if inner != op {
            for &result in &data.results {
                let number = local.len() as u32;
                local.insert(result, number);
            }
        }
        words.push(data.regions.len() as u32);
        for &region in &data.regions {
            for &block in &module.region(region).blocks {
                words.push(module.block(block).ops.len() as u32);
                for &argument in &module.block(block).arguments {
                    words.push(module.value_type(argument).index() as u32);
                    let number = local.len() as u32;
                    local.insert(argument, number);
                }
            }
        }
    }
    OpKey(words)
}
