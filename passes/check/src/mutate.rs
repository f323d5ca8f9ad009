//! Semantic mutants of a module: small changes after which it computes
//! something else, or is no program any more. What the checker accepts of them
//! measures how far it can be trusted.
//!
//! A site is only offered where the change can be seen: operations that
//! contribute to a result or an effect, operands that stand for other values
//! (by [`Meanings`], a fingerprint that shares no code with the checker's
//! terms), commutative operands left alone.

mod edit;
mod meaning;
mod sites;
mod vary;

pub use edit::clone_op;
pub use meaning::Meanings;
pub use sites::mutations;

use ckpt_ir::{Attr, BlockId, Module, OpId, OpKind, TypeId, ValueId};
use std::fmt;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Two operands change places; of a terminator two results do, of a
    /// barrier its results.
    SwapOperands {
        /// The operation.
        op: OpId,
        /// The operands.
        operands: (usize, usize),
    },
    /// An operand reads another value of the same type.
    Retarget {
        /// The operation.
        op: OpId,
        /// Which operand.
        operand: usize,
        /// What it reads now.
        to: ValueId,
    },
    /// An inherent attribute changes its value.
    ChangeAttribute {
        /// The operation.
        op: OpId,
        /// Which of its properties.
        property: usize,
        /// The new value.
        to: Attr,
    },
    /// An inherent attribute is left out.
    DropAttribute {
        /// The operation.
        op: OpId,
        /// Which of its properties.
        property: usize,
    },
    /// The operation becomes another one of the same signature.
    ChangeKind {
        /// The operation.
        op: OpId,
        /// What it becomes.
        to: OpKind,
    },
    /// An operation with effects runs twice.
    RepeatEffect {
        /// The operation.
        op: OpId,
    },
    /// An operation with effects is computed again for one of its readers.
    RecomputeEffect {
        /// The operation.
        op: OpId,
        /// The reader.
        user: OpId,
        /// Which of its operands.
        operand: usize,
    },
    /// An operation with effects never runs.
    DropEffect {
        /// The operation; nothing reads it.
        op: OpId,
    },
    /// An operation with effects runs before another that preceded it.
    SwapEffects {
        /// The one that ran first.
        first: OpId,
        /// The one that runs first now.
        second: OpId,
    },
    /// An operation with effects runs inside another, before what that one
    /// does: more often in a loop, perhaps never in a branch.
    MoveInto {
        /// The operation; nothing reads it.
        op: OpId,
        /// The block that runs it now.
        block: BlockId,
    },
    /// Two regions change places.
    SwapRegions {
        /// The operation.
        op: OpId,
        /// The regions.
        regions: (usize, usize),
    },
    /// A definition moves behind its reader.
    DefineAfterUse {
        /// The definition.
        op: OpId,
        /// The reader.
        user: OpId,
    },
    /// A definition goes, its readers stay: a recomputation left out.
    DropDefinition {
        /// The definition.
        op: OpId,
    },
    /// A result has another type.
    Retype {
        /// The value.
        value: ValueId,
        /// Its type now.
        to: TypeId,
    },
    /// A function or region has one more argument.
    AddArgument {
        /// Its block.
        block: BlockId,
        /// The argument's type.
        ty: TypeId,
    },
    /// A terminator hands over one value less.
    DropLastOperand {
        /// The terminator.
        op: OpId,
    },
    /// An operation is listed twice.
    ListTwice {
        /// The operation.
        op: OpId,
    },
}

impl Mutation {
    /// The kind of change, for tables.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SwapOperands { .. } => "swap operands",
            Self::Retarget { .. } => "retarget operand",
            Self::ChangeAttribute { .. } => "change attribute",
            Self::DropAttribute { .. } => "drop attribute",
            Self::ChangeKind { .. } => "change operation",
            Self::RepeatEffect { .. } => "repeat effect",
            Self::RecomputeEffect { .. } => "recompute effect",
            Self::DropEffect { .. } => "drop effect",
            Self::SwapEffects { .. } => "reorder effects",
            Self::MoveInto { .. } => "move effect into region",
            Self::SwapRegions { .. } => "swap regions",
            Self::DefineAfterUse { .. } => "define after use",
            Self::DropDefinition { .. } => "drop recompute",
            Self::Retype { .. } => "change result type",
            Self::AddArgument { .. } => "add argument",
            Self::DropLastOperand { .. } => "drop returned value",
            Self::ListTwice { .. } => "list twice",
        }
    }

    /// The mutant: `module` with this change, which must be one of its [`mutations`].
    #[must_use]
    pub fn apply(&self, module: &Module) -> Module {
        let mut mutant = module.clone();
        match self {
            Self::SwapOperands { op, operands: (i, j) } => {
                mutant.op_mut(*op).operands.swap(*i, *j);
            }
            Self::Retarget { op, operand, to } => {
                mutant.op_mut(*op).operands[*operand] = *to;
            }
            Self::ChangeAttribute { op, property, to } => {
                let to = mutant.attrs.intern(to.clone());
                mutant.op_mut(*op).properties[*property].1 = to;
            }
            Self::DropAttribute { op, property } => {
                mutant.op_mut(*op).properties.remove(*property);
            }
            Self::ChangeKind { op, to } => {
                let name = mutant.names.intern(to.name());
                let data = mutant.op_mut(*op);
                (data.kind, data.name) = (*to, name);
            }
            Self::RepeatEffect { op } => {
                let again = clone_op(&mut mutant, *op);
                edit::insert_after(&mut mutant, *op, again);
            }
            Self::RecomputeEffect { op, user, operand } => {
                recompute_for(&mut mutant, *op, *user, *operand);
            }
            Self::DropEffect { op } | Self::DropDefinition { op } => edit::remove(&mut mutant, *op),
            Self::SwapEffects { first, second } => {
                edit::remove(&mut mutant, *second);
                edit::insert_before(&mut mutant, *first, *second);
            }
            Self::MoveInto { op, block } => {
                edit::remove(&mut mutant, *op);
                let mut ops = mutant.block(*block).ops.clone();
                ops.insert(0, *op);
                mutant.set_block_ops(*block, ops);
            }
            Self::SwapRegions { op, regions: (i, j) } => mutant.op_mut(*op).regions.swap(*i, *j),
            Self::DefineAfterUse { op, user } => {
                edit::remove(&mut mutant, *op);
                edit::insert_after(&mut mutant, *user, *op);
            }
            Self::Retype { value, to } => mutant.set_value_type(*value, *to),
            Self::AddArgument { block, ty } => {
                mutant.add_argument(*block, *ty);
            }
            Self::DropLastOperand { op } => {
                mutant.op_mut(*op).operands.pop();
            }
            Self::ListTwice { op } => edit::insert_after(&mut mutant, *op, *op),
        }
        mutant
    }
}

/// Clones `op` before `user`, whose operand reads the clone.
fn recompute_for(module: &mut Module, op: OpId, user: OpId, operand: usize) {
    let value = module.op(user).operands[operand];
    let index = module.op(op).results.iter().position(|result| *result == value);
    let again = clone_op(module, op);
    edit::insert_before(module, user, again);
    if let Some(index) = index {
        let result = module.op(again).results[index];
        module.op_mut(user).operands[operand] = result;
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self:?}", self.kind())
    }
}
