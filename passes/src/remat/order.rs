//! The order of kernels in a block without rematerialisation.

use crate::fusion::{Cone, Role, is_fusible};
use crate::remat::kernel::{Context, Kernel};
use ckpt_entity::EntitySet;
use ckpt_ir::{BlockId, OpId, ValueId};

/// The kernels of a block, in execution order: roots that the text computes
/// for their own sake stand in program order, and a fusible root stands right
/// before the first kernel that reads it (waiting costs nothing and holds less).
/// Linear in the block.
#[must_use]
pub fn kernel_order(ctx: &Context<'_>, block: BlockId) -> Vec<Kernel> {
    let mut emitted: EntitySet<OpId> = EntitySet::new();
    let mut kernels = Vec::new();
    for &op in &ctx.module.block(block).ops {
        if ctx.module.op(op).kind.is_terminator() {
            let results = result_roots(ctx, block);
            emit_needed(ctx, &results, &mut emitted, &mut kernels);
        } else if makes_buffer(ctx, op) && !is_fusible(ctx.module, op) {
            emit(ctx, op, &mut emitted, &mut kernels);
        }
    }
    kernels
}

/// The buffers that hold a block's results.
#[must_use]
pub fn result_roots(ctx: &Context<'_>, block: BlockId) -> Vec<ValueId> {
    let Some(terminator) = ctx.module.terminator(block) else { return Vec::new() };
    let operands = ctx.module.op(terminator).operands.clone();
    Cone::of_values(ctx.module, ctx.roles, &operands, &|_| false).inputs
}

/// An operation that is a kernel's root: its results are buffers, or it has
/// none and runs for its effect.
fn makes_buffer(ctx: &Context<'_>, op: OpId) -> bool {
    ctx.module.op(op).results.first().is_none_or(|result| ctx.roles.of(*result) == Role::Root)
}

/// Emits the kernel of `op` after the waiting kernels that it needs.
fn emit(ctx: &Context<'_>, op: OpId, emitted: &mut EntitySet<OpId>, kernels: &mut Vec<Kernel>) {
    let mut stack = vec![op];
    while let Some(&op) = stack.last() {
        if emitted.contains(op) {
            stack.pop();
            continue;
        }
        let kernel = ctx.kernel(op, &|_| false);
        let missing = kernel.cone.inputs.iter().rev().filter_map(|input| {
            let maker = ctx.module.defining_op(*input)?;
            (ctx.roles.of(*input) == Role::Root && !emitted.contains(maker)).then_some(maker)
        });
        let before = stack.len();
        stack.extend(missing);
        if stack.len() == before {
            stack.pop();
            emitted.insert(op);
            kernels.push(kernel);
        }
    }
}

fn emit_needed(
    ctx: &Context<'_>,
    values: &[ValueId],
    emitted: &mut EntitySet<OpId>,
    kernels: &mut Vec<Kernel>,
) {
    for value in values {
        if ctx.roles.of(*value) == Role::Root
            && let Some(op) = ctx.module.defining_op(*value)
        {
            emit(ctx, op, emitted, kernels);
        }
    }
}
