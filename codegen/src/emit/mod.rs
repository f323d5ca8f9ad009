//! Writing a kernel as MLIR text.
//!
//! - [`body`]: the text of a function, with loop levels.
//! - [`element`]: element types in memory and in registers, rounding.
//! - [`scalar`], [`integer`], [`convert`], [`complex`], [`math`]: the
//!   arithmetic of one element.
//! - [`cone`]: an element of a fused value at an index, from the buffers that
//!   the kernel reads.
//! - [`nest`], [`map`], [`fold`]: loop nests, one file per family of root operations.

mod attrs;
mod body;
mod combine;
mod complex;
mod cone;
mod convert;
mod element;
mod fold;
mod integer;
mod kernel;
mod map;
mod math;
mod movement;
mod nest;
mod scalar;
mod scatter;
mod select_scatter;

pub(crate) use body::{Body, Ssa, Ty};
pub(crate) use cone::Literals;
pub(crate) use kernel::{NAME, kernel};

use ckpt_ir::OpKind;

/// Why a kernel has no fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoPath {
    /// An operation that is not emitted.
    Operation(OpKind),
    /// An operation that is not emitted for its element types.
    Type(OpKind),
    /// An operation that is emitted for other attributes or shapes only.
    Form(OpKind),
    /// A tensor without elements, of dynamic size, or more than 2⁶² bytes.
    Shape,
    /// Evaluating an element needs too many values.
    TooLarge,
}

/// The outcome of emitting something.
pub(crate) type Emitted<T> = Result<T, NoPath>;
