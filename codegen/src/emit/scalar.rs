//! Elementwise operations on one element.

use super::element::{Elem, register, round};
use super::integer::{self, Width};
use super::{Body, Ssa, Ty, complex, convert, math};
use ckpt_ir::{Attr, ElementType, Module, OpId, OpKind};

/// The element type of a value, if it is a tensor.
pub(crate) fn element_of(module: &Module, value: ckpt_ir::ValueId) -> Option<ElementType> {
    module.tensor_type(value).map(|ty| ty.element)
}

/// An elementwise operation on the elements of its operands, rounded to its
/// type. None if it is not elementwise or not emitted for its types.
pub(crate) fn elementwise(body: &mut Body, module: &Module, op: OpId, operands: &[Elem]) -> Option<Elem> {
    use OpKind as K;
    let data = module.op(op);
    let result = element_of(module, *data.results.first()?)?;
    let element = element_of(module, *data.operands.first()?)?;
    register(result)?;
    match (data.kind, operands) {
        (K::Select, [pred, on_true, on_false]) => Some(select(body, pred.re, *on_true, *on_false)),
        (K::Clamp, [low, value, high]) => {
            let raised = binary(body, K::Maximum, result, *value, *low)?;
            binary(body, K::Minimum, result, raised, *high)
        }
        (K::Compare, [lhs, rhs]) => compare(body, module, op, *lhs, *rhs).map(Elem::real),
        (K::Convert, [value]) => convert::convert(body, element, result, *value),
        (K::BitcastConvert, [value]) => convert::bitcast(body, element, result, *value),
        (K::ReducePrecision, [value]) => {
            let bits = |name| match module.attr(op, name) {
                Some(Attr::Int { value, .. }) => u32::try_from(*value).ok(),
                _ => None,
            };
            let format = (bits("exponent_bits")?, bits("mantissa_bits")?);
            convert::reduce_precision(body, element, format, value.re).map(Elem::real)
        }
        (K::Complex, [re, im]) => Some(Elem { re: re.re, im: Some(im.re) }),
        (K::ChloSquare, [value]) => binary(body, K::Multiply, element, *value, *value),
        (kind, [value]) => unary(body, kind, element, *value),
        (kind, [lhs, rhs]) => binary(body, kind, element, *lhs, *rhs),
        _ => None,
    }
}

/// `condition ? a : b`, part by part.
pub(crate) fn select(body: &mut Body, condition: Ssa, a: Elem, b: Elem) -> Elem {
    let re = body.select(condition, a.re, b.re);
    let im = a.im.zip(b.im).map(|(a, b)| body.select(condition, a, b));
    Elem { re, im }
}

/// An operation of one operand.
fn unary(body: &mut Body, kind: OpKind, element: ElementType, value: Elem) -> Option<Elem> {
    if element.is_complex() {
        return complex::unary(body, kind, value);
    }
    let x = value.re;
    if element == ElementType::Bool {
        let one = body.int(Ty::I1, 1);
        return (kind == OpKind::Not).then(|| Elem::real(body.binary("arith.xori", x, one)));
    }
    if let Some(width) = Width::of(element) {
        return integer::unary(body, kind, width, x).map(Elem::real);
    }
    unary_float(body, kind, element, x).map(Elem::real)
}

/// Operations that one MLIR operation computes exactly.
const FLOAT_UNARY: [(OpKind, &str); 6] = [
    (OpKind::Abs, "math.absf"),
    (OpKind::Negate, "arith.negf"),
    (OpKind::Floor, "math.floor"),
    (OpKind::Ceil, "math.ceil"),
    (OpKind::RoundNearestAfz, "math.round"),
    (OpKind::RoundNearestEven, "math.roundeven"),
];

fn unary_float(body: &mut Body, kind: OpKind, element: ElementType, x: Ssa) -> Option<Ssa> {
    use OpKind as K;
    if let Some((_, op)) = FLOAT_UNARY.iter().find(|(k, _)| *k == kind) {
        return Some(body.unary(op, x));
    }
    let infinity = body.float(x.ty, f64::INFINITY);
    Some(match kind {
        K::Real | K::ChloConj => x,
        K::Imag => body.float(x.ty, 0.0),
        K::IsFinite => {
            let magnitude = body.unary("math.absf", x);
            body.cmpf("olt", magnitude, infinity)
        }
        K::ChloIsInf => {
            let magnitude = body.unary("math.absf", x);
            body.cmpf("oeq", magnitude, infinity)
        }
        K::ChloIsPosInf => body.cmpf("oeq", x, infinity),
        K::ChloIsNegInf => {
            let negative = body.float(x.ty, f64::NEG_INFINITY);
            body.cmpf("oeq", x, negative)
        }
        K::Sign => {
            let (zero, one) = (body.float(x.ty, 0.0), body.float(x.ty, 1.0));
            let itself = body.cmpf("ueq", x, zero);
            let unit = body.binary("math.copysign", one, x);
            body.select(itself, x, unit)
        }
        K::Sqrt => {
            let root = body.unary("math.sqrt", x);
            round(body, element, root)
        }
        K::Logistic => logistic(body, element, x),
        _ => {
            let result = math::unary(body, kind, x)?;
            round(body, element, result)
        }
    })
}

/// `1 ÷ (1 + e⁻ˣ)`, each of the three steps rounded to the type.
fn logistic(body: &mut Body, element: ElementType, x: Ssa) -> Ssa {
    let one = body.float(x.ty, 1.0);
    let negated = body.unary("arith.negf", x);
    let exponential = math::exp(body, negated);
    let exponential = round(body, element, exponential);
    let denominator = body.binary("arith.addf", one, exponential);
    let denominator = round(body, element, denominator);
    let quotient = body.binary("arith.divf", one, denominator);
    round(body, element, quotient)
}

/// An operation of two operands of one type.
pub(crate) fn binary(body: &mut Body, kind: OpKind, element: ElementType, a: Elem, b: Elem) -> Option<Elem> {
    if element.is_complex() {
        return complex::binary(body, kind, a, b);
    }
    let (a, b) = (a.re, b.re);
    let result = if element == ElementType::Bool {
        integer::boolean(body, kind, a, b)?
    } else if let Some(width) = Width::of(element) {
        integer::binary(body, kind, width, a, b)?
    } else {
        let op = match kind {
            OpKind::Add => "arith.addf",
            OpKind::Subtract => "arith.subf",
            OpKind::Multiply => "arith.mulf",
            OpKind::Divide => "arith.divf",
            OpKind::Maximum => return Some(Elem::real(body.binary("arith.maximumf", a, b))),
            OpKind::Minimum => return Some(Elem::real(body.binary("arith.minimumf", a, b))),
            _ => {
                let result = math::binary(body, kind, a, b)?;
                return Some(Elem::real(round(body, element, result)));
            }
        };
        let result = body.binary(op, a, b);
        round(body, element, result)
    };
    Some(Elem::real(result))
}

fn compare(body: &mut Body, module: &Module, op: OpId, a: Elem, b: Elem) -> Option<Ssa> {
    let element = element_of(module, module.op(op).operands[0])?;
    let enumerated = |name| match module.attr(op, name) {
        Some(Attr::Enum(_, value)) => Some(module.names.get(*value)),
        _ => None,
    };
    let direction = enumerated("comparison_direction")?;
    let at = ["EQ", "NE", "GE", "GT", "LE", "LT"].iter().position(|name| *name == direction)?;
    if element.is_complex() {
        let (op, join) = [("oeq", "arith.andi"), ("une", "arith.ori")].get(at).copied()?;
        let (re, im) = (body.cmpf(op, a.re, b.re), body.cmpf(op, a.im?, b.im?));
        return Some(body.binary(join, re, im));
    }
    if element.is_float() {
        if enumerated("compare_type") == Some("TOTALORDER") {
            let (a, b) = (total_order(body, a.re), total_order(body, b.re));
            return Some(body.cmpi(SIGNED[at], a, b));
        }
        return Some(body.cmpf(["oeq", "une", "oge", "ogt", "ole", "olt"][at], a.re, b.re));
    }
    let signed = Width::of(element).is_some_and(|width| width.signed);
    let predicate = if signed { SIGNED[at] } else { ["eq", "ne", "uge", "ugt", "ule", "ult"][at] };
    Some(body.cmpi(predicate, a.re, b.re))
}

const SIGNED: [&str; 6] = ["eq", "ne", "sge", "sgt", "sle", "slt"];

/// A float as the signed integer whose order is IEEE 754's `totalOrder`.
fn total_order(body: &mut Body, x: Ssa) -> Ssa {
    let ty = x.ty.as_integer();
    let bits = body.cast("arith.bitcast", x, ty);
    let (all, one) = (body.int(ty, i64::from(ty.bits()) - 1), body.int(ty, 1));
    let sign = body.binary("arith.shrsi", bits, all);
    let mask = body.binary("arith.shrui", sign, one);
    body.binary("arith.xori", bits, mask)
}

/// Whether [`elementwise`] is the function for a kind.
pub(crate) fn is_elementwise(kind: OpKind) -> bool {
    matches!(kind.category(), ckpt_ir::Category::Elementwise(_))
}
