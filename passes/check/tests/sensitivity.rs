//! How sensitive the checker is: random legal rewrites are accepted, semantic
#![allow(clippy::unwrap_used, clippy::print_stdout)]
//! mutants of them are refused, survivors are listed.

mod common;

use ckpt_check::mutate::{Meanings, mutations};
use ckpt_check::{Claims, check, check_peak_per_op};
use ckpt_ir::{Module, ValueId};
use common::programs;
use common::remat::{Random, rewrite};
use std::collections::BTreeMap;

/// Random rewrites per program.
const REWRITES: u64 = 250;
/// Rewritten outputs per program that are mutated.
const MUTATED_OUTPUTS: u64 = 3;

fn is_accepted(input: &Module, output: &Module) -> Result<(), String> {
    check(input, output, &Claims::default()).map(|_| ()).map_err(|refusal| refusal.to_string())
}

#[test]
fn random_legal_rewrites_are_accepted() {
    let mut accepted = 0;
    for (name, module) in programs::all() {
        assert_eq!(is_accepted(&module, &module), Ok(()), "{name}");
        for seed in 0..REWRITES {
            let output = rewrite(&module, &mut Random(seed), 1 + seed as usize % 24);
            assert_eq!(is_accepted(&module, &output), Ok(()), "{name}, seed {seed}");
            accepted += 1;
        }
    }
    println!("{accepted} random rewrites accepted");
}

/// A recomputation undone (its reader reads the original again) computes the
/// same; what it costs is memory, and the claim of the peak finds it.
#[test]
fn undone_recomputations_break_the_claimed_peak() {
    let (mut undone, mut refused) = (0, 0);
    for (name, module) in programs::all() {
        for seed in 0..REWRITES / 5 {
            let output = rewrite(&module, &mut Random(seed), 12);
            let main = output.function("main").unwrap();
            let claims =
                Claims { peak_bytes: Some(check_peak_per_op(&output, main).unwrap()), ..Claims::default() };
            assert!(check(&module, &output, &claims).is_ok(), "{name}, seed {seed}");
            for mutant in undo_recomputations(&output) {
                let peak = check_peak_per_op(&mutant, main).unwrap();
                let verdict = check(&module, &mutant, &claims);
                let claim_holds = Some(peak) == claims.peak_bytes;
                assert_eq!(verdict.is_ok(), claim_holds, "{name}, seed {seed}: {verdict:?}");
                undone += 1;
                refused += usize::from(!claim_holds);
            }
        }
    }
    println!("{undone} recomputations undone, {refused} of them change the peak and are refused");
    assert!(refused > 200, "{refused} of {undone}");
}

/// The module with one operand reading the first value that means the same.
fn undo_recomputations(module: &Module) -> Vec<Module> {
    let meanings = Meanings::of(module);
    let mut found = Vec::new();
    for op in module.walk(module.top()) {
        for (operand, &value) in module.op(op).operands.iter().enumerate() {
            let Some(block) = module.op(op).parent else { continue };
            let same = |v: &ValueId| {
                *v != value
                    && meanings.value(*v) == meanings.value(value)
                    && module.value_type(*v) == module.value_type(value)
            };
            let before = module.block(block).ops.iter().take_while(|other| **other != op);
            let mut values = before.flat_map(|other| &module.op(*other).results);
            if let Some(&first) = values.find(|v| same(v)) {
                let mut mutant = module.clone();
                mutant.op_mut(op).operands[operand] = first;
                found.push(mutant);
            }
        }
    }
    found
}

#[test]
fn semantic_mutants_are_refused() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut survivors = Vec::new();
    for (name, module) in programs::all() {
        for seed in 0..MUTATED_OUTPUTS {
            let steps = 8 * seed as usize;
            let mut output = rewrite(&module, &mut Random(seed), steps);
            for mutation in mutations(&mut output) {
                *counts.entry(mutation.kind()).or_default() += 1;
                if is_accepted(&module, &mutation.apply(&output)).is_ok() {
                    survivors.push(format!("{name}, seed {seed}: {mutation}"));
                }
            }
        }
    }
    let total: usize = counts.values().sum();
    println!("{total} mutants, {} survivors", survivors.len());
    counts.iter().for_each(|(kind, count)| println!("{count:6} {kind}"));
    assert!(survivors.is_empty(), "survivors:\n{}", survivors.join("\n"));
    assert!(total >= 200, "only {total} mutants");
}
