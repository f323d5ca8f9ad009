//! The frontier of peak against time.

use crate::{Bytes, Effort, Goal, Micros, Outcome, Plan, Problem, Solution, replay, solve};

/// A point of the frontier.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoPoint {
    /// The budget, residents excluded.
    pub budget: Bytes,
    /// The plan's peak, residents excluded; at most the budget.
    pub peak: Bytes,
    /// The plan's time.
    pub time: Micros,
    /// Proven: no plan within the budget takes less.
    pub lower_bound: Micros,
    /// The plan.
    pub plan: Plan,
}

/// Plans at `points` budgets, evenly spaced from the smallest peak that is found
/// to the peak without rematerialisation, the smallest first.
///
/// Monotone by construction: a plan for a budget is one for every larger one, so
/// times never rise with the budget; and a bound for a budget is one for every
/// smaller one, so neither do bounds. Takes `points` times [`solve()`].
#[must_use]
pub fn pareto(problem: &Problem, points: usize, effort: Effort) -> Vec<ParetoPoint> {
    let baseline = Plan::without_remat(problem);
    let smallest = solve(problem, Goal::SmallestPeak, effort);
    let (Some(first), Ok(last)) = (met(smallest), replay(problem, &baseline)) else { return Vec::new() };
    let Some(first) = point(problem, first, None) else { return Vec::new() };
    let (low, high) = (first.peak, last.peak.max(first.peak));
    let mut curve = vec![first];
    for index in 1..points.max(2) as u64 {
        let share = (high.0 - low.0) as u128 * u128::from(index) / (points.max(2) as u128 - 1);
        let budget = Bytes(low.0 + share as u64);
        let found = met(solve(problem, Goal::Budget(budget), effort));
        let found = found.and_then(|solution| point(problem, solution, Some(budget)));
        let before = &curve[curve.len() - 1];
        let next = match found {
            Some(found) if found.time <= before.time => found,
            found => {
                let lower_bound = found.map_or(Micros(0.0), |found| found.lower_bound);
                ParetoPoint { budget, lower_bound, ..before.clone() }
            }
        };
        curve.push(next);
    }
    for index in (0..curve.len() - 1).rev() {
        let larger = curve[index + 1].lower_bound;
        if curve[index].lower_bound < larger {
            curve[index].lower_bound = larger;
        }
    }
    curve
}

fn met(outcome: Outcome) -> Option<Solution> {
    match outcome {
        Outcome::Met(solution) => Some(solution),
        Outcome::Unmet(_) => None,
    }
}

fn point(problem: &Problem, solution: Solution, budget: Option<Bytes>) -> Option<ParetoPoint> {
    let Solution { plan, lower_bound, .. } = solution;
    let replayed = replay(problem, &plan).ok()?;
    let budget = budget.unwrap_or(replayed.peak);
    Some(ParetoPoint { budget, peak: replayed.peak, time: replayed.time, lower_bound, plan })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_problem;

    #[test]
    fn frontiers_of_random_problems_are_monotone() {
        for seed in 0..30 {
            let problem = random_problem(seed);
            let curve = pareto(&problem, 6, Effort::new(1).unwrap());
            assert_eq!(curve.len(), 6, "seed {seed}");
            for point in &curve {
                assert!(point.peak <= point.budget && point.lower_bound.0 <= point.time.0 * (1.0 + 1e-9));
            }
            for pair in curve.windows(2) {
                assert!(pair[0].budget <= pair[1].budget, "seed {seed}");
                assert!(pair[0].time >= pair[1].time && pair[0].lower_bound >= pair[1].lower_bound);
            }
        }
    }
}
