//! Types, uniqued per module.

use crate::{AttrId, ElementType, Symbol};
use ckpt_entity::{Bytes, EntityId, define_id};
use indexmap::IndexSet;

define_id! {
    /// A uniqued type.
    pub struct TypeId("type");
}

/// One dimension of a tensor type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A static size.
    Static(u64),
    /// `?`: not known; read, printed and refused by everything that needs sizes.
    Dynamic,
}

/// A ranked tensor type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Sizes, outermost first.
    pub shape: Vec<Dim>,
    /// Element type.
    pub element: ElementType,
    /// The encoding after the element type, if any (bounds, layouts).
    pub encoding: Option<AttrId>,
}

impl TensorType {
    /// A static tensor type without encoding.
    #[must_use]
    pub fn new(shape: &[u64], element: ElementType) -> Self {
        Self { shape: shape.iter().map(|d| Dim::Static(*d)).collect(), element, encoding: None }
    }

    /// The sizes, if all are static.
    #[must_use]
    pub fn static_shape(&self) -> Option<Vec<u64>> {
        let size = |dim: &Dim| match dim {
            Dim::Static(size) => Some(*size),
            Dim::Dynamic => None,
        };
        self.shape.iter().map(size).collect()
    }

    /// Number of elements; `None` if a size is dynamic or the product overflows.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        self.static_shape()?.iter().try_fold(1u64, |count, dim| count.checked_mul(*dim))
    }

    /// Bytes in memory, row-major without padding; `None` as for [`Self::element_count`].
    #[must_use]
    pub fn bytes(&self) -> Option<Bytes> {
        self.element_count()?.checked_mul(self.element.byte_width()).map(Bytes)
    }

    /// Number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// A type. Types that the project does not know are kept as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `tensor<…>` with an element type that is known.
    Tensor(TensorType),
    /// `tensor<*xT>`.
    UnrankedTensor(ElementType),
    /// A scalar type outside tensors, such as an attribute's `i64`.
    Scalar(ElementType),
    /// `tuple<…>`.
    Tuple(Vec<TypeId>),
    /// `!stablehlo.token`.
    Token,
    /// `(…) -> …`.
    Function {
        /// Argument types.
        inputs: Vec<TypeId>,
        /// Result types.
        results: Vec<TypeId>,
    },
    /// `none`.
    None,
    /// Any other type, as its text (`!quant.uniform<…>`, `tensor<2x!quant…>`,
    /// `memref<…>`, `!stablehlo.future<…>`).
    Opaque(Symbol),
}

/// The types of one module, each stored once.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    types: IndexSet<Type>,
}

impl TypeTable {
    /// The id of `ty`, interning it on first sight.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        TypeId::from_index(self.types.insert_full(ty).0)
    }

    /// The id of a static tensor type.
    pub fn tensor(&mut self, shape: &[u64], element: ElementType) -> TypeId {
        self.intern(Type::Tensor(TensorType::new(shape, element)))
    }

    /// The type of an id of this table.
    #[must_use]
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// All types, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Type> {
        self.types.iter()
    }

    /// The tensor type of an id, if it is one.
    #[must_use]
    pub fn as_tensor(&self, id: TypeId) -> Option<&TensorType> {
        match self.get(id) {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Bytes of a value of this type: tensors and tuples of them; tokens have
    /// none. `None` where the size is not known or does not fit 64 bits.
    #[must_use]
    pub fn bytes(&self, id: TypeId) -> Option<Bytes> {
        let mut total = Bytes(0);
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            match self.get(id) {
                Type::Tensor(tensor) => total = total.checked_add(tensor.bytes()?)?,
                Type::Tuple(parts) => stack.extend(parts),
                Type::Token | Type::None => {}
                _ => return None,
            }
        }
        Some(total)
    }
}
