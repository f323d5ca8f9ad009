//! `ckpt-opt plan`: the planner alone.

use crate::failure::Failure;
use crate::input_output;
use crate::optimise::EffortArg;
use crate::pareto::{self, ParetoArgs};
use crate::progress;
use ckpt_passes::{Policy, PolicyError};
use ckpt_planner::graph_file::{PlanFacts, read_graph, write_plan};
use ckpt_planner::{Bytes, Goal, Micros, Outcome, Plan, Problem, Solution, Unmet, pareto, replay, solve};

/// Arguments of `ckpt-opt plan`.
#[derive(clap::Args)]
pub(crate) struct PlanArgs {
    /// A ckpt-graph/1 file, plain or gzip, or `-` for standard input.
    graph: String,
    /// none, min, budget:SIZE or activations:SIZE; SIZE is bytes, 8GiB, 500MB or 60% of the peak.
    #[arg(long, default_value = "none", value_parser = parse_policy)]
    remat: Policy,
    /// Where the ckpt-plan/1 goes.
    #[arg(short, default_value = "-")]
    output: String,
    #[command(flatten)]
    effort: EffortArg,
    #[command(flatten)]
    pareto: ParetoArgs,
}

fn parse_policy(text: &str) -> Result<Policy, PolicyError> {
    text.parse()
}

/// Plans the graph, replays the plan and writes it.
pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    let invalid = |message: String| Failure::Invalid { path: args.graph.clone(), message };
    let graph = read_graph(&input_output::read(&args.graph)?).map_err(|e| invalid(e.to_string()))?;
    let problem = &graph.problem;
    let baseline = Plan::without_remat(problem);
    let refused =
        |e: ckpt_planner::ReplayError| Failure::Internal(format!("plan refused by its replay: {e}"));
    let base = replay(problem, &baseline).map_err(refused)?;
    let resident = problem.resident_bytes();
    if let Some(path) = &args.pareto.pareto {
        let points = usize::from(args.pareto.pareto_points);
        let curve = progress::during("planning", || pareto(problem, points, args.effort.effort()));
        pareto::write(path, &curve, resident, problem.base_time())?;
    }
    let goal = match args.remat {
        Policy::None => Goal::KeepAll,
        Policy::Min => Goal::SmallestPeak,
        Policy::Activations(size) => Goal::Budget(Bytes(size.resolve(ckpt_ir::Bytes(base.peak.0)).0)),
        Policy::Budget(size) => {
            let total = size.resolve(ckpt_ir::Bytes(base.peak.0 + resident.0));
            Goal::Budget(Bytes(total.0.saturating_sub(resident.0)))
        }
        Policy::Sqrt | Policy::Full => {
            return Err(Failure::Usage(format!("the policy {} needs a program with a loss", args.remat)));
        }
    };
    let Solution { plan, lower_bound, optimal } =
        match progress::during("planning", || solve(problem, goal, args.effort.effort())) {
            Outcome::Met(solution) => solution,
            Outcome::Unmet(unmet) => return Err(Failure::Unmet(describe(problem, &unmet))),
        };
    let replayed = replay(problem, &plan).map_err(refused)?;
    let facts = PlanFacts { peak: replayed.peak, time: replayed.time, lower_bound, optimal };
    let text = write_plan(&graph, &plan, facts).map_err(|e| Failure::Internal(e.to_string()))?;
    input_output::write(&args.output, text.as_bytes())?;
    let percent = |time: Micros| 100.0 * (time.0 / problem.base_time().0.max(f64::MIN_POSITIVE) - 1.0);
    let (overhead, bound) = (percent(replayed.time), percent(lower_bound));
    tell!(
        "peak {} (without remat {}), overhead {overhead:.2} % (no plan below {bound:.2} %{}), {} recomputations",
        replayed.peak,
        base.peak,
        if optimal { ", optimal" } else { "" },
        replayed.recomputes
    );
    Ok(())
}

/// What stands in the way of a budget.
fn describe(problem: &Problem, unmet: &Unmet) -> String {
    let Unmet { budget, smallest, bound, infeasible, .. } = unmet;
    let proven = if *infeasible { "" } else { " by any plan found" };
    let place = match bound.during {
        Some(id) => format!("while {} runs for the first time", problem.derivation(id).name),
        None => "at the end".to_owned(),
    };
    let mut live: Vec<_> = bound.live.iter().filter(|(_, bytes)| bytes.0 > 0).collect();
    live.sort_by_key(|(value, bytes)| (std::cmp::Reverse(*bytes), *value));
    let held =
        live.iter().take(HELD_SHOWN).map(|(v, bytes)| format!("\n  {bytes:>14} {}", problem.value(*v).name));
    let more = live.len().saturating_sub(HELD_SHOWN);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    format!(
        "budget {budget} cannot be met{proven}: the smallest peak found is {smallest}; no plan can need less than {}, held {place}:{}{more}",
        bound.bytes,
        held.collect::<String>()
    )
}

/// Values listed of those that block a budget.
const HELD_SHOWN: usize = 12;
