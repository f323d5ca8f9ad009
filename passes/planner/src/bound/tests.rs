//! Bounds against exact optima of random small problems.

use super::exact::{least_peak, least_time};
use super::{peak_bound, time_bound};
use crate::{Bytes, Derivation, DerivationId, Micros, Problem, Value, ValueId};

/// A linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

struct Generator {
    random: Random,
    values: Vec<Value>,
    derivations: Vec<Derivation>,
    order: Vec<DerivationId>,
}

impl Generator {
    fn value(&mut self, bytes: usize, resident: bool) -> ValueId {
        let name = format!("v{}", self.values.len());
        self.values.push(Value { name, bytes: Bytes(bytes as u64), resident });
        ValueId::new(self.values.len() - 1)
    }

    fn derive(&mut self, outputs: Vec<ValueId>, inputs: Vec<ValueId>, alias: Option<ValueId>) {
        let random = &mut self.random;
        let derivation = Derivation {
            name: String::new(),
            kind: String::new(),
            outputs,
            inputs,
            time: Micros(random.below(40) as f64 / if random.one_in(3) { 4.0 } else { 1.0 }),
            workspace: Bytes(if random.one_in(4) { random.below(6) as u64 } else { 0 }),
            recomputable: !random.one_in(10),
            alias,
        };
        self.derivations.push(derivation);
    }

    /// Some of the values so far: recent ones more often, at times far ones.
    fn some_inputs(&mut self) -> Vec<ValueId> {
        let count = self.values.len();
        let mut inputs = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let back =
                if self.random.one_in(3) { self.random.below(count) } else { self.random.below(2) };
            inputs.push(ValueId::new(count - 1 - back.min(count - 1)));
        }
        inputs.sort_unstable();
        if !self.random.one_in(8) {
            inputs.dedup();
        }
        inputs
    }

    /// One more step of the program: a view, or an operation with one or two results.
    fn step(&mut self, views: bool) {
        let inputs = self.some_inputs();
        if views && self.random.one_in(5) {
            let base = inputs[self.random.below(inputs.len())];
            let view = self.value(0, false);
            self.derive(vec![view], inputs, Some(base));
        } else {
            let results = if self.random.one_in(6) { 2 } else { 1 };
            let outputs = (0..results)
                .map(|_| {
                    let bytes = self.random.below(10);
                    self.value(bytes, false)
                })
                .collect();
            self.derive(outputs, inputs, None);
        }
        self.order.push(DerivationId::new(self.derivations.len() - 1));
    }

    /// The backward half of a chain: step `i` from the end reads the gradient and value `i`.
    fn mirror(&mut self, length: usize) {
        let first = self.values.len();
        for step in 0..length {
            let bytes = 1 + self.random.below(9);
            let inputs = vec![ValueId::new(first + step - 1)];
            let value = self.value(bytes, false);
            self.derive(vec![value], inputs, None);
            self.order.push(DerivationId::new(self.derivations.len() - 1));
        }
        let mut gradient = ValueId::new(self.values.len() - 1);
        for step in (0..length).rev() {
            let bytes = 1 + self.random.below(9);
            let inputs = vec![ValueId::new(first + step), gradient];
            gradient = self.value(bytes, false);
            self.derive(vec![gradient], inputs, None);
            self.order.push(DerivationId::new(self.derivations.len() - 1));
        }
    }

    /// Another derivation of a value that has one, from any other values.
    fn alternative(&mut self) {
        let target = ValueId::new(1 + self.random.below(self.values.len() - 1));
        let other = |v: &ValueId| *v != target;
        let inputs: Vec<ValueId> = self.some_inputs().into_iter().filter(other).collect();
        let as_view = self.values[target.index()].bytes == Bytes(0) && self.random.one_in(2);
        let alias = inputs.first().copied().filter(|_| as_view);
        self.derive(vec![target], inputs, alias);
    }

    fn problem(mut self) -> Problem {
        let last = ValueId::new(self.values.len() - 1);
        let mut outputs = vec![last];
        if self.random.one_in(2) {
            outputs.push(ValueId::new(self.random.below(self.values.len())));
        }
        Problem::new("random".into(), self.values, self.derivations, self.order, outputs).unwrap()
    }
}

fn random_problem(seed: u64) -> Problem {
    let mut generator = Generator {
        random: Random(seed),
        values: Vec::new(),
        derivations: Vec::new(),
        order: Vec::new(),
    };
    (0..50).for_each(|_| _ = generator.random.below(2));
    generator.value(3, true);
    if generator.random.one_in(4) {
        let length = 2 + generator.random.below(3);
        generator.mirror(length);
    } else {
        let views = generator.random.one_in(2);
        for _ in 0..3 + generator.random.below(5) {
            generator.step(views);
        }
    }
    if generator.random.one_in(2) {
        for _ in 0..1 + generator.random.below(3) {
            generator.alternative();
        }
    }
    generator.problem()
}

/// Asserts both bounds of one problem at every budget from its smallest peak
/// up; how far they are from the optima.
fn check(problem: &Problem, seed: u64) -> (u64, u64, f64, f64) {
    let least = least_peak(problem).unwrap();
    let peak = peak_bound(problem);
    assert!(peak.bytes <= least, "seed {seed}: {peak:?} above {least} of {problem:#?}");
    let mut excess = (0.0, 0.0);
    let base = problem.base_time().0.max(1.0);
    for more in [0, 1, 2, 4, 8] {
        let budget = Bytes(least.0 + more);
        let time = least_time(problem, budget).unwrap();
        let bound = time_bound(problem, budget);
        assert!(
            bound.lower_bound.0 <= time,
            "seed {seed}, budget {budget}: {bound:?} above {time} of {problem:#?}"
        );
        excess.0 += time / base;
        excess.1 += (time - bound.lower_bound.0) / base;
    }
    if least.0 > 0 {
        let bound = time_bound(problem, Bytes(least.0 - 1));
        if bound.lower_bound.0.is_infinite() {
            assert!(matches!(bound.certificate, super::Certificate::Infeasible(_)));
        }
    }
    (least.0, peak.bytes.0, excess.0, excess.1)
}

fn check_seeds(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let (mut least, mut bound, mut time, mut gap) = (0, 0, 0.0, 0.0);
    for seed in seeds {
        let one = check(&random_problem(seed), seed);
        least += one.0;
        bound += one.1;
        time += one.2;
        gap += one.3;
    }
    println!(
        "{count} problems: peak bound {:.2} % of the smallest peak, time bound {:.2} % of the least time",
        100.0 * bound as f64 / least as f64,
        100.0 * (1.0 - gap / time)
    );
}

#[test]
fn bounds_never_exceed_the_optimum() {
    check_seeds(0..1500);
}

#[test]
#[ignore = "minutes; a larger run of the same"]
fn bounds_never_exceed_the_optimum_at_length() {
    check_seeds(1_000_000..1_100_000);
}
