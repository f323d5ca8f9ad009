//! Modules with random damage: a verdict, never a panic, and never an
//! acceptance where what is computed has changed.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use ckpt_check::mutate::clone_op;
use ckpt_check::{Claims, check, check_peak_per_op};
use ckpt_ir::{EntityId, Module, OpId, OpKind, ValueId};
use common::programs;
use common::remat::Random;

/// Damaged copies per program.
const COPIES: u64 = 2_000;

/// Up to four random changes, most of them without sense.
fn damage(module: &Module, random: &mut Random) -> Module {
    let mut out = module.clone();
    for _ in 0..1 + random.below(4) {
        let ops: Vec<OpId> = out.walk(out.top());
        let op = ops[random.below(ops.len())];
        let Some(block) = out.op(op).parent else { continue };
        let mut list = out.block(block).ops.clone();
        match random.below(8) {
            0 | 1 => {
                let value = ValueId::from_index(random.below(out.value_count()));
                let operand = random.below(out.op(op).operands.len());
                if let Some(slot) = out.op_mut(op).operands.get_mut(operand) {
                    *slot = value;
                }
            }
            2 => {
                let to = random.below(list.len());
                let from = random.below(list.len());
                list.swap(from, to);
                out.set_block_ops(block, list);
            }
            3 => {
                list.remove(random.below(list.len()));
                out.set_block_ops(block, list);
            }
            4 => {
                let copy = clone_op(&mut out, op);
                list.insert(random.below(list.len() + 1), copy);
                out.set_block_ops(block, list);
            }
            5 => {
                out.op_mut(op).operands.pop();
            }
            6 => {
                let ty = out.value_type(ValueId::from_index(random.below(out.value_count())));
                out.set_value_type(ValueId::from_index(random.below(out.value_count())), ty);
            }
            _ => {
                out.op_mut(op).regions.clear();
            }
        }
    }
    out
}

#[test]
fn damage_gets_a_verdict() {
    let (mut accepted, mut refused) = (0, 0);
    for (name, module) in programs::all() {
        let main = module.function("main").unwrap();
        for seed in 0..COPIES {
            let damaged = damage(&module, &mut Random(seed));
            let _ = check_peak_per_op(&damaged, main);
            let _ = check(&damaged, &module, &Claims::default());
            match check(&module, &damaged, &Claims::default()) {
                Ok(_) => {
                    accepted += 1;
                    assert!(effects(&module) == effects(&damaged), "{name}, seed {seed}");
                }
                Err(refusal) => {
                    assert!(!refusal.to_string().is_empty());
                    refused += 1;
                }
            }
        }
    }
    println!("{accepted} harmless, {refused} refused");
    assert!(refused > accepted);
}

/// Operations with effects of their own, in order.
fn effects(module: &Module) -> Vec<OpKind> {
    let alone = |op: &OpId| module.op(*op).regions.is_empty() && module.op(*op).kind != OpKind::Func;
    let ops = module.walk(module.top()).into_iter().filter(alone);
    ops.filter(|op| module.effect(*op) != ckpt_ir::Effect::Pure).map(|op| module.op(op).kind).collect()
}
