//! Rewritten values: each rule replayed, and refused where a condition fails.
#![allow(clippy::unwrap_used)]

mod common;

use ckpt_check::{Claims, Justification, Refusal, check, rule_names};
use ckpt_ir::{ElementType, Module, OpId, OpKind, ValueId};
use common::build::Build;

const U8: ElementType = ElementType::Uint(8);

/// `m = x < y`, and the values to rewrite.
struct Program {
    b: Build,
    mask: ValueId,
    x: ValueId,
}

fn program() -> Program {
    let mut b = Build::new();
    let (x, mask) = (b.f32(&[4, 6]), b.tensor(&[4, 6], ElementType::Bool));
    b.function("main", &[x, x], &[x]);
    let (x, y) = (b.argument(0), b.argument(1));
    let less = b.enumeration("comparison_direction", "LT");
    let mask = b.op(OpKind::Compare, &[x, y], mask, &[("comparison_direction", less)]);
    Program { b, mask, x }
}

impl Program {
    fn finish(mut self, mask: ValueId) -> Module {
        // Not a well-typed operation, which is not the checker's business.
        let chosen = self.b.same(OpKind::Select, &[self.x, mask]);
        self.b.ret(&[chosen]);
        self.b.module
    }
}

fn input() -> Module {
    let program = program();
    let mask = program.mask;
    program.finish(mask)
}

/// What may be wrong with a packing.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    IotaDimension,
    One,
    Initial,
    Body,
    ReducedDimension,
    Order,
}

/// The mask packed to three bytes and unpacked again.
fn round_trip(flaw: Flaw) -> (Module, Justification) {
    let mut program = program();
    let from = program.b.module.block(program.b.block).ops.len();
    let b = &mut program.b;
    let (rows, byte_rows) = (b.tensor(&[3, 8], ElementType::Bool), b.tensor(&[3, 8], U8));
    let (packed_type, byte) = (b.tensor(&[3], U8), b.tensor(&[], U8));
    let places = b.int(i128::from(flaw != Flaw::IotaDimension));
    let reshaped = b.op(OpKind::Reshape, &[program.mask], rows, &[]);
    let bytes = b.op(OpKind::Convert, &[reshaped], byte_rows, &[]);
    let places = b.op(OpKind::Iota, &[], byte_rows, &[("iota_dimension", places)]);
    let shift = if flaw == Flaw::Order { [places, bytes] } else { [bytes, places] };
    let shifted = b.same(OpKind::ShiftLeft, &shift);
    let zero = b.constant(byte, &[u8::from(flaw == Flaw::Initial)], true);
    let body = if flaw == Flaw::Body { OpKind::And } else { OpKind::Or };
    let dimension = i64::from(flaw != Flaw::ReducedDimension);
    let packed = b.reduce(body, shifted, zero, dimension, packed_type);
    let dims = b.ints(&[0]);
    let properties = [("broadcast_dimensions", dims)];
    let spread = b.op(OpKind::BroadcastInDim, &[packed], byte_rows, &properties);
    let back = b.same(OpKind::ShiftRightLogical, &[spread, places]);
    let one = b.constant(byte_rows, &[1 + u8::from(flaw == Flaw::One)], true);
    let bit = b.same(OpKind::And, &[back, one]);
    let bits = b.op(OpKind::Convert, &[bit], rows, &[]);
    let ty = b.module.value_type(program.mask);
    let restored = b.op(OpKind::Reshape, &[bits], ty, &[]);
    let helpers = inserted(b, from);
    let claim =
        Justification { rule: "packed-predicate".into(), output: restored, input: program.mask, helpers };
    (program.finish(restored), claim)
}

fn inserted(b: &Build, from: usize) -> Vec<OpId> {
    b.module.block(b.block).ops[from..].to_vec()
}

fn verdict(output: &Module, claims: &[Justification]) -> Result<(), Refusal> {
    let claims = Claims { justifications: claims, ..Claims::default() };
    check(&input(), output, &claims).map(|_| ())
}

#[test]
fn a_packed_predicate_is_the_predicate() {
    let (output, claim) = round_trip(Flaw::None);
    assert_eq!(verdict(&output, std::slice::from_ref(&claim)), Ok(()));
    let refusal = verdict(&output, &[]).unwrap_err();
    assert!(matches!(refusal, Refusal::UnknownValue { .. }), "{refusal}");
}

#[test]
fn a_flawed_packing_is_refused() {
    let flaws =
        [Flaw::IotaDimension, Flaw::One, Flaw::Initial, Flaw::Body, Flaw::ReducedDimension, Flaw::Order];
    for flaw in flaws {
        let (output, claim) = round_trip(flaw);
        let refusal = verdict(&output, &[claim]).unwrap_err();
        assert!(matches!(refusal, Refusal::Justification { .. }), "{}: {refusal}", flaw as u8);
    }
}

#[test]
fn another_predicate_is_refused() {
    let (output, mut claim) = round_trip(Flaw::None);
    claim.input =
        input().block(input().function_body(input().function("main").unwrap()).unwrap()).arguments[0];
    let refusal = verdict(&output, &[claim]).unwrap_err();
    assert!(refusal.to_string().contains("the types differ"), "{refusal}");
}

#[test]
fn unknown_rules_and_ids_are_refused() {
    let (output, claim) = round_trip(Flaw::None);
    let unknown = Justification { rule: "magic".into(), ..claim.clone() };
    let refusal = verdict(&output, &[unknown]).unwrap_err();
    assert!(refusal.to_string().contains("knows no such rule"), "{refusal}");
    let twice = [claim.clone(), claim.clone()];
    assert!(matches!(verdict(&output, &twice), Err(Refusal::JustificationIds { .. })));
    let elsewhere = Justification { output: claim.input, input: claim.output, ..claim.clone() };
    assert!(matches!(verdict(&input(), &[elsewhere]), Err(Refusal::JustificationIds { .. })));
    let mut dead = output.clone();
    let erased = dead.defining_op(claim.output).unwrap();
    let block = dead.op(erased).parent.unwrap();
    dead.set_block_ops(block, Vec::new());
    assert!(verdict(&dead, std::slice::from_ref(&claim)).is_err());
    // A value that no operation of the walk makes proves nothing.
    let mut unreached = input();
    let (mask, other) = (claim.input, unreached.defining_op(claim.input).unwrap());
    let copy = ckpt_check::mutate::clone_op(&mut unreached, other);
    let output = unreached.op(copy).results[0];
    let claim = Justification { rule: "identity".into(), output, input: mask, helpers: Vec::new() };
    assert!(matches!(verdict(&unreached, &[claim]), Err(Refusal::JustificationIds { .. })));
    assert!(rule_names().any(|name| name == "packed-predicate"));
}

/// `x` through `there` and `back`, claimed to be `x` by `rule`.
fn through(
    rule: &str,
    there: impl Fn(&mut Build, ValueId) -> ValueId,
    back: impl Fn(&mut Build, ValueId) -> ValueId,
) -> Result<(), Refusal> {
    let mut program = program();
    let from = program.b.module.block(program.b.block).ops.len();
    let x = program.x;
    let middle = there(&mut program.b, x);
    let restored = back(&mut program.b, middle);
    let helpers = inserted(&program.b, from);
    let claim = Justification { rule: rule.into(), output: restored, input: x, helpers };
    program.x = restored;
    let mask = program.mask;
    verdict(&program.finish(mask), &[claim])
}

#[test]
fn there_and_back() {
    let reshape = |shape: &'static [u64]| {
        move |b: &mut Build, x| {
            let ty = b.f32(shape);
            b.op(OpKind::Reshape, &[x], ty, &[])
        }
    };
    assert_eq!(through("reshape-chain", reshape(&[24]), reshape(&[4, 6])), Ok(()));
    assert!(through("transpose-inverse", reshape(&[24]), reshape(&[4, 6])).is_err());
    let transpose = |shape: &'static [u64], order: &'static [i64]| {
        move |b: &mut Build, x| {
            let (ty, order) = (b.f32(shape), b.ints(order));
            b.op(OpKind::Transpose, &[x], ty, &[("permutation", order)])
        }
    };
    let turned = transpose(&[6, 4], &[1, 0]);
    assert_eq!(through("transpose-inverse", turned, transpose(&[4, 6], &[1, 0])), Ok(()));
    let kept = transpose(&[4, 6], &[0, 1]);
    assert_eq!(through("transpose-inverse", kept, transpose(&[4, 6], &[0, 1])), Ok(()));
    // Two turns of three dimensions in the same sense are not none.
    let turn = |b: &mut Build, x| {
        let (ty, order) = (b.f32(&[2, 2, 2]), b.ints(&[1, 2, 0]));
        b.op(OpKind::Transpose, &[x], ty, &[("permutation", order)])
    };
    let cube = |b: &mut Build, x| {
        let ty = b.f32(&[2, 2, 2]);
        let cube = b.op(OpKind::Slice, &[x], ty, &[]);
        (cube, turn(b, cube))
    };
    let mut program = program();
    let from = program.b.module.block(program.b.block).ops.len();
    let (cube, once) = cube(&mut program.b, program.x);
    let twice = turn(&mut program.b, once);
    let claim = Justification {
        rule: "transpose-inverse".into(),
        output: twice,
        input: cube,
        helpers: inserted(&program.b, from),
    };
    program.b.ret(&[cube]);
    let input = program.b.module.clone();
    let claims = Claims { justifications: std::slice::from_ref(&claim), ..Claims::default() };
    let refusal = check(&input, &program.b.module, &claims).unwrap_err();
    assert!(matches!(refusal, Refusal::Justification { .. }), "{refusal}");
    let convert = |element: ElementType| {
        move |b: &mut Build, x| {
            let ty = b.tensor(&[4, 6], element);
            b.op(OpKind::Convert, &[x], ty, &[])
        }
    };
    let (f32, f64, bf16) = (ElementType::F32, ElementType::F64, ElementType::Bf16);
    assert_eq!(through("convert-round-trip", convert(f64), convert(f32)), Ok(()));
    assert!(through("convert-round-trip", convert(bf16), convert(f32)).is_err());
    assert!(through("identity", convert(f64), convert(f32)).is_err());
}

/// `max(x, y) direction y`, claimed to be `x direction y`.
fn mask(direction: &str, order: &str, swapped: bool) -> Result<(), Refusal> {
    let mut program = program();
    let b = &mut program.b;
    let (x, y) = (b.argument(0), b.argument(1));
    let ty = b.module.value_type(program.mask);
    let (direction, order) =
        (b.enumeration("comparison_direction", direction), b.enumeration("comparison_type", order));
    let properties = [("comparison_direction", direction), ("compare_type", order)];
    let plain = b.op(OpKind::Compare, &[x, y], ty, &properties);
    b.ret(&[plain]);
    let input = program.b.module.clone();
    let b = &mut program.b;
    let end = b.module.block(b.block).ops.clone();
    b.module.set_block_ops(b.block, end[..end.len() - 1].to_vec());
    let maximum = b.same(OpKind::Maximum, &[y, x]);
    let operands = if swapped { [y, maximum] } else { [maximum, y] };
    let output = b.op(OpKind::Compare, &operands, ty, &properties);
    let helpers = vec![b.module.defining_op(maximum).unwrap()];
    b.ret(&[output]);
    let claim = Justification { rule: "mask-from-output".into(), output, input: plain, helpers };
    let claims = Claims { justifications: std::slice::from_ref(&claim), ..Claims::default() };
    check(&input, &program.b.module, &claims).map(|_| ())
}

#[test]
fn masks_from_outputs() {
    assert_eq!(mask("GT", "FLOAT", false), Ok(()));
    assert!(mask("GE", "FLOAT", false).is_err());
    assert!(mask("GT", "TOTALORDER", false).is_err());
    assert!(mask("GT", "FLOAT", true).is_err());
}
