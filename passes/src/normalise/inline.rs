//! Inlining of calls.

use crate::PassError;
use crate::clone::{ValueMap, clone_op};
use ckpt_ir::{BlockId, Module, OpId, OpKind, ValueId};
use std::collections::HashMap;

/// Operations that a module may have after inlining. Sixteen times the largest
/// training step known to the project's authors (a few hundred thousand
/// operations); calls of calls could otherwise grow a module exponentially.
pub const MAX_INLINED_OPS: usize = 8_000_000;

/// Replaces every call by its callee's body and drops private functions that
/// nothing refers to any more. Returns the number of calls replaced.
///
/// # Errors
/// A recursive call, or a result over [`MAX_INLINED_OPS`].
pub fn inline_calls(module: &mut Module) -> Result<usize, PassError> {
    let mut inlined = 0;
    for function in callees_first(module)? {
        inlined += inline_into(module, function)?;
    }
    if inlined > 0 {
        drop_unreferenced(module);
    }
    Ok(inlined)
}

/// The functions in an order in which callees stand before their callers.
fn callees_first(module: &Module) -> Result<Vec<OpId>, PassError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Open,
        Done,
    }
    let mut state: HashMap<OpId, State> = HashMap::new();
    let mut order = Vec::new();
    for root in module.functions() {
        let mut stack = vec![(root, false)];
        while let Some((function, leaving)) = stack.pop() {
            if leaving {
                state.insert(function, State::Done);
                order.push(function);
                continue;
            }
            match state.get(&function) {
                Some(State::Done) => continue,
                Some(State::Open) => return Err(PassError::RecursiveCall { op: function }),
                None => {}
            }
            state.insert(function, State::Open);
            stack.push((function, true));
            let calls =
                module.walk(function).into_iter().filter(|op| module.op(*op).kind == OpKind::FuncCall);
            for callee in calls.filter_map(|call| module.callee(call)) {
                match state.get(&callee) {
                    Some(State::Open) => return Err(PassError::RecursiveCall { op: callee }),
                    Some(State::Done) => {}
                    None => stack.push((callee, false)),
                }
            }
        }
    }
    Ok(order)
}

/// Inlines all calls in one function, whose callees have none themselves.
fn inline_into(module: &mut Module, function: OpId) -> Result<usize, PassError> {
    let mut inlined = 0;
    let mut replaced = ValueMap::default();
    let mut blocks: Vec<BlockId> = Vec::new();
    let mut calls = false;
    for op in module.walk(function) {
        calls |= module.op(op).kind == OpKind::FuncCall;
        for region in &module.op(op).regions {
            blocks.extend(&module.region(*region).blocks);
        }
    }
    if !calls {
        return Ok(0);
    }
    for block in blocks {
        let ops = module.block(block).ops.clone();
        let mut new_ops = Vec::with_capacity(ops.len());
        for op in ops {
            let callee = (module.op(op).kind == OpKind::FuncCall).then(|| module.callee(op)).flatten();
            match callee.and_then(|callee| module.function_body(callee)) {
                Some(body) => {
                    splice_call(module, op, body, &mut replaced, &mut new_ops);
                    inlined += 1;
                }
                None => new_ops.push(op),
            }
        }
        module.set_block_ops(block, new_ops);
        if module.op_count() > MAX_INLINED_OPS {
            return Err(PassError::TooManyOps { op: function, limit: MAX_INLINED_OPS });
        }
    }
    redirect(module, function, &replaced);
    Ok(inlined)
}

/// Copies a callee's body in place of a call.
fn splice_call(
    module: &mut Module,
    call: OpId,
    body: BlockId,
    replaced: &mut ValueMap,
    into: &mut Vec<OpId>,
) {
    let operands = module.op(call).operands.clone();
    let mut map = ValueMap::default();
    let arguments = module.block(body).arguments.clone();
    for (argument, operand) in arguments.into_iter().zip(operands) {
        map.insert(argument, operand);
    }
    let body_ops = module.block(body).ops.clone();
    for op in body_ops {
        if module.op(op).kind == OpKind::FuncReturn {
            let results = module.op(call).results.clone();
            let returned = module.op(op).operands.clone();
            for (result, value) in results.into_iter().zip(returned) {
                replaced.insert(result, map.get(value));
            }
        } else {
            into.push(clone_op(module, op, &mut map));
        }
    }
}

/// Lets every use below `root` follow the map, through chains of replacements.
pub(crate) fn redirect(module: &mut Module, root: OpId, replaced: &ValueMap) {
    let resolve = |value: ValueId| {
        let mut value = value;
        loop {
            let next = replaced.get(value);
            if next == value {
                return value;
            }
            value = next;
        }
    };
    for op in module.walk(root) {
        for operand in &mut module.op_mut(op).operands {
            *operand = resolve(*operand);
        }
    }
}

/// Drops private functions that no operation names.
fn drop_unreferenced(module: &mut Module) {
    let body = module.body();
    loop {
        let mut named = std::collections::HashSet::new();
        for op in module.walk(module.top()) {
            let own_name = module.names.find("sym_name");
            let op = module.op(op);
            for (name, attr) in op.properties.iter().chain(&op.attributes) {
                if Some(*name) != own_name {
                    collect_symbols(module, *attr, &mut named);
                }
            }
        }
        let keep = |op: &OpId| {
            let private = module.string_attr(*op, "sym_visibility") == Some("private");
            let name = module.string_attr(*op, "sym_name").and_then(|n| module.names.find(n));
            !private || name.is_none_or(|name| named.contains(&name))
        };
        let kept: Vec<OpId> = module.block(body).ops.iter().copied().filter(keep).collect();
        if kept.len() == module.block(body).ops.len() {
            return;
        }
        module.set_block_ops(body, kept);
    }
}

fn collect_symbols(
    module: &Module,
    attr: ckpt_ir::AttrId,
    named: &mut std::collections::HashSet<ckpt_ir::Symbol>,
) {
    use ckpt_ir::Attr;
    let mut stack = vec![attr];
    while let Some(attr) = stack.pop() {
        match module.attrs.get(attr) {
            Attr::SymbolRef(path) => named.extend(path),
            Attr::Array(items) => stack.extend(items),
            Attr::Dictionary(entries) => stack.extend(entries.iter().map(|(_, attr)| *attr)),
            _ => {}
        }
    }
}
