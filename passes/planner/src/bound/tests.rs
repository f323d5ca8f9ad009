//! Bounds against exact optima of random small problems.

use super::{Certificate, peak_bound, time_bound};
use crate::testing::{least_peak, least_time, random_problem};
use crate::{Bytes, DerivationId, Micros, Problem};

/// Sums over problems and budgets.
#[derive(Default)]
struct Tightness {
    least_peak: u64,
    peak_bound: u64,
    /// Relative to the base time.
    least_time: f64,
    time_bound: f64,
    /// Proofs that join several instants.
    joined: usize,
}

/// Asserts both bounds of one problem at every budget from its smallest peak
/// up; how far they are from the optima.
fn check(problem: &Problem, seed: u64) -> Tightness {
    let least = least_peak(problem).unwrap();
    let peak = peak_bound(problem);
    assert!(peak.bytes <= least, "seed {seed}: {peak:?} above {least} of {problem:#?}");
    let mut sums = Tightness { least_peak: least.0, peak_bound: peak.bytes.0, ..Tightness::default() };
    let base = problem.base_time().0.max(1.0);
    for more in [0, 1, 2, 4, 8] {
        let budget = Bytes(least.0 + more);
        let time = least_time(problem, budget).unwrap();
        let bound = time_bound(problem, budget);
        assert!(
            bound.lower_bound.0 <= time,
            "seed {seed}, budget {budget}: {bound:?} above {time} of {problem:#?}"
        );
        sums.least_time += time / base;
        sums.time_bound += bound.lower_bound.0 / base;
        if let Certificate::Instants { witnesses, .. } = bound.certificate {
            sums.joined += usize::from(witnesses.len() > 1);
        }
    }
    if least.0 > 0 {
        // Either no bound, or the truth.
        let bound = time_bound(problem, Bytes(least.0 - 1));
        let infeasible = matches!(bound.certificate, Certificate::Infeasible(_));
        assert_eq!(infeasible, bound.lower_bound.0.is_infinite());
    }
    sums
}

fn check_seeds(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let mut all = Tightness::default();
    for seed in seeds {
        let one = check(&random_problem(seed), seed);
        all.least_peak += one.least_peak;
        all.peak_bound += one.peak_bound;
        all.least_time += one.least_time;
        all.time_bound += one.time_bound;
        all.joined += one.joined;
    }
    println!(
        "{count} problems: peak bound {:.2} % of the smallest peak, time bound {:.2} % of the \
         least time, {} proofs join instants",
        100.0 * all.peak_bound as f64 / all.least_peak as f64,
        100.0 * all.time_bound / all.least_time,
        all.joined
    );
}

#[test]
fn bounds_never_exceed_the_optimum() {
    check_seeds(0..1500);
}

/// Reads a graph in `ckpt-graph/1`.
fn graph(json: &str) -> Problem {
    crate::graph_file::read_graph(json.as_bytes()).unwrap().problem
}

/// A chain of three with its backward half: `a0 a1 a2 g2(a2) g1(a1, g2) g0(a0, g1)`,
/// 10 bytes and 1 us each.
const MIRROR: &str = r#"{"format":"ckpt-graph/1","name":"mirror","nodes":[
    {"name":"a0","time":1,"bytes":[10]},
    {"name":"a1","time":1,"bytes":[10],"inputs":[[0,0]]},
    {"name":"a2","time":1,"bytes":[10],"inputs":[[1,0]]},
    {"name":"g2","time":1,"bytes":[10],"inputs":[[2,0]]},
    {"name":"g1","time":1,"bytes":[10],"inputs":[[1,0],[3,0]]},
    {"name":"g0","time":1,"bytes":[10],"inputs":[[0,0],[4,0]]}],
    "outputs":[[5,0]],"order":[0,1,2,3,4,5]}"#;

#[test]
fn mirror_has_exact_bounds_and_witnesses() {
    let problem = graph(MIRROR);
    let time = |budget| time_bound(&problem, Bytes(budget)).lower_bound.0;
    assert_eq!([time(40), time(39), time(30)], [6.0, 7.0, 7.0]);
    assert_eq!(peak_bound(&problem).bytes, Bytes(30));
    assert!(time(29).is_infinite());
    let Certificate::Instants { overhead, witnesses } = time_bound(&problem, Bytes(39)).certificate else {
        panic!("no instant")
    };
    // During g2 or g1 a0 or a1 must go: four values of 10 bytes would be live.
    assert_eq!(overhead, Micros(1.0));
    assert!(witnesses.iter().all(|w| w.held_bytes >= Bytes(20)), "{witnesses:?}");
}

#[test]
fn once_only_values_block_a_peak() {
    // Both draws are needed after `loss` and can be made only once.
    let problem = graph(
        r#"{"format":"ckpt-graph/1","name":"dropout","nodes":[
        {"name":"d0","time":1,"bytes":[7],"recomputable":false},
        {"name":"d1","time":1,"bytes":[9],"recomputable":false},
        {"name":"loss","time":1,"bytes":[4],"inputs":[[0,0],[1,0]]},
        {"name":"wide","time":1,"bytes":[20],"inputs":[[2,0]],"workspace":3},
        {"name":"g1","time":1,"bytes":[1],"inputs":[[3,0],[1,0]]},
        {"name":"g0","time":1,"bytes":[1],"inputs":[[4,0],[0,0]]}],
        "outputs":[[5,0]],"order":[0,1,2,3,4,5]}"#,
    );
    let bound = peak_bound(&problem);
    assert_eq!(bound.bytes, Bytes(7 + 9 + 4 + 20 + 3));
    assert_eq!(bound.during, Some(DerivationId::new(3)));
    assert_eq!(bound.workspace, Bytes(3));
    let live: Vec<Bytes> = bound.live.iter().map(|&(_, bytes)| bytes).collect();
    assert_eq!(live, [Bytes(7), Bytes(9), Bytes(4), Bytes(20)]);
}

#[test]
fn kept_view_costs_its_base() {
    // g0 needs a view of a0, so a0's storage or a second run of a0.
    let viewed = MIRROR
        .replace(
            r#"{"name":"g0","time":1,"bytes":[10],"inputs":[[0,0],[4,0]]}]"#,
            r#"{"name":"g0","time":1,"bytes":[10],"inputs":[[6,0],[4,0]]},
               {"name":"view","time":0,"bytes":[0],"inputs":[[0,0]],"alias":0}]"#,
        )
        .replace("[0,1,2,3,4,5]", "[0,6,1,2,3,4,5]");
    let problem = graph(&viewed);
    assert_eq!(time_bound(&problem, Bytes(40)).lower_bound, Micros(6.0));
    assert_eq!(time_bound(&problem, Bytes(39)).lower_bound, Micros(7.0));
}

#[test]
#[ignore = "minutes; a larger run of the same"]
fn bounds_never_exceed_the_optimum_at_length() {
    check_seeds(1_000_000..1_100_000);
}
