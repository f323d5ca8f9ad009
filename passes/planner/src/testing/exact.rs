//! Exact optima of tiny problems, by Dijkstra's algorithm over live sets.
//! Independent of everything that the bounds use: only for tests.

use crate::{Bytes, DerivationId, Problem, ValueId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Live values with the storage that each holds, and which once-only derivations have run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct State {
    /// Per value: 0 if not live or without storage, else 1 + index into `roots`.
    storage: Vec<u8>,
    live: u32,
    /// Per storage the value whose bytes it has.
    roots: Vec<u8>,
    ran: u32,
}

impl State {
    fn bytes(&self, problem: &Problem) -> u64 {
        self.roots.iter().map(|&r| problem.value(ValueId::new(usize::from(r))).bytes.0).sum()
    }

    /// Drops storages without holders and numbers the rest by first holder.
    fn canonical(mut self) -> Self {
        let mut number = vec![0u8; self.roots.len() + 1];
        let mut roots = Vec::new();
        for storage in self.storage.iter_mut().filter(|s| **s != 0) {
            let old = usize::from(*storage);
            if number[old] == 0 {
                roots.push(self.roots[old - 1]);
                number[old] = roots.len() as u8;
            }
            *storage = number[old];
        }
        self.roots = roots;
        self
    }

    fn free(&self, value: usize) -> Self {
        let mut next = self.clone();
        next.live &= !(1 << value);
        next.storage[value] = 0;
        next.canonical()
    }

    /// The state after a run, and the bytes held during it.
    fn compute(&self, problem: &Problem, id: DerivationId) -> Option<(Self, u64)> {
        let derivation = problem.derivation(id);
        let is_live = |v: &ValueId| self.live >> v.index() & 1 == 1;
        let again = !derivation.recomputable && self.ran >> id.index() & 1 == 1;
        if again || derivation.outputs.iter().any(is_live) || !derivation.inputs.iter().all(is_live) {
            return None;
        }
        let mut next = self.clone();
        if !derivation.recomputable {
            next.ran |= 1 << id.index();
        }
        for &value in &derivation.outputs {
            next.live |= 1 << value.index();
            next.storage[value.index()] = match derivation.alias {
                Some(base) => next.storage[base.index()],
                None => {
                    next.roots.push(value.index() as u8);
                    next.roots.len() as u8
                }
            };
        }
        let held = next.bytes(problem) + derivation.workspace.0;
        Some((next.canonical(), held))
    }
}

/// Dijkstra's algorithm; `cost` combines the cost so far with a run's held
/// bytes and time, or forbids it.
fn search(problem: &Problem, cost: impl Fn(u64, u64, f64) -> Option<u64>) -> Option<u64> {
    let count = problem.values().len();
    let residents = (0..count).filter(|&v| problem.values()[v].resident);
    let start = State { storage: vec![0; count], live: residents.map(|v| 1 << v).sum(), ..State::default() };
    let once = problem.order().iter().filter(|d| !problem.derivation(**d).recomputable);
    let must_run: u32 = once.map(|d| 1 << d.index()).sum();
    let must_live = problem.outputs().iter().fold(0u32, |set, v| set | 1 << v.index());
    let mut best: HashMap<State, u64> = HashMap::from([(start.clone(), 0)]);
    let mut queue = BinaryHeap::from([Reverse((0, start))]);
    while let Some(Reverse((so_far, state))) = queue.pop() {
        if best[&state] < so_far {
            continue;
        }
        if state.live & must_live == must_live && state.ran & must_run == must_run {
            return Some(so_far);
        }
        let mut reached = Vec::new();
        for value in (0..count).filter(|&v| state.live >> v & 1 == 1) {
            if !problem.values()[value].resident {
                reached.push((so_far, state.free(value)));
            }
        }
        for index in 0..problem.derivations().len() {
            let id = DerivationId::new(index);
            if let Some((next, held)) = state.compute(problem, id)
                && let Some(total) = cost(so_far, held, problem.derivation(id).time.0)
            {
                reached.push((total, next));
            }
        }
        for (total, next) in reached {
            if best.get(&next).is_none_or(|&known| total < known) {
                best.insert(next.clone(), total);
                queue.push(Reverse((total, next)));
            }
        }
    }
    None
}

/// The least time of any legal plan within `budget`; times must be multiples of 1/1024.
pub(crate) fn least_time(problem: &Problem, budget: Bytes) -> Option<f64> {
    let units =
        search(problem, |so_far, held, time| (held <= budget.0).then_some(so_far + (time * 1024.0) as u64));
    units.map(|units| units as f64 / 1024.0)
}

/// The smallest peak of any legal plan.
pub(crate) fn least_peak(problem: &Problem) -> Option<Bytes> {
    search(problem, |so_far, held, _| Some(so_far.max(held))).map(Bytes)
}
