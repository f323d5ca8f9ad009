//! Elementwise operations over all element types.

pub(crate) mod compare;
pub(crate) mod complex;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod integer;

use crate::error::{Outcome, invalid, unsupported};
use crate::site::Site;
use crate::tensor::{Data, Storage, Tensor, with_data};
use ckpt_ir::{ElementType, OpKind};
use complex::C;
use integer::width_of;

/// Evaluates an elementwise operation. Operands have one shape, but for scalar
/// predicates and bounds. None if the kind is not elementwise.
pub(crate) fn evaluate(site: Site<'_>, kind: OpKind, operands: &[Tensor]) -> Option<Outcome<Tensor>> {
    Some(match (kind, operands) {
        (OpKind::Select, [pred, on_true, on_false]) => select(pred, on_true, on_false),
        (OpKind::Clamp, [min, operand, max]) => clamp(min, operand, max),
        (OpKind::Compare, [lhs, rhs]) => compare_op(site, lhs, rhs),
        (OpKind::Convert, [operand]) => {
            site.result_element().and_then(|element| convert::convert(operand, element))
        }
        (OpKind::SdyShardingConstraint, [operand]) => Ok(operand.clone()),
        (OpKind::ReducePrecision, [operand]) => reduce_precision(site, operand),
        (_, [operand]) => return unary(kind, operand),
        (_, [lhs, rhs]) => return binary(kind, lhs, rhs),
        _ => return None,
    })
}

fn compare_op(site: Site<'_>, lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    let Some(direction) = site.enum_attr("comparison_direction").and_then(compare::Direction::from_name)
    else {
        return invalid("comparison_direction is none of EQ, NE, GE, GT, LE and LT");
    };
    if lhs.element != rhs.element || lhs.shape != rhs.shape {
        return invalid("the operands of a comparison differ in type or shape");
    }
    compare::compare(lhs, rhs, direction, site.enum_attr("compare_type") == Some("TOTALORDER"))
}

fn reduce_precision(site: Site<'_>, operand: &Tensor) -> Outcome<Tensor> {
    let bits = |name| site.int_attr(name).and_then(|bits| u32::try_from(bits).ok());
    match (bits("exponent_bits"), bits("mantissa_bits")) {
        (Some(exponent @ 1..), Some(mantissa)) => convert::reduce_precision(operand, exponent, mantissa),
        _ => invalid("reduce_precision needs at least one exponent bit"),
    }
}

/// Evaluates an operation of one operand; none if the kind is no such operation.
pub(crate) fn unary(kind: OpKind, operand: &Tensor) -> Option<Outcome<Tensor>> {
    let element = operand.element;
    if element.is_complex() {
        return unary_complex(kind, operand);
    }
    if element.is_float() {
        return unary_float(kind, operand);
    }
    use OpKind as K;
    let width = match width_of(operand) {
        Ok(width) => width,
        Err(fault) => return Some(Err(fault)),
    };
    Some(match kind {
        K::Not if element == ElementType::Bool => integer::map(operand, |a| a ^ 1),
        K::Abs if width.signed => integer::map(operand, i64::wrapping_abs),
        K::Abs => Ok(operand.clone()),
        K::Negate => integer::map(operand, i64::wrapping_neg),
        K::Not => integer::map(operand, |a| !a),
        K::Sign if width.signed => integer::map(operand, i64::signum),
        K::Sign => integer::map(operand, |a| i64::from(a != 0)),
        K::Popcnt => integer::map(operand, |a| i64::from((a as u64 & width.mask()).count_ones())),
        K::CountLeadingZeros => integer::map(operand, |a| integer::count_leading_zeros(a, width)),
        _ => return None,
    })
}

fn unary_float(kind: OpKind, operand: &Tensor) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    Some(match kind {
        K::Abs => float::map(operand, f64::abs),
        K::Negate => float::map(operand, |a| -a),
        K::Sign => float::map(operand, float::sign),
        K::Floor => float::map(operand, f64::floor),
        K::Ceil => float::map(operand, f64::ceil),
        K::RoundNearestAfz => float::map(operand, f64::round),
        K::RoundNearestEven => float::map(operand, f64::round_ties_even),
        K::Sqrt => float::map(operand, f64::sqrt),
        K::Rsqrt => float::map(operand, |a| 1.0 / a.sqrt()),
        K::Exponential => float::map(operand, libm::exp),
        K::ExponentialMinusOne => float::map(operand, libm::expm1),
        K::Log => float::map(operand, libm::log),
        K::LogPlusOne => float::map(operand, libm::log1p),
        K::Logistic => return Some(logistic(operand)),
        K::Tanh => float::map(operand, libm::tanh),
        K::Sine => float::map(operand, libm::sin),
        K::Cosine => float::map(operand, libm::cos),
        K::Tan => float::map(operand, libm::tan),
        K::Cbrt => float::map(operand, libm::cbrt),
        K::Real => Ok(operand.clone()),
        K::Imag => float::map(operand, |_| 0.0),
        K::IsFinite => return Some(predicate(operand, f64::is_finite)),
        _ => return None,
    })
}

/// `1 ÷ (1 + e⁻ˣ)`, each of the three steps rounded to the type, as the
/// specification's reference does.
fn logistic(operand: &Tensor) -> Outcome<Tensor> {
    let exponential = float::map(operand, |a| libm::exp(-a))?;
    let denominator = float::map(&exponential, |a| 1.0 + a)?;
    float::map(&denominator, |a| 1.0 / a)
}

/// A test of each element of a floating-point tensor.
pub(crate) fn predicate(operand: &Tensor, test: impl Fn(f64) -> bool) -> Outcome<Tensor> {
    let bits = float::test(operand, operand, |a, _| test(a))?;
    Ok(Tensor::new(ElementType::Bool, operand.shape.clone(), bits))
}

fn unary_complex(kind: OpKind, operand: &Tensor) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    let part = operand.element.part();
    let f: fn(C) -> C = match kind {
        K::Abs => return Some(map_complex(operand, part, |z| C::new(complex::abs(z), 0.0))),
        K::Real => return Some(map_complex(operand, part, |z| C::new(z.re, 0.0))),
        K::Imag => return Some(map_complex(operand, part, |z| C::new(z.im, 0.0))),
        K::IsFinite => {
            let bits = float::unpack_complex(operand)
                .map(|v| v.iter().map(|z| u8::from(z.re.is_finite() && z.im.is_finite())).collect());
            return Some(bits.map(|bits| Tensor::new::<u8>(ElementType::Bool, operand.shape.clone(), bits)));
        }
        K::Negate => |z| -z,
        K::Sign => complex::sign,
        K::Sqrt => complex::sqrt,
        K::Rsqrt => complex::rsqrt,
        K::Exponential => complex::exp,
        K::ExponentialMinusOne => complex::expm1,
        K::Log => complex::log,
        K::LogPlusOne => complex::log1p,
        K::Logistic => complex::logistic,
        K::Tanh => complex::tanh,
        K::Sine => complex::sin,
        K::Cosine => complex::cos,
        K::Tan => complex::tan,
        K::Cbrt => complex::cbrt,
        _ => return None,
    };
    Some(map_complex(operand, operand.element, f))
}

/// Elementwise over complex (or floating-point) numbers, rounded to `to`.
pub(crate) fn map_complex(operand: &Tensor, to: ElementType, f: impl Fn(C) -> C) -> Outcome<Tensor> {
    let data = float::pack_complex(to, float::unpack_complex(operand)?.into_iter().map(f))?;
    Ok(Tensor { element: to, shape: operand.shape.clone(), data })
}

/// Evaluates an operation of two operands; none if the kind is no such operation.
pub(crate) fn binary(kind: OpKind, lhs: &Tensor, rhs: &Tensor) -> Option<Outcome<Tensor>> {
    if lhs.element != rhs.element || lhs.shape != rhs.shape {
        return Some(invalid("the operands of an elementwise operation differ in type or shape"));
    }
    if lhs.element.is_complex() {
        return binary_complex(kind, lhs, rhs);
    }
    if lhs.element.is_float() {
        return binary_float(kind, lhs, rhs);
    }
    match width_of(lhs) {
        Ok(_) if lhs.element == ElementType::Bool => binary_bool(kind, lhs, rhs),
        Ok(width) => binary_integer(kind, lhs, rhs, width),
        Err(fault) => Some(Err(fault)),
    }
}

fn binary_float(kind: OpKind, lhs: &Tensor, rhs: &Tensor) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    Some(match kind {
        K::Add => float::zip(lhs, rhs, |a, b| a + b),
        K::Subtract => float::zip(lhs, rhs, |a, b| a - b),
        K::Multiply => float::zip(lhs, rhs, |a, b| a * b),
        K::Divide => float::zip(lhs, rhs, |a, b| a / b),
        K::Maximum => float::zip(lhs, rhs, float::maximum),
        K::Minimum => float::zip(lhs, rhs, float::minimum),
        K::Remainder => float::zip(lhs, rhs, libm::fmod),
        K::Power => float::zip(lhs, rhs, libm::pow),
        K::Atan2 => float::zip(lhs, rhs, libm::atan2),
        K::Complex => return Some(join_parts(lhs, rhs)),
        _ => return None,
    })
}

fn join_parts(re: &Tensor, im: &Tensor) -> Outcome<Tensor> {
    let element = match re.element {
        ElementType::F32 => ElementType::Complex64,
        ElementType::F64 => ElementType::Complex128,
        _ => return invalid("complex numbers are made of f32 or f64"),
    };
    let parts = float::unpack(re)?.into_iter().zip(float::unpack(im)?);
    let data = float::pack_complex(element, parts.map(|(re, im)| C::new(re, im)))?;
    Ok(Tensor { element, shape: re.shape.clone(), data })
}

fn binary_bool(kind: OpKind, lhs: &Tensor, rhs: &Tensor) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    Some(match kind {
        K::Add | K::Or | K::Maximum => integer::zip(lhs, rhs, |a, b| a | b),
        K::Multiply | K::And | K::Minimum => integer::zip(lhs, rhs, |a, b| a & b),
        K::Xor => integer::zip(lhs, rhs, |a, b| a ^ b),
        _ => return None,
    })
}

fn binary_integer(
    kind: OpKind,
    lhs: &Tensor,
    rhs: &Tensor,
    width: integer::Width,
) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    Some(match kind {
        K::Add => integer::zip(lhs, rhs, i64::wrapping_add),
        K::Subtract => integer::zip(lhs, rhs, i64::wrapping_sub),
        K::Multiply => integer::zip(lhs, rhs, i64::wrapping_mul),
        K::Divide => integer::zip(lhs, rhs, |a, b| integer::divide(a, b, width)),
        K::Remainder => integer::zip(lhs, rhs, |a, b| integer::remainder(a, b, width)),
        K::Power => integer::zip(lhs, rhs, |a, b| integer::power(a, b, width)),
        K::Maximum if width.signed => integer::zip(lhs, rhs, i64::max),
        K::Minimum if width.signed => integer::zip(lhs, rhs, i64::min),
        K::Maximum => integer::zip(lhs, rhs, |a, b| (a as u64).max(b as u64) as i64),
        K::Minimum => integer::zip(lhs, rhs, |a, b| (a as u64).min(b as u64) as i64),
        K::And => integer::zip(lhs, rhs, |a, b| a & b),
        K::Or => integer::zip(lhs, rhs, |a, b| a | b),
        K::Xor => integer::zip(lhs, rhs, |a, b| a ^ b),
        K::ShiftLeft => integer::zip(lhs, rhs, |a, b| integer::shift_left(a, b, width)),
        K::ShiftRightLogical => integer::zip(lhs, rhs, |a, b| integer::shift_right_logical(a, b, width)),
        K::ShiftRightArithmetic => {
            integer::zip(lhs, rhs, |a, b| integer::shift_right_arithmetic(a, b, width))
        }
        _ => return None,
    })
}

fn binary_complex(kind: OpKind, lhs: &Tensor, rhs: &Tensor) -> Option<Outcome<Tensor>> {
    use OpKind as K;
    let single = lhs.element == ElementType::Complex64;
    let round = move |x: f64| if single { f64::from(x as f32) } else { x };
    let larger = |a: C, b: C| if a.re == b.re { a.im > b.im } else { a.re > b.re };
    let smaller = |a: C, b: C| if a.re == b.re { a.im < b.im } else { a.re < b.re };
    Some(match kind {
        K::Add => zip_complex(lhs, rhs, |a, b| a + b),
        K::Subtract => zip_complex(lhs, rhs, |a, b| a - b),
        K::Multiply => zip_complex(lhs, rhs, |a, b| complex::multiply(a, b, round)),
        K::Divide => zip_complex(lhs, rhs, complex::divide),
        K::Power => zip_complex(lhs, rhs, complex::power),
        K::Atan2 => zip_complex(lhs, rhs, complex::atan2),
        K::Maximum => zip_complex(lhs, rhs, |a, b| if larger(a, b) { a } else { b }),
        K::Minimum => zip_complex(lhs, rhs, |a, b| if smaller(a, b) { a } else { b }),
        K::Remainder => return Some(unsupported("remainder of complex numbers")),
        _ => return None,
    })
}

fn zip_complex(lhs: &Tensor, rhs: &Tensor, f: impl Fn(C, C) -> C) -> Outcome<Tensor> {
    let pairs = float::unpack_complex(lhs)?.into_iter().zip(float::unpack_complex(rhs)?);
    let data = float::pack_complex(lhs.element, pairs.map(|(a, b)| f(a, b)))?;
    Ok(Tensor { element: lhs.element, shape: lhs.shape.clone(), data })
}

/// Picks from one of two operands by a predicate, which may be a scalar.
fn select(pred: &Tensor, on_true: &Tensor, on_false: &Tensor) -> Outcome<Tensor> {
    if on_true.shape != on_false.shape || on_true.element != on_false.element {
        return invalid("the branches of select differ in type or shape");
    }
    let bits = pred.elements::<u8>()?;
    if let [bit] = bits {
        return Ok(if *bit != 0 { on_true.clone() } else { on_false.clone() });
    }
    if bits.len() != on_true.len() {
        return invalid("the predicate of select has another shape than its branches");
    }
    fn pick<S: Storage>(bits: &[u8], on_true: &[S], on_false: &Tensor) -> Outcome<Data> {
        let pairs = on_true.iter().zip(on_false.elements::<S>()?);
        Ok(S::wrap(pairs.zip(bits).map(|((a, b), bit)| if *bit != 0 { *a } else { *b }).collect()))
    }
    let data = with_data!(&on_true.data, v => pick(bits, v, on_false))?;
    Ok(Tensor { element: on_true.element, shape: on_true.shape.clone(), data })
}

/// `minimum(maximum(operand, min), max)`; the bounds may be scalars.
fn clamp(min: &Tensor, operand: &Tensor, max: &Tensor) -> Outcome<Tensor> {
    let spread = |bound: &Tensor| {
        if bound.shape.is_empty() { bound.splat(operand.shape.clone()) } else { bound.clone() }
    };
    let missing = || unsupported("clamp of this element type");
    let raised = binary(OpKind::Maximum, operand, &spread(min)).unwrap_or_else(missing)?;
    binary(OpKind::Minimum, &raised, &spread(max)).unwrap_or_else(missing)
}
