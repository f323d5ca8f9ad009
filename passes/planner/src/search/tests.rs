//! Plans against exact optima of random small problems, and the timeline
//! against the replay.

use super::core::Core;
use super::expand::expand;
use super::random::Random;
use super::restore::{is_repetition, remove_with_causes};
use super::workbench::Workbench;
use crate::testing::{least_peak, least_time, random_problem};
use crate::{Bytes, Effort, Goal, Outcome, Plan, Problem, replay, solve};

fn effort(level: u8) -> Effort {
    Effort::new(level).unwrap()
}

/// Times are sums of quarters; sums in another order may differ in the last bits.
const TOLERANCE: f64 = 1e-6;

/// Plans within a budget are legal, fit, and respect what is proven; what is
/// said to be optimal or infeasible is.
fn check_budget(problem: &Problem, budget: Bytes, level: u8, seed: u64) -> bool {
    let optimum = least_time(problem, budget);
    match solve(problem, Goal::Budget(budget), effort(level)) {
        Outcome::Met(solution) => {
            let replayed = replay(problem, &solution.plan).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert!(replayed.peak <= budget, "seed {seed}");
            let least = optimum.unwrap_or_else(|| panic!("seed {seed}: a plan where there is none"));
            assert!(replayed.time.0 >= least - TOLERANCE, "seed {seed}");
            assert!(solution.lower_bound.0 <= least + TOLERANCE, "seed {seed}");
            let best = replayed.time.0 <= least + TOLERANCE;
            assert!(!solution.optimal || best, "seed {seed}: {} is not {least}", replayed.time.0);
            best
        }
        Outcome::Unmet(unmet) => {
            assert!(!unmet.infeasible || optimum.is_none(), "seed {seed}");
            let replayed = replay(problem, &unmet.tightest).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert!(replayed.peak == unmet.smallest && unmet.smallest >= unmet.bound.bytes, "seed {seed}");
            optimum.is_none()
        }
    }
}

#[test]
fn plans_are_legal_and_mostly_optimal() {
    let (mut best, mut all) = (0, 0);
    for seed in 0..150 {
        let problem = random_problem(seed);
        let base = replay(&problem, &Plan::without_remat(&problem)).unwrap().peak;
        let least = least_peak(&problem).unwrap();
        for part in 0..4 {
            let budget =
                Bytes(least.0.saturating_sub(1) + (base.0 - least.0.min(base.0)) * part / 4 + part.min(1));
            best += usize::from(check_budget(&problem, budget, 2, seed));
            all += 1;
        }
    }
    assert!(best * 100 >= all * 97, "{best} of {all} plans are optimal");
}

#[test]
fn smallest_peaks_are_sound() {
    for seed in 0..100 {
        let problem = random_problem(seed);
        let Outcome::Met(solution) = solve(&problem, Goal::SmallestPeak, effort(2)) else { panic!() };
        let peak = replay(&problem, &solution.plan).unwrap().peak;
        let least = least_peak(&problem).unwrap();
        assert!(peak >= least, "seed {seed}");
        assert!(!solution.optimal || peak == least, "seed {seed}: {peak} is not {least}");
    }
}

/// After any sequence of changes the timeline's peak and time are those of the
/// plan that it stands for, where views cost nothing.
#[test]
fn timeline_agrees_with_the_replay() {
    for seed in 0..200 {
        let problem = random_problem(seed);
        let core = Core::new(&problem);
        if !core.complete {
            continue;
        }
        let mut bench = Workbench::new(&core, i64::MAX, seed);
        let mut random = Random::new(seed);
        for _ in 0..20 {
            let slots: Vec<usize> = bench.timeline.occupied().collect();
            let slot = slots[random.below(slots.len())];
            let store = super::ids::StoreId::new(random.below(core.stores.len()));
            if is_repetition(&bench.timeline, slot) && random.below(2) == 0 {
                remove_with_causes(&mut bench.timeline, slot);
            } else {
                bench.limit = 0;
                bench.drop_across(store, slot, f64::MAX);
            }
            let plan = expand(&problem, &core, &bench.timeline.tasks());
            let replayed = replay(&problem, &plan).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(replayed.peak.0 as i64, bench.timeline.peak(), "seed {seed}");
            assert!((replayed.time.0 - bench.timeline.time()).abs() < TOLERANCE, "seed {seed}");
        }
    }
}
