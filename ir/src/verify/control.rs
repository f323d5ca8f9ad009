//! Control flow, and what hands values through.

use super::attributes::AttrKind::I64Array;
use super::attributes::must;
use super::facts::class::{BUFFER, QUANT_AXIS, TOKEN};
use super::facts::{Element, Tensor};
use super::reduction::is_scalar_bool;
use super::relations;
use super::signature::Regions::{AtLeastOne, Exactly};
use super::signature::Relation::{PairwiseType, SameShape};
use super::signature::{Row, Slot};
use super::slots::{ANY, P, T, TENSORS_OR_TOKENS, TS};
use super::structure::hands_over;
use super::view::{Check, Op, Value, invalid, sizes};
use crate::{ElementType, OpKind as K};
use smallvec::SmallVec;

/// What a loop carries.
const CARRIED: Slot = Slot::of(ANY | QUANT_AXIS | TOKEN | BUFFER).many();

pub(super) const ROWS: &[Row] = &[
    Row::new(K::If, &[P], &[TENSORS_OR_TOKENS]).regions(Exactly(2)).check(branches),
    Row::new(K::Case, &[T], &[TENSORS_OR_TOKENS]).regions(AtLeastOne).check(case),
    Row::new(K::While, &[CARRIED], &[CARRIED]).regions(Exactly(2)).check(while_loop),
    Row::new(K::Map, &[TS], &[T])
        .regions(Exactly(1))
        .relations(&[SameShape])
        .attributes(&[must("dimensions", I64Array)])
        .check(map),
    Row::new(K::OptimizationBarrier, &[Slot::of(ANY | TOKEN).many()], &[Slot::of(ANY | TOKEN).many()])
        .relations(&[PairwiseType]),
    Row::new(K::Return, &[CARRIED], &[]),
];

fn case(op: Op<'_>) -> Check {
    let index = op.operand(0).tensor()?;
    if index.element != Element::Plain(ElementType::Int(32)) {
        invalid!("operand #0 must be tensor of 32-bit signless integer values, but got {}", op.operand(0));
    }
    branches(op)
}

/// Branches take nothing and yield the same types, which are the results'.
fn branches(op: Op<'_>) -> Check {
    let rank = op.operand(0).tensor()?.rank();
    if rank != 0 {
        invalid!("operand should be rank 0 tensor but got rank {rank}");
    }
    let first = op.context.yielded(op.block(0)?);
    for branch in 0..op.data.regions.len() {
        let block = op.block(branch)?;
        let arguments = op.context.arguments(block);
        if !arguments.is_empty() {
            invalid!("branch {branch} must have 0 arguments, but found {}", arguments.len());
        }
        let yielded = op.context.yielded(block);
        if !all_compatible(&first, &yielded) {
            invalid!(
                "branch 0 and branch {branch} have mismatched return types: {} vs {}",
                relations::list(first.iter().copied()),
                relations::list(yielded.iter().copied())
            );
        }
    }
    // The results may be as unspecific as the least specific branch.
    let results: Vec<Value<'_>> = op.results().collect();
    for branch in 0..op.data.regions.len() {
        if all_compatible(&op.context.yielded(op.block(branch)?), &results) {
            return Ok(());
        }
    }
    results_are(op, &first)
}

fn all_compatible(a: &[Value<'_>], b: &[Value<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| relations::compatible(*a, *b))
}

/// The results are compatible with what was inferred.
pub(super) fn results_are(op: Op<'_>, inferred: &[Value<'_>]) -> Check {
    let results: Vec<Value<'_>> = op.results().collect();
    if !all_compatible(inferred, &results) {
        invalid!(
            "inferred type(s) {} are incompatible with return type(s) of operation {}",
            relations::list(inferred.iter().copied()),
            relations::list(results.iter().copied())
        );
    }
    Ok(())
}

fn while_loop(op: Op<'_>) -> Check {
    let (cond, body) = (op.block(0)?, op.block(1)?);
    hands_over(op, &op.context.arguments(cond), "condition block arguments")?;
    hands_over(op, &op.context.arguments(body), "body block arguments")?;
    hands_over(op, &op.context.yielded(body), "body block return types")?;
    match op.context.yielded(cond)[..] {
        [result] if !result.is_tensor() || !is_scalar_bool(result.tensor()?) => {
            invalid!("expect condition block return a zero-ranked tensor of i1 but got {result}")
        }
        [_] => {}
        ref other => invalid!("expect condition body returns a single value but got {}", other.len()),
    }
    results_are(op, &op.operands().collect::<Vec<_>>())
}

fn map(op: Op<'_>) -> Check {
    let block = op.block(0)?;
    let (arguments, yielded) = (op.context.arguments(block), op.context.yielded(block));
    if op.operand_count() != arguments.len() {
        let (operands, arguments) = (op.operand_count(), arguments.len());
        invalid!(
            "expects number of operands to match the arity of map computation, but got: {operands} and {arguments}"
        );
    }
    for (index, (argument, operand)) in arguments.iter().zip(op.operands()).enumerate() {
        let (given, wanted) = (argument.tensor()?, operand.tensor()?);
        if given.rank() != 0 {
            invalid!("computation arguments must be 0-rank tensor, but got: arg #{index} of type {argument}");
        }
        if given.element != wanted.element {
            let (wanted, given) = (op.quoted_element(&wanted.element), op.quoted_element(&given.element));
            invalid!(
                "element type of operands and computation arguments must match, but got: {wanted} and {given}"
            );
        }
    }
    let [result] = yielded[..] else {
        invalid!("computation must return single output, but got: {}", yielded.len())
    };
    if result.tensor()?.rank() != 0 {
        invalid!("computation must return 0-rank tensor, but got: {result}");
    }
    let dimensions = op.ints("dimensions")?;
    if dimensions.iter().enumerate().any(|(index, dimension)| index as i64 != *dimension) {
        invalid!("requires monotonically increasing dimension numbers, but got: {}", sizes(dimensions));
    }
    let Some(first) = op.operands().next() else { return Ok(()) };
    let (first, given) = (first.tensor()?, dimensions.len());
    if given != first.shape.len() {
        let rank = first.rank();
        invalid!(
            "applied to a subset of dimensions currently not supported: operand dimensions = {rank}, requested map \
             dimensions size = {given}"
        );
    }
    let element = result.tensor()?.element.clone();
    op.infers(0, &Tensor { shape: first.shape.clone(), bounds: SmallVec::new(), element })
}
