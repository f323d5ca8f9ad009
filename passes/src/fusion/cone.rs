//! The cone of a kernel: what it computes besides its root, and what it reads.

use super::{Role, Roles};
use ckpt_entity::EntitySet;
use ckpt_ir::{Module, OpId, ValueId};

/// The virtual operations that a kernel computes and the buffers it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cone {
    /// Virtual operations, each after those it needs.
    pub inlined: Vec<OpId>,
    /// Buffers read: roots and arguments, in order of first sight, each once.
    pub inputs: Vec<ValueId>,
}

impl Cone {
    /// The cone of `op`'s operands. `expand` says of a root whether to compute
    /// it inside the kernel too. Linear in the cone.
    #[must_use]
    pub fn of(module: &Module, roles: &Roles, op: OpId, expand: &dyn Fn(ValueId) -> bool) -> Self {
        let mut operands = module.op(op).operands.to_vec();
        operands.extend(captured(module, op));
        Self::of_values(module, roles, &operands, expand)
    }

    /// The cone above `values`.
    #[must_use]
    pub fn of_values(
        module: &Module,
        roles: &Roles,
        values: &[ValueId],
        expand: &dyn Fn(ValueId) -> bool,
    ) -> Self {
        let mut cone = Self::default();
        let mut seen_inputs: EntitySet<ValueId> = EntitySet::new();
        let mut seen_ops: EntitySet<OpId> = EntitySet::new();
        // Depth first with an explicit "leave" entry, so that operations come out in topological order.
        let mut stack: Vec<(ValueId, bool)> = values.iter().rev().map(|v| (*v, false)).collect();
        while let Some((value, leaving)) = stack.pop() {
            let virtual_op = match roles.of(value) {
                Role::Virtual => module.defining_op(value),
                Role::Root if expand(value) => module.defining_op(value),
                Role::Root | Role::Resident => None,
            };
            let Some(op) = virtual_op else {
                if seen_inputs.insert(value) {
                    cone.inputs.push(value);
                }
                continue;
            };
            if leaving {
                cone.inlined.push(op);
            } else if seen_ops.insert(op) {
                stack.push((value, true));
                let operands = module.op(op).operands.iter().rev();
                stack.extend(operands.map(|v| (*v, false)));
            }
        }
        cone
    }
}

/// Values from outside that operations inside `op`'s regions use, each once.
#[must_use]
pub(crate) fn captured(module: &Module, op: OpId) -> Vec<ValueId> {
    if module.op(op).regions.is_empty() {
        return Vec::new();
    }
    let inside = module.walk(op);
    let mut own: EntitySet<ValueId> = EntitySet::new();
    for &inner in &inside {
        if inner != op {
            own.extend_with(module.op(inner).results.iter().copied());
        }
        for region in &module.op(inner).regions {
            for block in &module.region(*region).blocks {
                own.extend_with(module.block(*block).arguments.iter().copied());
            }
        }
    }
    let mut captured = Vec::new();
    for &inner in inside.iter().filter(|inner| **inner != op) {
        for &operand in &module.op(inner).operands {
            if own.insert(operand) {
                captured.push(operand);
            }
        }
    }
    captured
}
