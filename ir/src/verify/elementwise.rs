//! Elementwise operations.

use super::attributes::AttrKind::{Any, Enum, I32NonNegative, I32Positive};
use super::attributes::{AttrRule, may, must};
use super::facts::class::{COMPLEX, FLOAT, QUANT, QUANT_AXIS, SINT};
use super::facts::{Element, Tensor};
use super::quantised;
use super::signature::Relation::{CompatibleElement, CompatibleOperandElement, CompatibleType};
use super::signature::Relation::{SameOperandElement, SameShape};
use super::signature::{Row, Slot};
use super::slots::{F, FC, FCQ, FQ, I, IFCQ, P, PI, T, TA};
use super::view::{Check, Op, invalid, sizes};
use crate::{ElementType, OpKind as K};

/// Signed numbers.
const SFCQ: Slot = Slot::of(SINT | FLOAT | COMPLEX | QUANT);
const QUANTISED: Slot = Slot::of(QUANT | QUANT_AXIS);
const ACCURACY: &[AttrRule] = &[may("result_accuracy", Any)];

pub(super) const DIRECTIONS: &[&str] = &["EQ", "NE", "GE", "GT", "LE", "LT"];
pub(super) const COMPARE_TYPES: &[&str] = &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];

/// Operand and result have one type.
const fn unary(kind: K, slot: &'static [Slot; 1]) -> Row {
    Row::new(kind, slot, slot).relations(&[SameShape, CompatibleType])
}

/// The same with a choice of accuracy.
const fn accurate(kind: K) -> Row {
    unary(kind, &[FCQ]).attributes(ACCURACY).check(accuracy)
}

/// Two operands and the result have one type.
const fn binary(kind: K, operands: &'static [Slot; 2], result: &'static [Slot; 1]) -> Row {
    Row::new(kind, operands, result).relations(&[SameShape, CompatibleType])
}

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Abs, &[SFCQ], &[Slot::of(SINT | FLOAT | QUANT)]).relations(&[SameShape]).check(real_part),
    unary(K::Ceil, &[FQ]),
    unary(K::CountLeadingZeros, &[I]),
    unary(K::Floor, &[FQ]),
    unary(K::Negate, &[IFCQ]),
    unary(K::Not, &[PI]),
    unary(K::Popcnt, &[I]),
    unary(K::RoundNearestAfz, &[FQ]),
    unary(K::RoundNearestEven, &[FQ]),
    unary(K::Sign, &[SFCQ]),
    accurate(K::Cbrt),
    accurate(K::Cosine),
    accurate(K::Exponential),
    accurate(K::ExponentialMinusOne),
    accurate(K::Log),
    accurate(K::LogPlusOne),
    accurate(K::Logistic),
    accurate(K::Rsqrt),
    accurate(K::Sine),
    accurate(K::Sqrt),
    accurate(K::Tan),
    accurate(K::Tanh),
    unary(K::ReducePrecision, &[FQ])
        .attributes(&[must("exponent_bits", I32Positive), must("mantissa_bits", I32NonNegative)]),
    Row::new(K::Add, &[TA, TA], &[TA]).relations(&[SameShape]).check(add),
    binary(K::Atan2, &[FCQ, FCQ], &[FCQ]),
    binary(K::Divide, &[IFCQ, IFCQ], &[IFCQ]),
    binary(K::Maximum, &[T, T], &[T]),
    binary(K::Minimum, &[T, T], &[T]),
    binary(K::Multiply, &[T, T], &[T]),
    binary(K::Power, &[IFCQ, IFCQ], &[IFCQ]),
    binary(K::Remainder, &[IFCQ, IFCQ], &[IFCQ]),
    binary(K::ShiftLeft, &[I, I], &[I]),
    binary(K::ShiftRightArithmetic, &[I, I], &[I]),
    binary(K::ShiftRightLogical, &[I, I], &[I]),
    binary(K::Subtract, &[IFCQ, IFCQ], &[IFCQ]),
    binary(K::And, &[PI, PI], &[T]),
    binary(K::Or, &[PI, PI], &[T]),
    binary(K::Xor, &[PI, PI], &[T]),
    Row::new(K::Real, &[FC], &[F]).relations(&[SameShape]).check(real_part),
    Row::new(K::Imag, &[FC], &[F]).relations(&[SameShape]).check(real_part),
    Row::new(K::IsFinite, &[FQ], &[P]).relations(&[SameShape]),
    Row::new(K::Complex, &[F, F], &[Slot::of(COMPLEX)])
        .relations(&[SameOperandElement, SameShape])
        .check(complex),
    Row::new(K::Compare, &[T, T], &[P]).relations(&[CompatibleOperandElement, SameShape]).attributes(&[
        must("comparison_direction", Enum("comparison_direction", DIRECTIONS)),
        may("compare_type", Enum("comparison_type", COMPARE_TYPES)),
    ]),
    Row::new(K::Convert, &[Slot::of(super::slots::ANY & !QUANT)], &[Slot::of(super::slots::ANY & !QUANT)])
        .relations(&[SameShape]),
    Row::new(K::Clamp, &[T, T, T], &[T]).relations(&[CompatibleElement]).check(clamp),
    Row::new(K::Select, &[P, T, T], &[T]).check(select),
    Row::new(K::UniformQuantize, &[Slot::of(FLOAT | QUANT | QUANT_AXIS)], &[QUANTISED])
        .relations(&[SameShape])
        .check(quantised::quantize),
    Row::new(K::UniformDequantize, &[QUANTISED], &[F]).relations(&[SameShape]).check(quantised::dequantize),
];

/// The result has the element type of the operand's real part.
fn real_part(op: Op<'_>) -> Check {
    let operand = op.operand(0).tensor()?;
    let element = match &operand.element {
        Element::Plain(element) => Element::Plain(element.part()),
        other => other.clone(),
    };
    op.infers(0, &Tensor { element, ..operand.clone() })
}

fn complex(op: Op<'_>) -> Check {
    let operand = op.operand(0).tensor()?;
    let element = match &operand.element {
        Element::Plain(ElementType::F32) => ElementType::Complex64,
        Element::Plain(ElementType::F64) => ElementType::Complex128,
        _ => invalid!("operand #0 must be tensor of 32/64-bit float values, but got {}", op.operand(0)),
    };
    op.infers(0, &Tensor { element: Element::Plain(element), ..operand.clone() })
}

fn add(op: Op<'_>) -> Check {
    let [lhs, rhs, result] = [op.operand(0).tensor()?, op.operand(1).tensor()?, op.result(0).tensor()?];
    if [lhs, rhs, result].iter().any(|tensor| tensor.element.quant().is_some()) {
        return quantised::binary(op);
    }
    if lhs.element != rhs.element || lhs.element != result.element {
        invalid!(
            "requires the same element type for all operands and results, but got {}, {} and {}",
            op.operand(0),
            op.operand(1),
            op.result(0)
        );
    }
    Ok(())
}

fn clamp(op: Op<'_>) -> Check {
    let operand = op.operand(1).tensor()?;
    for (index, name) in [(0, "min"), (2, "max")] {
        let bound = op.operand(index).tensor()?;
        if bound.rank() != 0 && !bound.shape_compatible(operand) {
            let (bound, operand) = (sizes(&bound.shape), sizes(&operand.shape));
            invalid!(
                "{name} shape [{bound}] is not scalar and is not compatible to operand shape [{operand}]"
            );
        }
    }
    op.infers(0, operand)
}

fn select(op: Op<'_>) -> Check {
    let [pred, on_true, on_false] =
        [op.operand(0).tensor()?, op.operand(1).tensor()?, op.operand(2).tensor()?];
    if !on_true.shape_compatible(on_false) || on_true.element != on_false.element {
        invalid!(
            "requires compatible types for non-predicate operands, but got {} and {}",
            op.operand(1),
            op.operand(2)
        );
    }
    if pred.rank() != 0 && !pred.shape_compatible(on_true) {
        invalid!("requires the same shape for all operands, but got {} and {}", op.operand(0), op.operand(1));
    }
    let mut joined = on_true.clone();
    match joined.join(on_false, None) {
        Ok(()) => op.infers(0, &joined),
        Err(dim) => invalid!("mismatched sizes of non-predicate operands in dimension {dim}"),
    }
}

/// Tolerances are not negative, and are zero where the mode asks for none.
fn accuracy(op: Op<'_>) -> Check {
    let Some(id) = op.module().attr_id(op.id, "result_accuracy") else { return Ok(()) };
    let text = crate::text::attribute_text(op.module(), id);
    let field = |name: &str| {
        let rest = text[text.find(name)? + name.len()..].trim_start().strip_prefix('=')?;
        let value = rest.split([',', '>']).next()?;
        value.trim().parse::<f64>().ok()
    };
    let fields = ["atol", "rtol", "ulps"].map(|name| field(name).unwrap_or(0.0));
    if fields.iter().any(|value| *value < 0.0) {
        invalid!("has a negative tolerance in {text}");
    }
    let mode = ["DEFAULT", "HIGHEST"].into_iter().find(|mode| text.contains(mode));
    if let Some(mode) = mode.filter(|_| fields.iter().any(|value| *value != 0.0)) {
        invalid!(
            "Invalid tolerances for ResultAccuracyAttr with mode {mode}, must be all zero, but got {text}"
        );
    }
    Ok(())
}
