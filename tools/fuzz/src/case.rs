//! What is done with one input, and what must hold of it.

use crate::random::Random;
use anyhow::{Context as _, bail, ensure};
use ckpt_interp::{Limits, Tensor, Value, evaluate_within};
use ckpt_ir::text::{PrintOptions, parse, print, text_of};
use ckpt_ir::{Diagnostic, Module, OpId, SourceText, Type, verify};
use ckpt_passes::pipeline::{Optimized, Options, Outcome, optimize};
use ckpt_passes::{Effort, PassError, Policy};

/// Programs with more values are not optimised.
const MAX_OPTIMIZED_VALUES: usize = 300;

/// What an evaluation may do: a tenth of a second.
const LIMITS: Limits = Limits { tensor_bytes: 4 << 20, work: 1 << 20 };

/// How far an input came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// It was refused with a place.
    Refused,
    /// It is a valid program; reading and printing it agree.
    Valid,
    /// It was also optimised.
    Optimized,
    /// It also ran, before and after.
    Evaluated,
}

/// Takes an input through everything.
///
/// # Errors
/// What does not hold of it: a defect.
pub(crate) fn run(input: &[u8], random: &mut Random) -> anyhow::Result<Reached> {
    let text = match text_of(input) {
        Ok(text) => text,
        Err(diagnostic) => {
            let valid = String::from_utf8_lossy(&input[..diagnostic.offset.min(input.len())]);
            return refused(&SourceText::new("input", &valid), &[diagnostic]);
        }
    };
    let source = SourceText::new("input", text);
    let module = match parse(&source) {
        Ok(module) => module,
        Err(errors) => return refused(&source, &errors),
    };
    let violations = verify(&module);
    if !violations.is_empty() {
        return refused(&source, &violations);
    }
    for options in print_options() {
        fixpoint(&module, &options).with_context(|| format!("printed with {options:?}"))?;
    }
    if module.value_count() > MAX_OPTIMIZED_VALUES {
        return Ok(Reached::Valid);
    }
    let policy = [Policy::None, Policy::Min, Policy::Full][random.below(3)];
    let Some(optimized) = optimised(&module, policy).with_context(|| format!("optimised with {policy:?}"))?
    else {
        return Ok(Reached::Valid);
    };
    same_results(&module, &optimized)
}

/// The ways of printing.
fn print_options() -> [PrintOptions; 3] {
    let pretty = PrintOptions::default();
    [
        PrintOptions { generic: true, ..pretty.clone() },
        PrintOptions { debug_info: true, ..pretty.clone() },
        pretty,
    ]
}

/// A refusal must name a place in the text and show it.
fn refused(source: &SourceText<'_>, errors: &[Diagnostic]) -> anyhow::Result<Reached> {
    ensure!(!errors.is_empty(), "refused without a reason");
    for error in errors {
        ensure!(source.render(error).starts_with("input:"), "a refusal without a place");
        ensure!(!error.message.is_empty(), "a refusal without a sentence");
    }
    Ok(Reached::Refused)
}

/// What is printed must be valid and print as itself.
fn fixpoint(module: &Module, options: &PrintOptions) -> anyhow::Result<()> {
    let first = print(module, options);
    let again = read(&first)?;
    let second = print(&again, options);
    if first != second {
        let differs = first.lines().zip(second.lines()).find(|(a, b)| a != b);
        bail!("the second print differs: {differs:?}");
    }
    Ok(())
}

fn read(text: &str) -> anyhow::Result<Module> {
    let source = SourceText::new("printed", text);
    let located = |errors: Vec<Diagnostic>| {
        let rendered = errors.first().map(|error| source.render(error)).unwrap_or_default();
        anyhow::anyhow!("what was printed is refused: {rendered}")
    };
    let module = parse(&source).map_err(located)?;
    let violations = verify(&module);
    if violations.is_empty() { Ok(module) } else { Err(located(violations)) }
}

/// The program after optimisation; none if it is refused with a reason.
fn optimised(module: &Module, policy: Policy) -> anyhow::Result<Option<Optimized>> {
    let effort = Effort::new(1).unwrap_or_default();
    let outcome = match optimize(module.clone(), &Options { policy, effort, ..Options::default() }) {
        Ok(outcome) => outcome,
        Err(error @ (PassError::Problem(_) | PassError::Replay(_) | PassError::Refused(_))) => {
            return Err(error.into());
        }
        Err(_) => return Ok(None),
    };
    let Outcome::Met(optimized) = outcome else { return Ok(None) };
    fixpoint(&optimized.module, &PrintOptions::default())?;
    Ok(Some(*optimized))
}

/// Runs the entry before and after; where both end, they must agree bit for bit.
fn same_results(module: &Module, optimized: &Optimized) -> anyhow::Result<Reached> {
    let entry = ckpt_passes::pipeline::entry_function;
    let (Ok(before), Ok(after)) = (entry(module), entry(&optimized.module)) else {
        return Ok(Reached::Optimized);
    };
    let Some(arguments) = arguments(module, before) else { return Ok(Reached::Optimized) };
    let before = evaluate_within(module, before, arguments.clone(), LIMITS);
    let after = evaluate_within(&optimized.module, after, arguments, LIMITS);
    let (Ok(before), Ok(after)) = (before, after) else { return Ok(Reached::Optimized) };
    ensure!(before.len() == after.len(), "another number of results after optimisation");
    for (index, (before, after)) in before.iter().zip(&after).enumerate() {
        ensure!(same(before, after), "result {index} differs after optimisation: {before:?} and {after:?}");
    }
    Ok(Reached::Evaluated)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => a.shape == b.shape && a.to_bytes() == b.to_bytes(),
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| same(a, b))
        }
        (Value::Token, Value::Token) => true,
        _ => false,
    }
}

/// Small numbers for each argument; none if one cannot be drawn or is large.
fn arguments(module: &Module, function: OpId) -> Option<Vec<Value>> {
    let body = module.function_body(function)?;
    let mut left = LIMITS.tensor_bytes;
    let mut values = Vec::new();
    for &parameter in &module.block(body).arguments {
        if *module.types.get(module.value_type(parameter)) == Type::Token {
            values.push(Value::Token);
            continue;
        }
        let ty = module.tensor_type(parameter)?;
        left = left.checked_sub(ty.bytes()?.0)?;
        let shape: Vec<usize> = ty.static_shape()?.iter().map(|size| *size as usize).collect();
        let width = if ty.element.is_complex() { 2 } else { 1 };
        let count = shape.iter().product::<usize>() * width;
        let numbers: Vec<f64> = (0..count).map(|index| (index % 5) as f64 - 1.5).collect();
        values.push(Tensor::from_f64s(ty.element, &shape, &numbers)?.into());
    }
    Some(values)
}
