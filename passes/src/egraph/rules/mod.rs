//! The table of rules.
//!
//! A rule looks at a node and may add an equal one. Classes: `bitwise` rules
//! are exact by IEEE 754 (NaN payloads aside) and on by default; `reassoc`
//! rules change rounding; `approx` rules change values. A rule that pays
//! nowhere is not in the table.

mod maker;
mod one_hot;
mod packed_predicate;

use super::language::{Signature, TensorGraph, TensorNode};
use ckpt_ir::{Module, OpKind};
use egg::Id;

/// How exact a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The same bits.
    Bitwise,
    /// The same real number, other rounding.
    Reassoc,
    /// Close.
    Approx,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LooksAt {
    /// Operations of a kind.
    Kind(OpKind),
    /// Values that the forward pass stores for the backward pass.
    Stored,
}

/// Where what a rule finds takes the place of the value that it equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adoption {
    /// Everywhere and always: it needs less memory and less time.
    Always,
    /// In the backward pass, if the plan is better for it.
    Backward,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, as plans and the checker name it.
    pub name: &'static str,
    /// How exact it is.
    pub class: Class,
    /// What it says, in one line.
    pub summary: &'static str,
    /// What it looks at.
    pub looks_at: LooksAt,
    /// Where what it finds takes the value's place.
    pub adoption: Adoption,
    /// Adds what equals the class for this node of it, if the side conditions hold.
    pub apply: fn(&Module, &mut TensorGraph, Id, &TensorNode) -> Option<Id>,
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule {
        name: "one-hot-scatter",
        class: Class::Bitwise,
        summary: "scatter_add(0, i, u), one update per row => select(iota == i, 0 + u, 0)",
        looks_at: LooksAt::Kind(OpKind::Scatter),
        adoption: Adoption::Always,
        apply: one_hot::apply,
    },
    Rule {
        name: "packed-predicate",
        class: Class::Bitwise,
        summary: "a stored predicate m => unpack(pack(m)), eight elements to a byte",
        looks_at: LooksAt::Stored,
        adoption: Adoption::Backward,
        apply: packed_predicate::apply,
    },
];

/// The rules that a compilation may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleSet {
    /// Rules up to this class. Default: bitwise.
    pub class: Class,
    /// Names of rules that are left out all the same. Default: none.
    pub without: Vec<String>,
}

impl Default for RuleSet {
    fn default() -> Self {
        Self { class: Class::Bitwise, without: Vec::new() }
    }
}

impl RuleSet {
    /// The rules of the set with a kind of adoption, in the table's order.
    pub(super) fn rules(&self, adoption: Adoption) -> impl Iterator<Item = &'static Rule> {
        RULES.iter().filter(move |rule| {
            rule.class <= self.class
                && rule.adoption == adoption
                && !self.without.iter().any(|name| name == rule.name)
        })
    }
}

impl Rule {
    /// Whether the rule looks at a node of the class.
    pub(super) fn looks_at(&self, graph: &TensorGraph, class: Id, node: &TensorNode) -> bool {
        match self.looks_at {
            LooksAt::Kind(kind) => kind_of(graph, node) == Some(kind),
            LooksAt::Stored => {
                graph[class].data.value.is_some_and(|(_, value)| graph.analysis.stored.contains(&value))
            }
        }
    }
}

/// The kind of a node's operation.
pub(super) fn kind_of(graph: &TensorGraph, node: &TensorNode) -> Option<OpKind> {
    match graph.analysis.signature(node.signature) {
        Signature::Op { kind, .. } | Signature::Region { kind, .. } => Some(*kind),
        Signature::Fold { .. } => Some(OpKind::Reduce),
        Signature::Leaf(_) => None,
    }
}
