//! Operations that work element by element.

use super::Verdict;
use super::site::{Site, compatible, require};
use crate::{ElementType, OpKind, TensorType};

/// Classes of element types that operands may have.
#[derive(Clone, Copy)]
enum Class {
    /// Integers and booleans.
    Integer,
    /// Integers without booleans, floats and complex numbers.
    Number,
    /// Floats.
    Float,
    /// Floats and complex numbers.
    FloatOrComplex,
    /// Signed integers, floats and complex numbers.
    Signed,
}

impl Class {
    fn holds(self, element: ElementType) -> bool {
        let float = element.is_float();
        let complex = element.is_complex();
        let boolean = element == ElementType::Bool;
        let unsigned = matches!(element, ElementType::Uint(_));
        match self {
            Self::Integer => element.is_integer() || boolean,
            Self::Number => element.is_integer() || float || complex || boolean,
            Self::Float => float,
            Self::FloatOrComplex => float || complex,
            Self::Signed => (element.is_integer() && !unsigned && !boolean) || float || complex,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Integer => "integers or booleans",
            Self::Number => "numbers",
            Self::Float => "floats",
            Self::FloatOrComplex => "floats or complex numbers",
            Self::Signed => "signed integers, floats or complex numbers",
        }
    }
}

/// Operands and element class of operations whose operands and result have one type.
fn uniform(kind: OpKind) -> Option<(usize, Class)> {
    use OpKind as K;
    Some(match kind {
        K::Add | K::Maximum | K::Minimum | K::Multiply => (2, Class::Number),
        K::Subtract | K::Divide | K::Remainder | K::Power => (2, Class::Number),
        K::And | K::Or | K::Xor => (2, Class::Integer),
        K::ShiftLeft | K::ShiftRightArithmetic | K::ShiftRightLogical => (2, Class::Integer),
        K::Atan2 => (2, Class::FloatOrComplex),
        K::Not | K::Popcnt | K::CountLeadingZeros => (1, Class::Integer),
        K::Negate => (1, Class::Number),
        K::Sign => (1, Class::Signed),
        K::Ceil | K::Floor | K::RoundNearestAfz | K::RoundNearestEven | K::Cbrt => {
            (1, if matches!(kind, K::Cbrt) { Class::FloatOrComplex } else { Class::Float })
        }
        K::Cosine | K::Exponential | K::ExponentialMinusOne | K::Log | K::LogPlusOne | K::Logistic => {
            (1, Class::FloatOrComplex)
        }
        K::Rsqrt | K::Sine | K::Sqrt | K::Tan | K::Tanh => (1, Class::FloatOrComplex),
        K::ReducePrecision => (1, Class::Float),
        _ => return None,
    })
}

pub(super) fn check(site: &Site<'_>) -> Verdict {
    let ops = &site.op.operands;
    if ops.iter().chain(&site.op.results).any(|v| site.is_opaque(*v)) {
        return Ok(());
    }
    if let Some((count, class)) = uniform(site.kind()) {
        site.operand_count(count, count)?;
        return all_alike(site, class);
    }
    match site.kind() {
        OpKind::Abs | OpKind::Real | OpKind::Imag => part(site),
        OpKind::Complex => complex(site),
        OpKind::IsFinite => predicate(site, Class::Float),
        OpKind::Compare => compare(site),
        OpKind::Select => select(site),
        OpKind::Clamp => clamp(site),
        OpKind::Convert => same_shape(site),
        OpKind::BitcastConvert => bitcast(site),
        _ => Ok(()),
    }
}

fn all_alike(site: &Site<'_>, class: Class) -> Verdict {
    let (Some(first), Some(result)) = (site.operand(0), site.result(0)) else { return Ok(()) };
    for index in 0..site.op.operands.len() {
        let Some(ty) = site.operand(index) else { continue };
        require(ty.element == first.element && compatible(&ty.shape, &first.shape), || {
            format!("needs operands of the same type, but has {} and {}", site.show(first), site.show(ty))
        })?;
        require(class.holds(ty.element), || {
            format!("operand #{index} must hold {}, but is {}", class.name(), site.show(ty))
        })?;
    }
    require(result.element == first.element && compatible(&result.shape, &first.shape), || {
        format!(
            "needs the result to be of its operands' type {}, but it is {}",
            site.show(first),
            site.show(result)
        )
    })?;
    if site.kind() == OpKind::ReducePrecision {
        let bits = |name, least| match site.int(name) {
            Some(bits) if bits < least => Err(format!("{name} must be at least {least}, but is {bits}")),
            _ => Ok(()),
        };
        bits("exponent_bits", 1)?;
        bits("mantissa_bits", 0)?;
    }
    Ok(())
}

fn same_shape(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(result)) = (site.operand(0), site.result(0)) else { return Ok(()) };
    require(compatible(&operand.shape, &result.shape), || {
        format!(
            "needs operand and result of the same shape, but has {} and {}",
            site.show(operand),
            site.show(result)
        )
    })
}

/// `abs`, `real` and `imag` of complex numbers give their parts' type.
fn part(site: &Site<'_>) -> Verdict {
    site.operand_count(1, 1)?;
    let Some(operand) = site.operand(0) else { return Ok(()) };
    let class = if site.kind() == OpKind::Abs { Class::Signed } else { Class::FloatOrComplex };
    require(class.holds(operand.element), || {
        format!("operand #0 must hold {}, but is {}", class.name(), site.show(operand))
    })?;
    site.result_is(0, &operand.shape, operand.element.part())
}

fn complex(site: &Site<'_>) -> Verdict {
    site.operand_count(2, 2)?;
    let (Some(re), Some(im), Some(result)) = (site.operand(0), site.operand(1), site.result(0)) else {
        return Ok(());
    };
    let parts = re.element == im.element && compatible(&re.shape, &im.shape);
    require(parts && matches!(re.element, ElementType::F32 | ElementType::F64), || {
        format!(
            "needs two tensors of f32 or f64 of one type, but has {} and {}",
            site.show(re),
            site.show(im)
        )
    })?;
    let fits = result.element.is_complex() && result.element.part() == re.element;
    require(fits && compatible(&result.shape, &re.shape), || {
        format!("of {} cannot give {}", site.show(re), site.show(result))
    })
}

fn predicate(site: &Site<'_>, class: Class) -> Verdict {
    let Some(operand) = site.operand(0) else { return Ok(()) };
    require(class.holds(operand.element), || {
        format!("operand #0 must hold {}, but is {}", class.name(), site.show(operand))
    })?;
    site.result_is(0, &operand.shape, ElementType::Bool)
}

fn compare(site: &Site<'_>) -> Verdict {
    site.operand_count(2, 2)?;
    let (Some(lhs), Some(rhs)) = (site.operand(0), site.operand(1)) else { return Ok(()) };
    require(lhs.element == rhs.element && compatible(&lhs.shape, &rhs.shape), || {
        format!("needs operands of the same type, but has {} and {}", site.show(lhs), site.show(rhs))
    })?;
    site.result_is(0, &lhs.shape, ElementType::Bool)
}

fn select(site: &Site<'_>) -> Verdict {
    site.operand_count(3, 3)?;
    let (Some(predicate), Some(yes), Some(no)) = (site.operand(0), site.operand(1), site.operand(2)) else {
        return Ok(());
    };
    require(predicate.element == ElementType::Bool, || {
        format!("the predicate must hold booleans, but is {}", site.show(predicate))
    })?;
    require(yes.element == no.element && compatible(&yes.shape, &no.shape), || {
        format!("needs both branches of the same type, but has {} and {}", site.show(yes), site.show(no))
    })?;
    require(predicate.shape.is_empty() || compatible(&predicate.shape, &yes.shape), || {
        format!(
            "the predicate must be a scalar or of the shape of {}, but is {}",
            site.show(yes),
            site.show(predicate)
        )
    })?;
    site.result_is(0, &yes.shape, yes.element)
}

fn clamp(site: &Site<'_>) -> Verdict {
    site.operand_count(3, 3)?;
    let Some(operand) = site.operand(1) else { return Ok(()) };
    let bound = |index: usize, name: &str| {
        let Some(ty) = site.operand(index) else { return Ok(()) };
        let shape = ty.shape.is_empty() || compatible(&ty.shape, &operand.shape);
        require(shape && ty.element == operand.element, || {
            format!(
                "{name} must be a scalar or of the type of {}, but is {}",
                site.show(operand),
                site.show(ty)
            )
        })
    };
    bound(0, "min")?;
    bound(2, "max")?;
    site.result_is(0, &operand.shape, operand.element)
}

/// The last dimension makes up for the difference in width.
fn bitcast(site: &Site<'_>) -> Verdict {
    let (Some(from), Some(to)) = (site.operand(0), site.result(0)) else { return Ok(()) };
    let bits = |ty: &TensorType| u64::from(ty.element.bit_width());
    require(from.element.is_complex() == to.element.is_complex(), || {
        format!("cannot convert between real and complex types: {} and {}", site.show(from), site.show(to))
    })?;
    let (narrow, wide) = if bits(from) <= bits(to) { (from, to) } else { (to, from) };
    if bits(narrow) == bits(wide) {
        return same_shape(site);
    }
    let ratio = bits(wide) / bits(narrow).max(1);
    let Some((last, rest)) = narrow.shape.split_last() else {
        return Err(format!("the rank of {} is too small to make {}", site.show(from), site.show(to)));
    };
    let fits = compatible(rest, &wide.shape) && super::site::same_size(*last, crate::Dim::Static(ratio));
    require(fits, || {
        format!(
            "the shapes of {} and {} must match but for a last dimension of {ratio}",
            site.show(from),
            site.show(to)
        )
    })
}
