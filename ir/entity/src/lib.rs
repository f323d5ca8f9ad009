//! Typed ids, tables indexed by them, and quantities with units.
//!
//! Every entity of the project (value, operation, buffer, derivation…) is named
//! by a newtype around `u32` made with [`define_id!`]; tables are
//! [`EntityVec`]s, so that an id of one kind cannot index a table of another.
//! Analyses are side tables ([`EntityVec`] of the same key), never fields of
//! the entity. Quantities ([`Bytes`], [`Flops`], [`Micros`]) carry their unit
//! in their type.

mod id;
mod quantity;
mod set;
mod table;

pub use id::EntityId;
pub use quantity::{Bytes, Flops, Micros};
pub use set::EntitySet;
pub use table::EntityVec;
