//! Control flow, tuples and barriers.

use super::Verdict;
use super::site::{Site, compatible, require};
use crate::{Dim, ElementType, OpKind, RegionId, Type, TypeId, ValueId};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    match site.kind() {
        OpKind::While => while_loop(site),
        OpKind::If => branches(site, true),
        OpKind::Case => branches(site, false),
        OpKind::Map => map(site),
        OpKind::Tuple | OpKind::GetTupleElement => tuple(site),
        _ => barrier(site),
    }
}

/// Whether two types may be the same.
fn may_be(site: &Site<'_>, a: TypeId, b: TypeId) -> bool {
    match (site.module.types.as_tensor(a), site.module.types.as_tensor(b)) {
        (Some(a), Some(b)) => a.element == b.element && compatible(&a.shape, &b.shape),
        (None, None) => a == b || !matches!(site.module.types.get(a), Type::Scalar(_)),
        _ => false,
    }
}

fn agree(site: &Site<'_>, what: &str, found: &[ValueId], expected: &[ValueId]) -> Verdict {
    require(found.len() == expected.len(), || {
        format!("{what} must be {} values, but are {}", expected.len(), found.len())
    })?;
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        require(may_be(site, site.type_of(*a), site.type_of(*b)), || {
            format!("{what} are of another type than expected at position {at}")
        })?;
    }
    Ok(())
}

/// One boolean scalar.
fn is_predicate(site: &Site<'_>, values: &[ValueId]) -> bool {
    let boolean = |v: &ValueId| {
        site.module
            .tensor_type(*v)
            .is_some_and(|t| t.element == ElementType::Bool && compatible(&t.shape, &[]))
    };
    values.len() == 1 && boolean(&values[0])
}

fn while_loop(site: &Site<'_>) -> Verdict {
    let &[condition, body] = &site.op.regions[..] else {
        return Err("needs a condition and a body".to_owned());
    };
    agree(site, "the results", &site.op.results, &site.op.operands)?;
    for (name, region) in [("the condition's parameters", condition), ("the body's parameters", body)] {
        if let Some(arguments) = site.region_arguments(region) {
            agree(site, name, arguments, &site.op.operands)?;
        }
    }
    if let Some(results) = site.region_results(condition) {
        require(is_predicate(site, results), || "the condition must return one boolean scalar".to_owned())?;
    }
    match site.region_results(body) {
        Some(results) => agree(site, "the body's results", results, &site.op.operands),
        None => Ok(()),
    }
}

fn branches(site: &Site<'_>, boolean: bool) -> Verdict {
    require(!site.op.regions.is_empty(), || "needs at least one branch".to_owned())?;
    let Some(index) = site.operand(0) else { return Ok(()) };
    let element = if boolean { ElementType::Bool } else { ElementType::Int(32) };
    require(
        index.element == element && index.shape.iter().all(|d| *d == Dim::Dynamic) && index.rank() == 0,
        || format!("chooses by a scalar of {element}, not by {}", site.show(index)),
    )?;
    for &region in &site.op.regions {
        branch(site, region)?;
    }
    Ok(())
}

fn branch(site: &Site<'_>, region: RegionId) -> Verdict {
    let arguments = site.region_arguments(region).map_or(0, <[ValueId]>::len);
    require(arguments == 0, || format!("a branch takes no parameters, but has {arguments}"))?;
    match site.region_results(region) {
        Some(results) => agree(site, "a branch's results", results, &site.op.results),
        None => Ok(()),
    }
}

fn map(site: &Site<'_>) -> Verdict {
    let Some(first) = site.operand(0) else { return Ok(()) };
    if let Some(dims) = site.ints("dimensions") {
        let all: Vec<i64> = (0..first.rank() as i64).collect();
        require(dims == all, || format!("dimensions must be {all:?}, but are {dims:?}"))?;
    }
    for index in 0..site.op.operands.len() {
        let Some(ty) = site.operand(index) else { continue };
        require(compatible(&ty.shape, &first.shape), || {
            format!("needs operands of one shape, but has {} and {}", site.show(first), site.show(ty))
        })?;
    }
    let Some(&region) = site.op.regions.first() else { return Ok(()) };
    let (Some(arguments), Some(results)) = (site.region_arguments(region), site.region_results(region))
    else {
        return Ok(());
    };
    require(arguments.len() == site.op.operands.len(), || {
        format!("the region must take {} parameters, but takes {}", site.op.operands.len(), arguments.len())
    })?;
    for (at, argument) in arguments.iter().enumerate() {
        let (Some(ty), Some(operand)) = (site.module.tensor_type(*argument), site.operand(at)) else {
            continue;
        };
        require(ty.shape.is_empty() && ty.element == operand.element, || {
            format!(
                "parameter {at} must be a scalar of the element type of {}, but is {}",
                site.show(operand),
                site.show(ty)
            )
        })?;
    }
    require(results.len() == 1, || {
        format!("the region must return one value, but returns {}", results.len())
    })?;
    match site.module.tensor_type(results[0]) {
        Some(ty) => {
            require(ty.shape.is_empty(), || {
                format!("the region must return a scalar, not {}", site.show(ty))
            })?;
            site.result_is(0, &first.shape, ty.element)
        }
        None => Ok(()),
    }
}

fn tuple(site: &Site<'_>) -> Verdict {
    let (whole, parts) = match site.kind() {
        OpKind::Tuple => (site.op.results.first(), None),
        _ => (site.op.operands.first(), site.int("index")),
    };
    let Some(Type::Tuple(types)) = whole.map(|v| site.module.types.get(site.type_of(*v))) else {
        return Ok(());
    };
    match parts {
        None => {
            let alike = types.len() == site.op.operands.len()
                && types.iter().zip(&site.op.operands).all(|(ty, v)| may_be(site, *ty, site.type_of(*v)));
            require(alike, || "the tuple's types are not those of its operands".to_owned())
        }
        Some(index) => {
            let part = usize::try_from(index).ok().and_then(|i| types.get(i));
            let Some(part) = part else {
                return Err(format!("index {index} is out of a tuple of {}", types.len()));
            };
            let result = site.op.results.first().map(|v| site.type_of(*v));
            require(result.is_none_or(|ty| may_be(site, *part, ty)), || {
                format!("the result is not of the type of element {index}")
            })
        }
    }
}

fn barrier(site: &Site<'_>) -> Verdict {
    agree(site, "the results", &site.op.results, &site.op.operands)
}
