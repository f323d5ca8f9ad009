//! Integers and booleans of every width.

use super::{Body, Ssa, Ty};
use ckpt_ir::{ElementType, OpKind};

/// Width and signedness of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    /// Bits of the type, at most those of its register.
    pub(crate) bits: u32,
    /// Whether the top bit counts negative.
    pub(crate) signed: bool,
}

impl Width {
    /// The width of an integer type; none for others, booleans included.
    pub(crate) fn of(element: ElementType) -> Option<Self> {
        match element {
            ElementType::Int(bits) => Some(Self { bits: bits.into(), signed: true }),
            ElementType::Uint(bits) => Some(Self { bits: bits.into(), signed: false }),
            ElementType::Index => Some(Self { bits: 64, signed: true }),
            _ => None,
        }
    }

    /// Brings a register back into the range of the type: types that do not fill
    /// their register lie sign- or zero-extended in it.
    pub(crate) fn wrap(self, body: &mut Body, value: Ssa) -> Ssa {
        let spare = value.ty.bits() - self.bits;
        if spare == 0 {
            return value;
        }
        let spare = body.int(value.ty, spare.into());
        let high = body.binary("arith.shli", value, spare);
        body.binary(if self.signed { "arith.shrsi" } else { "arith.shrui" }, high, spare)
    }

    /// The smallest value.
    pub(crate) fn min(self) -> i64 {
        if self.signed { i64::MIN >> (64 - self.bits) } else { 0 }
    }

    /// The largest value, as its bits.
    pub(crate) fn max(self) -> i64 {
        if self.signed { i64::MAX >> (64 - self.bits) } else { (u64::MAX >> (64 - self.bits)) as i64 }
    }

    /// The bits of the type without those that extend it.
    fn zero_extended(self, body: &mut Body, value: Ssa) -> Ssa {
        Self { signed: false, ..self }.wrap(body, value)
    }
}

/// An operation of two integers; none if there is no such operation.
pub(crate) fn binary(body: &mut Body, kind: OpKind, width: Width, a: Ssa, b: Ssa) -> Option<Ssa> {
    use OpKind as K;
    let sign = |signed: &'static str, unsigned: &'static str| if width.signed { signed } else { unsigned };
    let op = match kind {
        K::Add => "arith.addi",
        K::Subtract => "arith.subi",
        K::Multiply => "arith.muli",
        K::And => "arith.andi",
        K::Or => "arith.ori",
        K::Xor => "arith.xori",
        K::Maximum => sign("arith.maxsi", "arith.maxui"),
        K::Minimum => sign("arith.minsi", "arith.minui"),
        K::Divide | K::Remainder => return Some(divide(body, kind, width, a, b)),
        K::ShiftLeft | K::ShiftRightLogical | K::ShiftRightArithmetic => {
            return Some(shift(body, kind, width, a, b));
        }
        K::Power => return Some(power(body, width, a, b)),
        _ => return None,
    };
    let result = body.binary(op, a, b);
    Some(width.wrap(body, result))
}

/// Quotient toward zero and remainder. By zero: all ones, and the dividend.
fn divide(body: &mut Body, kind: OpKind, width: Width, a: Ssa, b: Ssa) -> Ssa {
    let (zero, one, minus_one) = (body.int(a.ty, 0), body.int(a.ty, 1), body.int(a.ty, -1));
    let by_zero = body.cmpi("eq", b, zero);
    let mut unsafe_ = by_zero;
    if width.signed {
        // The smallest number divided by −1 is itself, as it is by 1.
        let smallest = body.int(a.ty, width.min());
        let is_smallest = body.cmpi("eq", a, smallest);
        let by_minus_one = body.cmpi("eq", b, minus_one);
        let overflow = body.binary("arith.andi", is_smallest, by_minus_one);
        unsafe_ = body.binary("arith.ori", by_zero, overflow);
    }
    let divisor = body.select(unsafe_, one, b);
    let (op, otherwise) = match (kind, width.signed) {
        (OpKind::Divide, true) => ("arith.divsi", minus_one),
        (OpKind::Divide, false) => ("arith.divui", minus_one),
        (_, true) => ("arith.remsi", a),
        (_, false) => ("arith.remui", a),
    };
    let result = body.binary(op, a, divisor);
    let chosen = body.select(by_zero, otherwise, result);
    width.wrap(body, chosen)
}

/// Shifts. Amounts, as unsigned numbers, of the width and more clear
/// everything or leave copies of the sign.
fn shift(body: &mut Body, kind: OpKind, width: Width, a: Ssa, b: Ssa) -> Ssa {
    let amount = width.zero_extended(body, b);
    let last = body.int(a.ty, i64::from(width.bits) - 1);
    let zero = body.int(a.ty, 0);
    let beyond = body.cmpi("ugt", amount, last);
    let inside = body.binary("arith.minui", amount, last);
    let result = match kind {
        OpKind::ShiftLeft => {
            let shifted = body.binary("arith.shli", a, inside);
            body.select(beyond, zero, shifted)
        }
        OpKind::ShiftRightLogical => {
            let bits = width.zero_extended(body, a);
            let shifted = body.binary("arith.shrui", bits, inside);
            body.select(beyond, zero, shifted)
        }
        _ => {
            let value = Width { signed: true, ..width }.wrap(body, a);
            body.binary("arith.shrsi", value, inside)
        }
    };
    width.wrap(body, result)
}

/// Power by squaring, one step per bit of the exponent; negative exponents
/// yield 0 unless the base is ±1.
fn power(body: &mut Body, width: Width, base: Ssa, exponent: Ssa) -> Ssa {
    let (zero, one) = (body.int(base.ty, 0), body.int(base.ty, 1));
    let mut left = exponent;
    if width.signed {
        let negated = body.binary("arith.subi", zero, exponent);
        let negative = body.cmpi("slt", exponent, zero);
        left = body.select(negative, negated, exponent);
    }
    let (mut result, mut square) = (one, base);
    for bit in 0..width.bits {
        let position = body.int(base.ty, bit.into());
        let shifted = body.binary("arith.shrui", left, position);
        let odd = body.cast("arith.trunci", shifted, Ty::I1);
        let multiplied = body.binary("arith.muli", result, square);
        result = body.select(odd, multiplied, result);
        square = body.binary("arith.muli", square, square);
    }
    if width.signed {
        let minus_one = body.int(base.ty, -1);
        let is_one = body.cmpi("eq", base, one);
        let is_minus_one = body.cmpi("eq", base, minus_one);
        let unit = body.binary("arith.ori", is_one, is_minus_one);
        let negative = body.cmpi("slt", exponent, zero);
        let otherwise = body.select(unit, result, zero);
        result = body.select(negative, otherwise, result);
    }
    width.wrap(body, result)
}

/// An operation of one integer; none if there is no such operation.
pub(crate) fn unary(body: &mut Body, kind: OpKind, width: Width, a: Ssa) -> Option<Ssa> {
    use OpKind as K;
    let zero = body.int(a.ty, 0);
    let result = match kind {
        K::Abs if !width.signed => a,
        K::Abs => {
            let negated = body.binary("arith.subi", zero, a);
            let negative = body.cmpi("slt", a, zero);
            body.select(negative, negated, a)
        }
        K::Negate => body.binary("arith.subi", zero, a),
        K::Not => {
            let ones = body.int(a.ty, -1);
            body.binary("arith.xori", a, ones)
        }
        K::Sign => {
            let positive = body.cmpi(if width.signed { "sgt" } else { "ne" }, a, zero);
            let positive = body.cast("arith.extui", positive, a.ty);
            let negative = body.cmpi("slt", a, zero);
            let negative = body.cast("arith.extui", negative, a.ty);
            if width.signed { body.binary("arith.subi", positive, negative) } else { positive }
        }
        K::Popcnt => {
            let bits = width.zero_extended(body, a);
            body.unary("math.ctpop", bits)
        }
        K::CountLeadingZeros => {
            let bits = width.zero_extended(body, a);
            let zeros = body.unary("math.ctlz", bits);
            let extra = body.int(a.ty, (a.ty.bits() - width.bits).into());
            body.binary("arith.subi", zeros, extra)
        }
        _ => return None,
    };
    Some(width.wrap(body, result))
}

/// An operation of two booleans; none if there is no such operation.
pub(crate) fn boolean(body: &mut Body, kind: OpKind, a: Ssa, b: Ssa) -> Option<Ssa> {
    use OpKind as K;
    let op = match kind {
        K::Add | K::Or | K::Maximum => "arith.ori",
        K::Multiply | K::And | K::Minimum => "arith.andi",
        K::Xor => "arith.xori",
        _ => return None,
    };
    Some(body.binary(op, a, b))
}
