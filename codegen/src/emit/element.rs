//! Element types: how they lie in memory, what computes them, how results are rounded.
//!
//! | type | memory | register |
//! |---|---|---|
//! | `i1` | a byte, 0 or 1 | `i1` |
//! | `iN`, `uiN` | bytes; signed ones sign-extended | the memory's integer, kept in range |
//! | `bf16`, `f16` | two bytes | `f32` whose value the type has |
//! | `f32`, `f64` | themselves | themselves |
//! | complex | two parts | two registers |

use super::{Body, Ssa, Ty};
use crate::index::Affine;
use ckpt_ir::ElementType;

/// An element in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elem {
    /// The value, or its real part.
    pub(crate) re: Ssa,
    /// The imaginary part of complex numbers.
    pub(crate) im: Option<Ssa>,
}

impl Elem {
    /// A real number, integer or boolean.
    pub(crate) fn real(re: Ssa) -> Self {
        Self { re, im: None }
    }

    /// Both parts.
    pub(crate) fn parts(self) -> impl Iterator<Item = Ssa> {
        [Some(self.re), self.im].into_iter().flatten()
    }

    /// The innermost loop level of its parts.
    pub(crate) fn level(self) -> u8 {
        self.parts().map(|part| part.level).max().unwrap_or(0)
    }
}

/// Where the value of a part lies between operations; none for types that are not emitted.
pub(crate) fn register(element: ElementType) -> Option<Ty> {
    use ElementType as E;
    Some(match element {
        E::Bool => Ty::I1,
        E::Int(_) | E::Uint(_) | E::Index => match element.byte_width() {
            1 => Ty::I8,
            2 => Ty::I16,
            4 => Ty::I32,
            _ => Ty::I64,
        },
        E::Bf16 | E::F16 | E::F32 | E::Complex64 => Ty::F32,
        E::F64 | E::Complex128 => Ty::F64,
        _ => return None,
    })
}

/// The type of a part in memory.
pub(crate) fn memory(element: ElementType) -> Option<Ty> {
    Some(match element {
        ElementType::Bool => Ty::I8,
        ElementType::Bf16 => Ty::I16,
        ElementType::F16 => Ty::F16,
        other => register(other)?,
    })
}

/// Parts of an element.
pub(crate) fn part_count(element: ElementType) -> i64 {
    if element.is_complex() { 2 } else { 1 }
}

/// From memory to a register.
pub(crate) fn unpack(body: &mut Body, element: ElementType, raw: Ssa) -> Ssa {
    match element {
        ElementType::Bool => {
            let zero = body.int(Ty::I8, 0);
            body.cmpi("ne", raw, zero)
        }
        ElementType::Bf16 => {
            let wide = body.cast("arith.extui", raw, Ty::I32);
            let shift = body.int(Ty::I32, 16);
            let bits = body.binary("arith.shli", wide, shift);
            body.cast("arith.bitcast", bits, Ty::F32)
        }
        ElementType::F16 => body.cast("arith.extf", raw, Ty::F32),
        _ => raw,
    }
}

/// From a register to memory. Exact: the value has been rounded.
pub(crate) fn pack(body: &mut Body, element: ElementType, value: Ssa) -> Ssa {
    match element {
        ElementType::Bool => body.cast("arith.extui", value, Ty::I8),
        ElementType::Bf16 => {
            let bits = body.cast("arith.bitcast", value, Ty::I32);
            let shift = body.int(Ty::I32, 16);
            let high = body.binary("arith.shrui", bits, shift);
            body.cast("arith.trunci", high, Ty::I16)
        }
        ElementType::F16 => body.cast("arith.truncf", value, Ty::F16),
        _ => value,
    }
}

/// Rounds the `f32` result of an operation on numbers of a narrower
/// floating-point type to it, ties to even; other types are returned as they are.
pub(crate) fn round(body: &mut Body, element: ElementType, value: Ssa) -> Ssa {
    match element {
        ElementType::Bf16 => round_bf16(body, value, false),
        ElementType::F16 => {
            let half = body.cast("arith.truncf", value, Ty::F16);
            body.cast("arith.extf", half, Ty::F32)
        }
        _ => value,
    }
}

/// The same for any `f32`, whose NaNs may have payloads that carry.
pub(crate) fn round_any(body: &mut Body, element: ElementType, value: Ssa) -> Ssa {
    match element {
        ElementType::Bf16 => round_bf16(body, value, true),
        _ => round(body, element, value),
    }
}

/// Adds half a unit of the upper half and clears the lower one. NaNs that come
/// of operations on `bf16` have no payload in the lower half and stay NaNs;
/// others need to be kept from carrying into the sign.
fn round_bf16(body: &mut Body, value: Ssa, any_nan: bool) -> Ssa {
    let bits = body.cast("arith.bitcast", value, Ty::I32);
    let shift = body.int(Ty::I32, 16);
    let one = body.int(Ty::I32, 1);
    let below_half = body.int(Ty::I32, 0x7fff);
    let upper = body.int(Ty::I32, 0xffff_0000);
    let odd = body.binary("arith.shrui", bits, shift);
    let odd = body.binary("arith.andi", odd, one);
    let sum = body.binary("arith.addi", bits, below_half);
    let mut sum = body.binary("arith.addi", sum, odd);
    if any_nan {
        let quiet = body.int(Ty::I32, 0x40_0000);
        let nan = body.binary("arith.ori", bits, quiet);
        let is_nan = body.cmpf("uno", value, value);
        sum = body.select(is_nan, nan, sum);
    }
    let kept = body.binary("arith.andi", sum, upper);
    body.cast("arith.bitcast", kept, Ty::F32)
}

/// The sum of a position's terms as a value, outer loops first so that partial
/// sums leave the inner ones. Quotients are made by [`super::cone`].
pub(crate) fn scaled(body: &mut Body, value: Ssa, factor: i64) -> Ssa {
    if factor == 1 {
        return value;
    }
    let factor = body.int(Ty::I64, factor);
    body.binary("arith.muli", value, factor)
}

/// A position in memory, in parts: complex elements have two.
pub(crate) fn part_position(element: ElementType, position: &Affine, part: i64) -> Affine {
    position.times(part_count(element)).offset(part)
}
