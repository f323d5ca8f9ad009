//! What is MLIR's of a program: dominance, terminators, functions, calls, symbols.

use super::relations;
use super::view::{Check, Context, Op, Value, invalid};
use crate::{Attr, BlockId, EntityVec, Module, OpId, OpKind, RegionId, Type, TypeId, ValueDef, ValueId};
use std::collections::{HashMap, HashSet};

/// Side tables for the whole module.
pub(super) struct Structure<'m> {
    /// The place of each operation in the walk; `u32::MAX` outside it.
    order: EntityVec<OpId, u32>,
    /// Functions of the top-level module by name.
    functions: HashMap<&'m str, OpId>,
    /// Symbols that an earlier operation of the same block defines.
    duplicates: HashSet<OpId>,
}

impl<'m> Structure<'m> {
    /// The tables of a module of which `walk` is every operation in order.
    pub(super) fn new(context: &Context<'m>, walk: &[OpId]) -> Self {
        let module = context.module;
        let mut order = EntityVec::filled(u32::MAX, module.op_count());
        let (mut functions, mut duplicates) = (HashMap::new(), HashSet::new());
        let mut symbols: HashSet<(BlockId, &str)> = HashSet::new();
        for (place, &op) in walk.iter().enumerate() {
            order[op] = place as u32;
            let data = module.op(op);
            if !matches!(data.kind, OpKind::Func | OpKind::Module | OpKind::Unknown) {
                continue;
            }
            let (Some(block), Some(name)) = (data.parent, module.string_attr(op, "sym_name")) else {
                continue;
            };
            if !symbols.insert((block, name)) {
                duplicates.insert(op);
            } else if data.kind == OpKind::Func && block == module.body() {
                functions.insert(name, op);
            }
        }
        Self { order, functions, duplicates }
    }

    /// The structural constraints of one operation.
    pub(super) fn check(&self, op: Op<'_>) -> Check {
        self.dominance(op)?;
        if op.kind().is_terminator() {
            terminator(op)?;
        }
        if !op.data.regions.is_empty() {
            blocks(op)?;
        }
        if self.duplicates.contains(&op.id) {
            let name = op.module().string_attr(op.id, "sym_name").unwrap_or_default();
            invalid!("redefinition of symbol named '{name}'");
        }
        match op.kind() {
            OpKind::Func => function(op),
            OpKind::FuncReturn => function_return(op),
            OpKind::FuncCall => self.call(op),
            OpKind::Composite => self.composite(op),
            _ => Ok(()),
        }
    }

    /// Each operand must be defined before, in the same block or around it.
    fn dominance(&self, op: Op<'_>) -> Check {
        let module = op.module();
        for (index, &value) in op.data.operands.iter().enumerate() {
            let def = module.value_def(value);
            // Most operands are results of an earlier operation of the same block.
            if let ValueDef::Result { op: defining, .. } = def {
                let near = module.op(defining).parent == op.data.parent;
                if near && self.order[defining] < self.order[op.id] {
                    continue;
                }
            }
            if !self.dominates(module, def, op.id) {
                let name =
                    module.value_name(value).map_or_else(|| format!("#{index}"), |name| format!("%{name}"));
                invalid!("operand {name} does not dominate this use");
            }
        }
        Ok(())
    }

    fn dominates(&self, module: &Module, def: ValueDef, user: OpId) -> bool {
        let (block, defining) = match def {
            ValueDef::Argument { block, .. } => (block, None),
            ValueDef::Result { op, .. } => match module.op(op).parent {
                Some(block) => (block, Some(op)),
                None => return false,
            },
        };
        let region = module.block(block).parent;
        let mut at = user;
        loop {
            let Some(holder) = module.op(at).parent else { return false };
            let unordered = parent_op(module, holder)
                .is_some_and(|op| matches!(module.op(op).kind, OpKind::Module | OpKind::Unknown));
            if holder == block {
                return unordered || defining.is_none_or(|op| self.order[op] < self.order[at] && op != at);
            }
            // Blocks of one region: control flow between them is not modelled.
            if module.block(holder).parent == region {
                return true;
            }
            let Some(outer) = parent_op(module, holder) else { return false };
            if matches!(module.op(outer).kind, OpKind::Func | OpKind::Module | OpKind::AsyncStart) {
                return false;
            }
            at = outer;
        }
    }

    fn call(&self, op: Op<'_>) -> Check {
        if op.attr("callee").is_none() {
            invalid!("requires attribute 'callee'");
        }
        let Some(name) = symbol(op, "callee") else { return Ok(()) };
        let Some(&callee) = self.functions.get(name) else {
            // A callee in a nested module is looked up there by MLIR; only the
            // functions of the top-level module are known here.
            if nested(op) {
                return Ok(());
            }
            invalid!("'{name}' does not reference a valid function")
        };
        let Some((inputs, results)) = function_type(op.module(), callee) else { return Ok(()) };
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        if inputs.len() != op.operand_count() {
            let (wanted, given) = (inputs.len(), op.operand_count());
            invalid!(
                "incorrect number of operands for callee: {given} operand{} for {wanted}",
                plural(given)
            );
        }
        if results.len() != op.result_count() {
            let (wanted, given) = (results.len(), op.result_count());
            invalid!("incorrect number of results for callee: {given} result{} for {wanted}", plural(given));
        }
        mismatch(op, op.operands(), inputs, "operand type mismatch", "callee takes")?;
        mismatch(op, op.results(), results, "result type mismatch", "callee returns")
    }

    fn composite(&self, op: Op<'_>) -> Check {
        let Some(name) = symbol(op, "decomposition") else { return Ok(()) };
        let Some(&callee) = self.functions.get(name) else {
            if nested(op) {
                return Ok(());
            }
            invalid!("'{name}' does not reference a valid function")
        };
        let Some((inputs, results)) = function_type(op.module(), callee) else { return Ok(()) };
        for (what, given, wanted) in
            [("operand", op.operand_count(), inputs.len()), ("result", op.result_count(), results.len())]
        {
            if given != wanted {
                invalid!("has {given} {what}(s), but decomposition has {wanted}");
            }
        }
        mismatch(op, op.operands(), inputs, "operand", "decomposition has type")?;
        mismatch(op, op.results(), results, "result", "decomposition has type")
    }
}

fn parent_op(module: &Module, block: BlockId) -> Option<OpId> {
    module.block(block).parent.and_then(|region| module.region(region).parent)
}

/// Whether the operation stands in a module inside the top-level module.
fn nested(op: Op<'_>) -> bool {
    let module = op.module();
    let mut at = op.data.parent;
    while let Some(outer) = at.and_then(|block| parent_op(module, block)) {
        if outer != module.top() && module.op(outer).kind == OpKind::Module {
            return true;
        }
        at = module.op(outer).parent;
    }
    false
}

/// A symbol reference of one name.
fn symbol<'m>(op: Op<'m>, name: &str) -> Option<&'m str> {
    match op.attr(name)? {
        Attr::SymbolRef(path) if path.len() == 1 => Some(op.module().names.get(path[0])),
        _ => None,
    }
}

/// The inputs and results of a function.
pub(super) fn function_type(module: &Module, function: OpId) -> Option<(&[TypeId], &[TypeId])> {
    let Some(Attr::Type(ty)) = module.attr(function, "function_type") else { return None };
    match module.types.get(*ty) {
        Type::Function { inputs, results } => Some((inputs, results)),
        _ => None,
    }
}

/// Compares types one by one.
fn mismatch<'m>(
    op: Op<'m>,
    given: impl Iterator<Item = Value<'m>>,
    wanted: &[TypeId],
    what: &str,
    other: &str,
) -> Check {
    for (index, (given, wanted)) in given.zip(wanted).enumerate() {
        if given.ty != *wanted {
            let wanted = op.context.of_type(*wanted);
            invalid!("{what} at index {index} has type {given}, but {other} {wanted}");
        }
    }
    Ok(())
}

/// A terminator stands at the end of its block, below the right operation.
fn terminator(op: Op<'_>) -> Check {
    let module = op.module();
    let Some(block) = op.data.parent else { return Ok(()) };
    if module.block(block).ops.last() != Some(&op.id) {
        invalid!("must be the last operation in the parent block");
    }
    let parent = parent_op(module, block).map(|parent| module.op(parent).kind);
    if op.kind() == OpKind::FuncReturn && !matches!(parent, Some(OpKind::Func | OpKind::Unknown)) {
        invalid!("expects parent op 'func.func'");
    }
    Ok(())
}

/// Blocks of known operations end with a terminator.
fn blocks(op: Op<'_>) -> Check {
    if matches!(op.kind(), OpKind::Module | OpKind::Unknown) {
        return Ok(());
    }
    let regions: &[RegionId] = &op.data.regions;
    for (index, region) in regions.iter().enumerate() {
        for &block in &op.module().region(*region).blocks {
            let last = op.module().block(block).ops.last().map(|last| op.module().op(*last).kind);
            if !last.is_some_and(|kind| kind.is_terminator() || kind == OpKind::Unknown) {
                invalid!("expects region #{index} to end with a terminator, such as 'stablehlo.return'");
            }
            if last == Some(OpKind::FuncReturn) && op.kind() != OpKind::Func {
                invalid!("expects regions to end with 'stablehlo.return', found 'func.return'");
            }
        }
    }
    Ok(())
}

fn function(op: Op<'_>) -> Check {
    let module = op.module();
    if module.string_attr(op.id, "sym_name").is_none_or(str::is_empty) {
        invalid!("requires attribute 'sym_name'");
    }
    let parent =
        op.data.parent.and_then(|block| parent_op(module, block)).map(|parent| module.op(parent).kind);
    if !matches!(parent, Some(OpKind::Module | OpKind::Unknown) | None) {
        invalid!("symbol's parent must have the SymbolTable trait");
    }
    let Some((inputs, results)) = function_type(module, op.id) else {
        invalid!("requires attribute 'function_type' of function type")
    };
    for ty in inputs.iter().chain(results) {
        let ty = op.context.of_type(*ty);
        if let Some(defect) = &ty.facts.defect {
            invalid!("type {ty} is not valid: {defect}");
        }
    }
    let Some(body) = module.function_body(op.id) else { return Ok(()) };
    let arguments: &[ValueId] = &module.block(body).arguments;
    if arguments.len() != inputs.len() {
        let (given, wanted) = (arguments.len(), inputs.len());
        invalid!("entry block must have {wanted} arguments to match function signature, but has {given}");
    }
    let given = arguments.iter().map(|value| op.context.of_value(*value));
    mismatch(op, given, inputs, "entry block argument", "the function signature has")
}

fn function_return(op: Op<'_>) -> Check {
    let module = op.module();
    let Some(function) = op.data.parent.and_then(|block| parent_op(module, block)) else { return Ok(()) };
    let Some((_, results)) = function_type(module, function) else { return Ok(()) };
    let name = module.string_attr(function, "sym_name").unwrap_or_default();
    if op.operand_count() != results.len() {
        let (given, wanted) = (op.operand_count(), results.len());
        invalid!("has {given} operands, but enclosing function (@{name}) returns {wanted}");
    }
    for (index, (given, wanted)) in op.operands().zip(results).enumerate() {
        let wanted = op.context.of_type(*wanted);
        if given.ty != wanted.ty {
            invalid!(
                "type of return operand {index} ({given}) doesn't match function result type ({wanted}) in \
                 function @{name}"
            );
        }
    }
    Ok(())
}

/// Types of operands against the arguments of a block, for operations that
/// hand values to their regions.
pub(super) fn hands_over(op: Op<'_>, arguments: &[Value<'_>], what: &str) -> Check {
    let agree = op.operand_count() == arguments.len()
        && op.operands().zip(arguments).all(|(operand, argument)| relations::compatible(operand, *argument));
    if !agree {
        let (operands, arguments) =
            (relations::list(op.operands()), relations::list(arguments.iter().copied()));
        invalid!("expect operands to be compatible with {what} but got {operands} vs {arguments}");
    }
    Ok(())
}
