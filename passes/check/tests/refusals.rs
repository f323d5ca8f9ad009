//! What is said of an output that is refused.
#![allow(clippy::unwrap_used)]

mod common;

use ckpt_check::{Claims, Difference, Malformation, Refusal, check};
use ckpt_ir::{Attr, Module, OpId, OpKind};
use common::build::Build;
use common::programs;

fn refusal(input: &Module, output: &Module) -> Refusal {
    check(input, output, &Claims::default()).unwrap_err()
}

fn body(module: &Module) -> Vec<OpId> {
    let main = module.function("main").unwrap();
    module.block(module.function_body(main).unwrap()).ops.clone()
}

fn first(module: &Module, kind: OpKind) -> OpId {
    module.walk(module.top()).into_iter().find(|op| module.op(*op).kind == kind).unwrap()
}

#[test]
fn a_swapped_operand_names_both_values() {
    let input = programs::mlp();
    let mut output = input.clone();
    let op = first(&output, OpKind::Subtract);
    output.op_mut(op).operands.swap(0, 1);
    let text = refusal(&input, &output).to_string();
    assert_eq!(
        text,
        "output: op6 `stablehlo.subtract`: computes no value of the input: operand 0 is the \
         output's value0, which equals the input's value0, where the input reads its value6; \
         input: op6 `stablehlo.subtract`"
    );
}

#[test]
fn a_changed_attribute_is_shown() {
    let input = programs::movement();
    let mut output = input.clone();
    let op = first(&output, OpKind::Transpose);
    let ints = output.attrs.get(output.op(op).properties[0].1).clone();
    let Attr::DenseIntArray { element, .. } = ints else { unreachable!() };
    let changed = output.attrs.intern(Attr::DenseIntArray { element, values: vec![0, 1] });
    output.op_mut(op).properties[0].1 = changed;
    let text = refusal(&input, &output).to_string();
    assert!(text.contains("attribute `permutation` is [0, 1] where the input has [1, 0]"), "{text}");
}

#[test]
fn permuted_results_name_the_result() {
    let input = programs::effects();
    let mut output = input.clone();
    let end = *body(&output).last().unwrap();
    output.op_mut(end).operands.swap(1, 2);
    let refused = refusal(&input, &output);
    assert!(matches!(refused, Refusal::Results { index: 1, .. }), "{refused}");
}

#[test]
fn effects_are_next_missing_or_too_many() {
    let input = programs::effects();
    let ops = body(&input);
    let calls: Vec<_> = ops.iter().copied().filter(|op| input.op(*op).kind == OpKind::CustomCall).collect();

    // The second log never runs: what comes next is not what the input runs.
    let mut output = input.clone();
    let without = ops.iter().copied().filter(|op| *op != calls[1]).collect();
    let block = output.op(calls[1]).parent.unwrap();
    output.set_block_ops(block, without);
    let refused = refusal(&input, &output);
    let Refusal::Effect { input: Some(expected), .. } = &refused else { panic!("{refused}") };
    assert_eq!(expected.op, calls[1], "{refused}");

    // The last effect never runs.
    let mut short = Build::new();
    let x = short.f32(&[2]);
    short.function("main", &[x], &[x]);
    let p = short.argument(0);
    let effect = short.unknown("vendor.log", &[p], &[]);
    short.ret(&[p]);
    let input = short.module;
    let mut output = input.clone();
    let rest = body(&output)[1..].to_vec();
    let block = output.op(effect).parent.unwrap();
    output.set_block_ops(block, rest);
    let refused = refusal(&input, &output);
    assert!(
        matches!(&refused, Refusal::MissingEffect { input: Some(place), .. } if place.op == effect),
        "{refused}"
    );
    // And the other way round it runs where the input runs nothing.
    let refused = refusal(&output, &input);
    assert!(matches!(&refused, Refusal::Effect { .. }), "{refused}");
}

#[test]
fn a_clone_of_an_rng_is_an_effect_too_many() {
    let input = programs::effects();
    let mut output = input.clone();
    let rng = first(&output, OpKind::Rng);
    let again = ckpt_check::mutate::clone_op(&mut output, rng);
    let mut ops = body(&output);
    let at = ops.iter().position(|op| *op == rng).unwrap();
    ops.insert(at + 1, again);
    let block = output.op(rng).parent.unwrap();
    output.set_block_ops(block, ops);
    let refused = refusal(&input, &output);
    // The clone is as good as the input's second rng, so that one is too many.
    let too_many = matches!(&refused, Refusal::Effect { output: place, input: Some(next), .. }
        if output.op(place.op).kind == OpKind::Rng && input.op(next.op).kind == OpKind::CustomCall);
    assert!(too_many, "{refused}");
}

#[test]
fn interfaces_must_agree() {
    let input = programs::mlp();
    let mut output = input.clone();
    let main = output.function("main").unwrap();
    let at = output.op(main).properties.iter().position(|(name, _)| output.names.get(*name) == "arg_attrs");
    output.op_mut(main).properties.remove(at.unwrap());
    let refused = refusal(&input, &output);
    assert!(
        matches!(&refused, Refusal::Interface { difference, .. }
            if matches!(&**difference, Difference::Attribute { name, output: None, .. } if name == "arg_attrs")),
        "{refused}"
    );
    let mut output = programs::calls();
    let square = output.function("square").unwrap();
    let ops = output.block(output.body()).ops.iter().copied().filter(|op| *op != square).collect();
    let top = output.body();
    output.set_block_ops(top, ops);
    let refused = refusal(&programs::calls(), &output);
    assert!(refused.to_string().contains("composite"), "{refused}");
    let refused = refusal(&programs::mlp(), &Module::new());
    assert_eq!(refused.to_string(), "function @main is in the input only");
}

#[test]
fn bookkeeping_does_not_count_and_other_attributes_do() {
    let input = programs::mlp();
    let mut output = input.clone();
    let op = first(&output, OpKind::Tanh);
    output.set_attribute(op, "ckpt.recomputed", Attr::Unit);
    assert!(check(&input, &output, &Claims::default()).is_ok());
    output.set_attribute(op, "mhlo.sharding", Attr::Unit);
    let refused = refusal(&input, &output);
    assert!(refused.to_string().contains("`mhlo.sharding` is unit where the input has absent"), "{refused}");
}

#[test]
fn malformed_modules_are_refused_on_either_side() {
    let good = programs::mlp();
    let mut bad = good.clone();
    let mut ops = body(&bad);
    ops.swap(0, 1);
    let block = bad.op(ops[0]).parent.unwrap();
    bad.set_block_ops(block, ops);
    for refused in [refusal(&good, &bad), refusal(&bad, &good)] {
        let undefined =
            matches!(refused, Refusal::Malformed { what: Malformation::Undefined { operand: 0, .. }, .. });
        assert!(undefined, "{refused}");
    }
    let mut after = good.clone();
    let mut ops = body(&after);
    let end = ops.len() - 1;
    ops.swap(end, end - 1);
    after.set_block_ops(block, ops);
    let refused = refusal(&good, &after);
    assert!(matches!(refused, Refusal::Malformed { what: Malformation::AfterTerminator, .. }));
}

/// A value from inside a loop is not visible after it.
#[test]
fn values_do_not_leave_their_region() {
    let good = programs::control();
    let mut bad = good.clone();
    let inner = first(&bad, OpKind::Power);
    let value = bad.op(inner).results[0];
    let sort = first(&bad, OpKind::Sort);
    bad.op_mut(sort).operands[0] = value;
    let refused = refusal(&good, &bad);
    assert!(matches!(
        refused,
        Refusal::Malformed { what: Malformation::Undefined { operand: 0, value: v }, .. } if v == value
    ));
}

#[test]
fn arguments_of_regions_do_not_leave_them() {
    let good = programs::control();
    let mut bad = good.clone();
    let inner = first(&bad, OpKind::Power);
    let argument = bad.op(inner).operands[1];
    let sort = first(&bad, OpKind::Sort);
    bad.op_mut(sort).operands[0] = argument;
    let refused = refusal(&good, &bad);
    assert!(matches!(
        refused,
        Refusal::Malformed { what: Malformation::Undefined { value, .. }, .. } if value == argument
    ));
}

#[test]
fn barriers_change_no_type_and_drop_nothing() {
    let good = programs::effects();
    let barrier = first(&good, OpKind::OptimizationBarrier);
    let mut short = good.clone();
    short.op_mut(barrier).operands.pop();
    let mut retyped = good.clone();
    let other = retyped.types.tensor(&[16], ckpt_ir::ElementType::F32);
    let result = retyped.op(barrier).results[0];
    retyped.set_value_type(result, other);
    for bad in [short, retyped] {
        let refused = refusal(&good, &bad);
        assert!(
            matches!(&refused, Refusal::Malformed { what: Malformation::Barrier, place, .. }
                if place.op == barrier),
            "{refused}"
        );
    }
}

/// What an unknown operation makes of its regions is not known either: they
/// must be the input's, operation by operation.
#[test]
fn regions_of_unknown_operations_are_left_alone() {
    let program = |dead: bool| {
        let mut b = Build::new();
        let x = b.f32(&[4]);
        b.function("main", &[x], &[x]);
        let (p, main) = (b.argument(0), b.block);
        let op = b.unknown("vendor.lazy", &[p], &[x]);
        b.enter(op, &[x]);
        let q = b.argument(0);
        b.same(OpKind::Tanh, &[q]);
        if dead {
            b.same(OpKind::Tanh, &[q]);
        }
        b.yield_(&[q]);
        b.block = main;
        let results = b.results(op);
        b.ret(&results);
        b.module
    };
    assert!(check(&program(true), &program(true), &Claims::default()).is_ok());
    let refused = refusal(&program(false), &program(true));
    assert!(
        matches!(&refused, Refusal::Effect { difference, .. }
        if **difference == Difference::Region { index: 0 }),
        "{refused}"
    );
}

/// Attributes of the module and what stands beside its functions.
#[test]
fn the_rest_of_the_module_must_agree() {
    let program = |mesh: bool, replicas: i128| {
        let mut b = Build::new();
        if mesh {
            b.unknown("sdy.mesh", &[], &[]);
        }
        let (x, replicas) = (b.f32(&[4]), b.int(replicas));
        b.function("main", &[x], &[x]);
        let p = b.argument(0);
        b.ret(&[p]);
        let (top, attr) = (b.module.top(), b.module.attrs.get(replicas).clone());
        b.module.set_attribute(top, "mhlo.num_replicas", attr);
        b.module
    };
    assert!(check(&program(true, 1), &program(true, 1), &Claims::default()).is_ok());
    let refused = refusal(&program(true, 1), &program(false, 1));
    assert!(matches!(refused, Refusal::MissingEffect { .. }), "{refused}");
    let refused = refusal(&program(true, 1), &program(true, 2));
    let text = refused.to_string();
    assert!(text.contains("`mhlo.num_replicas` is 2 where the input has 1"), "{text}");
}
