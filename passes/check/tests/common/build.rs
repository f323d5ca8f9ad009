//! Modules by hand.

use ckpt_ir::{
    Attr, AttrId, BlockId, DenseElements, ElementType, LocId, Module, OpId, OpKind, OpSpec, Type, TypeId,
    ValueId,
};

/// A module with the block that operations are added to.
pub struct Build {
    pub module: Module,
    pub block: BlockId,
}

impl Build {
    pub fn new() -> Self {
        let module = Module::new();
        let block = module.body();
        Self { module, block }
    }

    pub fn f32(&mut self, shape: &[u64]) -> TypeId {
        self.module.types.tensor(shape, ElementType::F32)
    }

    pub fn tensor(&mut self, shape: &[u64], element: ElementType) -> TypeId {
        self.module.types.tensor(shape, element)
    }

    pub fn ints(&mut self, values: &[i64]) -> AttrId {
        let element = self.module.types.intern(Type::Scalar(ElementType::Int(64)));
        self.module.attrs.intern(Attr::DenseIntArray { element, values: values.to_vec() })
    }

    pub fn int(&mut self, value: i128) -> AttrId {
        let ty = self.module.types.intern(Type::Scalar(ElementType::Int(64)));
        self.module.attrs.intern(Attr::Int { value, ty })
    }

    pub fn attr(&mut self, attr: Attr) -> AttrId {
        self.module.attrs.intern(attr)
    }

    pub fn string(&mut self, text: &str) -> AttrId {
        self.attr(Attr::String(text.as_bytes().into()))
    }

    pub fn enumeration(&mut self, kind: &str, value: &str) -> AttrId {
        let (kind, value) = (self.module.names.intern(kind), self.module.names.intern(value));
        self.attr(Attr::Enum(kind, value))
    }

    /// Starts a function and moves into its body.
    pub fn function(&mut self, name: &str, arguments: &[TypeId], results: &[TypeId]) -> OpId {
        let ty = self
            .module
            .types
            .intern(Type::Function { inputs: arguments.to_vec(), results: results.to_vec() });
        let ty = self.attr(Attr::Type(ty));
        let sym_name = self.string(name);
        let properties = [("function_type", ty), ("sym_name", sym_name)];
        let op = self.create(OpKind::Func, &[], &[], &properties);
        let body = self.module.body();
        self.module.append(body, op);
        self.enter(op, arguments);
        op
    }

    /// Adds a region with one block to `op` and moves into it.
    pub fn enter(&mut self, op: OpId, arguments: &[TypeId]) {
        let region = self.module.create_region(op);
        self.block = self.module.create_block(region);
        for ty in arguments {
            self.module.add_argument(self.block, *ty);
        }
    }

    pub fn argument(&self, index: usize) -> ValueId {
        self.module.block(self.block).arguments[index]
    }

    pub fn create(
        &mut self,
        kind: OpKind,
        operands: &[ValueId],
        results: &[TypeId],
        properties: &[(&str, AttrId)],
    ) -> OpId {
        let loc = LocId::unknown();
        self.module.create_op(&OpSpec { kind, operands, results, properties, loc })
    }

    /// Adds an operation at the end of the block.
    pub fn add(
        &mut self,
        kind: OpKind,
        operands: &[ValueId],
        results: &[TypeId],
        properties: &[(&str, AttrId)],
    ) -> OpId {
        let op = self.create(kind, operands, results, properties);
        self.module.append(self.block, op);
        op
    }

    /// Adds an operation with one result.
    pub fn op(
        &mut self,
        kind: OpKind,
        operands: &[ValueId],
        result: TypeId,
        properties: &[(&str, AttrId)],
    ) -> ValueId {
        let op = self.add(kind, operands, &[result], properties);
        self.module.op(op).results[0]
    }

    /// An operation whose only result has the type of its first operand.
    pub fn same(&mut self, kind: OpKind, operands: &[ValueId]) -> ValueId {
        let ty = self.module.value_type(operands[0]);
        self.op(kind, operands, ty, &[])
    }

    pub fn unknown(&mut self, name: &str, operands: &[ValueId], results: &[TypeId]) -> OpId {
        let op = self.module.create_unknown_op(name, operands, results, LocId::unknown());
        self.module.append(self.block, op);
        op
    }

    pub fn constant(&mut self, ty: TypeId, bytes: &[u8], splat: bool) -> ValueId {
        let value = self.attr(Attr::Dense(DenseElements { ty, bytes: bytes.into(), splat }));
        self.op(OpKind::Constant, &[], ty, &[("value", value)])
    }

    pub fn ret(&mut self, values: &[ValueId]) {
        self.add(OpKind::FuncReturn, values, &[], &[]);
    }

    pub fn yield_(&mut self, values: &[ValueId]) {
        self.add(OpKind::Return, values, &[], &[]);
    }

    pub fn results(&self, op: OpId) -> Vec<ValueId> {
        self.module.op(op).results.to_vec()
    }

    /// A reduction by `kind` over `dimension`.
    pub fn reduce(
        &mut self,
        kind: OpKind,
        value: ValueId,
        initial: ValueId,
        dimension: i64,
        ty: TypeId,
    ) -> ValueId {
        let dimensions = self.ints(&[dimension]);
        let op = self.add(OpKind::Reduce, &[value, initial], &[ty], &[("dimensions", dimensions)]);
        let scalar = self.module.value_type(initial);
        let outer = self.block;
        self.enter(op, &[scalar, scalar]);
        let (a, b) = (self.argument(0), self.argument(1));
        let sum = self.same(kind, &[a, b]);
        self.yield_(&[sum]);
        self.block = outer;
        self.module.op(op).results[0]
    }
}
