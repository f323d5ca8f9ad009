//! `--json`: the report as `ckpt-report/1`.

use crate::failure::Failure;
use crate::input_output;
use ckpt_passes::report::Report;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct JsonReport<'a> {
    format: &'static str,
    memory_model: &'a str,
    device: &'a str,
    budget_bytes: Option<u64>,
    argument_bytes: u64,
    baseline_peak_bytes: u64,
    peak_bytes: u64,
    ops_baseline_peak_bytes: u64,
    ops_peak_bytes: u64,
    overhead_percent: f64,
    lower_bound_percent: f64,
    gap_percent: f64,
    optimal: bool,
    kept: usize,
    recomputed: usize,
    plan_hash: String,
    seconds: &'a BTreeMap<&'static str, f64>,
}

/// Writes the report to a file.
pub(crate) fn write(
    path: &str,
    report: &Report,
    seconds: &BTreeMap<&'static str, f64>,
) -> Result<(), Failure> {
    write_json(path, &json(report, seconds))
}

/// Writes JSON to a file, with a line end.
pub(crate) fn write_json(path: &str, json: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(json).map_err(|e| Failure::Internal(e.to_string()))?;
    text.push('\n');
    input_output::write(path, text.as_bytes())
}

/// The report as a JSON object, to which a run adds what it measured.
pub(crate) fn object(
    report: &Report,
    seconds: &BTreeMap<&'static str, f64>,
) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(json(report, seconds)).map_err(|e| Failure::Internal(e.to_string()))
}

fn json<'a>(report: &'a Report, seconds: &'a BTreeMap<&'static str, f64>) -> JsonReport<'a> {
    JsonReport {
        format: "ckpt-report/1",
        memory_model: report.memory_model,
        device: &report.device,
        budget_bytes: report.budget.map(|b| b.0),
        argument_bytes: report.argument_bytes.0,
        baseline_peak_bytes: report.baseline_peak.0,
        peak_bytes: report.peak.0,
        ops_baseline_peak_bytes: report.unfused.baseline.0,
        ops_peak_bytes: report.unfused.planned.0,
        overhead_percent: report.overhead_percent(),
        lower_bound_percent: report.lower_bound_percent(),
        gap_percent: report.overhead_percent() - report.lower_bound_percent(),
        optimal: report.optimal,
        kept: report.kept(),
        recomputed: report.recomputed(),
        plan_hash: format!("{:016x}", report.plan_hash),
        seconds,
    }
}
