//! Application of a plan: the block that runs it.
//!
//! - **Computes** a block whose root operations stand in the plan's order,
//!   with one clone per recomputation.
//! - **Requires** the module, roles and problem that the plan was made for, and
//!   a plan that `ckpt_planner::replay` accepts.
//! - **Guarantees** that every kernel reads the instance of each buffer that is
//!   live in the plan at that point, so that the plan's liveness is the block's.
//! - **Complexity** linear in the plan's kernels with their cones.
//!
//! Virtual operations are shared between neighbouring kernels and repeated
//! across [`SHARING_DISTANCE`], so that a downstream compiler cannot keep them
//! alive from the forward pass to the backward pass. Whatever is repeated
//! stands behind an `optimization_barrier` of its own, which also takes the
//! values that were computed since the barrier before: so no later pass merges
//! the clone with its original or schedules it early.

use crate::clone::{ValueMap, clone_op_as_in};
use crate::remat::problem::BlockProblem;
use ckpt_entity::EntitySet;
use ckpt_ir::{BlockId, LocId, Module, OpId, OpKind, OpSpec, Type, TypeId, ValueId};
use ckpt_planner::{DerivationId, Plan, Step};
use std::collections::HashMap;

/// Kernels over which a virtual operation may be shared instead of repeated.
/// A compiler that does not repeat what two kernels read gives it a buffer: at 8,
/// XLA's CPU compiler kept a 1.5 GiB one-hot of GPT-2's logits for two readers.
pub const SHARING_DISTANCE: usize = 1;

/// How clones are kept apart from their originals in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Barriers {
    /// Each clone stands behind its own `stablehlo.optimization_barrier`.
    #[default]
    StableHlo,
    /// None: for consumers that respect the order of operations as it stands.
    None,
}

/// What application made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// The root operations in execution order: what runs as kernels.
    pub kernels: Vec<OpId>,
    /// Root operations that repeat an earlier one, with the original.
    pub clones: Vec<(OpId, OpId)>,
    /// Every other operation that was repeated, with the original.
    pub virtual_clones: Vec<(OpId, OpId)>,
}

/// Rewrites `block` so that it runs `plan`.
pub fn apply(
    module: &mut Module,
    block: BlockId,
    problem: &BlockProblem,
    plan: &Plan,
    barriers: Barriers,
) -> Applied {
    let terminator = module.terminator(block);
    let source = module.clone();
    let mut emitter = Emitter::new(&source, module, problem, barriers, recomputes(problem, plan));
    for step in &plan.steps {
        match *step {
            Step::Compute(id) => emitter.derivation(id),
            Step::Free(value) => emitter.forget(problem.values[value.index()]),
        }
    }
    if let Some(terminator) = terminator {
        emitter.terminator(terminator);
    }
    let (ops, applied) = (emitter.ops, emitter.applied);
    module.set_block_ops(block, ops);
    applied
}

/// Whether a plan runs some root operation twice. Linear.
fn recomputes(problem: &BlockProblem, plan: &Plan) -> bool {
    let mut seen = EntitySet::new();
    plan.steps.iter().any(
        |step| matches!(step, Step::Compute(id) if problem.root(*id).is_some_and(|root| !seen.insert(root))),
    )
}

/// Whether a downstream compiler expands an operation into tensors that depend
/// on none of its large operands and could be computed long before: XLA's CPU
/// compiler gives `select_and_scatter` a filled tensor for its initial value,
/// which without a barrier lives from the start of the program (1 GB in a U-Net).
fn is_expanded_downstream(kind: OpKind) -> bool {
    kind == OpKind::SelectAndScatter
}

/// The instance of an operation's results that kernels read now.
#[derive(Clone, Debug)]
struct Instance {
    results: Vec<ValueId>,
    /// The operands it was made with: it stands for the operation only where
    /// the operands' current instances are these.
    operands: Vec<ValueId>,
    kernel: usize,
}

/// A barrier's result that stands for a buffer in the kernels near the barrier.
#[derive(Clone, Copy, Debug)]
struct Alias {
    value: ValueId,
    kernel: usize,
}

struct Emitter<'a> {
    /// The module before any change, from which clones are copied.
    source: &'a Module,
    module: &'a mut Module,
    problem: &'a BlockProblem,
    barriers: Barriers,
    /// Whether the plan computes anything twice.
    rematerialises: bool,
    ops: Vec<OpId>,
    applied: Applied,
    /// Current instance of each live buffer.
    buffers: HashMap<ValueId, ValueId>,
    /// What recent barriers let stand for a buffer or resident.
    aliases: HashMap<ValueId, Alias>,
    /// Current instance of each virtual operation.
    virtuals: HashMap<OpId, Instance>,
    /// Operations that were emitted once.
    emitted: EntitySet<OpId>,
    /// Buffers made since the last barrier and still live, with their instance:
    /// what the next barrier waits for. Waiting for all of them, and not for the
    /// last one alone, keeps a scheduler from deferring a weight gradient, whose
    /// operands would then outlive the recomputation of the next layer.
    pending: Vec<(ValueId, ValueId)>,
    /// Names given to clones so far.
    clone_names: usize,
}

impl<'a> Emitter<'a> {
    fn new(
        source: &'a Module,
        module: &'a mut Module,
        problem: &'a BlockProblem,
        barriers: Barriers,
        rematerialises: bool,
    ) -> Self {
        Self {
            source,
            module,
            problem,
            barriers,
            rematerialises,
            ops: Vec::new(),
            applied: Applied::default(),
            buffers: HashMap::new(),
            aliases: HashMap::new(),
            virtuals: HashMap::new(),
            emitted: EntitySet::new(),
            pending: Vec::new(),
            clone_names: 0,
        }
    }

    /// Whether what was made at a kernel may still be shared now.
    fn is_near(&self, kernel: usize) -> bool {
        self.applied.kernels.len() - kernel <= SHARING_DISTANCE
    }

    /// The instance of a buffer that kernels read now; residents are their own.
    fn buffer(&self, value: ValueId) -> ValueId {
        match self.aliases.get(&value) {
            Some(alias) if self.is_near(alias.kernel) => alias.value,
            _ => self.buffers.get(&value).copied().unwrap_or(value),
        }
    }

    fn forget(&mut self, value: ValueId) {
        self.buffers.remove(&value);
        self.aliases.remove(&value);
        // The last one stays: something must hold a clone back even where
        // everything before it is dead.
        if self.pending.len() > 1 {
            let last = self.pending.len() - 1;
            let mut place = 0;
            self.pending.retain(|(pending, _)| {
                place += 1;
                *pending != value || place > last
            });
        }
    }

    /// Emits one kernel: its virtual operations, then its root. What the caller
    /// makes is there already.
    fn derivation(&mut self, id: DerivationId) {
        let problem = self.problem;
        let Some(kernel) = problem.kernel(id) else { return };
        let mut map = ValueMap::default();
        for &value in &kernel.cone.inputs {
            map.insert(value, self.buffer(value));
        }
        let repeats_root = self.emitted.contains(kernel.root);
        let expanded = self.rematerialises && is_expanded_downstream(self.source.op(kernel.root).kind);
        if repeats_root || expanded || self.repeats_virtuals(&kernel.cone.inlined, &map) {
            self.guard_inputs(&kernel.cone.inputs, &mut map);
        }
        for &op in &kernel.cone.inlined {
            self.virtual_op(op, &mut map);
        }
        let root = self.place(kernel.root, &mut map);
        let originals = self.source.op(kernel.root).results.clone();
        let results = self.module.op(root).results.clone();
        for (original, result) in originals.into_iter().zip(results) {
            self.forget(original);
            self.buffers.insert(original, result);
            self.pending.push((original, result));
        }
        self.applied.kernels.push(root);
        if repeats_root {
            self.applied.clones.push((root, kernel.root));
        }
    }

    /// Whether some virtual operation that was emitted before must be emitted again.
    fn repeats_virtuals(&self, inlined: &[OpId], map: &ValueMap) -> bool {
        let mut map = map.clone();
        for &op in inlined {
            match self.shared_instance(op, &map) {
                Some(instance) => {
                    for (original, result) in self.source.op(op).results.iter().zip(&instance.results) {
                        map.insert(*original, *result);
                    }
                }
                None if self.emitted.contains(op) => return true,
                None => {}
            }
        }
        false
    }

    /// The instance of a virtual operation that a kernel may share: made from
    /// the same operands, and not far away unless it is constant.
    fn shared_instance(&self, op: OpId, map: &ValueMap) -> Option<&Instance> {
        let instance = self.virtuals.get(&op)?;
        let operands = &self.source.op(op).operands;
        let same = instance.operands.iter().copied().eq(operands.iter().map(|v| map.get(*v)));
        (same && (self.is_near(instance.kernel) || self.is_cheap_constant(op))).then_some(instance)
    }

    /// Constants and what is broadcast from them cost nothing to share anywhere.
    fn is_cheap_constant(&self, op: OpId) -> bool {
        let mut op = op;
        loop {
            let data = self.source.op(op);
            match data.kind {
                OpKind::Constant | OpKind::Iota => return true,
                OpKind::BroadcastInDim | OpKind::Reshape | OpKind::Convert => {
                    match self.source.defining_op(data.operands[0]) {
                        Some(above) => op = above,
                        None => return false,
                    }
                }
                _ => return false,
            }
        }
    }

    /// Puts the buffers that a repeated kernel reads behind one barrier.
    fn guard_inputs(&mut self, inputs: &[ValueId], map: &mut ValueMap) {
        let guarded = |value: &ValueId| barrier_takes(self.source, *value);
        let inputs: Vec<ValueId> = inputs.iter().copied().filter(guarded).collect();
        if self.barriers == Barriers::None || inputs.is_empty() {
            return;
        }
        let mut operands: Vec<ValueId> = inputs.iter().map(|v| map.get(*v)).collect();
        let pending = std::mem::take(&mut self.pending);
        self.pending.extend(pending.last());
        let triggers = pending.into_iter().map(|(_, instance)| instance);
        let waited: Vec<ValueId> = triggers
            .filter(|trigger| !operands.contains(trigger) && barrier_takes(self.module, *trigger))
            .collect();
        operands.extend(waited);
        let types: Vec<TypeId> = operands.iter().map(|v| self.module.value_type(*v)).collect();
        let barrier = self.module.create_op(&OpSpec {
            kind: OpKind::OptimizationBarrier,
            operands: &operands,
            results: &types,
            properties: &[],
            loc: LocId::unknown(),
        });
        self.ops.push(barrier);
        let results = self.module.op(barrier).results.clone();
        if let Some(first) = results.first() {
            self.name_clone(*first, "remat_in");
        }
        for (value, result) in inputs.iter().zip(results) {
            map.insert(*value, result);
            self.aliases.insert(*value, Alias { value: result, kernel: self.applied.kernels.len() });
        }
    }

    /// Emits a virtual operation, or reuses its nearby instance.
    fn virtual_op(&mut self, op: OpId, map: &mut ValueMap) {
        if let Some(instance) = self.shared_instance(op, map) {
            let results = instance.results.clone();
            for (original, result) in self.source.op(op).results.iter().zip(results) {
                map.insert(*original, result);
            }
            return;
        }
        let operands: Vec<ValueId> = self.source.op(op).operands.iter().map(|v| map.get(*v)).collect();
        let placed = self.place(op, map);
        if placed != op {
            self.applied.virtual_clones.push((placed, op));
        }
        let results = self.module.op(placed).results.to_vec();
        self.virtuals.insert(op, Instance { results, operands, kernel: self.applied.kernels.len() });
    }

    /// Places the operation itself at first, a clone afterwards.
    fn place(&mut self, op: OpId, map: &mut ValueMap) -> OpId {
        let placed = if self.emitted.insert(op) {
            self.redirect(op, map);
            for &result in &self.source.op(op).results {
                map.insert(result, result);
            }
            op
        } else {
            let clone = clone_op_as_in(self.source, self.module, op, map);
            let results = self.module.op(clone).results.clone();
            for result in results {
                let base = self.module.value_name(result).unwrap_or("value").to_owned();
                self.name_clone(result, &format!("{base}_remat"));
            }
            clone
        };
        self.ops.push(placed);
        placed
    }

    /// Lets an original, and what lies inside it, read what the map says.
    fn redirect(&mut self, op: OpId, map: &ValueMap) {
        for inner in self.source.walk(op) {
            let operands = self.source.op(inner).operands.iter().map(|v| map.get(*v)).collect();
            self.module.op_mut(inner).operands = operands;
        }
    }

    /// Names what a clone makes after its original; MLIR's names are all digits
    /// or start with none.
    fn name_clone(&mut self, value: ValueId, base: &str) {
        self.clone_names += 1;
        let letter = if base.starts_with(|c: char| c.is_ascii_digit()) { "v" } else { "" };
        let name = format!("{letter}{base}_{}", self.clone_names);
        self.module.set_value_name(value, &name);
    }

    /// The terminator and the views between the result buffers and it.
    fn terminator(&mut self, terminator: OpId) {
        let mut map = ValueMap::default();
        let mut stack: Vec<(ValueId, bool)> =
            self.source.op(terminator).operands.iter().rev().map(|v| (*v, false)).collect();
        while let Some((value, leaving)) = stack.pop() {
            if let Some(&instance) = self.buffers.get(&value) {
                map.insert(value, instance);
                continue;
            }
            let Some(op) = self.source.defining_op(value) else { continue };
            if leaving {
                self.virtual_op(op, &mut map);
            } else {
                stack.push((value, true));
                stack.extend(self.source.op(op).operands.iter().rev().map(|v| (*v, false)));
            }
        }
        self.redirect(terminator, &map);
        self.ops.push(terminator);
    }
}

/// Whether a barrier may hold a value: tensors and tokens, not tuples.
fn barrier_takes(module: &Module, value: ValueId) -> bool {
    matches!(module.types.get(module.value_type(value)), Type::Tensor(_) | Type::Token | Type::Opaque(_))
}
