//! The slots that many rows share.

use super::facts::class::*;
use super::signature::Slot;

/// Signless and unsigned integers.
pub(super) const INT: u32 = SINT | UINT;
/// Every element but those quantised per axis.
pub(super) const ANY: u32 = FLOAT | PRED | INT | COMPLEX | QUANT;

/// A tensor of any element type, not quantised per axis.
pub(super) const T: Slot = Slot::of(ANY);
/// The same, or quantised per axis.
pub(super) const TA: Slot = Slot::of(ANY | QUANT_AXIS);
/// Any number of tensors.
pub(super) const TS: Slot = T.many();
/// Any number of tensors, quantised per axis or not.
pub(super) const TAS: Slot = TA.many();
/// Integers.
pub(super) const I: Slot = Slot::of(INT);
/// Booleans.
pub(super) const P: Slot = Slot::of(PRED);
/// Booleans or integers.
pub(super) const PI: Slot = Slot::of(PRED | INT);
/// Floating-point values.
pub(super) const F: Slot = Slot::of(FLOAT);
/// Floating-point or complex values.
pub(super) const FC: Slot = Slot::of(FLOAT | COMPLEX);
/// Floating-point or quantised values.
pub(super) const FQ: Slot = Slot::of(FLOAT | QUANT);
/// Floating-point, complex or quantised values.
pub(super) const FCQ: Slot = Slot::of(FLOAT | COMPLEX | QUANT);
/// Numbers: all but booleans.
pub(super) const IFCQ: Slot = Slot::of(INT | FLOAT | COMPLEX | QUANT);
/// Integer scalars.
pub(super) const SCALAR_INT: Slot = I.rank(0);
/// A list of sizes: one dimension, static.
pub(super) const SIZES: Slot = Slot::of(INT | INDEX).rank(1).fixed();
/// A token.
pub(super) const TOKEN_VALUE: Slot = Slot::of(TOKEN);
/// Any number of tensors and tokens.
pub(super) const TENSORS_OR_TOKENS: Slot = Slot::of(ANY | QUANT_AXIS | TOKEN).many();
/// Any value of the specification.
pub(super) const VALUE: Slot = Slot::of(ANY | QUANT_AXIS | TOKEN | TUPLE | BUFFER);
