//! Which operations change or observe more than their operands.

use ckpt_ir::{Attr, Effect, Module, OpId};
use std::collections::HashMap;

/// The function that a call or composite refers to, by the names of the module.
pub(crate) fn callee(module: &Module, op: OpId, by_name: &HashMap<String, OpId>) -> Option<OpId> {
    if module.op(op).kind.effect() != Effect::OfCallee {
        return None;
    }
    let attr = module.attr(op, "callee").or_else(|| module.attr(op, "decomposition"))?;
    match attr {
        Attr::SymbolRef(path) if path.len() == 1 => by_name.get(module.names.get(path[0])).copied(),
        _ => None,
    }
}

/// Whether an operation, its regions aside, changes or observes anything but
/// its operands; `callee` says whether what it calls does, if that is known.
pub(crate) fn own(module: &Module, op: OpId, callee: Option<bool>) -> bool {
    match module.op(op).kind.effect() {
        Effect::Pure | Effect::OfRegions | Effect::Terminator => false,
        Effect::OfCallee => callee.unwrap_or(true),
        Effect::OfAttributes => !is_pure_custom_call(module, op),
        Effect::HiddenState | Effect::Collective | Effect::SideEffect | Effect::Symbol => true,
    }
}

/// A custom call is a function of its operands only if it does not say
/// otherwise and is none of StableHLO's checks, which fail the program.
fn is_pure_custom_call(module: &Module, op: OpId) -> bool {
    let says_pure = matches!(module.attr(op, "has_side_effect"), None | Some(Attr::Bool(false)));
    let target = module.string_attr(op, "call_target_name");
    says_pure && target.is_some_and(|target| !target.starts_with("check."))
}
