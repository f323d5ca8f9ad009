//! The module: operations, values, blocks and regions in dense tables.

use crate::{
    Attr, AttrId, AttrTable, Effect, LocId, LocTable, NameTable, OpKind, Symbol, TensorType, TypeId,
    TypeTable,
};
use ckpt_entity::{EntityVec, define_id};
use smallvec::SmallVec;

define_id! {
    /// An operation.
    pub struct OpId("op");
}
define_id! {
    /// A value: an operation's result or a block's argument.
    pub struct ValueId("value");
}
define_id! {
    /// A block.
    pub struct BlockId("block");
}
define_id! {
    /// A region.
    pub struct RegionId("region");
}

/// A named attribute.
pub type NamedAttr = (Symbol, AttrId);

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// What is known of it.
    pub kind: OpKind,
    /// Its full name, which for known kinds is that of the table.
    pub name: Symbol,
    /// Its operands.
    pub operands: SmallVec<[ValueId; 4]>,
    /// Its results.
    pub results: SmallVec<[ValueId; 1]>,
    /// Inherent attributes, sorted by name. Reading moves inherent attributes
    /// here from wherever they were written.
    pub properties: SmallVec<[NamedAttr; 1]>,
    /// Discardable attributes, sorted by name.
    pub attributes: SmallVec<[NamedAttr; 0]>,
    /// Its regions.
    pub regions: SmallVec<[RegionId; 0]>,
    /// Where it comes from, as the text says (`loc(…)`).
    pub loc: LocId,
    /// Byte offset in the text that was read, for diagnostics; `u32::MAX` if made by a pass.
    pub offset: u32,
    /// The block that holds it; none for the top-level module and erased operations.
    pub parent: Option<BlockId>,
}

/// A value's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result `index` of `op`.
    Result {
        /// The operation.
        op: OpId,
        /// Which result.
        index: u32,
    },
    /// Argument `index` of `block`.
    Argument {
        /// The block.
        block: BlockId,
        /// Which argument.
        index: u32,
    },
}

/// A value.
#[derive(Clone, Debug)]
struct Value {
    ty: TypeId,
    def: ValueDef,
    /// The name in the text, without `%`. A group `%0:2` names its first
    /// result only.
    name: Option<Symbol>,
}

/// A block: arguments, then operations, the last of which is a terminator
/// (except in the top-level module).
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its arguments.
    pub arguments: Vec<ValueId>,
    /// Locations of the arguments; empty if none was given.
    pub argument_locs: Vec<LocId>,
    /// Its operations in order.
    pub ops: Vec<OpId>,
    /// The region that holds it.
    pub parent: Option<RegionId>,
}

/// A region.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Its blocks, the entry first.
    pub blocks: Vec<BlockId>,
    /// The operation that holds it.
    pub parent: Option<OpId>,
}

/// What [`Module::create_op`] needs.
#[derive(Clone, Debug)]
pub struct OpSpec<'a> {
    /// Its kind, which must not be [`OpKind::Unknown`] (see [`Module::create_unknown_op`]).
    pub kind: OpKind,
    /// Its operands.
    pub operands: &'a [ValueId],
    /// Its result types.
    pub results: &'a [TypeId],
    /// Its inherent attributes, in any order.
    pub properties: &'a [(&'a str, AttrId)],
    /// Where it comes from.
    pub loc: LocId,
}

/// One use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Use {
    /// The user.
    pub op: OpId,
    /// Which operand.
    pub operand: u32,
}

/// A program.
///
/// The tables only grow: erasing takes an operation out of its block, and a
/// pass that rewrites much builds a new module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Interned strings.
    pub names: NameTable,
    /// Uniqued types.
    pub types: TypeTable,
    /// Uniqued attributes.
    pub attrs: AttrTable,
    /// Uniqued locations.
    pub locs: LocTable,
    ops: EntityVec<OpId, Op>,
    values: EntityVec<ValueId, Value>,
    blocks: EntityVec<BlockId, Block>,
    regions: EntityVec<RegionId, Region>,
    top: OpId,
}

/// Byte offset of operations that no text holds.
pub(crate) const NO_OFFSET: u32 = u32::MAX;

impl Default for Module {
    fn default() -> Self {
        Self::new()
    }
}

impl Module {
    /// A module without operations in its body.
    #[must_use]
    pub fn new() -> Self {
        let mut names = NameTable::default();
        let mut ops = EntityVec::new();
        let top = ops.push(Op {
            kind: OpKind::Module,
            name: names.intern(OpKind::Module.name()),
            operands: SmallVec::new(),
            results: SmallVec::new(),
            properties: SmallVec::new(),
            attributes: SmallVec::new(),
            regions: SmallVec::new(),
            loc: LocId::unknown(),
            offset: NO_OFFSET,
            parent: None,
        });
        let mut module = Self {
            names,
            types: TypeTable::default(),
            attrs: AttrTable::default(),
            locs: LocTable::default(),
            ops,
            values: EntityVec::new(),
            blocks: EntityVec::new(),
            regions: EntityVec::new(),
            top,
        };
        let region = module.create_region(top);
        module.create_block(region);
        module
    }

    /// The `builtin.module` operation that holds everything.
    #[must_use]
    pub fn top(&self) -> OpId {
        self.top
    }

    /// Puts a module of its own around everything, and makes it the top.
    pub(crate) fn wrap_top(&mut self) {
        let inner = self.top;
        self.top = self.create_unknown_op(OpKind::Module.name(), &[], &[], LocId::unknown());
        let region = self.create_region(self.top);
        let body = self.create_block(region);
        self.append(body, inner);
    }

    /// Where the top holds nothing but a module with a body, that becomes the top.
    pub(crate) fn unwrap_top(&mut self) {
        let &[only] = &self.block(self.body()).ops[..] else { return };
        let data = &self.ops[only];
        let region = data.regions.first().map(|region| &self.regions[*region]);
        if data.kind == OpKind::Module && region.is_some_and(|region| !region.blocks.is_empty()) {
            self.ops[only].parent = None;
            self.top = only;
        }
    }

    /// The block of the top-level module.
    #[must_use]
    pub fn body(&self) -> BlockId {
        self.regions[self.ops[self.top].regions[0]].blocks[0]
    }

    /// An operation.
    #[must_use]
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id]
    }

    /// An operation, to change it in place. Results and parent links are the
    /// module's own business: change them through its methods.
    pub fn op_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.ops[id]
    }

    /// A block.
    #[must_use]
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id]
    }

    /// A block, to change it in place.
    pub fn block_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id]
    }

    /// A region.
    #[must_use]
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id]
    }

    /// Number of operations ever made: the size of a side table.
    #[must_use]
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// Number of values ever made: the size of a side table.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// A value's type.
    #[must_use]
    pub fn value_type(&self, value: ValueId) -> TypeId {
        self.values[value].ty
    }

    /// Changes a value's type.
    pub fn set_value_type(&mut self, value: ValueId, ty: TypeId) {
        self.values[value].ty = ty;
    }

    /// A value's tensor type, if it is a tensor.
    #[must_use]
    pub fn tensor_type(&self, value: ValueId) -> Option<&TensorType> {
        self.types.as_tensor(self.value_type(value))
    }

    /// Where a value comes from.
    #[must_use]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.values[value].def
    }

    /// The operation that yields a value; none for block arguments.
    #[must_use]
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].def {
            ValueDef::Result { op, .. } => Some(op),
            ValueDef::Argument { .. } => None,
        }
    }

    /// The name a value has in the text, without `%`.
    #[must_use]
    pub fn value_name(&self, value: ValueId) -> Option<&str> {
        self.values[value].name.map(|name| self.names.get(name))
    }

    /// What people call an operation: the name of its first result, or its own.
    #[must_use]
    pub fn value_name_or_op(&self, op: OpId) -> String {
        let result = self.ops[op].results.first().and_then(|value| self.value_name(*value));
        result.map_or_else(|| self.op_name(op).to_owned(), |name| format!("%{name}"))
    }

    /// Names a value for printing; the printer makes names unique.
    pub fn set_value_name(&mut self, value: ValueId, name: &str) {
        self.values[value].name = Some(self.names.intern(name));
    }

    /// Makes an operation of a known kind, in no block yet.
    pub fn create_op(&mut self, spec: &OpSpec<'_>) -> OpId {
        let name = self.names.intern(spec.kind.name());
        let op = self.create_named_op(spec.kind, name, spec.operands, spec.results, spec.loc);
        let mut properties: SmallVec<[NamedAttr; 1]> =
            spec.properties.iter().map(|(name, attr)| (self.names.intern(name), *attr)).collect();
        properties.sort_by(|a, b| self.names.get(a.0).cmp(self.names.get(b.0)));
        self.ops[op].properties = properties;
        op
    }

    /// Makes an operation of any name, in no block yet.
    pub fn create_unknown_op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        results: &[TypeId],
        loc: LocId,
    ) -> OpId {
        let kind = OpKind::from_name(name);
        let name = self.names.intern(name);
        self.create_named_op(kind, name, operands, results, loc)
    }

    fn create_named_op(
        &mut self,
        kind: OpKind,
        name: Symbol,
        operands: &[ValueId],
        results: &[TypeId],
        loc: LocId,
    ) -> OpId {
        let id = self.ops.next_id();
        let values = &mut self.values;
        let results = results.iter().enumerate().map(|(index, &ty)| {
            let def = ValueDef::Result { op: id, index: index as u32 };
            values.push(Value { ty, def, name: None })
        });
        let results = results.collect();
        self.ops.push(Op {
            kind,
            name,
            operands: operands.into(),
            results,
            properties: SmallVec::new(),
            attributes: SmallVec::new(),
            regions: SmallVec::new(),
            loc,
            offset: NO_OFFSET,
            parent: None,
        })
    }

    /// Adds an empty region to an operation.
    pub fn create_region(&mut self, op: OpId) -> RegionId {
        let region = self.regions.push(Region { blocks: Vec::new(), parent: Some(op) });
        self.ops[op].regions.push(region);
        region
    }

    /// An empty region that no operation holds yet, see [`Module::adopt_region`].
    pub fn create_detached_region(&mut self) -> RegionId {
        self.regions.push(Region::default())
    }

    /// Makes a detached region the last one of an operation.
    pub fn adopt_region(&mut self, op: OpId, region: RegionId) {
        self.regions[region].parent = Some(op);
        self.ops[op].regions.push(region);
    }

    /// Adds an empty block to a region.
    pub fn create_block(&mut self, region: RegionId) -> BlockId {
        let block = self.blocks.push(Block { parent: Some(region), ..Block::default() });
        self.regions[region].blocks.push(block);
        block
    }

    /// Adds an argument to a block.
    pub fn add_argument(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        let index = self.blocks[block].arguments.len() as u32;
        let value = self.values.push(Value { ty, def: ValueDef::Argument { block, index }, name: None });
        self.blocks[block].arguments.push(value);
        value
    }

    /// Puts an operation at the end of a block.
    pub fn append(&mut self, block: BlockId, op: OpId) {
        self.ops[op].parent = Some(block);
        self.blocks[block].ops.push(op);
    }

    /// Replaces the operations of a block. Those that leave it lose their
    /// parent; those that come must be in no other block.
    pub fn set_block_ops(&mut self, block: BlockId, ops: Vec<OpId>) {
        let old = std::mem::take(&mut self.blocks[block].ops);
        for op in old {
            self.ops[op].parent = None;
        }
        for &op in &ops {
            self.ops[op].parent = Some(block);
        }
        self.blocks[block].ops = ops;
    }

    /// An attribute of an operation by name: inherent first, then discardable.
    #[must_use]
    pub fn attr(&self, op: OpId, name: &str) -> Option<&Attr> {
        self.attr_id(op, name).map(|id| self.attrs.get(id))
    }

    /// The id of an attribute of an operation by name.
    #[must_use]
    pub fn attr_id(&self, op: OpId, name: &str) -> Option<AttrId> {
        let op = &self.ops[op];
        let mut attrs = op.properties.iter().chain(&op.attributes);
        attrs.find(|(symbol, _)| self.names.get(*symbol) == name).map(|(_, id)| *id)
    }

    /// Sets a discardable attribute of an operation.
    pub fn set_attribute(&mut self, op: OpId, name: &str, attr: Attr) {
        let attr = self.attrs.intern(attr);
        let symbol = self.names.intern(name);
        let attributes = &mut self.ops[op].attributes;
        if let Some(slot) = attributes.iter_mut().find(|(s, _)| *s == symbol) {
            slot.1 = attr;
            return;
        }
        let names = &self.names;
        let at = attributes.partition_point(|(s, _)| names.get(*s) < name);
        attributes.insert(at, (symbol, attr));
    }

    /// The full name of an operation.
    #[must_use]
    pub fn op_name(&self, op: OpId) -> &str {
        self.names.get(self.ops[op].name)
    }

    /// The string of a string attribute.
    #[must_use]
    pub fn string_attr(&self, op: OpId, name: &str) -> Option<&str> {
        match self.attr(op, name)? {
            Attr::String(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The functions of the top-level module, in order.
    pub fn functions(&self) -> impl Iterator<Item = OpId> + '_ {
        self.blocks[self.body()].ops.iter().copied().filter(|op| self.ops[*op].kind == OpKind::Func)
    }

    /// The function of a name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<OpId> {
        self.functions().find(|op| self.string_attr(*op, "sym_name") == Some(name))
    }

    /// The entry block of a function; none for a declaration.
    #[must_use]
    pub fn function_body(&self, function: OpId) -> Option<BlockId> {
        let region = self.ops[function].regions.first()?;
        self.regions[*region].blocks.first().copied()
    }

    /// The last operation of a block, if it is a terminator.
    #[must_use]
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].ops.last().copied().filter(|op| self.ops[*op].kind.is_terminator())
    }

    /// All operations below `root`, itself included, each before those inside it.
    #[must_use]
    pub fn walk(&self, root: OpId) -> Vec<OpId> {
        let mut order = Vec::new();
        let mut stack = vec![root];
        while let Some(op) = stack.pop() {
            order.push(op);
            let blocks = self.ops[op].regions.iter().rev().flat_map(|r| self.regions[*r].blocks.iter().rev());
            for &block in blocks {
                stack.extend(self.blocks[block].ops.iter().rev());
            }
        }
        order
    }

    /// What running an operation does: the table's effect, with regions,
    /// callees and attributes looked into. Never one of the `Of…` effects.
    /// Linear in the operations below it and in its callees.
    #[must_use]
    pub fn effect(&self, op: OpId) -> Effect {
        let mut worst = Effect::Pure;
        let mut seen_callees = Vec::new();
        let mut stack = vec![op];
        while let Some(op) = stack.pop() {
            let effect = match self.ops[op].kind.effect() {
                Effect::OfRegions | Effect::Terminator | Effect::Symbol => Effect::Pure,
                Effect::OfAttributes => self.custom_call_effect(op),
                Effect::OfCallee => match self.callee(op) {
                    Some(callee) if seen_callees.contains(&callee) => Effect::Pure,
                    Some(callee) => {
                        seen_callees.push(callee);
                        stack.push(callee);
                        Effect::Pure
                    }
                    None => Effect::SideEffect,
                },
                effect => effect,
            };
            worst = worse(worst, effect);
            let blocks = self.ops[op].regions.iter().flat_map(|r| self.regions[*r].blocks.iter());
            stack.extend(blocks.flat_map(|b| self.blocks[*b].ops.iter()));
        }
        worst
    }

    /// A custom call is pure only if it says so: `has_side_effect` is absent or
    /// false *and* it is not one of StableHLO's checks.
    fn custom_call_effect(&self, op: OpId) -> Effect {
        let says_so = matches!(self.attr(op, "has_side_effect"), None | Some(Attr::Bool(false)));
        let is_check = self.string_attr(op, "call_target_name").is_some_and(|t| t.starts_with("check."));
        if says_so && !is_check { Effect::Pure } else { Effect::SideEffect }
    }

    /// The function that a call or composite refers to, if the module has it.
    #[must_use]
    pub fn callee(&self, op: OpId) -> Option<OpId> {
        let attr = self.attr(op, "callee").or_else(|| self.attr(op, "decomposition"))?;
        match attr {
            Attr::SymbolRef(path) => match path[..] {
                [name] => self.function(self.names.get(name)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The stronger of two effects.
fn worse(a: Effect, b: Effect) -> Effect {
    let rank = |effect| match effect {
        Effect::Pure => 0,
        Effect::HiddenState => 1,
        Effect::Collective => 2,
        _ => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// The uses of every value: a side table that does not follow later changes.
#[derive(Clone, Debug)]
pub struct Uses {
    uses: EntityVec<ValueId, Vec<Use>>,
}

impl Uses {
    /// All uses below `root`, in order of the program. Linear time.
    #[must_use]
    pub fn below(module: &Module, root: OpId) -> Self {
        let mut uses = EntityVec::filled(Vec::new(), module.value_count());
        for op in module.walk(root) {
            for (index, &value) in module.op(op).operands.iter().enumerate() {
                uses[value].push(Use { op, operand: index as u32 });
            }
        }
        Self { uses }
    }

    /// The uses of a value.
    #[must_use]
    pub fn of(&self, value: ValueId) -> &[Use] {
        self.uses.get(value).map_or(&[], Vec::as_slice)
    }
}
