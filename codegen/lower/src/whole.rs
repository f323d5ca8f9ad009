//! Programs that cannot be cut into steps.

use ckpt_ir::{Effect, Module, OpId, OpKind};

/// Operations without effects that have no lowering: tuples, and views whose
/// sizes are values.
const WHOLE: [OpKind; 4] =
    [OpKind::Tuple, OpKind::GetTupleElement, OpKind::DynamicReshape, OpKind::SetDimensionSize];

/// An operation below `root` for which the function must run as a whole in the
/// reference evaluator: it has state there, talks to other processes, or has
/// no lowering. Linear in the operations.
#[must_use]
pub fn needs_evaluator(module: &Module, root: OpId) -> Option<OpId> {
    module.walk(root).into_iter().find(|op| {
        let kind = module.op(*op).kind;
        WHOLE.contains(&kind) || !is_check(module, *op) && has_state(kind, module, *op)
    })
}

fn has_state(kind: OpKind, module: &Module, op: OpId) -> bool {
    match kind.effect() {
        Effect::HiddenState | Effect::Collective | Effect::SideEffect => true,
        Effect::OfAttributes | Effect::OfCallee => {
            module.effect(op) != Effect::Pure && kind != OpKind::FuncCall
        }
        _ => matches!(kind, OpKind::PartitionId | OpKind::ReplicaId),
    }
}

/// Whether an operation only compares its operands.
fn is_check(module: &Module, op: OpId) -> bool {
    match module.op(op).kind {
        OpKind::CheckExpectEq
        | OpKind::CheckExpectEqConst
        | OpKind::CheckExpectAlmostEq
        | OpKind::CheckExpectAlmostEqConst
        | OpKind::CheckExpectClose
        | OpKind::CheckExpectCloseConst => true,
        OpKind::CustomCall => {
            module.string_attr(op, "call_target_name").is_some_and(|target| target.starts_with("check."))
        }
        _ => false,
    }
}
