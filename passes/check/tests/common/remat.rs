//! Random legal rewrites: what a rematerialiser may do, and nothing else.

use ckpt_check::mutate::clone_op;
use ckpt_ir::{BlockId, Effect, LocId, Module, OpId, OpKind, OpSpec, Uses, ValueDef, ValueId};

/// A deterministic generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// `steps` random rewrites: recompute a pure value for one reader (behind a
/// barrier or not), move a pure operation, drop an operation nothing reads.
pub fn rewrite(module: &Module, random: &mut Random, steps: usize) -> Module {
    let mut out = module.clone();
    for _ in 0..steps {
        let ops: Vec<OpId> = out
            .walk(out.top())
            .into_iter()
            .filter(|op| out.op(*op).parent.is_some() && out.op(*op).kind != OpKind::Func)
            .collect();
        let op = ops[random.below(ops.len())];
        match random.below(4) {
            0 | 1 => recompute(&mut out, op, random),
            2 => move_later(&mut out, op, random),
            _ => drop_dead(&mut out),
        }
    }
    out
}

fn block_and_position(module: &Module, op: OpId) -> (BlockId, usize) {
    let block = module.op(op).parent.unwrap();
    (block, module.block(block).ops.iter().position(|other| *other == op).unwrap())
}

/// One operand of `user` becomes a recomputation right before it.
fn recompute(module: &mut Module, user: OpId, random: &mut Random) {
    let operands = module.op(user).operands.clone();
    if operands.is_empty() {
        return;
    }
    let operand = random.below(operands.len());
    let ValueDef::Result { op, index } = module.value_def(operands[operand]) else { return };
    if module.effect(op) != Effect::Pure || module.op(op).kind == OpKind::OptimizationBarrier {
        return;
    }
    let (block, at) = block_and_position(module, user);
    let copy = clone_op(module, op);
    let mut inserted = vec![copy];
    let mut value = module.op(copy).results[index as usize];
    if random.below(2) == 0 {
        let (barrier, through) = barrier(module, value, operands[0]);
        inserted.push(barrier);
        value = through;
    }
    let mut ops = module.block(block).ops.clone();
    ops.splice(at..at, inserted);
    module.set_block_ops(block, ops);
    module.op_mut(user).operands[operand] = value;
}

/// A barrier that ties `value` to `anchor`.
fn barrier(module: &mut Module, value: ValueId, anchor: ValueId) -> (OpId, ValueId) {
    let types = [module.value_type(value), module.value_type(anchor)];
    let op = module.create_op(&OpSpec {
        kind: OpKind::OptimizationBarrier,
        operands: &[value, anchor],
        results: &types,
        properties: &[],
        loc: LocId::unknown(),
    });
    (op, module.op(op).results[0])
}

/// A pure operation moves behind some of those that follow and do not need it.
fn move_later(module: &mut Module, op: OpId, random: &mut Random) {
    if module.op(op).kind.is_terminator() || module.effect(op) != Effect::Pure {
        return;
    }
    let (block, at) = block_and_position(module, op);
    let mut ops = module.block(block).ops.clone();
    let results = module.op(op).results.clone();
    let reads = |other: OpId| {
        let inner = module.walk(other);
        inner.iter().any(|i| module.op(*i).operands.iter().any(|v| results.contains(v)))
    };
    let stop = (at + 1..ops.len()).find(|i| module.op(ops[*i]).kind.is_terminator() || reads(ops[*i]));
    let Some(stop) = stop else { return };
    let to = at + random.below(stop - at);
    ops.remove(at);
    ops.insert(to, op);
    module.set_block_ops(block, ops);
}

/// The first pure operation that nothing reads goes.
fn drop_dead(module: &mut Module) {
    let uses = Uses::below(module, module.top());
    let dead = module.walk(module.top()).into_iter().find(|op| {
        let data = module.op(*op);
        let frame = data.kind.is_terminator() || data.regions.is_empty() && data.results.is_empty();
        let func = data.kind == OpKind::Func || data.kind == OpKind::Module;
        !frame
            && !func
            && module.effect(*op) == Effect::Pure
            && data.results.iter().all(|result| uses.of(*result).is_empty())
    });
    if let Some(op) = dead {
        let (block, at) = block_and_position(module, op);
        let mut ops = module.block(block).ops.clone();
        ops.remove(at);
        module.set_block_ops(block, ops);
    }
}
