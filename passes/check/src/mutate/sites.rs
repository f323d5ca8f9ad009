//! Where a module can be changed so that it shows.

use super::Mutation;
use super::meaning::Meanings;
use super::vary::{other_kind, variations};
use ckpt_ir::{
    Attr, BlockId, Effect, ElementType, EntitySet, Module, OpId, OpKind, TypeId, Uses, ValueDef, ValueId,
};
use std::collections::HashMap;

/// Most values that one operand is retargeted to.
const MAX_RETARGETS: usize = 2;
/// How far back in the block values for an operand are looked for.
const RETARGET_WINDOW: usize = 64;
/// A shape that no program has.
const ODD_SHAPE: [u64; 5] = [3, 1, 4, 1, 5];

/// Every mutation of `module` that changes what it computes, in the order of
/// its text. Adds to the module's tables what the mutants need and changes
/// nothing else.
#[must_use]
pub fn mutations(module: &mut Module) -> Vec<Mutation> {
    let odd_type = module.types.tensor(&ODD_SHAPE, ElementType::F64);
    let varied = varied_attributes(module);
    let mut sites = Sites {
        module,
        meanings: Meanings::of(module),
        live: Live::of(module),
        uses: Uses::below(module, module.top()),
        positions: positions(module),
        found: Vec::new(),
    };
    for op in module.walk(module.top()) {
        if op == module.top() || !sites.live.ops.contains(op) {
            continue;
        }
        sites.operands(op);
        sites.attributes(op, &varied);
        sites.structure(op, odd_type);
        sites.effects(op);
        sites.definitions(op);
    }
    sites.found
}

/// Other values for the attributes of each operation's properties.
fn varied_attributes(module: &mut Module) -> HashMap<(OpId, usize), Vec<Attr>> {
    let mut all = HashMap::new();
    for op in module.walk(module.top()) {
        for at in 0..module.op(op).properties.len() {
            let attr = module.attrs.get(module.op(op).properties[at].1).clone();
            all.insert((op, at), variations(module, &attr));
        }
    }
    all
}

/// What contributes to a function's result or to an effect.
#[derive(Default)]
struct Live {
    ops: EntitySet<OpId>,
    values: EntitySet<ValueId>,
}

impl Live {
    fn of(module: &Module) -> Self {
        let mut live = Self::default();
        let mut ops: Vec<OpId> = module.functions().collect();
        ops.extend(module.walk(module.top()).into_iter().filter(|op| {
            let alone = module.op(*op).regions.is_empty();
            alone && !module.op(*op).kind.is_terminator() && module.effect(*op) != Effect::Pure
        }));
        let mut values = Vec::new();
        loop {
            if let Some(op) = ops.pop() {
                if live.ops.insert(op) {
                    live.enter(module, op, &mut ops, &mut values);
                }
            } else if let Some(value) = values.pop() {
                if live.values.insert(value) {
                    live.define(module, value, &mut ops, &mut values);
                }
            } else {
                return live;
            }
        }
    }

    /// A live operation makes live what it reads, what its regions yield, and its owner.
    fn enter(&self, module: &Module, op: OpId, ops: &mut Vec<OpId>, values: &mut Vec<ValueId>) {
        let data = module.op(op);
        if data.kind != OpKind::OptimizationBarrier {
            values.extend(&data.operands);
        }
        let blocks = data.regions.iter().flat_map(|region| &module.region(*region).blocks);
        ops.extend(blocks.filter_map(|block| module.terminator(*block)));
        let region = data.parent.and_then(|block| module.block(block).parent);
        ops.extend(region.and_then(|region| module.region(region).parent));
    }

    /// A live value makes its operation live; of a barrier, one operand only.
    fn define(&self, module: &Module, value: ValueId, ops: &mut Vec<OpId>, to: &mut Vec<ValueId>) {
        if let ValueDef::Result { op, index } = module.value_def(value) {
            ops.push(op);
            if module.op(op).kind == OpKind::OptimizationBarrier {
                to.extend(module.op(op).operands.get(index as usize));
            }
        }
    }
}

/// Where each operation stands in its block.
fn positions(module: &Module) -> HashMap<OpId, usize> {
    let ops = module.walk(module.top());
    let blocks = ops.iter().flat_map(|op| &module.op(*op).regions);
    let blocks = blocks.flat_map(|region| &module.region(*region).blocks);
    blocks.flat_map(|b| module.block(*b).ops.iter().enumerate()).map(|(i, op)| (*op, i)).collect()
}

struct Sites<'m> {
    module: &'m Module,
    meanings: Meanings,
    live: Live,
    uses: Uses,
    positions: HashMap<OpId, usize>,
    found: Vec<Mutation>,
}

impl Sites<'_> {
    fn differ(&self, a: ValueId, b: ValueId) -> bool {
        self.meanings.value(a) != self.meanings.value(b)
    }

    fn operands(&mut self, op: OpId) {
        let module = self.module;
        let operands = &module.op(op).operands;
        for i in 0..operands.len() {
            for j in i + 1..operands.len() {
                let (a, b) = (operands[i], operands[j]);
                let same_type = module.value_type(a) == module.value_type(b);
                let seen = j == i + 1 && self.is_seen(op, i) && self.is_seen(op, j);
                if same_type && seen && self.differ(a, b) && !commutes(module, op) {
                    self.found.push(Mutation::SwapOperands { op, operands: (i, j) });
                }
            }
            if self.is_seen(op, i) {
                self.retargets(op, i);
            }
        }
    }

    /// Whether an operand can be seen in the results: those of a barrier only
    /// where something live reads the result.
    fn is_seen(&self, op: OpId, operand: usize) -> bool {
        let data = self.module.op(op);
        data.kind != OpKind::OptimizationBarrier
            || data.results.get(operand).is_some_and(|result| self.live.values.contains(*result))
    }

    /// A live operation that reads `value` so that it shows.
    fn live_user(&self, value: ValueId) -> Option<OpId> {
        let mut uses = self.uses.of(value).iter();
        let seen = |op, operand| self.live.ops.contains(op) && self.is_seen(op, operand);
        uses.find(|u| seen(u.op, u.operand as usize)).map(|u| u.op)
    }

    /// Other values that stand before `op` in its block, arguments first.
    fn retargets(&mut self, op: OpId, operand: usize) {
        let module = self.module;
        let value = module.op(op).operands[operand];
        let Some(block) = module.op(op).parent else { return };
        let at = self.positions[&op];
        let before = &module.block(block).ops[at.saturating_sub(RETARGET_WINDOW)..at];
        let results = before.iter().rev().flat_map(|op| module.op(*op).results.iter());
        let candidates = module.block(block).arguments.iter().chain(results);
        let fit = candidates
            .filter(|to| module.value_type(**to) == module.value_type(value) && self.differ(**to, value));
        let found: Vec<_> =
            fit.take(MAX_RETARGETS).map(|to| Mutation::Retarget { op, operand, to: *to }).collect();
        self.found.extend(found);
    }

    fn attributes(&mut self, op: OpId, varied: &HashMap<(OpId, usize), Vec<Attr>>) {
        for property in 0..self.module.op(op).properties.len() {
            for to in varied.get(&(op, property)).into_iter().flatten() {
                let to = to.clone();
                self.found.push(Mutation::ChangeAttribute { op, property, to });
            }
            self.found.push(Mutation::DropAttribute { op, property });
        }
    }

    fn structure(&mut self, op: OpId, odd_type: TypeId) {
        let module = self.module;
        let data = module.op(op);
        if let Some(to) = other_kind(data.kind) {
            self.found.push(Mutation::ChangeKind { op, to });
        }
        for i in 1..data.regions.len() {
            let print = |region| self.meanings.region(module, op, region);
            if print(i - 1) != print(i) {
                self.found.push(Mutation::SwapRegions { op, regions: (i - 1, i) });
            }
        }
        let barrier = data.kind == OpKind::OptimizationBarrier;
        for &value in &data.results {
            if !barrier {
                self.found.push(Mutation::Retype { value, to: odd_type });
            }
        }
        for &block in data.regions.iter().flat_map(|r| &module.region(*r).blocks) {
            self.found.push(Mutation::AddArgument { block, ty: odd_type });
            for &value in &module.block(block).arguments {
                self.found.push(Mutation::Retype { value, to: odd_type });
            }
        }
        if data.kind.is_terminator() && !data.operands.is_empty() {
            self.found.push(Mutation::DropLastOperand { op });
        }
    }

    fn effects(&mut self, op: OpId) {
        let module = self.module;
        let kind = module.op(op).kind;
        let frame = kind == OpKind::Func || kind.is_terminator();
        let Some(block) = module.op(op).parent else { return };
        if frame || module.effect(op) == Effect::Pure {
            return;
        }
        self.found.push(Mutation::RepeatEffect { op });
        let results = &module.op(op).results;
        let uses = results.iter().flat_map(|result| self.uses.of(*result));
        let users: Vec<_> = uses.filter(|u| module.op(u.op).parent == Some(block)).collect();
        if results.iter().all(|result| self.uses.of(*result).is_empty()) {
            self.found.push(Mutation::DropEffect { op });
            if let Some(block) = self.next_region(block, op) {
                self.found.push(Mutation::MoveInto { op, block });
            }
        }
        for u in users {
            let operand = u.operand as usize;
            self.found.push(Mutation::RecomputeEffect { op, user: u.op, operand });
        }
        if let Some(second) = self.next_effect(block, op) {
            let independent = module
                .walk(second)
                .iter()
                .flat_map(|inner| &module.op(*inner).operands)
                .all(|v| self.stands_before(*v, block, self.positions[&op]));
            if independent {
                self.found.push(Mutation::SwapEffects { first: op, second });
            }
        }
    }

    /// The first block inside an operation that follows `op`.
    fn next_region(&self, block: BlockId, op: OpId) -> Option<BlockId> {
        let after = &self.module.block(block).ops[self.positions[&op] + 1..];
        let regions = after.iter().flat_map(|other| self.module.op(*other).regions.last());
        let mut blocks = regions.flat_map(|region| self.module.region(*region).blocks.first());
        blocks.next().copied()
    }

    fn next_effect(&self, block: BlockId, op: OpId) -> Option<OpId> {
        let mut after = self.module.block(block).ops[self.positions[&op] + 1..].iter().copied();
        after.find(|other| self.module.effect(*other) != Effect::Pure)
    }

    /// Whether a value is not defined in `block` at `at` or later.
    fn stands_before(&self, value: ValueId, block: BlockId, at: usize) -> bool {
        match self.module.value_def(value) {
            ValueDef::Result { op, .. } if self.module.op(op).parent == Some(block) => {
                self.positions[&op] < at
            }
            _ => true,
        }
    }

    fn definitions(&mut self, op: OpId) {
        let module = self.module;
        let data = module.op(op);
        if data.kind == OpKind::Func || data.kind.is_terminator() {
            return;
        }
        self.found.push(Mutation::ListTwice { op });
        let user = data.results.iter().find_map(|result| self.live_user(*result));
        let Some(user) = user else { return };
        self.found.push(Mutation::DropDefinition { op });
        if module.op(user).parent == data.parent && !module.op(user).kind.is_terminator() {
            self.found.push(Mutation::DefineAfterUse { op, user });
        }
    }
}

/// Whether the order of the operands does not matter.
fn commutes(module: &Module, op: OpId) -> bool {
    match module.op(op).kind {
        OpKind::Add
        | OpKind::Multiply
        | OpKind::Maximum
        | OpKind::Minimum
        | OpKind::And
        | OpKind::Or
        | OpKind::Xor => true,
        OpKind::Compare => match module.attr(op, "comparison_direction") {
            Some(Attr::Enum(_, value)) => matches!(module.names.get(*value), "EQ" | "NE"),
            _ => true,
        },
        _ => false,
    }
}
