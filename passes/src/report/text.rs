//! The report as text for people.

use super::{Crossing, Fate, Held, HeldKind, PeakMoment, Report};
use crate::phase::Phase;
use crate::pipeline::Unmet;
use ckpt_ir::Bytes;
use std::fmt::Write as _;

/// Buffers listed at the peak, and values listed by fate.
const LISTED: usize = 15;

/// Bytes with a binary unit and three significant digits.
#[must_use]
pub fn human(bytes: Bytes) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut amount = bytes.0 as f64;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{} B", bytes.0) } else { format!("{amount:.2} {}", UNITS[unit]) }
}

/// The verdict in one line.
#[must_use]
pub fn verdict(report: &Report) -> String {
    let mut line = String::new();
    if let Some(budget) = report.budget {
        let _ = write!(line, "budget {} · ", human(budget));
    }
    let _ = write!(
        line,
        "peak {} (without remat {}) · overhead {:.2} % (proven lower bound {:.2} %, gap {:.2}) · {} kept, {} recomputed",
        human(report.peak),
        human(report.baseline_peak),
        percent(report.overhead_percent()),
        percent(report.lower_bound_percent()),
        percent(report.overhead_percent() - report.lower_bound_percent()),
        report.kept(),
        report.recomputed(),
    );
    line
}

/// Hundredths, without the sign that rounding leaves before a zero.
fn percent(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}

/// The whole report. `place` says where a value comes from.
#[must_use]
pub fn explain(report: &Report, place: &dyn Fn(ckpt_ir::ValueId) -> String) -> String {
    let mut out = verdict(report);
    let _ = writeln!(
        out,
        "\nmemory model {}, device {}, {} kernels, arguments {}, plan {:016x}",
        report.memory_model,
        report.device,
        report.kernels,
        human(report.argument_bytes),
        report.plan_hash
    );
    let _ = writeln!(
        out,
        "in the memory model ops, where nothing is fused: peak {} (without remat {})",
        human(report.unfused.planned),
        human(report.unfused.baseline)
    );
    peak(&mut out, &report.peak_moment, place);
    fates(&mut out, &report.crossing, place);
    out
}

fn peak(out: &mut String, moment: &PeakMoment, place: &dyn Fn(ckpt_ir::ValueId) -> String) {
    let phase = match moment.phase {
        Phase::Forward => "forward",
        Phase::Backward => "backward",
    };
    let _ = writeln!(out, "\npeak at {} ({}), {phase} pass, holding", moment.kernel, moment.operation);
    let _ = writeln!(out, "  {:>12}  {}", human(moment.argument_bytes), HeldKind::Argument);
    for kind in [HeldKind::Saved, HeldKind::Recomputed, HeldKind::Result, HeldKind::Temporary] {
        let of_kind = moment.held.iter().filter(|h| h.kind == kind);
        let bytes: Bytes = of_kind.clone().map(|h| h.bytes).sum();
        if bytes.0 > 0 {
            let _ = writeln!(out, "  {:>12}  {kind} ({} buffers)", human(bytes), of_kind.count());
        }
    }
    held(out, &moment.held, place);
}

fn held(out: &mut String, held: &[Held], place: &dyn Fn(ckpt_ir::ValueId) -> String) {
    let _ = writeln!(out, "\nlargest buffers held there");
    for buffer in held.iter().filter(|h| h.bytes.0 > 0).take(LISTED) {
        let _ = writeln!(
            out,
            "  {:>12}  {:10}  %{:<12} {:28} {}",
            human(buffer.bytes),
            buffer.kind.to_string(),
            buffer.name,
            buffer.operation,
            place(buffer.value)
        );
    }
}

fn fates(out: &mut String, crossing: &[Crossing], place: &dyn Fn(ckpt_ir::ValueId) -> String) {
    type Belongs = fn(&Fate) -> bool;
    let groups: [(&str, Belongs); 3] = [
        ("kept for the backward pass", |fate| matches!(fate, Fate::Kept | Fate::Pinned(_))),
        ("recomputed", |fate| matches!(fate, Fate::Recomputed(_))),
        ("not needed: readers compute it themselves, or it is made in the backward pass", |fate| {
            matches!(fate, Fate::NotNeeded)
        }),
    ];
    for (title, belongs) in groups {
        let members: Vec<&Crossing> = crossing.iter().filter(|c| belongs(&c.fate)).collect();
        let total: Bytes = members.iter().map(|c| c.bytes).sum();
        let _ = writeln!(out, "\n{title}: {} values, {}", members.len(), human(total));
        for value in members.iter().take(LISTED) {
            let _ = writeln!(
                out,
                "  {:>12}  {:16}  %{:<12} {:28} making it again takes {:.1} us  {}",
                human(value.bytes),
                value.fate.to_string(),
                value.name,
                value.operation,
                value.recompute_time.0,
                place(value.value)
            );
        }
        if members.len() > LISTED {
            let _ = writeln!(out, "  … and {} more", members.len() - LISTED);
        }
    }
}

/// Why a budget cannot be met, and what can.
#[must_use]
pub fn unmet(unmet: &Unmet, place: &dyn Fn(ckpt_ir::ValueId) -> String) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "budget {} ({} bytes) cannot be met{}: the smallest feasible peak found is {} ({} bytes), and no plan can need less than {}",
        human(unmet.budget),
        unmet.budget.0,
        if unmet.infeasible { " by any plan" } else { "" },
        human(unmet.smallest),
        unmet.smallest.0,
        human(unmet.bound)
    );
    let _ = writeln!(out, "arguments alone take {}", human(unmet.argument_bytes));
    held(&mut out, &unmet.blocking, place);
    out
}
