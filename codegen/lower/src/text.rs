//! Kernels as text for the reference evaluator.

use crate::Source;
use ckpt_ir::{Attr, Module, OpId, OpKind, OpSpec, Type, TypeId, ValueId};
use ckpt_passes::clone::{ValueMap, clone_op_as_in};

/// Writes kernels as functions.
pub(crate) struct Texts<'m> {
    source: &'m Module,
    /// A copy whose top level holds one kernel's function at a time.
    scratch: Option<Module>,
}

impl<'m> Texts<'m> {
    pub(crate) fn new(source: &'m Module) -> Self {
        Self { source, scratch: None }
    }

    /// A module whose `@main` takes a kernel's inputs and returns its outputs.
    pub(crate) fn of(&mut self, kernel: &Source) -> String {
        let source = self.source;
        let module = self.scratch.get_or_insert_with(|| source.clone());
        let types =
            |values: &[ValueId]| values.iter().map(|v| source.value_type(*v)).collect::<Vec<TypeId>>();
        let (inputs, results) = (types(&kernel.inputs), types(&kernel.outputs));
        let ty = module.types.intern(Type::Function { inputs: inputs.clone(), results });
        let ty = module.attrs.intern(Attr::Type(ty));
        let name = module.attrs.intern(Attr::String(b"main".as_slice().into()));
        let function = module.create_op(&OpSpec {
            kind: OpKind::Func,
            operands: &[],
            results: &[],
            properties: &[("sym_name", name), ("function_type", ty)],
            loc: ckpt_ir::LocId::unknown(),
        });
        let region = module.create_region(function);
        let block = module.create_block(region);
        let mut map = ValueMap::default();
        for (value, ty) in kernel.inputs.iter().zip(inputs) {
            let argument = module.add_argument(block, ty);
            map.insert(*value, argument);
        }
        for &op in &kernel.ops {
            let copy = clone_op_as_in(source, module, op, &mut map);
            module.append(block, copy);
        }
        let returned: Vec<ValueId> = kernel.outputs.iter().map(|v| map.get(*v)).collect();
        let end = module.create_op(&OpSpec {
            kind: OpKind::FuncReturn,
            operands: &returned,
            results: &[],
            properties: &[],
            loc: ckpt_ir::LocId::unknown(),
        });
        module.append(block, end);
        let mut functions = vec![function];
        functions.extend(callees(source, &kernel.ops));
        let top = module.body();
        module.set_block_ops(top, functions);
        ckpt_ir::text::print(module, &ckpt_ir::text::PrintOptions::default())
    }
}

/// The functions that operations call, and those that these call.
fn callees(module: &Module, ops: &[OpId]) -> Vec<OpId> {
    let mut found: Vec<OpId> = Vec::new();
    let mut stack = ops.to_vec();
    while let Some(op) = stack.pop() {
        for inner in module.walk(op) {
            if let Some(callee) = module.callee(inner)
                && !found.contains(&callee)
            {
                found.push(callee);
                stack.push(callee);
            }
        }
    }
    found
}
