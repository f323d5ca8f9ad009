//! Calls, captures and effects of a function and of all that it calls.

use super::PeakError;
use crate::effects;
use crate::refusal::Place;
use ckpt_ir::{BlockId, EntitySet, Module, OpId, OpKind, ValueDef, ValueId};
use std::collections::HashMap;

/// What the peak needs to know beside the operations themselves.
pub(super) struct Structure {
    /// The functions that run, each after those that it calls; the root last.
    pub(super) callees_first: Vec<OpId>,
    /// Values that the regions of an operation read and that stand in its own block.
    pub(super) captures: HashMap<OpId, Vec<ValueId>>,
    /// Operations with effects, by their own or by what is in them.
    pub(super) effects: EntitySet<OpId>,
    /// The function that an operation calls.
    pub(super) callee: HashMap<OpId, OpId>,
}

impl Structure {
    /// Walks `root` and all that it calls.
    pub(super) fn of(module: &Module, root: OpId) -> Result<Self, PeakError> {
        let by_name: HashMap<String, OpId> = module
            .functions()
            .filter_map(|f| Some((module.string_attr(f, "sym_name")?.to_owned(), f)))
            .collect();
        let mut this = Self {
            callees_first: Vec::new(),
            captures: HashMap::new(),
            effects: EntitySet::new(),
            callee: HashMap::new(),
        };
        this.order_calls(module, root, &by_name)?;
        for index in 0..this.callees_first.len() {
            let function = this.callees_first[index];
            this.find_captures(module, function)?;
            this.find_effects(module, function);
        }
        Ok(this)
    }

    /// The blocks of a function's body and of its control operations with
    /// their owners, inner ones first.
    pub(super) fn blocks_inside_out(&self, module: &Module, function: OpId) -> Vec<(OpId, BlockId)> {
        let mut found = Vec::new();
        for op in module.walk(function).into_iter().rev() {
            let control = [OpKind::While, OpKind::If, OpKind::Case, OpKind::Func];
            if control.contains(&module.op(op).kind) {
                let regions = module.op(op).regions.iter();
                let blocks = regions.flat_map(|region| &module.region(*region).blocks);
                found.extend(blocks.map(|block| (op, *block)));
            }
        }
        found
    }

    fn order_calls(
        &mut self,
        module: &Module,
        root: OpId,
        by_name: &HashMap<String, OpId>,
    ) -> Result<(), PeakError> {
        let (mut open, mut done) = (EntitySet::new(), EntitySet::new());
        let mut stack = vec![(root, self.calls(module, root, by_name))];
        open.insert(root);
        while let Some((function, pending)) = stack.last_mut() {
            let function = *function;
            let Some(callee) = pending.pop() else {
                self.callees_first.push(function);
                done.insert(function);
                stack.pop();
                continue;
            };
            if done.contains(callee) {
                continue;
            }
            if !open.insert(callee) {
                return Err(PeakError::Recursion { place: Place::of(module, callee) });
            }
            let calls = self.calls(module, callee, by_name);
            stack.push((callee, calls));
        }
        Ok(())
    }

    /// The functions that `function` calls, recording which operation calls which.
    fn calls(&mut self, module: &Module, function: OpId, by_name: &HashMap<String, OpId>) -> Vec<OpId> {
        let mut found = Vec::new();
        for op in module.walk(function) {
            if let Some(callee) = effects::callee(module, op, by_name) {
                self.callee.insert(op, callee);
                found.push(callee);
            }
        }
        found
    }

    /// Finds what regions read from outside. A block at depth `d` belongs to
    /// the operation `path[d]`, so the user of its value in that block is `path[d + 1]`.
    fn find_captures(&mut self, module: &Module, function: OpId) -> Result<(), PeakError> {
        enum Step {
            Enter(OpId),
            Leave,
        }
        let mut depth_of: HashMap<BlockId, usize> = HashMap::new();
        let mut path: Vec<OpId> = Vec::new();
        let mut stack = vec![Step::Enter(function)];
        while let Some(step) = stack.pop() {
            let Step::Enter(op) = step else {
                path.pop();
                continue;
            };
            for &value in &module.op(op).operands {
                let block = defining_block(module, value);
                let depth = block.and_then(|block| depth_of.get(&block)).copied();
                let owner = block.and_then(|block| owner(module, block));
                match depth {
                    Some(depth) if path.get(depth).copied() == owner => {
                        if let Some(&user) = path.get(depth + 1) {
                            self.captures.entry(user).or_default().push(value);
                        }
                    }
                    _ => {
                        return Err(PeakError::NotVisible { place: Place::of(module, op), value });
                    }
                }
            }
            let regions = &module.op(op).regions;
            if regions.is_empty() {
                continue;
            }
            path.push(op);
            stack.push(Step::Leave);
            for block in regions.iter().rev().flat_map(|r| module.region(*r).blocks.iter().rev()) {
                depth_of.insert(*block, path.len() - 1);
                stack.extend(module.block(*block).ops.iter().rev().map(|op| Step::Enter(*op)));
            }
        }
        Ok(())
    }

    /// Finds the operations with effects, inner ones first.
    fn find_effects(&mut self, module: &Module, function: OpId) {
        for op in module.walk(function).into_iter().rev() {
            let callee = self.callee.get(&op).map(|callee| self.effects.contains(*callee));
            let regions = module.op(op).regions.iter();
            let mut inner = regions
                .flat_map(|region| &module.region(*region).blocks)
                .flat_map(|block| &module.block(*block).ops);
            let frame = module.op(op).kind == OpKind::Func;
            let has =
                inner.any(|op| self.effects.contains(*op)) || (!frame && effects::own(module, op, callee));
            if has {
                self.effects.insert(op);
            }
        }
        let declared = module.function_body(function).is_none();
        if declared {
            self.effects.insert(function);
        }
    }
}

/// The block that a value is visible in.
fn defining_block(module: &Module, value: ValueId) -> Option<BlockId> {
    match module.value_def(value) {
        ValueDef::Result { op, .. } => module.op(op).parent,
        ValueDef::Argument { block, .. } => Some(block),
    }
}

/// The operation whose region holds a block.
fn owner(module: &Module, block: BlockId) -> Option<OpId> {
    module.region(module.block(block).parent?).parent
}
