//! What a kernel computes and reads, from the schedule alone.

use crate::values::Values;
use ckpt_entity::EntitySet;
use ckpt_ir::{BlockId, Module, OpId, OpKind, ValueDef, ValueId};

/// Operations of a kernel and the buffers it reads.
pub(crate) struct Cone {
    /// Operations, each after those it needs; the root, if any, is not among them.
    pub(crate) ops: Vec<OpId>,
    /// Values read, each in a buffer or a barrier's view of one.
    pub(crate) inputs: Vec<ValueId>,
}

impl Cone {
    /// What computes `wanted` from buffers. None if something in it is not
    /// computed element by element and has no buffer: a schedule that keeps too little.
    pub(crate) fn of(values: &Values<'_>, wanted: &[ValueId]) -> Option<Self> {
        let module = values.module;
        let mut cone = Self { ops: Vec::new(), inputs: Vec::new() };
        let (mut seen, mut entered) = (EntitySet::new(), EntitySet::new());
        let mut stack: Vec<(ValueId, bool)> = wanted.iter().rev().map(|v| (*v, false)).collect();
        while let Some((value, leaving)) = stack.pop() {
            let maker = module.defining_op(value);
            let is_barrier = maker.is_some_and(|op| module.op(op).kind == OpKind::OptimizationBarrier);
            let in_buffer = values.own(value).is_some() || is_barrier && values.find(value).is_some();
            let Some(op) = maker.filter(|_| !in_buffer) else {
                if !in_buffer {
                    return None;
                }
                if seen.insert(value) {
                    cone.inputs.push(value);
                }
                continue;
            };
            if leaving {
                cone.ops.push(op);
            } else if entered.insert(op) {
                stack.push((value, true));
                stack.extend(module.op(op).operands.iter().rev().map(|v| (*v, false)));
            }
        }
        Some(cone)
    }
}

/// Values from outside that operations inside `op`'s regions use, each once.
pub(crate) fn captured(module: &Module, op: OpId) -> Vec<ValueId> {
    if module.op(op).regions.is_empty() {
        return Vec::new();
    }
    let inside = module.walk(op);
    let ops: EntitySet<OpId> = inside.iter().copied().filter(|inner| *inner != op).collect();
    let mut blocks: EntitySet<BlockId> = EntitySet::new();
    for inner in &inside {
        let regions = &module.op(*inner).regions;
        blocks.extend_with(regions.iter().flat_map(|region| module.region(*region).blocks.clone()));
    }
    let is_own = |value: ValueId| match module.value_def(value) {
        ValueDef::Result { op, .. } => ops.contains(op),
        ValueDef::Argument { block, .. } => blocks.contains(block),
    };
    let mut captured = Vec::new();
    for inner in inside.iter().filter(|inner| **inner != op) {
        for &operand in &module.op(*inner).operands {
            if !is_own(operand) && !captured.contains(&operand) {
                captured.push(operand);
            }
        }
    }
    captured
}
