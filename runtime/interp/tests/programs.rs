//! Programs that check themselves, run by the evaluator: small ones here, and
//! StableHLO's own test data where it lies beside the repository.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use ckpt_interp::{EvalError, Fault, Tensor, Value, evaluate};
use ckpt_ir::text::{SPLIT_MARKER, parse, split_pieces};
use ckpt_ir::{Module, OpId, SourceText};
use std::path::{Path, PathBuf};

fn module(text: &str) -> Module {
    parse(&SourceText::new("test", text)).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// Runs `@main`, or every function without arguments.
fn run(module: &Module) -> Result<Vec<Value>, EvalError> {
    let closed = |function: &OpId| {
        let body = module.function_body(*function);
        body.is_some_and(|body| module.block(body).arguments.is_empty())
    };
    let functions: Vec<OpId> = match module.function("main") {
        Some(main) => vec![main],
        None => module.functions().filter(closed).collect(),
    };
    let mut results = Vec::new();
    for function in functions {
        results = evaluate(module, function, Vec::new())?;
    }
    Ok(results)
}

fn numbers(text: &str) -> Vec<f64> {
    let results = run(&module(text)).unwrap();
    match &results[..] {
        [Value::Tensor(tensor)] => tensor
            .to_bytes()
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()).into())
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn loops_change_their_state_in_place() {
    let text = r#"
      func.func @main() -> tensor<4xf32> {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %four = stablehlo.constant dense<4> : tensor<i32>
        %init = stablehlo.constant dense<0.0> : tensor<4xf32>
        %0:2 = stablehlo.while(%i = %zero, %x = %init) : tensor<i32>, tensor<4xf32>
          cond {
            %1 = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %1 : tensor<i1>
          } do {
            %1 = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
            %2 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
            %3 = stablehlo.dynamic_update_slice %x, %2, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
            %4 = stablehlo.add %i, %one : tensor<i32>
            stablehlo.return %4, %3 : tensor<i32>, tensor<4xf32>
          }
        return %0#1 : tensor<4xf32>
      }"#;
    assert_eq!(numbers(text), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn sums_run_in_order_and_in_the_type() {
    // 1 + 2⁻²⁴ + 2⁻²⁴ is 1 from the left in f32, and more in any other order.
    let text = r#"
      func.func @main() -> tensor<f32> {
        %x = stablehlo.constant dense<[1.0, 5.96046448E-8, 5.96046448E-8]> : tensor<3xf32>
        %init = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
      }"#;
    assert_eq!(numbers(text), [1.0]);
}

#[test]
fn a_failed_check_names_the_first_difference() {
    let text = r#"
      func.func @main() {
        %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
        %b = stablehlo.constant dense<[[1, 2], [5, 4]]> : tensor<2x2xi32>
        stablehlo.custom_call @check.expect_eq(%a, %b) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
        return
      }"#;
    let error = run(&module(text)).unwrap_err();
    let expected = Fault::CheckFailed { index: vec![1, 0], got: "3".into(), expected: "5".into() };
    assert_eq!(error.fault, expected);
}

#[test]
fn processes_that_wait_for_nobody_are_a_deadlock() {
    let text = r#"
      func.func @recv(%token: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token) {
        %0:2 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
        return %0#0, %0#1 : tensor<2xi64>, !stablehlo.token
      }
      func.func @main() {
        %0 = stablehlo.after_all : !stablehlo.token
        %1:2 = "interpreter.run_parallel"(%0) {programs = [[@recv]]} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
        return
      }"#;
    let program = module(text);
    let error = run(&program).unwrap_err();
    assert_eq!(error.fault, Fault::Deadlock);
    assert_eq!(program.op_name(error.op), "stablehlo.recv");
}

#[test]
fn recursion_and_huge_tensors_are_limits() {
    let recursion = r#"
      func.func @main() {
        func.call @main() : () -> ()
        return
      }"#;
    assert!(matches!(run(&module(recursion)).unwrap_err().fault, Fault::LimitExceeded(_)));
    let huge = r#"
      func.func @main() -> tensor<1000000x1000000xf64> {
        %0 = stablehlo.constant dense<0.0> : tensor<1000000x1000000xf64>
        return %0 : tensor<1000000x1000000xf64>
      }"#;
    assert!(matches!(run(&module(huge)).unwrap_err().fault, Fault::LimitExceeded(_)));
}

#[test]
fn operands_that_do_not_fit_are_refused_without_a_panic() {
    for operation in [
        "stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
        "stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<7xf32>",
        "stablehlo.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
        "stablehlo.slice %a [0:5, 0:1] : (tensor<2x3xf32>) -> tensor<5x1xf32>",
        "stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>",
        "stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>",
        "stablehlo.compare LT, %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>",
        "stablehlo.pad %a, %b, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
    ] {
        let text = format!(
            "func.func @main() {{\n%a = stablehlo.constant dense<1.0> : tensor<2x3xf32>\n\
             %b = stablehlo.constant dense<2.0> : tensor<3xf32>\n%0 = {operation}\nreturn\n}}"
        );
        let error = run(&module(&text)).expect_err(operation);
        assert!(matches!(error.fault, Fault::InvalidArgument(_)), "{operation}: {error}");
    }
}

#[test]
fn tensors_survive_their_bytes() {
    let tensor = Tensor::from_f64s(ckpt_ir::ElementType::Bf16, &[3], &[1.0, -2.5, 1e10]).unwrap();
    let back = Tensor::from_bytes(tensor.element, &tensor.shape, &tensor.to_bytes()).unwrap();
    assert_eq!(back.to_bytes(), tensor.to_bytes());
    assert!(Tensor::from_bytes(tensor.element, &[4], &[0; 6]).is_none());
}

/// StableHLO's test data, if it lies beside the repository.
fn corpus(kind: &str) -> Option<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/stablehlo").join(kind);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: there is no {}", folder.display());
        return None;
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    Some(files)
}

fn run_corpus(kind: &str) {
    let mut failures = Vec::new();
    let mut pieces = 0;
    for file in &corpus(kind).unwrap_or_default() {
        let text = std::fs::read_to_string(file).unwrap();
        // StableHLO's own interpreter does not pass these either.
        if text.contains("RUN-DISABLED") {
            continue;
        }
        for (_, piece) in split_pieces(&text, SPLIT_MARKER) {
            pieces += 1;
            if let Err(error) = run(&module(piece)) {
                failures.push(format!("{}: {error}", file.display()));
            }
        }
    }
    println!("{pieces} programs of {kind}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_interpreter_tests_of_stablehlo_pass() {
    run_corpus("interpret");
}

#[test]
fn the_test_data_of_stablehlo_passes() {
    run_corpus("testdata");
}
