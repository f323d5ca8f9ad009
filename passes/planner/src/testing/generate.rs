//! Random problems: chains with backward halves, views, several results,
//! several derivations per value, things that run once.

use crate::{Bytes, Derivation, DerivationId, Micros, Problem, Value, ValueId};

/// A linear congruential generator (Knuth's MMIX constants).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
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
            ordered: false,
            alias,
        };
        self.derivations.push(derivation);
    }

    /// Some of the values so far: recent ones more often, at times far ones.
    fn some_inputs(&mut self) -> Vec<ValueId> {
        let count = self.values.len();
        let mut inputs = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let back = if self.random.one_in(3) { self.random.below(count) } else { self.random.below(2) };
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

    /// A smaller value that comes from an input of one or two derivations in
    /// the only way, and derivations of their outputs that read it instead.
    fn packed(&mut self) {
        let at = self.random.below(self.derivations.len());
        let Some(&wide) = self.derivations[at].inputs.last() else { return };
        let bytes = 1 + self.random.below(3);
        let narrow = self.value(bytes, false);
        self.derive(vec![narrow], vec![wide], None);
        if self.random.one_in(2) {
            self.order.push(DerivationId::new(self.derivations.len() - 1));
        }
        for index in 0..self.derivations.len() - 1 {
            let reader = &self.derivations[index];
            let chosen = index == at || reader.inputs.contains(&wide) && self.random.one_in(2);
            if chosen && reader.alias.is_none() {
                let reads = |v: &ValueId| if *v == wide { narrow } else { *v };
                let inputs = reader.inputs.iter().map(reads).collect();
                self.derive(self.derivations[index].outputs.clone(), inputs, None);
            }
        }
    }

    fn problem(mut self, last: ValueId) -> Problem {
        let mut outputs = vec![last];
        if self.random.one_in(2) {
            outputs.push(ValueId::new(self.random.below(last.index() + 1)));
        }
        Problem::new("random".into(), self.values, self.derivations, self.order, outputs).unwrap()
    }
}

pub(crate) fn random_problem(seed: u64) -> Problem {
    let mut generator =
        Generator { random: Random(seed), values: Vec::new(), derivations: Vec::new(), order: Vec::new() };
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
    let last = ValueId::new(generator.values.len() - 1);
    if generator.random.one_in(3) {
        generator.packed();
    }
    if generator.random.one_in(3) {
        for _ in 0..1 + generator.random.below(3) {
            generator.alternative();
        }
    }
    generator.problem(last)
}
