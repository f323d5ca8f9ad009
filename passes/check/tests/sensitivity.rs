//! How sensitive the checker is: random legal rewrites are accepted, semantic
#![allow(clippy::unwrap_used, clippy::print_stdout)]
//! mutants of them are refused, survivors are listed.

mod common;

use ckpt_check::mutate::mutations;
use ckpt_check::{Claims, check};
use ckpt_ir::Module;
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
