//! What the pipeline makes of a small training step: the program, the report,
//! and the refusal of a budget that cannot be met. `INSTA_UPDATE=always cargo
//! test -p ckpt-passes` writes the snapshots anew; read the diff.

#![allow(clippy::unwrap_used)] // A program that is refused fails the test.

use ckpt_ir::SourceText;
use ckpt_ir::text::{PrintOptions, parse, print};
use ckpt_passes::pipeline::{Options, Outcome, optimize};
use ckpt_passes::report::text;

/// A chain of two layers with its backward pass.
const STEP: &str = r"
func.func public @main(%x: tensor<512x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x8xf32>, tensor<8x8xf32>) -> tensor<512x8xf32>
  %a = stablehlo.tanh %y : tensor<512x8xf32>
  %z = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<512x8xf32>, tensor<8x8xf32>) -> tensor<512x8xf32>
  %b = stablehlo.tanh %z : tensor<512x8xf32>
  %g = stablehlo.multiply %b, %b : tensor<512x8xf32>
  %dv = stablehlo.dot_general %a, %g, contracting_dims = [0] x [0] : (tensor<512x8xf32>, tensor<512x8xf32>) -> tensor<8x8xf32>
  %h = stablehlo.dot_general %g, %v, contracting_dims = [1] x [1] : (tensor<512x8xf32>, tensor<8x8xf32>) -> tensor<512x8xf32>
  %s = stablehlo.multiply %h, %a : tensor<512x8xf32>
  %dw = stablehlo.dot_general %x, %s, contracting_dims = [0] x [0] : (tensor<512x8xf32>, tensor<512x8xf32>) -> tensor<8x8xf32>
  return %dv, %dw : tensor<8x8xf32>, tensor<8x8xf32>
}
";

fn outcome(policy: &str) -> Outcome {
    let module = parse(&SourceText::new("step.mlir", STEP)).unwrap();
    optimize(module, &Options { policy: policy.parse().unwrap(), ..Options::default() }).unwrap()
}

#[test]
fn program_and_report_when_everything_is_recomputed() {
    let Outcome::Met(optimized) = outcome("full") else { panic!("no policy is easier to keep") };
    insta::assert_snapshot!("program", print(&optimized.module, &PrintOptions::default()));
    insta::assert_snapshot!("report", text::explain(&optimized.report, &|_| String::new()));
}

#[test]
fn refusal_of_a_budget() {
    let Outcome::Unmet(unmet) = outcome("activations:1KiB") else { panic!("1 KiB is not enough") };
    insta::assert_snapshot!("refusal", text::unmet(&unmet, &|_| String::new()));
}
