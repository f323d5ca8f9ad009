//! The e-graph's nodes and what is known of its classes.

use ckpt_entity::{EntityId as _, define_id};
use ckpt_ir::{
    Attr, AttrId, AttrTable, ElementType, NameTable, NamedAttr, OpKind, Symbol, TensorType, Type, TypeId,
    TypeTable, ValueId,
};
use egg::{Analysis, DidMerge, EGraph, Id, Language};
use indexmap::IndexSet;
use smallvec::SmallVec;

define_id! {
    /// A uniqued signature.
    pub struct SignatureId("sig");
}

/// Everything of an operation but its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Signature {
    /// A value that is what it is: an argument, or a result of an operation
    /// that rules do not look into.
    Leaf(ValueId),
    /// A pure operation with one result and without regions.
    Op {
        /// What it is.
        kind: OpKind,
        /// Its name.
        name: Symbol,
        /// Its inherent attributes.
        properties: SmallVec<[NamedAttr; 1]>,
        /// Its result type.
        ty: TypeId,
    },
    /// A reduction of one tensor by a binary operation.
    Fold {
        /// The operation.
        body: OpKind,
        /// The reduction's inherent attributes.
        properties: SmallVec<[NamedAttr; 1]>,
        /// Its result type.
        ty: TypeId,
    },
    /// A pure operation with one result and with regions, which equals only
    /// itself; its operands may be matched.
    Region {
        /// What it is.
        kind: OpKind,
        /// Its result.
        value: ValueId,
    },
}

/// An e-node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorNode {
    /// Its signature.
    pub signature: SignatureId,
    /// Its operands' classes.
    pub operands: SmallVec<[Id; 4]>,
}

impl Language for TensorNode {
    type Discriminant = SignatureId;

    fn discriminant(&self) -> SignatureId {
        self.signature
    }

    fn matches(&self, other: &Self) -> bool {
        self.signature == other.signature && self.operands.len() == other.operands.len()
    }

    fn children(&self) -> &[Id] {
        &self.operands
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.operands
    }
}

/// The tables that signatures refer to: copies of the module's, which only
/// grow, so that ids mean the same on both sides.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub(super) names: NameTable,
    pub(super) types: TypeTable,
    pub(super) attrs: AttrTable,
    signatures: IndexSet<Signature>,
    /// Values that the forward pass stores for the backward pass.
    pub(super) stored: std::collections::HashSet<ValueId>,
    /// Type of each leaf and region signature's value.
    value_types: std::collections::HashMap<ValueId, TypeId>,
}

/// What is known of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassFacts {
    /// The type of its value.
    pub ty: TypeId,
    /// The value of the block that it holds, the first in program order, with
    /// its place there; none for classes that rules made.
    pub value: Option<(u32, ValueId)>,
}

/// The e-graph of a block.
pub type TensorGraph = EGraph<TensorNode, Facts>;

impl Facts {
    pub(super) fn new(names: NameTable, types: TypeTable, attrs: AttrTable) -> Self {
        Self {
            names,
            types,
            attrs,
            signatures: IndexSet::new(),
            stored: std::collections::HashSet::new(),
            value_types: std::collections::HashMap::new(),
        }
    }

    /// The id of a signature, interning it on first sight.
    pub fn intern(&mut self, signature: Signature) -> SignatureId {
        SignatureId::from_index(self.signatures.insert_full(signature).0)
    }

    pub(super) fn note_type(&mut self, value: ValueId, ty: TypeId) {
        self.value_types.insert(value, ty);
    }

    /// The signature of an id.
    #[must_use]
    pub fn signature(&self, id: SignatureId) -> &Signature {
        &self.signatures[id.index()]
    }

    fn type_of(&self, id: SignatureId) -> TypeId {
        match self.signature(id) {
            Signature::Op { ty, .. } | Signature::Fold { ty, .. } => *ty,
            Signature::Leaf(value) | Signature::Region { value, .. } => self.value_types[value],
        }
    }

    /// The tensor type of an id.
    #[must_use]
    pub fn tensor(&self, ty: TypeId) -> Option<&TensorType> {
        self.types.as_tensor(ty)
    }

    /// Interns a type.
    pub fn intern_tensor(&mut self, shape: &[u64], element: ElementType) -> TypeId {
        self.types.tensor(shape, element)
    }

    /// Interns an attribute.
    pub fn intern_attr(&mut self, attr: Attr) -> AttrId {
        self.attrs.intern(attr)
    }

    /// Interns `array<i64: …>`.
    pub fn int_array(&mut self, values: &[i64]) -> AttrId {
        let element = self.types.intern(Type::Scalar(ElementType::Int(64)));
        self.attrs.intern(Attr::DenseIntArray { element, values: values.to_vec() })
    }

    /// Interns the signature of an operation; attributes in any order.
    pub fn op(&mut self, kind: OpKind, properties: &[(&str, AttrId)], ty: TypeId) -> SignatureId {
        let name = self.names.intern(kind.name());
        let mut sorted = properties.to_vec();
        sorted.sort_unstable_by_key(|(name, _)| *name);
        let properties = sorted.iter().map(|(name, attr)| (self.names.intern(name), *attr)).collect();
        self.intern(Signature::Op { kind, name, properties, ty })
    }

    /// An attribute of an operation's signature by name.
    #[must_use]
    pub fn attr(&self, id: SignatureId, name: &str) -> Option<&Attr> {
        let Signature::Op { properties, .. } = self.signature(id) else { return None };
        let (_, attr) = properties.iter().find(|(symbol, _)| self.names.get(*symbol) == name)?;
        Some(self.attrs.get(*attr))
    }
}

impl Analysis<TensorNode> for Facts {
    type Data = ClassFacts;

    fn make(egraph: &mut TensorGraph, node: &TensorNode, _: Id) -> ClassFacts {
        ClassFacts { ty: egraph.analysis.type_of(node.signature), value: None }
    }

    fn merge(&mut self, into: &mut ClassFacts, from: ClassFacts) -> DidMerge {
        debug_assert_eq!(into.ty, from.ty, "only values of one type are equal");
        let value = match (into.value, from.value) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let did = DidMerge(value != into.value, value != from.value);
        into.value = value;
        did
    }
}
