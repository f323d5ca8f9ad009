//! The table of rules.
//!
//! A rule looks at a node and may add an equal one. Classes: `bitwise` rules
//! are exact by IEEE 754 (NaN payloads aside) and on by default; `reassoc`
//! rules change rounding; `approx` rules change values. A rule that pays
//! nowhere is not in the table.

mod one_hot;

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

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, as plans and the checker name it.
    pub name: &'static str,
    /// How exact it is.
    pub class: Class,
    /// What it says, in one line.
    pub summary: &'static str,
    /// The operation that it looks at.
    pub kind: OpKind,
    /// Adds what equals the node, if the side conditions hold.
    pub apply: fn(&Module, &mut TensorGraph, &TensorNode) -> Option<Id>,
}

/// All rules.
pub const RULES: &[Rule] = &[Rule {
    name: "one-hot-scatter",
    class: Class::Bitwise,
    summary: "scatter_add(0, i, u), one update per row => select(iota == i, 0 + u, 0)",
    kind: OpKind::Scatter,
    apply: one_hot::apply,
}];

/// The kind of a node's operation.
pub(super) fn kind_of(graph: &TensorGraph, node: &TensorNode) -> Option<OpKind> {
    match graph.analysis.signature(node.signature) {
        Signature::Op { kind, .. } | Signature::Region { kind, .. } => Some(*kind),
        Signature::Leaf(_) => None,
    }
}
