//! Exact peaks by hand, schedules that are not legal, and a naive simulation.
#![allow(clippy::unwrap_used)]

mod common;

use ckpt_check::{Claims, PeakError, Refusal, check, check_peak, check_peak_per_op};
use ckpt_ir::schedule::{Kernel, KernelPartition};
use ckpt_ir::{Bytes, ElementType, Module, OpId, OpKind};
use common::build::Build;
use common::remat::Random;
use common::{naive, programs};

/// `c = b - a, b = exp a, a = tanh x` on 16 bytes each.
fn three(donated: bool) -> (Module, Vec<OpId>) {
    let mut b = Build::new();
    let x = b.f32(&[4]);
    let main = b.function("main", &[x], &[x]);
    let p = b.argument(0);
    let a = b.same(OpKind::Tanh, &[p]);
    let e = b.same(OpKind::Exponential, &[a]);
    let c = b.same(OpKind::Subtract, &[e, a]);
    b.ret(&[c]);
    if donated {
        programs::donate(&mut b, main, &[0]);
    }
    let ops = b.module.block(b.block).ops[..3].to_vec();
    (b.module, ops)
}

fn partition(module: &Module, kernels: &[&[OpId]]) -> KernelPartition {
    let block = module.function_body(module.function("main").unwrap()).unwrap();
    let kernels = kernels.iter().map(|ops| Kernel { ops: ops.to_vec(), workspace: Bytes(0) });
    KernelPartition { kernels: kernels.collect(), ..KernelPartition::new(block) }
}

fn peak(module: &Module, partition: &KernelPartition) -> Result<u64, PeakError> {
    check_peak(module, module.function("main").unwrap(), partition).map(|bytes| bytes.0)
}

fn per_op(module: &Module) -> u64 {
    check_peak_per_op(module, module.function("main").unwrap()).unwrap().0
}

#[test]
fn kernels_hold_operands_results_and_workspace() {
    let (module, ops) = three(false);
    let [a, e, c] = ops[..] else { unreachable!() };
    assert_eq!(per_op(&module), 4 * 16, "x, a, exp a and the result during the last");
    assert_eq!(peak(&module, &partition(&module, &[&[a, e, c]])), Ok(2 * 16));
    assert_eq!(peak(&module, &partition(&module, &[&[a], &[e, c]])), Ok(3 * 16));
    assert_eq!(peak(&module, &partition(&module, &[&[a, e], &[c]])), Ok(4 * 16));
    let mut scratch = partition(&module, &[&[a], &[c, e]]);
    scratch.kernels[0].workspace = Bytes(100);
    assert_eq!(peak(&module, &scratch), Ok(2 * 16 + 100));
}

#[test]
fn donated_arguments_are_held_until_their_last_use() {
    let (module, ops) = three(true);
    let [a, e, c] = ops[..] else { unreachable!() };
    assert_eq!(per_op(&module), 3 * 16);
    assert_eq!(peak(&module, &partition(&module, &[&[a], &[e, c]])), Ok(2 * 16));
}

#[test]
fn schedules_that_are_not_legal() {
    let (module, ops) = three(false);
    let [a, e, c] = ops[..] else { unreachable!() };
    let refused = |kernels: &[&[OpId]]| peak(&module, &partition(&module, kernels)).unwrap_err();
    assert!(matches!(refused(&[&[a], &[e]]), PeakError::Missing { place } if place.op == c));
    assert!(matches!(refused(&[&[a, e], &[c, a]]), PeakError::Twice { place } if place.op == a));
    assert!(matches!(
        refused(&[&[a, c], &[e]]),
        PeakError::TooEarly { place, kernel: 0, made: 1, .. } if place.op == c
    ));
    assert!(matches!(refused(&[&[e], &[a], &[c]]), PeakError::TooEarly { .. }));
    let end = module.terminator(module.op(a).parent.unwrap()).unwrap();
    assert!(matches!(refused(&[&[a, e, c, end]]), PeakError::WrongOp { .. }));
    let mut inlined = partition(&module, &[&[a], &[c]]);
    inlined.inlined.push(e);
    assert_eq!(peak(&module, &inlined), Ok(3 * 16), "exp a is computed inside the difference");
    let mut in_place = partition(&module, &[&[a], &[e], &[c]]);
    in_place.in_place.push(c);
    assert!(matches!(peak(&module, &in_place), Err(PeakError::NotInPlace { place }) if place.op == c));
    let elsewhere = KernelPartition::new(module.body());
    assert!(matches!(peak(&module, &elsewhere), Err(PeakError::WrongBlock { .. })));
}

#[test]
fn effects_keep_their_order() {
    let module = programs::effects();
    let main = module.function("main").unwrap();
    let body = module.function_body(main).unwrap();
    let per_op = KernelPartition::per_op(&module, body);
    let mut reordered = per_op.clone();
    let is_rng = |k: &Kernel| module.op(k.ops[0]).kind == OpKind::Rng;
    let first = reordered.kernels.iter().position(is_rng).unwrap();
    let second = reordered.kernels.iter().rposition(is_rng).unwrap();
    let rng = reordered.kernels.remove(second);
    reordered.kernels.insert(first, rng);
    let refusal = check_peak(&module, main, &reordered).unwrap_err();
    let order = matches!(refusal, PeakError::EffectOrder { kernel, .. } if kernel == first);
    assert!(order, "{refusal}");
}

/// A view holds its base, an inlined constant has no bytes.
#[test]
fn views_and_inlined_constants() {
    let mut b = Build::new();
    let (x, flat) = (b.f32(&[4, 4]), b.f32(&[16]));
    b.function("main", &[x], &[flat]);
    let p = b.argument(0);
    let t = b.same(OpKind::Tanh, &[p]);
    let view = b.op(OpKind::Reshape, &[t], flat, &[]);
    let one = b.constant(flat, &1f32.to_le_bytes(), true);
    let other = b.op(OpKind::Add, &[view, one], flat, &[]);
    let last = b.op(OpKind::Multiply, &[other, view], flat, &[]);
    b.ret(&[last]);
    let ops = b.module.block(b.block).ops.clone();
    assert_eq!(per_op(&b.module), 64 * 4, "x, tanh, the constant or the product, the sum");
    let mut inlined = partition(&b.module, &[&[ops[0]], &[ops[3]], &[ops[4]]]);
    inlined.inlined = vec![ops[1], ops[2]];
    assert_eq!(peak(&b.module, &inlined), Ok(64 * 4));
    let mut fused = partition(&b.module, &[&[ops[0]], &[ops[3], ops[4]]]);
    fused.inlined = vec![ops[1], ops[2]];
    assert_eq!(peak(&b.module, &fused), Ok(64 * 3));
}

/// A loop holds its operands and results, and what its body makes beside them.
#[test]
fn loops_branches_and_calls() {
    let mut b = Build::new();
    let (x, pred) = (b.f32(&[4]), b.tensor(&[], ElementType::Bool));
    b.function("main", &[x, pred], &[x]);
    let (p, again) = (b.argument(0), b.argument(1));
    let main = b.block;
    let op = b.add(OpKind::While, &[p, again], &[x, pred], &[]);
    b.enter(op, &[x, pred]);
    let more = b.argument(1);
    b.yield_(&[more]);
    b.enter(op, &[x, pred]);
    let (u, no) = (b.argument(0), b.argument(1));
    let t = b.same(OpKind::Tanh, &[u]);
    let s = b.same(OpKind::Subtract, &[t, u]);
    b.yield_(&[s, no]);
    b.block = main;
    let looped = b.results(op);
    b.ret(&looped[..1]);
    let arguments = 16 + 1;
    // The predicate is passed through: the result shares the argument's byte.
    let results = 16;
    let body = 16 + 16;
    assert_eq!(per_op(&b.module), arguments + results + body);

    let end = b.module.terminator(main).unwrap();
    let ops = b.module.block(main).ops.iter().copied().filter(|op| *op != end).collect();
    b.module.set_block_ops(main, ops);
    let branch = b.add(OpKind::If, &[again], &[x], &[]);
    for kind in [OpKind::Tanh, OpKind::Exponential] {
        b.enter(branch, &[]);
        let t = b.same(kind, &[looped[0]]);
        let s = b.same(OpKind::Subtract, &[t, looped[0]]);
        b.yield_(&[s]);
        b.block = main;
    }
    let result = b.results(branch);
    b.ret(&result);
    let in_branch = 16;
    assert_eq!(per_op(&b.module), arguments + results + body.max(in_branch));
}

#[test]
fn callees_hold_what_they_make() {
    let module = programs::calls();
    // `pure` makes two values, of which the one returned is the caller's result.
    let arguments = 2 * 16;
    let first = 16 + 16;
    assert_eq!(per_op(&module), arguments + 2 * 16 + first);
}

#[test]
fn a_wrong_claim_is_refused() {
    let (module, ops) = three(false);
    let fused = partition(&module, &[&ops]);
    let claim =
        |bytes| Claims { peak_bytes: Some(Bytes(bytes)), partition: Some(&fused), ..Claims::default() };
    let report = check(&module, &module, &claim(32)).unwrap();
    assert_eq!(report.peak_bytes, Some(Bytes(32)));
    for wrong in [31, 33] {
        let computed = Bytes(32);
        let refusal = Refusal::Peak { claimed: Bytes(wrong), computed };
        assert_eq!(check(&module, &module, &claim(wrong)), Err(refusal));
    }
}

#[test]
fn unknown_and_impossible_sizes_are_errors() {
    let mut b = Build::new();
    let huge = b.f32(&[u64::MAX / 8]);
    b.function("main", &[huge, huge, huge], &[]);
    b.ret(&[]);
    let main = b.module.function("main").unwrap();
    let refusal = check_peak_per_op(&b.module, main);
    assert!(matches!(refusal, Err(PeakError::Overflow { .. })), "{refusal:?}");
    let missing = check_peak_per_op(&b.module, b.module.top());
    assert!(matches!(missing, Err(PeakError::NoBody { .. })));
}

#[test]
fn random_schedules_agree_with_a_naive_simulation() {
    for seed in 0..2_000 {
        let mut random = Random(seed);
        let module = naive::program(&mut random);
        let partition = naive::schedule(&module, &mut random);
        let expected = naive::peak(&module, &partition);
        assert_eq!(peak(&module, &partition), Ok(expected), "seed {seed}: {partition:?}");
    }
}

/// Every schedule with one operation left out, listed twice, or moved before
/// what it reads is refused.
#[test]
fn broken_schedules_are_refused() {
    let mut refused = 0;
    for seed in 0..200 {
        let mut random = Random(seed);
        let module = naive::program(&mut random);
        let partition = naive::schedule(&module, &mut random);
        for broken in naive::broken(&module, &partition) {
            assert!(peak(&module, &broken).is_err(), "seed {seed}: {broken:?}");
            refused += 1;
        }
    }
    assert!(refused > 1_000, "{refused}");
}

/// What a region reads from outside is an operand of its owner; a view that a
/// branch returns is the owner's result already.
#[test]
fn captures_are_held_and_returned_views_are_in_place() {
    let mut b = Build::new();
    let (x, row, pred) = (b.f32(&[4]), b.f32(&[1, 4]), b.tensor(&[], ElementType::Bool));
    b.function("main", &[x, pred], &[row]);
    let (p, choice) = (b.argument(0), b.argument(1));
    let main = b.block;
    let captured = b.same(OpKind::Tanh, &[p]);
    let branch = b.add(OpKind::If, &[choice], &[row], &[]);
    for kind in [OpKind::Sine, OpKind::Cosine] {
        b.enter(branch, &[]);
        let t = b.same(kind, &[captured]);
        let view = b.op(OpKind::Reshape, &[t], row, &[]);
        b.yield_(&[view]);
        b.block = main;
    }
    let result = b.results(branch);
    b.ret(&result);
    let (arguments, tanh, results) = (16 + 1, 16, 16);
    assert_eq!(per_op(&b.module), arguments + tanh + results);
    let inside = b.module.walk(branch)[1];
    let inner = b.module.op(inside).results[0];
    let end = b.module.terminator(main).unwrap();
    b.module.op_mut(end).operands[0] = inner;
    let function = b.module.function("main").unwrap();
    let refusal = check_peak_per_op(&b.module, function).unwrap_err();
    assert!(matches!(refusal, PeakError::NotVisible { value, .. } if value == inner), "{refusal}");
}
