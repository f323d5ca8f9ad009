//! Names, types and attributes of several modules in one set of tables.
//!
//! Each module uniques its own; equality across modules needs common ids.

use ckpt_ir::{
    Attr, AttrId, AttrTable, LocId, Module, NameTable, Symbol, TensorType, Type, TypeId, TypeTable,
};
use std::collections::HashMap;

/// The common tables.
#[derive(Debug, Default)]
pub(crate) struct Canonical {
    /// Interned strings.
    pub(crate) names: NameTable,
    /// Uniqued types.
    pub(crate) types: TypeTable,
    /// Uniqued attributes; locations among them are all the unknown one.
    pub(crate) attrs: AttrTable,
}

/// Maps one module's ids to those of the common tables.
#[derive(Debug)]
pub(crate) struct Translator<'m> {
    module: &'m Module,
    types: HashMap<TypeId, TypeId>,
    attrs: HashMap<AttrId, AttrId>,
}

/// A type or an attribute, which may hold each other.
#[derive(Clone, Copy)]
enum Item {
    Type(TypeId),
    Attr(AttrId),
}

impl<'m> Translator<'m> {
    /// A translator that has seen nothing yet.
    pub(crate) fn new(module: &'m Module) -> Self {
        Self { module, types: HashMap::new(), attrs: HashMap::new() }
    }

    /// The common symbol of a name of the module.
    pub(crate) fn name(&self, to: &mut Canonical, name: Symbol) -> Symbol {
        to.names.intern(self.module.names.get(name))
    }

    /// The common id of a type of the module. Linear in its size on first sight.
    pub(crate) fn ty(&mut self, to: &mut Canonical, id: TypeId) -> TypeId {
        self.complete(to, Item::Type(id));
        self.types.get(&id).copied().unwrap_or(id)
    }

    /// The common id of an attribute of the module. Linear in its size on first sight.
    pub(crate) fn attr(&mut self, to: &mut Canonical, id: AttrId) -> AttrId {
        self.complete(to, Item::Attr(id));
        self.attrs.get(&id).copied().unwrap_or(id)
    }

    fn knows(&self, item: Item) -> bool {
        match item {
            Item::Type(id) => self.types.contains_key(&id),
            Item::Attr(id) => self.attrs.contains_key(&id),
        }
    }

    /// Translates `root` after all that it holds.
    fn complete(&mut self, to: &mut Canonical, root: Item) {
        let mut stack = vec![root];
        while let Some(&item) = stack.last() {
            if !self.knows(item) {
                let before = stack.len();
                self.parts(item, &mut stack);
                if stack.len() > before {
                    continue;
                }
                self.rebuild(to, item);
            }
            stack.pop();
        }
    }

    /// Pushes the parts of `item` that are not translated yet.
    fn parts(&self, item: Item, stack: &mut Vec<Item>) {
        let mut push = |part: Item| {
            if !self.knows(part) {
                stack.push(part);
            }
        };
        match item {
            Item::Type(id) => match self.module.types.get(id) {
                Type::Tensor(TensorType { encoding: Some(attr), .. }) => push(Item::Attr(*attr)),
                Type::Tuple(parts) => parts.iter().for_each(|t| push(Item::Type(*t))),
                Type::Function { inputs, results } => {
                    inputs.iter().chain(results).for_each(|t| push(Item::Type(*t)));
                }
                _ => {}
            },
            Item::Attr(id) => match self.module.attrs.get(id) {
                Attr::Int { ty, .. } | Attr::Float { ty, .. } => push(Item::Type(*ty)),
                Attr::TypedString(_, ty) | Attr::Type(ty) => push(Item::Type(*ty)),
                Attr::DenseIntArray { element, .. } => push(Item::Type(*element)),
                Attr::Dense(dense) => push(Item::Type(dense.ty)),
                Attr::DotAlgorithm(dot) => {
                    push(Item::Type(dot.lhs_precision_type));
                    push(Item::Type(dot.rhs_precision_type));
                    push(Item::Type(dot.accumulation_type));
                }
                Attr::Array(parts) => parts.iter().for_each(|a| push(Item::Attr(*a))),
                Attr::Dictionary(parts) => parts.iter().for_each(|(_, a)| push(Item::Attr(*a))),
                _ => {}
            },
        }
    }

    /// Interns `item`, whose parts are translated.
    fn rebuild(&mut self, to: &mut Canonical, item: Item) {
        match item {
            Item::Type(id) => {
                let ty = self.rebuilt_type(to, self.module.types.get(id));
                self.types.insert(id, to.types.intern(ty));
            }
            Item::Attr(id) => {
                let attr = self.rebuilt_attr(to, self.module.attrs.get(id));
                self.attrs.insert(id, to.attrs.intern(attr));
            }
        }
    }

    fn rebuilt_type(&self, to: &mut Canonical, ty: &Type) -> Type {
        let list = |types: &[TypeId]| types.iter().map(|t| self.types[t]).collect();
        match ty {
            Type::Tensor(tensor) => {
                let encoding = tensor.encoding.map(|attr| self.attrs[&attr]);
                Type::Tensor(TensorType { encoding, ..tensor.clone() })
            }
            Type::Tuple(parts) => Type::Tuple(list(parts)),
            Type::Function { inputs, results } => {
                Type::Function { inputs: list(inputs), results: list(results) }
            }
            Type::Opaque(text) => Type::Opaque(self.name(to, *text)),
            Type::UnrankedTensor(_) | Type::Scalar(_) | Type::Token | Type::None => ty.clone(),
        }
    }

    fn rebuilt_attr(&self, to: &mut Canonical, attr: &Attr) -> Attr {
        let mut attr = attr.clone();
        match &mut attr {
            Attr::Int { ty, .. }
            | Attr::Float { ty, .. }
            | Attr::TypedString(_, ty)
            | Attr::Type(ty)
            | Attr::DenseIntArray { element: ty, .. } => *ty = self.types[ty],
            Attr::Dense(dense) => dense.ty = self.types[&dense.ty],
            Attr::DotAlgorithm(dot) => {
                dot.lhs_precision_type = self.types[&dot.lhs_precision_type];
                dot.rhs_precision_type = self.types[&dot.rhs_precision_type];
                dot.accumulation_type = self.types[&dot.accumulation_type];
            }
            Attr::Array(parts) => parts.iter_mut().for_each(|a| *a = self.attrs[a]),
            Attr::Dictionary(parts) => {
                for (name, attr) in parts {
                    *name = self.name(to, *name);
                    *attr = self.attrs[attr];
                }
            }
            Attr::SymbolRef(path) => path.iter_mut().for_each(|s| *s = self.name(to, *s)),
            Attr::Enum(kind, value) => {
                *kind = self.name(to, *kind);
                *value = self.name(to, *value);
            }
            Attr::Opaque(text) => *text = self.name(to, *text),
            Attr::Loc(loc) => *loc = LocId::unknown(),
            Attr::Unit
            | Attr::Bool(_)
            | Attr::String(_)
            | Attr::DotDims(_)
            | Attr::GatherDims(_)
            | Attr::ScatterDims(_)
            | Attr::ConvDims(_)
            | Attr::OutputAlias(_)
            | Attr::ChannelHandle { .. }
            | Attr::Bounds(_) => {}
        }
        attr
    }
}
