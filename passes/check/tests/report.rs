//! What an accepted pair is reported as.
#![allow(clippy::unwrap_used)]

mod common;

use ckpt_check::mutate::clone_op;
use ckpt_check::{Claims, Report, check};
use ckpt_ir::OpKind;
use common::programs;

#[test]
fn operations_effects_and_recomputations_are_counted() {
    let input = programs::effects();
    let mut output = input.clone();
    let multiply = output.walk(output.top()).into_iter().find(|op| output.op(*op).kind == OpKind::Multiply);
    let multiply = multiply.unwrap();
    let again = clone_op(&mut output, multiply);
    let block = output.op(multiply).parent.unwrap();
    let mut ops = output.block(block).ops.clone();
    let at = ops.iter().position(|op| *op == multiply).unwrap();
    ops.insert(at + 1, again);
    output.set_block_ops(block, ops);
    let report = check(&input, &output, &Claims::default()).unwrap();
    let expected = Report {
        input_ops: 17,
        output_ops: 18,
        terms: report.terms,
        effects: 6,
        recomputed_ops: 1,
        peak_bytes: None,
    };
    assert_eq!(report, expected);
}
