//! `bounds BUDGETS.tsv GRAPH.json[.gz]…`: the planner's proven lower bounds
//! beside known plans.
//!
//! `BUDGETS.tsv` has the columns `graph`, `budget_bytes` and `best_time` (the
//! time of a known plan, `-` where none is known or the budget is infeasible),
//! and optionally `proven_lb_overhead_pct`. One row is printed for each of its
//! rows whose graph is given: overheads in percent of the time without
//! rematerialisation, and the gap in percentage points.

use anyhow::{Context, Result, bail};
use ckpt_planner::graph_file::{Graph, read_graph};
use ckpt_planner::{Bytes, Certificate, Witness, peak_bound, time_bound};
use flate2::read::GzDecoder;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, graphs @ ..] = &arguments[..] else {
        bail!("usage: bounds BUDGETS.tsv GRAPH.json[.gz]...");
    };
    let mut by_name = HashMap::new();
    for path in graphs {
        let graph = read(Path::new(path)).with_context(|| path.clone())?;
        by_name.insert(graph.problem.name().to_owned(), graph);
    }
    let table = std::fs::read_to_string(table).with_context(|| table.clone())?;
    print_table(&table, &by_name)
}

fn read(path: &Path) -> Result<Graph> {
    let mut bytes = std::fs::read(path)?;
    if path.extension().is_some_and(|e| e == "gz") {
        let mut plain = Vec::new();
        GzDecoder::new(&bytes[..]).read_to_end(&mut plain)?;
        bytes = plain;
    }
    Ok(read_graph(&bytes)?)
}

fn print_table(table: &str, graphs: &HashMap<String, Graph>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| columns.iter().position(|c| *c == name);
    let (Some(name), Some(budget), Some(best)) =
        (column("graph"), column("budget_bytes"), column("best_time"))
    else {
        bail!("the table needs the columns graph, budget_bytes and best_time");
    };
    let known = column("proven_lb_overhead_pct");
    writeln!(out, "graph\tbudget_bytes\tbest_pct\tknown_bound_pct\tbound_pct\tgap_pp\tseconds\twhere")?;
    let (mut gaps, mut rows) = (0.0, 0);
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or("");
        let Some(Graph { problem, .. }) = graphs.get(field(name)) else { continue };
        let budget = Bytes(field(budget).parse()?);
        let base = problem.base_time().0;
        let percent = |time: f64| 100.0 * (time - base) / base;
        let start = Instant::now();
        let bound = time_bound(problem, budget);
        let seconds = start.elapsed().as_secs_f64();
        let place = match &bound.certificate {
            Certificate::BaseTime => "everything runs once".to_owned(),
            Certificate::Instants { witnesses, .. } => {
                let name = |w: &Witness| problem.derivation(w.during).name.clone();
                witnesses.iter().map(name).collect::<Vec<_>>().join(" ")
            }
            Certificate::Infeasible(peak) => format!("no plan below {}", peak.bytes),
        };
        let best: Option<f64> = field(best).parse().ok();
        let gap = best.map(|best| percent(best) - percent(bound.lower_bound.0));
        if let Some(gap) = gap {
            gaps += gap;
            rows += 1;
        }
        writeln!(
            out,
            "{}\t{}\t{}\t{}\t{:.3}\t{}\t{seconds:.2}\t{place}",
            field(name),
            budget.0,
            best.map_or("-".to_owned(), |best| format!("{:.3}", percent(best))),
            known.map_or("", field),
            percent(bound.lower_bound.0),
            gap.map_or("-".to_owned(), |gap| format!("{gap:.3}")),
        )?;
    }
    writeln!(out, "mean gap {:.3} pp over {rows} rows", gaps / f64::from(rows.max(1)))?;
    for (name, Graph { problem, .. }) in graphs {
        let start = Instant::now();
        let peak = peak_bound(problem);
        let place = peak.during.map_or("the end", |d| &problem.derivation(d).name);
        let seconds = start.elapsed().as_secs_f64();
        writeln!(out, "{name}: no plan below {} ({place}), {seconds:.2} s", peak.bytes)?;
    }
    Ok(())
}
