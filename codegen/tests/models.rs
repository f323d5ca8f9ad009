//! Every kernel of the shared models: which have a fast path, and that each
//! gives what the evaluator gives on the same inputs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;

use ckpt_codegen::kernels::{KernelSource, NoPath};
use ckpt_interp::{Value, evaluate};
use ckpt_ir::ValueId;
use ckpt_passes::Policy;
use common::models::compiled;
use common::{Loaded, Random, numbers, random, shape_of};
use std::collections::HashMap;

/// Whether the runtime has a step of its own for what has no path.
fn expected(reason: NoPath) -> bool {
    use ckpt_ir::Category;
    let NoPath::Operation(kind) = reason else { return false };
    matches!(kind.category(), Category::Dot | Category::Convolution | Category::Control)
}

fn covers(names: &[&str], policies: &[&str]) {
    for name in names {
        for policy in policies {
            let Some((_, _, object)) = compiled(name, policy.parse().unwrap()) else { continue };
            let unexpected: Vec<_> = object.no_path.iter().filter(|(_, reason)| !expected(*reason)).collect();
            assert!(unexpected.is_empty(), "{name}: {unexpected:?}");
        }
    }
}

#[test]
fn benchmarks_are_covered() {
    covers(&["bench_gpt.mlir"], &["none", "activations:50%"]);
    covers(&["bench_lstm.mlir", "bench_cnn.mlir"], &["none"]);
}

/// Runs a model in the evaluator, and each kernel on what the evaluator has for
/// its inputs.
fn agrees(name: &str) {
    let Some((mut module, kernels, object)) = compiled(name, Policy::None) else { return };
    assert!(object.no_path.iter().all(|(_, reason)| expected(*reason)), "{name}: {:?}", object.no_path);
    let function = module.functions().next().unwrap();
    let block = module.function_body(function).unwrap();
    let at_top = |kernel: &&KernelSource| module.op(*kernel.ops.last().unwrap()).parent == Some(block);
    let mut watched: Vec<ValueId> =
        kernels.iter().filter(at_top).flat_map(|k| k.inputs.iter().chain(&k.outputs)).copied().collect();
    watched.sort();
    watched.dedup();
    let mut numbers = Random(1);
    let arguments: Vec<Value> = module
        .block(block)
        .arguments
        .iter()
        .map(|v| {
            let element = module.tensor_type(*v).unwrap().element;
            Value::Tensor(random(element, &shape_of(&module, *v), &mut numbers))
        })
        .collect();
    let terminator = module.terminator(block).unwrap();
    module.op_mut(terminator).operands = watched.iter().copied().collect();
    let values = evaluate(&module, function, arguments).unwrap();
    let values: HashMap<ValueId, &Value> = watched.iter().copied().zip(&values).collect();
    let tensor = |v: &ValueId| match values.get(v).copied() {
        Some(Value::Tensor(tensor)) => Some(tensor),
        _ => None,
    };
    let loaded = Loaded::new(&object);
    for (kernel, info) in kernels.iter().zip(&object.kernels) {
        let Some(info) = info else { continue };
        let Some(inputs) = kernel.inputs.iter().map(tensor).collect::<Option<Vec<_>>>() else { continue };
        let mut memory: Vec<Vec<u8>> = inputs.iter().map(|t| t.to_bytes()).collect();
        let Some(outputs) = kernel.outputs.iter().map(tensor).collect::<Option<Vec<_>>>() else { continue };
        memory.extend(outputs.iter().map(|t| vec![0xa5; t.to_bytes().len()]));
        let buffers: Vec<*mut std::ffi::c_void> = memory.iter_mut().map(|m| m.as_mut_ptr().cast()).collect();
        loaded.call(info, &buffers, 2);
        for (bytes, expected) in memory[inputs.len()..].iter().zip(outputs) {
            let got = ckpt_interp::Tensor::from_bytes(expected.element, &expected.shape, bytes).unwrap();
            near(&got, expected, &format!("{name} {} {info:?}", kernel.name));
        }
    }
}

/// Equal up to the rounding of long sums.
fn near(got: &ckpt_interp::Tensor, expected: &ckpt_interp::Tensor, what: &str) {
    let (got, expected) = (numbers(got), numbers(expected));
    let scale = expected.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(1e-30, f64::max);
    for (at, (g, e)) in got.iter().zip(&expected).enumerate() {
        let same = g.is_nan() && e.is_nan() || g == e;
        assert!(same || (g - e).abs() <= 1e-4 * scale, "{what}: element {at} is {g:e}, not {e:e}");
    }
}

#[test]
fn every_kernel_of_small_models_agrees() {
    for name in ["mlp_tiny.mlir", "gpt_nano.mlir", "cnn_nano.mlir", "lstm_nano.mlir"] {
        agrees(name);
    }
}
