//! Time and workspace of operations with regions that run as one step:
//! loops and branches.

use crate::cost::Device;
use crate::fusion::{Role, classify};
use crate::loops::is_passed_through;
use crate::remat::kernel::{Context, Kernel};
use crate::remat::order::{kernel_order, result_roots};
use ckpt_entity::{EntitySet, EntityVec};
use ckpt_ir::cost::trip_count;
use ckpt_ir::schedule::{Kernel as ScheduledKernel, KernelPartition};
use ckpt_ir::{BlockId, Bytes, Micros, Module, OpId, OpKind, ValueId};
use std::collections::{BTreeMap, HashMap};

/// What running an operation with regions costs as one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NestedCost {
    /// Time of all iterations, or of the dearest branch.
    pub time: Micros,
    /// Peak of what its regions hold besides the operation's own operands and
    /// results.
    pub workspace: Bytes,
}

/// Nested costs of every loop and branch of a module.
#[derive(Clone, Debug, Default)]
pub struct NestedCosts {
    costs: HashMap<OpId, NestedCost>,
    schedules: BTreeMap<BlockId, KernelPartition>,
}

impl NestedCosts {
    /// Computes the costs of all loops and branches below `root`, inner ones
    /// first. Linear in what lies below it.
    #[must_use]
    pub fn below(module: &Module, root: OpId, device: &Device) -> Self {
        let mut nested = Self::default();
        // A walk lists an operation before what lies inside it; backwards, inner ones come first.
        for op in module.walk(root).into_iter().rev() {
            let runs = match module.op(op).kind {
                OpKind::While => trip_count(module, op).unwrap_or(1),
                OpKind::If | OpKind::Case => 1,
                _ => continue,
            };
            let cost = nested.cost_of(module, op, runs, device);
            nested.costs.insert(op, cost);
        }
        nested
    }

    /// The cost of an operation, if it is a loop or a branch.
    #[must_use]
    pub fn of(&self, op: OpId) -> Option<NestedCost> {
        self.costs.get(&op).copied()
    }

    /// The schedules of the blocks of all loops and branches, by block, flat.
    #[must_use]
    pub fn into_schedules(self) -> BTreeMap<BlockId, KernelPartition> {
        self.schedules
    }

    fn cost_of(&mut self, module: &Module, op: OpId, runs: u64, device: &Device) -> NestedCost {
        let mut cost = NestedCost::default();
        for region in &module.op(op).regions {
            for &block in &module.region(*region).blocks {
                let one = self.block_cost(module, op, block, device);
                cost.workspace = cost.workspace.max(one.workspace);
                cost.time = match module.op(op).kind {
                    OpKind::While => Micros(cost.time.0 + one.time.0 * runs as f64),
                    _ if one.time > cost.time => one.time,
                    _ => cost.time,
                };
            }
        }
        cost
    }

    /// Time and peak of one block of `owner`, whose arguments are held by the
    /// owner's own operands and results. Remembers its schedule.
    fn block_cost(&mut self, module: &Module, owner: OpId, block: BlockId, device: &Device) -> NestedCost {
        let roles = classify(module, block);
        let ctx = Context { module, roles: &roles, device, nested: self };
        let kernels = kernel_order(&ctx, block);
        let results = result_roots(&ctx, block);
        let is_loop = module.op(owner).kind == OpKind::While;
        let in_place = |op: OpId| is_loop && updates_in_place(module, block, op);
        // What a branch returns lies in its owner's results; what a loop's body
        // returns lies beside the state that is still being read.
        let returned: EntitySet<ValueId> = results.iter().copied().collect();
        let has_bytes = |value: ValueId| is_loop || !returned.contains(value);
        let mut last_use: EntityVec<ValueId, usize> = EntityVec::filled(0, module.value_count());
        let end = kernels.len();
        for (position, kernel) in kernels.iter().enumerate() {
            for &value in kernel.cone.inputs.iter().chain(&module.op(kernel.root).results) {
                last_use[value] = position;
            }
        }
        results.iter().for_each(|value| last_use[*value] = end);
        let mut dying: Vec<Vec<ValueId>> = vec![Vec::new(); end + 1];
        let mut held = Bytes(0);
        let mut cost = NestedCost::default();
        for (position, kernel) in kernels.iter().enumerate() {
            for (index, &value) in module.op(kernel.root).results.iter().enumerate() {
                let own = !in_place(kernel.root) && !is_loop_alias(&ctx, kernel.root, index);
                if own && has_bytes(value) {
                    held += ctx.bytes(value);
                    dying[last_use[value]].push(value);
                }
            }
            cost.workspace = cost.workspace.max(held + kernel.workspace);
            cost.time += kernel.time;
            for value in std::mem::take(&mut dying[position]) {
                held -= ctx.bytes(value);
            }
        }
        cost.workspace = cost.workspace.max(held);
        let schedule = schedule(module, block, &kernels, in_place);
        self.schedules.insert(block, schedule);
        cost
    }
}

/// The schedule of a block with these kernels.
fn schedule(
    module: &Module,
    block: BlockId,
    kernels: &[Kernel],
    in_place: impl Fn(OpId) -> bool,
) -> KernelPartition {
    let roots: EntitySet<OpId> = kernels.iter().map(|kernel| kernel.root).collect();
    let mut schedule = KernelPartition::new(block);
    schedule.kernels = kernels.iter().map(|kernel| ScheduledKernel::single(kernel.root)).collect();
    schedule.in_place = kernels.iter().map(|kernel| kernel.root).filter(|op| in_place(*op)).collect();
    let ops = module.block(block).ops.iter().copied();
    schedule.inlined =
        ops.filter(|op| !roots.contains(*op) && !module.op(*op).kind.is_terminator()).collect();
    schedule
}

/// Whether result `index` of a loop is its initial value, passed through
/// unchanged and found in a buffer: it shares that buffer.
#[must_use]
pub fn is_loop_alias(ctx: &Context<'_>, op: OpId, index: usize) -> bool {
    ctx.module.op(op).kind == OpKind::While
        && is_passed_through(ctx.module, op, index)
        && ctx.roles.of(ctx.module.op(op).operands[index]) != Role::Virtual
}

/// Whether a loop body's update of a carried value writes into the carried
/// buffer itself: the value is only updated here, and yielded in its own place.
fn updates_in_place(module: &Module, block: BlockId, op: OpId) -> bool {
    if !matches!(module.op(op).kind, OpKind::DynamicUpdateSlice | OpKind::Scatter) {
        return false;
    }
    let (target, result) = (module.op(op).operands[0], module.op(op).results[0]);
    let Some(place) = module.block(block).arguments.iter().position(|a| *a == target) else {
        return false;
    };
    let Some(yielded) = module.terminator(block) else { return false };
    let users = module
        .block(block)
        .ops
        .iter()
        .filter(|user| **user != op && module.op(**user).operands.contains(&target))
        .count();
    users == 0 && module.op(yielded).operands.get(place) == Some(&result)
}
