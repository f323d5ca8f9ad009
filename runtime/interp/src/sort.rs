//! `sort`: a stable merge sort by the program's own comparator.
//!
//! All merges of one level run side by side, so that the comparator sees long
//! vectors: `2n` runs of it for lines of length `n`, however many lines.

use crate::error::{Outcome, invalid};
use crate::lanes::Body;
use crate::machine::{Machine, Values};
use crate::shape::{count, strides};
use crate::site::Site;
use crate::tensor::{Tensor, Value};

/// Two sorted runs of one line that are being merged.
struct Merge {
    left: usize,
    middle: usize,
    right: usize,
    end: usize,
    out: usize,
}

impl Merge {
    fn needs_comparison(&self) -> bool {
        self.left < self.middle && self.right < self.end
    }
}

/// Evaluates `sort`.
pub(crate) fn sort(machine: &mut Machine<'_>, site: Site<'_>, operands: &[Value]) -> Outcome<Values> {
    let inputs = operands.iter().map(|v| v.tensor().cloned()).collect::<Outcome<Vec<_>>>()?;
    let Some(first) = inputs.first() else { return invalid("sort needs an input") };
    let rank = first.shape.len();
    let dimension = site.int_attr("dimension").unwrap_or(-1);
    let dimension = if dimension < 0 { dimension + rank as i64 } else { dimension };
    let Some(&length) = usize::try_from(dimension).ok().and_then(|dim| first.shape.get(dim)) else {
        return if rank == 0 { Ok(operands.into()) } else { invalid("no such dimension to sort along") };
    };
    if inputs.iter().any(|input| input.shape != first.shape) {
        return invalid("the inputs of sort differ in shape");
    }
    let body = Body::of(site.module, site.block(0)?)?;
    let order = sorted_positions(machine, &body, &inputs, dimension as usize, length)?;
    Ok(inputs.iter().map(|input| input.pick(input.shape.clone(), &order).into()).collect())
}

/// For each position of the result, the position of the inputs that goes there.
fn sorted_positions(
    machine: &mut Machine<'_>,
    body: &Body,
    inputs: &[Tensor],
    dimension: usize,
    length: usize,
) -> Outcome<Vec<usize>> {
    let shape = &inputs[0].shape;
    let stride = strides(shape)[dimension];
    let lines = count(shape) / length.max(1);
    // Line `l`, element `i`, lies at `start(l) + i·stride`.
    let start = |line: usize| line / stride * stride * length + line % stride;
    let mut order: Vec<usize> =
        (0..lines).flat_map(|line| (0..length).map(move |i| start(line) + i * stride)).collect();
    let mut width = 1;
    while width < length {
        order = merge_level(machine, body, inputs, &order, length, width)?;
        width *= 2;
    }
    let mut result = vec![0; order.len()];
    for (at, position) in order.into_iter().enumerate() {
        result[start(at / length.max(1)) + at % length.max(1) * stride] = position;
    }
    Ok(result)
}

/// Merges neighbouring runs of `width` elements in all lines.
fn merge_level(
    machine: &mut Machine<'_>,
    body: &Body,
    inputs: &[Tensor],
    order: &[usize],
    length: usize,
    width: usize,
) -> Outcome<Vec<usize>> {
    let mut out = vec![0; order.len()];
    let mut merges: Vec<Merge> = Vec::new();
    for line in (0..order.len()).step_by(length) {
        for left in (line..line + length).step_by(2 * width) {
            let middle = (left + width).min(line + length);
            let end = (left + 2 * width).min(line + length);
            merges.push(Merge { left, middle, right: middle, end, out: left });
        }
    }
    loop {
        let active: Vec<usize> = (0..merges.len()).filter(|m| merges[*m].needs_comparison()).collect();
        if active.is_empty() {
            break;
        }
        let lefts: Vec<usize> = active.iter().map(|m| order[merges[*m].left]).collect();
        let rights: Vec<usize> = active.iter().map(|m| order[merges[*m].right]).collect();
        let lanes = &[active.len()][..];
        let arguments: Vec<Tensor> =
            inputs.iter().flat_map(|i| [i.pick(lanes, &rights), i.pick(lanes, &lefts)]).collect();
        let answers = body.run(machine, &arguments)?;
        let Some(answers) = answers.first() else { return invalid("the comparator of sort returns nothing") };
        for (&merge, right_first) in active.iter().zip(answers.elements::<u8>()?) {
            let merge = &mut merges[merge];
            let from = if *right_first != 0 { &mut merge.right } else { &mut merge.left };
            out[merge.out] = order[*from];
            *from += 1;
            merge.out += 1;
        }
    }
    for merge in merges {
        let rest = order[merge.left..merge.middle].iter().chain(&order[merge.right..merge.end]);
        for (slot, position) in out[merge.out..merge.end].iter_mut().zip(rest) {
            *slot = *position;
        }
    }
    Ok(out)
}
