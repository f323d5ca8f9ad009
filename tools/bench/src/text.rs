//! `text [OPERATIONS [LITERAL_MB]]`: seconds and peak memory to read, verify and
//! print a generated module of so many operations (default 1 000 000), and one
//! whose only literal has so many megabytes of hexadecimal digits (default 100).
//!
//! Each figure is the median of [`REPEATS`] runs; the peak is the process's, so
//! the module of operations, which is the larger one in memory, goes second.

use anyhow::{Result, anyhow};
use ckpt_ir::text::{PrintOptions, parse, print};
use ckpt_ir::{SourceText, verify};
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

/// Runs of each.
const REPEATS: usize = 5;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (operations, megabytes) = (number(1_000_000)?, number(100)?);
    let mut out = std::io::stdout().lock();
    writeln!(out, "module\tMB of text\tread s\tverify s\tprint s\tpeak MiB of the process")?;
    let literal = literal_module(megabytes * 1_000_000);
    writeln!(out, "literal of {megabytes} MB\t{}", measured(&literal)?)?;
    drop(literal);
    writeln!(out, "{operations} operations\t{}", measured(&operations_module(operations))?)?;
    Ok(())
}

/// A constant of `digits` hexadecimal digits; no two neighbouring elements are equal.
fn literal_module(digits: usize) -> String {
    let elements = digits / 8;
    let mut text = String::with_capacity(digits + 200);
    text.push_str("func.func @main() -> tensor<");
    let _ = write!(text, "{elements}xf32> {{\n  %0 = stablehlo.constant dense<\"0x");
    for index in 0..elements {
        let _ = write!(text, "{:08X}", (index as u32).wrapping_mul(0x9e37_79b9) & 0xff7f_ffff);
    }
    let _ = write!(text, "\"> : tensor<{elements}xf32>\n  return %0 : tensor<{elements}xf32>\n}}\n");
    text
}

/// A chain of elementwise operations, reductions and broadcasts.
fn operations_module(operations: usize) -> String {
    let mut text = String::from("func.func @main(%arg0: tensor<64x128xf32>, %arg1: tensor<64xf32>) {\n");
    let mut last = "%arg0".to_owned();
    for index in 0..operations {
        let line = match index % 4 {
            0 => format!("stablehlo.add {last}, %arg0 : tensor<64x128xf32>"),
            1 => format!("stablehlo.tanh {last} : tensor<64x128xf32>"),
            2 => {
                let _ = writeln!(
                    text,
                    "  %{index} = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>"
                );
                continue;
            }
            _ => format!("stablehlo.multiply {last}, %{} : tensor<64x128xf32>", index - 1),
        };
        let _ = writeln!(text, "  %{index} = {line}");
        last = format!("%{index}");
    }
    text.push_str("  return\n}\n");
    text
}

/// One row: sizes, medians and the peak.
fn measured(text: &str) -> Result<String> {
    let source = SourceText::new("generated", text);
    let mut seconds = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..REPEATS {
        let start = Instant::now();
        let module = parse(&source).map_err(|errors| {
            anyhow!(errors.first().map(|error| source.render(error)).unwrap_or_default())
        })?;
        seconds[0].push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let violations = verify(&module);
        seconds[1].push(start.elapsed().as_secs_f64());
        if let Some(error) = violations.first() {
            return Err(anyhow!(source.render(error)));
        }
        let start = Instant::now();
        let printed = print(&module, &PrintOptions::default());
        seconds[2].push(start.elapsed().as_secs_f64());
        drop(printed);
    }
    let [read, verified, printed] = seconds.map(median);
    let megabytes = text.len() as f64 / 1e6;
    let peak = peak_mebibytes().map_or_else(|| "unknown".to_owned(), |peak| peak.to_string());
    Ok(format!("{megabytes:.0}\t{read:.3}\t{verified:.3}\t{printed:.3}\t{peak}"))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The most that the process has held, where the system says it.
fn peak_mebibytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib >> 10)
}
