//! Attributes, uniqued per module.

use crate::{Symbol, TypeId};
use ckpt_entity::{EntityId, define_id};
use indexmap::IndexSet;
use std::sync::Arc;

define_id! {
    /// A uniqued attribute.
    pub struct AttrId("attr");
}

/// Values of a dense literal, packed as they lie in memory: row-major,
/// little-endian, [`byte_width`](crate::ElementType::byte_width) bytes per element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DenseElements {
    /// The tensor type.
    pub ty: TypeId,
    /// The elements; a single one if `splat`.
    pub bytes: Arc<[u8]>,
    /// Whether `bytes` is one element that stands for all.
    pub splat: bool,
}

/// `#stablehlo.dot<…>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct DotDims {
    pub lhs_batching: Vec<i64>,
    pub rhs_batching: Vec<i64>,
    pub lhs_contracting: Vec<i64>,
    pub rhs_contracting: Vec<i64>,
}

/// `#stablehlo.gather<…>`, fields as in the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct GatherDims {
    pub offset_dims: Vec<i64>,
    pub collapsed_slice_dims: Vec<i64>,
    pub operand_batching_dims: Vec<i64>,
    pub start_indices_batching_dims: Vec<i64>,
    pub start_index_map: Vec<i64>,
    pub index_vector_dim: i64,
}

/// `#stablehlo.scatter<…>`, fields as in the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct ScatterDims {
    pub update_window_dims: Vec<i64>,
    pub inserted_window_dims: Vec<i64>,
    pub input_batching_dims: Vec<i64>,
    pub scatter_indices_batching_dims: Vec<i64>,
    pub scatter_dims_to_operand_dims: Vec<i64>,
    pub index_vector_dim: i64,
}

/// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct ConvDims {
    pub input_batch: i64,
    pub input_feature: i64,
    pub input_spatial: Vec<i64>,
    pub kernel_input_feature: i64,
    pub kernel_output_feature: i64,
    pub kernel_spatial: Vec<i64>,
    pub output_batch: i64,
    pub output_feature: i64,
    pub output_spatial: Vec<i64>,
}

/// `#stablehlo.dot_algorithm<…>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct DotAlgorithm {
    pub lhs_precision_type: TypeId,
    pub rhs_precision_type: TypeId,
    pub accumulation_type: TypeId,
    pub lhs_component_count: i64,
    pub rhs_component_count: i64,
    pub num_primitive_operations: i64,
    pub allow_imprecise_accumulation: bool,
}

/// `#stablehlo.output_operand_alias<…>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct OutputAlias {
    pub output_tuple_indices: Vec<i64>,
    pub operand_index: i64,
    pub operand_tuple_indices: Vec<i64>,
}

/// An attribute. Those that the project does not know are kept as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attr {
    /// `unit`, or a bare name in a dictionary.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// `42 : i64`. Types wider than 128 bits are kept as text.
    Int {
        /// The value, as the two's complement that was written.
        value: i128,
        /// Its type.
        ty: TypeId,
    },
    /// `1.0 : f32`; the bits of the type, zero-extended.
    Float {
        /// The bits in the type's own format.
        bits: u64,
        /// Its type.
        ty: TypeId,
    },
    /// `"…"`, unescaped; may hold any bytes.
    String(Box<[u8]>),
    /// `"…" : type`.
    TypedString(Box<[u8]>, TypeId),
    /// `[…]`.
    Array(Vec<AttrId>),
    /// `array<i64: …>` and the other integer element types, `array<i1: true>` included.
    DenseIntArray {
        /// The element type, a scalar.
        element: TypeId,
        /// The values.
        values: Vec<i64>,
    },
    /// `{…}`, sorted by name.
    Dictionary(Vec<(Symbol, AttrId)>),
    /// A type as an attribute.
    Type(TypeId),
    /// `@name` or `@outer::@inner`.
    SymbolRef(Vec<Symbol>),
    /// `dense<…> : tensor<…>`.
    Dense(DenseElements),
    /// `#stablehlo.dot<…>`.
    DotDims(DotDims),
    /// `#stablehlo.gather<…>`.
    GatherDims(GatherDims),
    /// `#stablehlo.scatter<…>`.
    ScatterDims(ScatterDims),
    /// `#stablehlo.conv<…>`.
    ConvDims(ConvDims),
    /// `#stablehlo.dot_algorithm<…>`.
    DotAlgorithm(DotAlgorithm),
    /// `#stablehlo.output_operand_alias<…>`.
    OutputAlias(OutputAlias),
    /// `#stablehlo.channel_handle<handle = h, type = t>`.
    ChannelHandle {
        /// The handle.
        handle: i64,
        /// The type.
        ty: i64,
    },
    /// `#stablehlo<precision DEFAULT>` and the like: the kind of enumeration
    /// and its value, both as written (`precision`, `DEFAULT`).
    Enum(Symbol, Symbol),
    /// `#stablehlo.bounds<…>`; `None` stands for `?`.
    Bounds(Vec<Option<i64>>),
    /// A location as an attribute.
    Loc(crate::LocId),
    /// Any other attribute, as its text.
    Opaque(Symbol),
}

/// The attributes of one module, each stored once.
#[derive(Clone, Debug, Default)]
pub struct AttrTable {
    attrs: IndexSet<Attr>,
}

impl AttrTable {
    /// The id of `attr`, interning it on first sight.
    pub fn intern(&mut self, attr: Attr) -> AttrId {
        AttrId::from_index(self.attrs.insert_full(attr).0)
    }

    /// The attribute of an id of this table.
    #[must_use]
    pub fn get(&self, id: AttrId) -> &Attr {
        &self.attrs[id.index()]
    }
}
