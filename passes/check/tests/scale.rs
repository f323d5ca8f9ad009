//! Large, deep and wide modules: linear time, no recursion.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use ckpt_check::{Claims, check, check_peak_per_op};
use ckpt_ir::{Attr, ElementType, Module, OpKind};
use common::build::Build;
use std::time::{Duration, Instant};

/// Generous, since test machines are shared; an unoptimised run takes a tenth.
const LIMIT: Duration = Duration::from_secs(20);

fn accepts(name: &str, module: &Module) {
    let start = Instant::now();
    let report = check(module, module, &Claims::default()).unwrap();
    let checked = start.elapsed();
    let peak = check_peak_per_op(module, module.function("main").unwrap());
    println!("{name}: {} ops, check {checked:?}, peak {:?}", report.output_ops, start.elapsed() - checked);
    assert!(peak.is_ok(), "{name}: {peak:?}");
    assert!(start.elapsed() < LIMIT, "{name} took {:?}", start.elapsed());
}

#[test]
fn a_step_of_53_000_operations() {
    let mut b = Build::new();
    let x = b.f32(&[1024, 1024]);
    b.function("main", &[x, x], &[x]);
    let (mut value, weight) = (b.argument(0), b.argument(1));
    let scalar = b.f32(&[]);
    let zero = b.constant(scalar, &0f32.to_le_bytes(), true);
    let row = b.f32(&[1024]);
    for _ in 0..6_600 {
        let t = b.same(OpKind::Tanh, &[value]);
        let d = b.same(OpKind::Divide, &[t, weight]);
        let s = b.reduce(OpKind::Add, d, zero, 1, row);
        let dims = b.ints(&[0]);
        let s = b.op(OpKind::BroadcastInDim, &[s], x, &[("broadcast_dimensions", dims)]);
        let m = b.same(OpKind::Subtract, &[d, s]);
        value = b.same(OpKind::Add, &[m, value]);
    }
    b.ret(&[value]);
    accepts("chain", &b.module);
}

#[test]
fn regions_100_000_deep() {
    let mut b = Build::new();
    let (x, pred) = (b.f32(&[4]), b.tensor(&[], ElementType::Bool));
    b.function("main", &[x, pred], &[x]);
    let (input, pred) = (b.argument(0), b.argument(1));
    let mut blocks = vec![b.block];
    for _ in 0..100_000 {
        let op = b.add(OpKind::If, &[pred], &[x], &[]);
        b.enter(op, &[]);
        blocks.push(b.block);
    }
    b.yield_(&[input]);
    blocks.pop();
    while let Some(block) = blocks.pop() {
        b.block = block;
        let inner = b.module.block(block).ops[0];
        let result = b.module.op(inner).results[0];
        let end = if blocks.is_empty() { OpKind::FuncReturn } else { OpKind::Return };
        b.add(end, &[result], &[], &[]);
    }
    accepts("nest", &b.module);
}

#[test]
fn calls_10_000_deep() {
    let mut b = Build::new();
    let x = b.f32(&[4]);
    let names: Vec<String> = (0..10_000).map(|i| format!("f{i}")).collect();
    for (at, name) in names.iter().enumerate() {
        b.function(if at == 0 { "main" } else { name }, &[x], &[x]);
        let mut value = b.argument(0);
        if let Some(next) = names.get(at + 1) {
            let symbol = b.module.names.intern(next);
            let callee = b.attr(Attr::SymbolRef(vec![symbol]));
            value = b.op(OpKind::FuncCall, &[value], x, &[("callee", callee)]);
        }
        b.ret(&[value]);
    }
    accepts("calls", &b.module);
}
