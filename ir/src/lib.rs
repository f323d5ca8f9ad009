//! StableHLO in memory.
//!
//! A [`Module`] owns everything of one program in dense tables: operations,
//! values, blocks and regions by typed id; types, attributes, names and
//! locations uniqued ([`TypeId`], [`AttrId`], [`Symbol`], [`LocId`]), so that
//! comparing two of them is comparing two integers. Analyses never live in the
//! module; they are side tables keyed by its ids.
//!
//! The semantics are those of MLIR: an operation has operands, results,
//! inherent attributes (*properties*), discardable attributes and regions; a
//! region has blocks; a block has arguments and operations, the last of which
//! is a terminator. What an operation is allowed to do is a row of the table
//! in [`op`]; an operation without a row is [`OpKind::Unknown`]: it is carried
//! through untouched and treated as having effects.

mod attr;
pub mod cost;
mod diagnostic;
mod element;
mod loc;
mod module;
mod name;
pub mod op;
pub mod schedule;
pub mod text;
mod types;
mod verify;

pub use attr::{
    Attr, AttrId, AttrTable, ConvDims, DenseElements, DotAlgorithm, DotDims, GatherDims, OutputAlias,
    ScatterDims,
};
pub use ckpt_entity::{Bytes, EntityId, EntitySet, EntityVec, Flops, Micros};
pub use diagnostic::{Diagnostic, DiagnosticKind, SourceText};
pub use element::ElementType;
pub use loc::{Loc, LocId, LocTable};
pub use module::{
    Block, BlockId, Module, NamedAttr, Op, OpId, OpSpec, Region, RegionId, Use, Uses, ValueDef, ValueId,
};
pub use name::{NameTable, Symbol};
pub use op::{Category, Effect, OpKind};
pub use types::{Dim, TensorType, Type, TypeId, TypeTable};
pub use verify::verify;
