//! Fingerprints of what values mean.

use ckpt_ir::{Effect, EntityVec, Module, OpId, OpKind, ValueId};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A fingerprint per value: two values of one module with the same fingerprint
/// are equal wherever both are visible.
#[derive(Clone, Debug)]
pub struct Meanings {
    values: EntityVec<ValueId, u64>,
    ops: EntityVec<OpId, u64>,
}

impl Meanings {
    /// Of all values of a module.
    #[must_use]
    pub fn of(module: &Module) -> Self {
        let mut this = Self {
            values: EntityVec::filled(0, module.value_count()),
            ops: EntityVec::filled(0, module.op_count()),
        };
        let (order, depths) = inside_out(module);
        for &op in &order {
            for (at, region) in module.op(op).regions.iter().enumerate() {
                for &block in &module.region(*region).blocks {
                    for (index, &argument) in module.block(block).arguments.iter().enumerate() {
                        let ty = module.value_type(argument);
                        this.values[argument] = hash(&("argument", depths[op], at, index, ty));
                    }
                }
            }
        }
        for &op in &order {
            this.add(module, op);
        }
        this
    }

    /// The fingerprint of a value.
    #[must_use]
    pub fn value(&self, value: ValueId) -> u64 {
        self.values[value]
    }

    /// The fingerprint of an operation's region.
    #[must_use]
    pub fn region(&self, module: &Module, op: OpId, region: usize) -> u64 {
        let blocks = &module.region(module.op(op).regions[region]).blocks;
        let ops = blocks.iter().flat_map(|block| &module.block(*block).ops);
        hash(&ops.map(|op| self.ops[*op]).collect::<Vec<_>>())
    }

    fn add(&mut self, module: &Module, op: OpId) {
        let data = module.op(op);
        if data.kind == OpKind::OptimizationBarrier {
            for (&operand, &result) in data.operands.iter().zip(&data.results) {
                self.values[result] = self.values[operand];
            }
            return;
        }
        let operands: Vec<u64> = data.operands.iter().map(|v| self.values[*v]).collect();
        let types: Vec<_> = data.results.iter().map(|r| module.value_type(*r)).collect();
        let regions: Vec<u64> =
            (0..data.regions.len()).map(|region| self.region(module, op, region)).collect();
        let effect = module.effect(op) != Effect::Pure;
        let own = effect.then_some(op);
        let print = hash(&(data.name, &data.properties[..], operands, types, regions, own));
        self.ops[op] = print;
        for (index, &result) in data.results.iter().enumerate() {
            self.values[result] = hash(&(print, index));
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// All operations, each after those inside it and those before it; and how
/// deep each is nested.
fn inside_out(module: &Module) -> (Vec<OpId>, EntityVec<OpId, u32>) {
    let mut depths = EntityVec::filled(0, module.op_count());
    let mut order = Vec::new();
    let mut stack = vec![(module.top(), false)];
    while let Some((op, entered)) = stack.pop() {
        if entered {
            order.push(op);
            continue;
        }
        stack.push((op, true));
        let blocks = module.op(op).regions.iter().rev();
        for block in blocks.flat_map(|r| module.region(*r).blocks.iter().rev()) {
            for &inner in module.block(*block).ops.iter().rev() {
                depths[inner] = depths[op] + 1;
                stack.push((inner, false));
            }
        }
    }
    (order, depths)
}
