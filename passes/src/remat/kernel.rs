//! Kernels: the steps that the planner schedules.

use crate::cost::{Device, KernelWork, kernel_time};
use crate::fusion::{Cone, Role, Roles};
use crate::remat::nested::NestedCosts;
use ckpt_entity::EntityId as _;
use ckpt_ir::cost::work;
use ckpt_ir::{Bytes, Category, Flops, Micros, Module, OpId, OpKind, ValueId};
use std::collections::HashMap;

/// One way to make the results of a root operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The operation whose results become buffers.
    pub root: OpId,
    /// What is computed along the way and what is read.
    pub cone: Cone,
    /// Time of one run under the cost model.
    pub time: Micros,
    /// Bytes held only while it runs.
    pub workspace: Bytes,
}

/// What describes a block to the functions of this folder.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The module.
    pub module: &'a Module,
    /// Roles of the block's values.
    pub roles: &'a Roles,
    /// The device that time is estimated for.
    pub device: &'a Device,
    /// Time and workspace of operations with regions.
    pub nested: &'a NestedCosts,
}

impl Context<'_> {
    /// Bytes of a value; views of tokens and opaque types count nothing.
    #[must_use]
    pub fn bytes(&self, value: ValueId) -> Bytes {
        self.module.types.bytes(self.module.value_type(value)).unwrap_or(Bytes(0))
    }

    /// The kernel of `root` that computes what `expand` says inside itself.
    #[must_use]
    pub fn kernel(&self, root: OpId, expand: &dyn Fn(ValueId) -> bool) -> Kernel {
        let cone = Cone::of(self.module, self.roles, root, expand);
        let (time, workspace) = match self.nested.of(root) {
            Some(nested) => (nested.time, nested.workspace),
            None => (kernel_time(self.device, self.work(root, &cone)), Bytes(0)),
        };
        Kernel { root, cone, time, workspace }
    }

    /// Operations and traffic of a kernel.
    fn work(&self, root: OpId, cone: &Cone) -> KernelWork {
        let own = work(self.module, root).flops;
        let inlined: Flops = cone.inlined.iter().map(|op| work(self.module, *op).flops).sum();
        let contraction =
            matches!(self.module.op(root).kind.category(), Category::Dot | Category::Convolution);
        let element = self.module.op(root).operands.first().and_then(|v| self.module.tensor_type(*v));
        let written: Bytes = self.module.op(root).results.iter().map(|v| self.bytes(*v)).sum();
        let traffic = self.read(root, cone) + written;
        match element.filter(|_| contraction) {
            Some(ty) => KernelWork { contraction: Some((own, ty.element)), elementwise: inlined, traffic },
            None => KernelWork { contraction: None, elementwise: own + inlined, traffic },
        }
    }

    /// Bytes that a kernel reads: each buffer once, and of a buffer that is
    /// only sliced or gathered from, what is taken.
    fn read(&self, root: OpId, cone: &Cone) -> Bytes {
        let mut touched: HashMap<usize, Bytes> = HashMap::new();
        for &op in cone.inlined.iter().chain([&root]) {
            let data = self.module.op(op);
            let takes_part = matches!(data.kind, OpKind::Slice | OpKind::DynamicSlice | OpKind::Gather);
            for (index, &operand) in data.operands.iter().enumerate() {
                if self.roles.of(operand) == Role::Virtual {
                    continue;
                }
                let whole = self.bytes(operand);
                let bytes = match data.results.first() {
                    Some(result) if takes_part && index == 0 => whole.min(self.bytes(*result)),
                    _ => whole,
                };
                let entry = touched.entry(operand.index()).or_default();
                *entry = (*entry).max(bytes);
            }
        }
        cone.inputs.iter().map(|input| touched.get(&input.index()).copied().unwrap_or_default()).sum()
    }
}
