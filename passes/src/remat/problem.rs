//! The block as a planner problem.

use crate::PassError;
use crate::egraph::Passes;
use crate::fusion::{Role, is_fusible, is_recomputable};
use crate::remat::kernel::{Context, Kernel};
use crate::remat::nested::is_loop_alias;
use crate::remat::order::{kernel_order, result_roots};
use ckpt_entity::EntitySet;
use ckpt_ir::{Attr, BlockId, Bytes, Effect, Module, OpId, OpKind, ValueId};
use ckpt_planner as planner;
use std::collections::HashMap;

/// A planner problem with the way back to the block.
#[derive(Clone, Debug)]
pub struct BlockProblem {
    /// What the planner sees.
    pub problem: planner::Problem,
    /// The kernel of each derivation, by derivation index. If arguments are
    /// donated, one derivation more, the last by index and the first in order,
    /// stands for the caller, who makes them.
    kernels: Vec<Kernel>,
    /// The block's value of each planner value, by value index.
    pub values: Vec<ValueId>,
    /// Bytes of all arguments, donated or not.
    pub argument_bytes: Bytes,
}

impl BlockProblem {
    /// The kernel that a derivation runs; none for the caller's.
    #[must_use]
    pub fn kernel(&self, id: planner::DerivationId) -> Option<&Kernel> {
        self.kernels.get(id.index())
    }

    /// The operation whose results a derivation makes; none for the caller's.
    #[must_use]
    pub fn root(&self, id: planner::DerivationId) -> Option<OpId> {
        self.kernel(id).map(|kernel| kernel.root)
    }

    /// What each pass computes, where the forward pass is the first `boundary`
    /// kernels. Linear in the kernels.
    #[must_use]
    pub fn passes(&self, boundary: usize) -> Passes {
        let mut passes = Passes::default();
        let mut made = vec![false; self.values.len()];
        let mut crosses = vec![false; self.values.len()];
        for (position, id) in self.problem.order().iter().enumerate() {
            let Some(kernel) = self.kernel(*id) else { continue };
            let forward = position < boundary;
            let ops = if forward { &mut passes.forward } else { &mut passes.backward };
            ops.extend_with(kernel.cone.inlined.iter().copied().chain([kernel.root]));
            let derivation = self.problem.derivation(*id);
            if forward {
                derivation.outputs.iter().for_each(|v| made[v.index()] = true);
            } else {
                derivation.inputs.iter().for_each(|v| crosses[v.index()] |= made[v.index()]);
            }
        }
        passes.stored = (0..self.values.len()).filter(|at| crosses[*at]).map(|at| self.values[at]).collect();
        passes
    }

    /// What the planner does not count of a peak: arguments that are held throughout.
    #[must_use]
    pub fn resident_bytes(&self) -> Bytes {
        Bytes(self.problem.resident_bytes().0)
    }
}

/// How much more than its own bytes the inputs of a buffer may be so that
/// kernels which read it may compute it themselves instead: the same allowance
/// as for virtual values.
const NARROW_NUMERATOR: u64 = 5;
const NARROW_DENOMINATOR: u64 = 4;

/// States `block` as a problem: every root a value, every kernel a derivation,
/// and for each kernel that reads cheap elementwise buffers a second derivation
/// that computes them inside itself. `donated` says by argument whether its
/// buffer is free after its last use.
///
/// # Errors
/// Sizes that are dynamic, unknown or too large.
pub fn build(
    ctx: &Context<'_>,
    block: BlockId,
    donated: &[bool],
    name: &str,
) -> Result<BlockProblem, PassError> {
    let mut builder = Builder {
        ctx,
        ids: HashMap::new(),
        values: Vec::new(),
        planner_values: Vec::new(),
        derivations: Vec::new(),
        kernels: Vec::new(),
        narrow: EntitySet::new(),
    };
    let mut argument_bytes = Bytes(0);
    for &argument in &ctx.module.block(block).arguments {
        let id = builder.value(argument)?;
        argument_bytes += Bytes(builder.planner_values[id.index()].bytes.0);
    }
    let mut order = Vec::new();
    for kernel in kernel_order(ctx, block) {
        order.push(builder.derivation(kernel)?);
    }
    builder.find_narrow_buffers();
    builder.add_expanded_kernels()?;
    let outputs = result_roots(ctx, block).into_iter().map(|v| builder.value(v)).collect::<Result<_, _>>()?;
    order.splice(..0, builder.caller(block, donated));
    let problem =
        planner::Problem::new(name.to_owned(), builder.planner_values, builder.derivations, order, outputs)
            .map_err(|error| match error {
            planner::ProblemError::TooLarge => PassError::TooManyBytes,
            error => PassError::Problem(error),
        })?;
    Ok(BlockProblem { problem, kernels: builder.kernels, values: builder.values, argument_bytes })
}

struct Builder<'a> {
    ctx: &'a Context<'a>,
    ids: HashMap<ValueId, planner::ValueId>,
    values: Vec<ValueId>,
    planner_values: Vec<planner::Value>,
    derivations: Vec<planner::Derivation>,
    kernels: Vec<Kernel>,
    /// Fusible buffers whose kernels read no more than they write.
    narrow: EntitySet<ValueId>,
}

impl Builder<'_> {
    fn value(&mut self, value: ValueId) -> Result<planner::ValueId, PassError> {
        if let Some(&id) = self.ids.get(&value) {
            return Ok(id);
        }
        let ty = self.ctx.module.value_type(value);
        let Some(bytes) = self.ctx.module.types.bytes(ty) else {
            return Err(PassError::UnknownSize { value });
        };
        let id = planner::ValueId::new(self.values.len());
        self.ids.insert(value, id);
        self.values.push(value);
        let resident = self.ctx.roles.of(value) == Role::Resident;
        let bytes = if self.is_alias(value) { Bytes(0) } else { bytes };
        let name = self.ctx.module.value_name(value).unwrap_or_default().to_owned();
        self.planner_values.push(planner::Value { name, bytes: planner::Bytes(bytes.0), resident });
        Ok(id)
    }

    /// The derivation by which the caller makes the donated arguments, before
    /// all kernels and once.
    fn caller(&mut self, block: BlockId, donated: &[bool]) -> Option<planner::DerivationId> {
        let arguments = self.ctx.module.block(block).arguments.iter().zip(donated);
        let given = arguments.filter(|(_, donated)| **donated).map(|(argument, _)| self.ids[argument]);
        let given: Vec<planner::ValueId> = given.collect();
        given.iter().for_each(|id| self.planner_values[id.index()].resident = false);
        let id = planner::DerivationId::new(self.derivations.len());
        self.derivations.extend((!given.is_empty()).then(|| planner::Derivation {
            name: "arguments".to_owned(),
            kind: "func.func".to_owned(),
            outputs: given.clone(),
            inputs: Vec::new(),
            time: planner::Micros(0.0),
            workspace: planner::Bytes(0),
            recomputable: false,
            ordered: true,
            alias: None,
        }));
        (!given.is_empty()).then_some(id)
    }

    /// Whether a value shares the buffer of a loop's initial value; normalisation
    /// lets its users read that.
    fn is_alias(&self, value: ValueId) -> bool {
        match self.ctx.module.value_def(value) {
            ckpt_ir::ValueDef::Result { op, index } => is_loop_alias(self.ctx, op, index as usize),
            ckpt_ir::ValueDef::Argument { .. } => false,
        }
    }

    fn derivation(&mut self, kernel: Kernel) -> Result<planner::DerivationId, PassError> {
        let module = self.ctx.module;
        let root = kernel.root;
        let outputs = module.op(root).results.clone();
        let outputs = outputs.iter().map(|v| self.value(*v)).collect::<Result<_, _>>()?;
        let inputs = kernel.cone.inputs.iter().map(|v| self.value(*v)).collect::<Result<_, _>>()?;
        let id = planner::DerivationId::new(self.derivations.len());
        self.derivations.push(planner::Derivation {
            name: module.value_name_or_op(root),
            kind: module.op_name(root).to_owned(),
            outputs,
            inputs,
            time: planner::Micros(kernel.time.0),
            workspace: planner::Bytes(kernel.workspace.0),
            recomputable: is_recomputable(module, root),
            ordered: !is_recomputable(module, root),
            alias: None,
        });
        self.kernels.push(kernel);
        Ok(id)
    }

    /// Marks the buffers that any reader may as well compute itself, in order,
    /// so that chains of them collapse.
    fn find_narrow_buffers(&mut self) {
        for index in 0..self.kernels.len() {
            let root = self.kernels[index].root;
            if !is_fusible(self.ctx.module, root) {
                continue;
            }
            let result = self.ctx.module.op(root).results[0];
            let kernel = self.ctx.kernel(root, &|v| self.narrow.contains(v));
            let read = kernel.cone.inputs.iter().filter(|v| self.ctx.roles.of(**v) == Role::Root);
            let read: u64 = read.map(|v| self.ctx.bytes(*v).0).fold(0, u64::saturating_add);
            let own = self.ctx.bytes(result).0;
            let fits = kernel.cone.inlined.len() < crate::fusion::MAX_CONE_OPS
                && kernel.cone.inputs.len() <= crate::fusion::MAX_CONE_INPUTS;
            if fits && read.saturating_mul(NARROW_DENOMINATOR) <= own.saturating_mul(NARROW_NUMERATOR) {
                self.narrow.insert(result);
            }
        }
    }

    /// For kernels that read narrow buffers element by element, the kernel that does without them.
    fn add_expanded_kernels(&mut self) -> Result<(), PassError> {
        for index in 0..self.kernels.len() {
            let kernel = &self.kernels[index];
            let root = kernel.root;
            let reads_elements = is_fusible(self.ctx.module, root)
                || matches!(self.ctx.module.op(root).kind, OpKind::Reduce | OpKind::Gather);
            let reads_narrow = kernel.cone.inputs.iter().any(|v| self.narrow.contains(*v));
            if !reads_elements || !reads_narrow || !is_recomputable(self.ctx.module, root) {
                continue;
            }
            let expanded = self.ctx.kernel(root, &|v| self.narrow.contains(v));
            let small = expanded.cone.inlined.len() <= crate::fusion::MAX_CONE_OPS
                && expanded.cone.inputs.len() <= crate::fusion::MAX_CONE_INPUTS;
            if small && expanded.cone != kernel.cone {
                self.derivation(expanded)?;
            }
        }
        Ok(())
    }
}

/// Arguments whose buffer the program may reuse: `tf.aliasing_output` and
/// `jax.buffer_donor` in the function's argument attributes. Linear in the signature.
#[must_use]
pub fn donated_arguments(module: &Module, function: OpId) -> Vec<bool> {
    let Some(body) = module.function_body(function) else { return Vec::new() };
    let count = module.block(body).arguments.len();
    let Some(Attr::Array(attrs)) = module.attr(function, "arg_attrs") else {
        return vec![false; count];
    };
    let donated = |attr: &ckpt_ir::AttrId| match module.attrs.get(*attr) {
        Attr::Dictionary(entries) => entries
            .iter()
            .any(|(name, _)| matches!(module.names.get(*name), "tf.aliasing_output" | "jax.buffer_donor")),
        _ => false,
    };
    let mut flags: Vec<bool> = attrs.iter().map(donated).collect();
    flags.resize(count, false);
    flags
}

/// Whether an operation must keep its place among its kind.
#[must_use]
pub fn is_ordered(module: &Module, op: OpId) -> bool {
    module.effect(op) != Effect::Pure
}
