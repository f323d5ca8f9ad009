//! From the saturated e-graph back to the block.

use super::build::{Built, build};
use super::language::{Signature, TensorGraph, TensorNode};
use super::rules::{Adoption, Rule, RuleSet, kind_of};
use super::{MAX_ITERATIONS, MAX_NODES_PER_OP};
use crate::clone::ValueMap;
use crate::fusion::{is_fusible, kind_is_fusible};
use crate::normalise::redirect;
use ckpt_ir::{BlockId, LocId, Module, OpId, OpKind, OpSpec, TypeId, ValueId};
use egg::Id;
use std::collections::HashMap;

/// A value that a rule let give way to an equal one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The rule.
    pub rule: &'static str,
    /// The value that gave way.
    pub original: ValueId,
    /// The value that took its place.
    pub replacement: ValueId,
    /// The operations that were made for it, its own among them.
    pub made: Vec<OpId>,
}

/// A node that a rule found equal to a class.
pub(super) struct Found {
    pub(super) rule: &'static Rule,
    pub(super) node: TensorNode,
}

/// Gives the module the names, types and attributes that rules added.
pub(super) fn take_tables(module: &mut Module, graph: &TensorGraph) {
    module.names = graph.analysis.names.clone();
    module.types = graph.analysis.types.clone();
    module.attrs = graph.analysis.attrs.clone();
}

/// Saturates the e-graph of `function`'s body with the `rules`
/// and applies the equalities that are better in every respect: a fusible
/// operation in place of one that needs a buffer. The operations that gave way
/// stay, unused.
pub fn improve(module: &mut Module, function: OpId, block: BlockId, rules: &RuleSet) -> Vec<Replacement> {
    let mut built = build(module, block);
    let found = saturate(module, &mut built, rules, Adoption::Always);
    take_tables(module, &built.graph);
    let mut replacements = Vec::new();
    let mut replaced = ValueMap::default();
    let mut made = HashMap::new();
    let mut new_ops = Vec::new();
    for op in module.block(block).ops.clone() {
        if let Some(better) = better(module, &built, &found, op) {
            let original = module.op(op).results[0];
            let before = new_ops.len();
            let mut maker = Materialiser { module, graph: &built.graph, made: &mut made, ops: &mut new_ops };
            if let Some(replacement) = maker.value(&better.node, op) {
                replaced.insert(original, replacement);
                let made = new_ops[before..].to_vec();
                replacements.push(Replacement { rule: better.rule.name, original, replacement, made });
            }
        }
        new_ops.push(op);
    }
    if !replacements.is_empty() {
        module.set_block_ops(block, new_ops);
        redirect(module, function, &replaced);
    }
    replacements
}

/// Applies the rules until nothing is new or a limit is reached. Returns what
/// they found, by class.
pub(super) fn saturate(
    module: &Module,
    built: &mut Built,
    rules: &RuleSet,
    adoption: Adoption,
) -> HashMap<Id, Vec<Found>> {
    let graph = &mut built.graph;
    let limit = graph.total_number_of_nodes().saturating_mul(MAX_NODES_PER_OP);
    let mut found: Vec<(Id, Found)> = Vec::new();
    for _ in 0..MAX_ITERATIONS {
        let before = (graph.total_number_of_nodes(), graph.number_of_classes());
        for (rule, id, node) in matches(graph, rules, adoption) {
            let Some(added) = (rule.apply)(module, graph, id, &node) else { continue };
            if graph.find(added) != graph.find(id) {
                found.push((id, Found { rule, node: graph[added].nodes[0].clone() }));
                graph.union(id, added);
            }
        }
        graph.rebuild();
        let after = (graph.total_number_of_nodes(), graph.number_of_classes());
        if before == after || after.0 > limit {
            break;
        }
    }
    let mut by_class: HashMap<Id, Vec<Found>> = HashMap::new();
    for (id, found) in found {
        by_class.entry(graph.find(id)).or_default().push(found);
    }
    by_class
}

/// Every node that a rule looks at.
fn matches(graph: &TensorGraph, rules: &RuleSet, adoption: Adoption) -> Vec<(&'static Rule, Id, TensorNode)> {
    let mut matches = Vec::new();
    for eclass in graph.classes() {
        for node in &eclass.nodes {
            let rules = rules.rules(adoption).filter(|rule| rule.looks_at(graph, eclass.id, node));
            matches.extend(rules.map(|rule| (rule, eclass.id, node.clone())));
        }
    }
    matches
}

/// What is better than an operation in every respect, if a rule found it.
fn better<'f>(
    module: &Module,
    built: &Built,
    found: &'f HashMap<Id, Vec<Found>>,
    op: OpId,
) -> Option<&'f Found> {
    let &[result] = &module.op(op).results[..] else { return None };
    if is_fusible(module, op) {
        return None;
    }
    let class = built.graph.find(*built.classes.get(&result)?);
    found.get(&class)?.iter().find(|found| kind_of(&built.graph, &found.node).is_some_and(kind_is_fusible))
}

/// Makes operations of nodes.
pub(super) struct Materialiser<'a> {
    pub(super) module: &'a mut Module,
    pub(super) graph: &'a TensorGraph,
    /// Values made for classes that hold no value of the block.
    pub(super) made: &'a mut HashMap<Id, ValueId>,
    pub(super) ops: &'a mut Vec<OpId>,
}

impl Materialiser<'_> {
    /// The value of a class, if it exists already.
    fn existing(&self, class: Id) -> Option<ValueId> {
        let class = self.graph.find(class);
        self.graph[class].data.value.map(|(_, value)| value).or_else(|| self.made.get(&class).copied())
    }

    /// The value of a node, in place of `instead_of`. What it needs is made
    /// first; classes that hold a value of the block are that value.
    pub(super) fn value(&mut self, node: &TensorNode, instead_of: OpId) -> Option<ValueId> {
        let mut stack: Vec<(TensorNode, Option<Id>)> = vec![(node.clone(), None)];
        let mut value = None;
        while let Some((node, class)) = stack.last().cloned() {
            let missing = node.operands.iter().find(|class| self.existing(**class).is_none());
            if let Some(class) = missing.map(|class| self.graph.find(*class)) {
                stack.push((self.graph[class].nodes[0].clone(), Some(class)));
                continue;
            }
            stack.pop();
            let made = self.op(&node, instead_of)?;
            match class {
                Some(class) => {
                    self.made.insert(class, made);
                }
                None => value = Some(made),
            }
        }
        value
    }

    fn op(&mut self, node: &TensorNode, instead_of: OpId) -> Option<ValueId> {
        let (name, properties, ty, body) = match self.graph.analysis.signature(node.signature) {
            Signature::Op { name, properties, ty, .. } => {
                (self.module.names.get(*name).to_owned(), properties, *ty, None)
            }
            Signature::Fold { body, properties, ty } => {
                (OpKind::Reduce.name().to_owned(), properties, *ty, Some(*body))
            }
            Signature::Leaf(_) | Signature::Region { .. } => return None,
        };
        let operands: Vec<ValueId> = node.operands.iter().filter_map(|class| self.existing(*class)).collect();
        let loc: LocId = self.module.op(instead_of).loc;
        let op = self.module.create_unknown_op(&name, &operands, &[ty], loc);
        self.module.op_mut(op).properties = properties.clone();
        if let (Some(body), Some(initial)) = (body, operands.last()) {
            self.binary_body(op, body, self.module.value_type(*initial));
        }
        self.ops.push(op);
        Some(self.module.op(op).results[0])
    }

    /// The region `(a, b) -> body(a, b)` of a reduction.
    fn binary_body(&mut self, op: OpId, body: OpKind, scalar: TypeId) {
        let region = self.module.create_region(op);
        let block = self.module.create_block(region);
        let arguments = [self.module.add_argument(block, scalar), self.module.add_argument(block, scalar)];
        let loc = LocId::unknown();
        let spec = OpSpec { kind: body, operands: &arguments, results: &[scalar], properties: &[], loc };
        let result = self.module.create_op(&spec);
        self.module.append(block, result);
        let operands = self.module.op(result).results.clone();
        let spec = OpSpec { kind: OpKind::Return, operands: &operands, results: &[], properties: &[], loc };
        let end = self.module.create_op(&spec);
        self.module.append(block, end);
    }
}
