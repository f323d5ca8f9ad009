//! From a block to its e-graph.

use super::language::{Facts, Signature, TensorGraph, TensorNode};
use crate::fusion::is_recomputable;
use ckpt_ir::{BlockId, Module, OpId, ValueId};
use egg::{EGraph, Id};
use smallvec::SmallVec;
use std::collections::HashMap;

/// The e-graph of a block and the class of each of its values.
pub(super) struct Built {
    pub(super) graph: TensorGraph,
    pub(super) classes: HashMap<ValueId, Id>,
}

/// Enters every value of `block`. Linear in the block.
pub(super) fn build(module: &Module, block: BlockId) -> Built {
    let facts = Facts::new(module.names.clone(), module.types.clone(), module.attrs.clone());
    let mut built = Built { graph: EGraph::new(facts), classes: HashMap::new() };
    for &argument in &module.block(block).arguments {
        leaf(module, &mut built, argument);
    }
    for &op in &module.block(block).ops {
        enter(module, &mut built, op);
    }
    built.graph.rebuild();
    built
}

fn enter(module: &Module, built: &mut Built, op: OpId) {
    let data = module.op(op);
    let &[result] = &data.results[..] else {
        for &result in &data.results {
            leaf(module, built, result);
        }
        return;
    };
    if !is_recomputable(module, op) {
        leaf(module, built, result);
        return;
    }
    let operands: SmallVec<[Id; 4]> = data.operands.iter().map(|v| class(module, built, *v)).collect();
    let ty = module.value_type(result);
    let signature = if data.regions.is_empty() {
        Signature::Op { kind: data.kind, name: data.name, properties: data.properties.clone(), ty }
    } else {
        built.graph.analysis.note_type(result, ty);
        Signature::Region { kind: data.kind, value: result }
    };
    let signature = built.graph.analysis.intern(signature);
    let id = built.graph.add(TensorNode { signature, operands });
    hold(built, result, id);
}

fn leaf(module: &Module, built: &mut Built, value: ValueId) -> Id {
    built.graph.analysis.note_type(value, module.value_type(value));
    let signature = built.graph.analysis.intern(Signature::Leaf(value));
    let id = built.graph.add(TensorNode { signature, operands: SmallVec::new() });
    hold(built, value, id);
    id
}

/// The class of an operand; values from outside the block are leaves.
fn class(module: &Module, built: &mut Built, value: ValueId) -> Id {
    match built.classes.get(&value) {
        Some(id) => *id,
        None => leaf(module, built, value),
    }
}

fn hold(built: &mut Built, value: ValueId, id: Id) {
    built.classes.insert(value, id);
    // Values are entered in program order, so the first one stays.
    let place = built.classes.len() as u32;
    let facts = &mut built.graph[id].data;
    facts.value = facts.value.or(Some((place, value)));
}
