//! Which values an operation uses last: a side table made once per module.

use ckpt_ir::{BlockId, EntityId, EntityVec, Module, OpId, ValueDef, ValueId};
use smallvec::SmallVec;

/// For each operation, the values that nobody needs after it. A value that a
/// nested region uses dies with the operation, in the value's own block, that
/// holds the region, since the region may run again.
pub(crate) struct LastUses {
    dead_after: EntityVec<OpId, SmallVec<[ValueId; 2]>>,
}

impl LastUses {
    /// Finds the last uses in a module. Linear in its operands times the depth
    /// of their nesting.
    pub(crate) fn of(module: &Module) -> Self {
        let ops = module.walk(module.top());
        let mut last: EntityVec<ValueId, Option<OpId>> = EntityVec::filled(None, module.value_count());
        // The walk visits a block's operations in order, so that the last visit wins.
        for &op in &ops {
            for &value in &module.op(op).operands {
                last[value] = holder_in(module, op, home(module, value));
            }
            for &value in &module.op(op).results {
                last[value] = Some(op);
            }
        }
        let mut dead_after = EntityVec::filled(SmallVec::new(), module.op_count());
        for index in 0..module.value_count() {
            let value = ValueId::from_index(index);
            if let Some(op) = last[value] {
                dead_after[op].push(value);
            }
        }
        Self { dead_after }
    }

    /// The values that nobody needs after an operation.
    pub(crate) fn after(&self, op: OpId) -> &[ValueId] {
        &self.dead_after[op]
    }
}

/// The block that defines a value.
fn home(module: &Module, value: ValueId) -> Option<BlockId> {
    match module.value_def(value) {
        ValueDef::Result { op, .. } => module.op(op).parent,
        ValueDef::Argument { block, .. } => Some(block),
    }
}

/// The operation of block `home` that is `op` or holds it.
fn holder_in(module: &Module, op: OpId, home: Option<BlockId>) -> Option<OpId> {
    let mut op = op;
    loop {
        let block = module.op(op).parent?;
        if Some(block) == home {
            return Some(op);
        }
        op = module.region(module.block(block).parent?).parent?;
    }
}
