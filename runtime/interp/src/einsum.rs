//! `einsum` and `unary_einsum`: sums of products named by letters.

use crate::dot::contract;
use crate::error::{Outcome, invalid};
use crate::lanes::Body;
use crate::machine::Machine;
use crate::movement::transpose;
use crate::reduction::reduce_with;
use crate::site::Site;
use crate::tensor::Tensor;
use ckpt_ir::{DotDims, OpKind};

/// Stand for the dimensions that an ellipsis names, the last of them `ELLIPSIS[0]`.
const ELLIPSIS: &str = "0123456789";

/// A tensor with a letter for each dimension.
struct Named {
    tensor: Tensor,
    letters: Vec<char>,
}

/// Evaluates `einsum` of two operands, or `unary_einsum` of one.
pub(crate) fn einsum(machine: &mut Machine<'_>, site: Site<'_>, operands: &[Tensor]) -> Outcome<Tensor> {
    let config = site.module.string_attr(site.op, "einsum_config").unwrap_or_default();
    let Some((inputs, output)) = config.split_once("->") else {
        return invalid("einsum_config has no arrow");
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != operands.len() {
        return invalid("einsum_config names another number of operands");
    }
    let mut named = Vec::new();
    for (letters, tensor) in inputs.iter().zip(operands) {
        named.push(Named { letters: expand(letters, tensor.shape.len())?, tensor: tensor.clone() });
    }
    let longest = named.iter().map(|n| n.letters.iter().filter(|c| ELLIPSIS.contains(**c)).count()).max();
    let given = output.chars().filter(|c| c.is_alphabetic()).count();
    let output = expand(output, given + longest.unwrap_or(0))?;
    let result = match named.len() {
        1 => named.remove(0),
        _ => product(machine, site, &named, &output)?,
    };
    let result = sum_away(machine, result, |letter| output.contains(&letter))?;
    let place = |letter: &char| result.letters.iter().position(|l| l == letter);
    match output.iter().map(place).collect::<Option<Vec<usize>>>() {
        Some(order) => transpose(&result.tensor, &order),
        None => invalid("einsum_config names a letter in its result only"),
    }
}

/// The letters of an operand, an ellipsis as the digits of its dimensions.
fn expand(text: &str, rank: usize) -> Outcome<Vec<char>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let expanded: Vec<char> = match text.split_once("...") {
        Some((before, after)) => {
            let missing = rank.saturating_sub(before.chars().count() + after.chars().count());
            if missing > ELLIPSIS.len() {
                return invalid("an ellipsis stands for too many dimensions");
            }
            let digits: Vec<char> = ELLIPSIS[..missing].chars().rev().collect();
            before.chars().chain(digits).chain(after.chars()).collect()
        }
        None => text.chars().collect(),
    };
    if expanded.len() != rank {
        return invalid("einsum_config has another number of letters than the operand has dimensions");
    }
    Ok(expanded)
}

/// Sums over the dimensions whose letters are not kept.
fn sum_away(machine: &mut Machine<'_>, named: Named, kept: impl Fn(char) -> bool) -> Outcome<Named> {
    let dimensions: Vec<usize> =
        named.letters.iter().enumerate().filter(|(_, l)| !kept(**l)).map(|(dim, _)| dim).collect();
    if dimensions.is_empty() {
        return Ok(named);
    }
    let zero = vec![0; named.tensor.element.byte_width() as usize];
    let Some(zero) = Tensor::from_bytes(named.tensor.element, &[], &zero) else {
        return invalid("einsum of this element type");
    };
    let body = Body::Binary(OpKind::Add);
    let letters = named.letters.iter().copied().filter(|l| kept(*l)).collect();
    match reduce_with(machine, &body, &[named.tensor], &[zero], &dimensions)?.pop() {
        Some(tensor) => Ok(Named { tensor, letters }),
        None => invalid("a reduction without a result"),
    }
}

fn product(machine: &mut Machine<'_>, site: Site<'_>, operands: &[Named], output: &[char]) -> Outcome<Named> {
    let [lhs, rhs] = operands else { return invalid("einsum has two operands") };
    let own = |mine: &Named, other: &Named| {
        let (mine, other) = (mine.letters.clone(), other.letters.clone());
        move |letter: char| other.contains(&letter) || output.contains(&letter) || !mine.contains(&letter)
    };
    let clone = |named: &Named| Named { tensor: named.tensor.clone(), letters: named.letters.clone() };
    let left = sum_away(machine, clone(lhs), own(lhs, rhs))?;
    let right = sum_away(machine, clone(rhs), own(rhs, lhs))?;
    let shared = |letter: &char| right.letters.contains(letter);
    let at =
        |named: &Named, letter: char| named.letters.iter().position(|l| *l == letter).unwrap_or(0) as i64;
    let (batch, summed): (Vec<char>, Vec<char>) =
        left.letters.iter().copied().filter(shared).partition(|letter| output.contains(letter));
    let dims = DotDims {
        lhs_batching: batch.iter().map(|l| at(&left, *l)).collect(),
        rhs_batching: batch.iter().map(|l| at(&right, *l)).collect(),
        lhs_contracting: summed.iter().map(|l| at(&left, *l)).collect(),
        rhs_contracting: summed.iter().map(|l| at(&right, *l)).collect(),
    };
    let tensor = contract(&left.tensor, &right.tensor, &dims, site.result_element()?)?;
    let free = |named: &Named, other: &Named| -> Vec<char> {
        named.letters.iter().copied().filter(|l| !other.letters.contains(l)).collect()
    };
    let letters = [batch, free(&left, &right), free(&right, &left)].concat();
    Ok(Named { tensor, letters })
}
