//! Equalities adopted in the backward pass alone: its readers of a stored
//! value read what a rule found equal to it, made from something smaller that
//! crosses in the value's place.

use super::build::build;
use super::extract::{Materialiser, Replacement, saturate, take_tables};
use super::rules::{Adoption, RuleSet};
use crate::clone::{ValueMap, clone_op};
use ckpt_entity::EntitySet;
use ckpt_ir::{BlockId, Module, OpId, ValueId};
use std::collections::HashMap;

/// Which operations each pass computes; virtual ones may be in both.
#[derive(Clone, Debug, Default)]
pub struct Passes {
    /// Operations that kernels of the forward pass compute.
    pub forward: EntitySet<OpId>,
    /// The same of the backward pass.
    pub backward: EntitySet<OpId>,
    /// Buffers that the forward pass makes and the backward pass reads.
    pub stored: Vec<ValueId>,
}

/// Lets the backward pass read what the `rules` found equal to stored
/// values. Returns what was adopted; the module is unchanged if nothing was.
/// Linear in the block and in the saturated e-graph.
pub fn improve_backward(
    module: &mut Module,
    block: BlockId,
    rules: &RuleSet,
    passes: &Passes,
) -> Vec<Replacement> {
    let mut built = build(module, block);
    built.graph.analysis.stored = passes.stored.iter().copied().collect();
    let found = saturate(module, &mut built, rules, Adoption::Backward);
    if found.is_empty() {
        return Vec::new();
    }
    take_tables(module, &built.graph);
    let mut replacements = Vec::new();
    let mut made = HashMap::new();
    let mut rewriter = Rewriter { passes, backward: ValueMap::default(), ops: Vec::new() };
    for op in module.block(block).ops.clone() {
        rewriter.operation(module, op);
        let results = module.op(op).results.clone();
        for original in results.into_iter().filter(|value| built.graph.analysis.stored.contains(value)) {
            let class = built.classes.get(&original).map(|class| built.graph.find(*class));
            let Some(better) = class.and_then(|class| found.get(&class)?.first()) else { continue };
            let before = rewriter.ops.len();
            let ops = &mut rewriter.ops;
            let mut maker = Materialiser { module, graph: &built.graph, made: &mut made, ops };
            if let Some(replacement) = maker.value(&better.node, op) {
                rewriter.backward.insert(original, replacement);
                let made = rewriter.ops[before..].to_vec();
                replacements.push(Replacement { rule: better.rule.name, original, replacement, made });
            }
        }
    }
    module.set_block_ops(block, rewriter.ops);
    replacements
}

/// Rewrites operations in order; what both passes compute is split in two.
struct Rewriter<'a> {
    passes: &'a Passes,
    /// What the backward pass reads in place of a value.
    backward: ValueMap,
    ops: Vec<OpId>,
}

impl Rewriter<'_> {
    fn operation(&mut self, module: &mut Module, op: OpId) {
        self.ops.push(op);
        let changes = module.walk(op).into_iter().any(|inner| {
            module.op(inner).operands.iter().any(|operand| self.backward.get(*operand) != *operand)
        });
        if !changes || !self.passes.backward.contains(op) {
            return;
        }
        if self.passes.forward.contains(op) {
            let copy = clone_op(module, op, &mut self.backward);
            self.ops.push(copy);
            return;
        }
        for inner in module.walk(op) {
            let operands = module.op(inner).operands.iter().map(|v| self.backward.get(*v)).collect();
            module.op_mut(inner).operands = operands;
        }
    }
}
