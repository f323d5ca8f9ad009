//! `--pareto`: the frontier of peak against overhead, as JSON, CSV or SVG.

use crate::failure::Failure;
use crate::input_output;
use ckpt_planner::{Bytes, Micros, ParetoPoint};
use plotters::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;

/// Where the frontier goes.
#[derive(clap::Args)]
pub(crate) struct ParetoArgs {
    /// Where the frontier of peak against overhead goes: F.json, F.csv or F.svg.
    #[arg(long, value_name = "FILE", value_parser = parse_path)]
    pub(crate) pareto: Option<String>,
    /// Budgets on the frontier, from the smallest peak to the peak without rematerialisation.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(2..=1000))]
    pub(crate) pareto_points: u16,
}

fn parse_path(text: &str) -> Result<String, String> {
    let known = ["json", "csv", "svg"].iter().any(|ending| text.ends_with(&format!(".{ending}")));
    if known { Ok(text.to_owned()) } else { Err("write a file that ends in .json, .csv or .svg".to_owned()) }
}

/// A point as written; bytes with residents.
#[derive(Serialize)]
struct Row {
    budget_bytes: u64,
    peak_bytes: u64,
    time_us: f64,
    overhead_percent: f64,
    lower_bound_percent: f64,
}

#[derive(Serialize)]
struct File<'a> {
    format: &'static str,
    points: &'a [Row],
}

/// Writes a frontier. `resident` is added to all bytes; `base` is the time
/// without rematerialisation.
pub(crate) fn write(
    path: &str,
    points: &[ParetoPoint],
    resident: Bytes,
    base: Micros,
) -> Result<(), Failure> {
    let percent = |time: Micros| 100.0 * (time.0 / base.0.max(f64::MIN_POSITIVE) - 1.0);
    let row = |point: &ParetoPoint| Row {
        budget_bytes: point.budget.0.saturating_add(resident.0),
        peak_bytes: point.peak.0.saturating_add(resident.0),
        time_us: point.time.0,
        overhead_percent: percent(point.time),
        lower_bound_percent: percent(point.lower_bound),
    };
    let rows: Vec<Row> = points.iter().map(row).collect();
    let internal = |why: String| Failure::Internal(format!("the frontier cannot be written: {why}"));
    let text = if path.ends_with(".csv") {
        csv(&rows)
    } else if path.ends_with(".svg") {
        svg(&rows).map_err(internal)?
    } else {
        let file = File { format: "ckpt-pareto/1", points: &rows };
        serde_json::to_string_pretty(&file).map_err(|e| internal(e.to_string()))? + "\n"
    };
    input_output::write(path, text.as_bytes())
}

fn csv(rows: &[Row]) -> String {
    let mut text = "budget_bytes,peak_bytes,time_us,overhead_percent,lower_bound_percent\n".to_owned();
    for Row { budget_bytes, peak_bytes, time_us, overhead_percent, lower_bound_percent } in rows {
        let _ = writeln!(
            text,
            "{budget_bytes},{peak_bytes},{time_us},{overhead_percent:.6},{lower_bound_percent:.6}"
        );
    }
    text
}

/// A curve of overheads over budgets, with the proven bound below it.
fn svg(rows: &[Row]) -> Result<String, String> {
    let mut text = String::new();
    let gib = |row: &Row| row.budget_bytes as f64 / f64::from(1 << 30);
    let (left, right) = (rows.first().map_or(0.0, gib), rows.last().map_or(1.0, gib));
    let all = rows.iter().flat_map(|row| [row.overhead_percent, row.lower_bound_percent]);
    let (low, high) = all.fold((0.0f64, 1.0f64), |(low, high), value| (low.min(value), high.max(value)));
    {
        let root = SVGBackend::with_string(&mut text, (800, 500)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(20)
            .x_label_area_size(45)
            .y_label_area_size(60)
            .build_cartesian_2d(left..right.max(left + f64::EPSILON), low..high * 1.05)
            .map_err(|e| e.to_string())?;
        let mesh = &mut chart.configure_mesh();
        mesh.x_desc("budget, GiB").y_desc("overhead, %").draw().map_err(|e| e.to_string())?;
        let plan = rows.iter().map(|row| (gib(row), row.overhead_percent));
        chart.draw_series(LineSeries::new(plan, &BLUE)).map_err(|e| e.to_string())?.label("plan");
        let bound = rows.iter().map(|row| (gib(row), row.lower_bound_percent));
        let bound = chart.draw_series(LineSeries::new(bound, &RED)).map_err(|e| e.to_string())?;
        bound.label("proven lower bound");
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}
