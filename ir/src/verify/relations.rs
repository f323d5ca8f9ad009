//! Relations between the types of all operands and results of an operation.

use super::facts::Element;
use super::signature::Relation;
use super::view::{Check, Op, Value, invalid};

/// Checks one relation.
pub(super) fn check(op: Op<'_>, relation: Relation) -> Check {
    use Relation as R;
    let operands = || op.operands();
    let all = || op.operands().chain(op.results());
    match relation {
        R::SameShape if !joinable(all()) => {
            invalid!("requires the same shape for all operands and results, but got {}", list(all()))
        }
        R::SameElement if !agree(all(), same_elements) => {
            invalid!("requires the same element type for all operands and results, but got {}", list(all()))
        }
        R::SameOperandElement if !agree(operands(), same_elements) => {
            invalid!("requires the same element type for all operands, but got {}", list(operands()))
        }
        R::CompatibleElement if !agree(all(), |a, b| elements(a, b, Element::compatible)) => {
            invalid!(
                "requires compatible element types for all operands and results, but got {}",
                list(all())
            )
        }
        R::CompatibleOperandElement if !agree(operands(), |a, b| elements(a, b, Element::compatible)) => {
            invalid!("requires compatible element types for all operands, but got {}", list(operands()))
        }
        R::CompatibleType if !(agree(all(), compatible) && joinable(all())) => {
            invalid!("requires compatible types for all operands and results, but got {}", list(all()))
        }
        R::FirstElement if !agree(operands().take(1).chain(op.results().take(1)), same_elements) => {
            invalid!(
                "failed to verify that all of {{operand, result}} have same element type: {} and {}",
                op.operand(0),
                op.result(0)
            )
        }
        R::PairwiseType => pairwise(op, "type", |a, b| a.ty == b.ty),
        R::PairwiseElement => pairwise(op, "element type", same_elements),
        _ => Ok(()),
    }
}

/// Whether each value agrees with the first.
fn agree<'m>(
    mut values: impl Iterator<Item = Value<'m>>,
    agree: impl Fn(Value<'m>, Value<'m>) -> bool,
) -> bool {
    let Some(first) = values.next() else { return true };
    values.all(|value| value.ty == first.ty || agree(first, value))
}

/// Whether one shape is compatible with all values' shapes.
fn joinable<'m>(mut values: impl Iterator<Item = Value<'m>>) -> bool {
    let Some(first) = values.next() else { return true };
    let mut joined = None;
    values.filter(|value| value.ty != first.ty).all(|value| {
        match (&first.facts.tensor, &value.facts.tensor) {
            (Some(first), Some(tensor)) => {
                joined.get_or_insert_with(|| first.clone()).join(tensor, None).is_ok()
            }
            _ => true,
        }
    })
}

fn pairwise(op: Op<'_>, what: &str, agree: impl Fn(Value<'_>, Value<'_>) -> bool) -> Check {
    let (operands, results) = (op.operand_count(), op.result_count());
    if operands != results {
        invalid!("requires the same number of operands and results, but has {operands} and {results}");
    }
    for (index, (operand, result)) in op.operands().zip(op.results()).enumerate() {
        if !agree(operand, result) {
            invalid!(
                "requires the same {what} for operand and result at index {index}, but got {operand} and {result}"
            );
        }
    }
    Ok(())
}

/// Compatible shapes; values that are no ranked tensors pass.
pub(super) fn shapes(a: Value<'_>, b: Value<'_>) -> bool {
    match (&a.facts.tensor, &b.facts.tensor) {
        (Some(a), Some(b)) => a.shape_compatible(b),
        _ => true,
    }
}

/// A relation of element types; values that are no ranked tensors pass.
pub(super) fn elements(a: Value<'_>, b: Value<'_>, same: impl Fn(&Element, &Element) -> bool) -> bool {
    match (&a.facts.tensor, &b.facts.tensor) {
        (Some(a), Some(b)) => same(&a.element, &b.element),
        _ => true,
    }
}

/// Equal element types; values that are no ranked tensors pass.
fn same_elements(a: Value<'_>, b: Value<'_>) -> bool {
    elements(a, b, PartialEq::eq)
}

/// Compatible types for type inference.
pub(super) fn compatible(a: Value<'_>, b: Value<'_>) -> bool {
    use super::facts::class;
    if a.ty == b.ty {
        return true;
    }
    match (&a.facts.tensor, &b.facts.tensor) {
        (Some(a), Some(b)) => a.shape_compatible(b) && a.element.compatible(&b.element),
        _ => {
            let either = a.facts.class | b.facts.class;
            either & (class::UNKNOWN | class::UNRANKED | class::FUTURE) != 0
        }
    }
}

/// `'tensor<2xf32>', 'tensor<3xf32>'`.
pub(super) fn list<'m>(values: impl Iterator<Item = Value<'m>>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}
