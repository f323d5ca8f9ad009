//! `ckpt-opt plan`: the planner alone.

use crate::failure::Failure;
use crate::input_output;
use ckpt_passes::{Policy, PolicyError};
use ckpt_planner::graph_file::{PlanFacts, read_graph, write_plan};
use ckpt_planner::{Bytes, Goal, Outcome, replay, solve};

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
}

fn parse_policy(text: &str) -> Result<Policy, PolicyError> {
    text.parse()
}

/// Plans the graph, replays the plan and writes it.
pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    let invalid = |message: String| Failure::Invalid { path: args.graph.clone(), message };
    let graph = read_graph(&input_output::read(&args.graph)?).map_err(|e| invalid(e.to_string()))?;
    let problem = &graph.problem;
    let baseline = solve(problem, Goal::KeepAll).into_plan();
    let refused =
        |e: ckpt_planner::ReplayError| Failure::Internal(format!("plan refused by its replay: {e}"));
    let base = replay(problem, &baseline).map_err(refused)?;
    let resident = problem.resident_bytes();
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
    let plan = match solve(problem, goal) {
        Outcome::Met(plan) => plan,
        Outcome::Unmet { budget, smallest, bound } => {
            return Err(Failure::Unmet(format!(
                "budget {budget} cannot be met: the smallest peak found is {smallest}, no plan can need less than {bound}"
            )));
        }
    };
    let replayed = replay(problem, &plan).map_err(refused)?;
    let lower_bound = problem.base_time();
    let facts = PlanFacts {
        peak: replayed.peak,
        time: replayed.time,
        lower_bound,
        optimal: replayed.time <= lower_bound && !matches!(goal, Goal::SmallestPeak),
    };
    let text = write_plan(&graph, &plan, facts).map_err(|e| Failure::Internal(e.to_string()))?;
    input_output::write(&args.output, text.as_bytes())?;
    let overhead = 100.0 * (replayed.time.0 / lower_bound.0.max(f64::MIN_POSITIVE) - 1.0);
    eprintln!(
        "peak {} (without remat {}), overhead {overhead:.2} %, {} recomputations",
        replayed.peak, base.peak, replayed.recomputes
    );
    Ok(())
}
