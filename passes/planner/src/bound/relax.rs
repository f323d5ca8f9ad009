//! Building a [`Relaxed`] problem.

use super::ids::{ActionId, StoreId};
use super::relaxed::{Action, Relaxed, Store, TIME_BITS};
use crate::{DerivationId, Problem, ValueId};

/// No storage: a resident, or a value that nothing derives.
pub(super) const NONE: u32 = u32::MAX;

/// Builds the relaxation of `problem`. Linear time.
pub(super) fn relax(problem: &Problem) -> Relaxed {
    Builder::new(problem).build()
}

/// The relaxation in the making.
pub(super) struct Builder<'p> {
    /// The problem.
    pub(super) problem: &'p Problem,
    /// Derivations in the order in which forward chaining from the residents fires them.
    fired: Vec<DerivationId>,
    /// Whether a derivation can ever run.
    derivable: Vec<bool>,
    /// Per value its root, [`NONE`] for residents and their views.
    pub(super) root: Vec<u32>,
    /// Per value: every plan computes it.
    pub(super) required_value: Vec<bool>,
    /// Per derivation: every plan runs it.
    pub(super) required_derivation: Vec<bool>,
    /// Per value: how many values with several derivations have one that reads it.
    pub(super) choice_readers: Vec<u64>,
}

impl<'p> Builder<'p> {
    fn new(problem: &'p Problem) -> Self {
        let mut builder = Self {
            problem,
            fired: Vec::new(),
            derivable: vec![false; problem.derivations().len()],
            root: vec![NONE; problem.values().len()],
            required_value: vec![false; problem.values().len()],
            required_derivation: vec![false; problem.derivations().len()],
            choice_readers: vec![0; problem.values().len()],
        };
        builder.chain_forward();
        builder.find_roots();
        builder.find_required();
        builder.count_choice_readers();
        builder
    }

    /// The derivations of `value` that can ever run.
    pub(super) fn derivations_of(&self, value: ValueId) -> impl Iterator<Item = DerivationId> + '_ {
        self.problem.derivations_of(value).iter().copied().filter(|d| self.derivable[d.index()])
    }

    /// The only derivation of `value` that can ever run, if there is just one.
    pub(super) fn only_derivation(&self, value: ValueId) -> Option<DerivationId> {
        let mut all = self.derivations_of(value);
        all.next().filter(|_| all.next().is_none())
    }

    /// Forward chaining: the program's order first, so that ids follow the
    /// program, then whatever else can run.
    fn chain_forward(&mut self) {
        let problem = self.problem;
        let mut available: Vec<bool> = problem.values().iter().map(|v| v.resident).collect();
        let mut readers = vec![Vec::new(); problem.values().len()];
        let mut missing = vec![0usize; problem.derivations().len()];
        for (index, derivation) in problem.derivations().iter().enumerate() {
            for &value in derivation.inputs.iter().filter(|v| !available[v.index()]) {
                readers[value.index()].push(index);
                missing[index] += 1;
            }
        }
        let mut queue: Vec<usize> = problem.order().iter().map(|d| d.index()).collect();
        queue.extend((0..missing.len()).filter(|&d| missing[d] == 0));
        let mut at = 0;
        while let Some(&index) = queue.get(at) {
            at += 1;
            if std::mem::replace(&mut self.derivable[index], true) {
                continue;
            }
            self.fired.push(DerivationId::new(index));
            for &value in &problem.derivations()[index].outputs {
                if std::mem::replace(&mut available[value.index()], true) {
                    continue;
                }
                for &reader in &readers[value.index()] {
                    missing[reader] -= 1;
                    if missing[reader] == 0 {
                        queue.push(reader);
                    }
                }
            }
        }
    }

    fn find_roots(&mut self) {
        for at in 0..self.fired.len() {
            let derivation = self.problem.derivation(self.fired[at]);
            for &value in &derivation.outputs {
                self.root[value.index()] = match (derivation.alias, self.only_derivation(value)) {
                    (Some(base), Some(_)) => self.root[base.index()],
                    _ => value.index() as u32,
                };
            }
        }
    }

    fn find_required(&mut self) {
        let problem = self.problem;
        let mut values = problem.outputs().to_vec();
        let once = |d: &&DerivationId| !problem.derivation(**d).recomputable;
        for &id in problem.order().iter().filter(once) {
            self.required_derivation[id.index()] = true;
            values.extend(&problem.derivation(id).inputs);
        }
        while let Some(value) = values.pop() {
            if std::mem::replace(&mut self.required_value[value.index()], true) {
                continue;
            }
            if let Some(only) = self.only_derivation(value) {
                self.required_derivation[only.index()] = true;
                values.extend(&problem.derivation(only).inputs);
            } else {
                values.extend(self.common_inputs(value));
            }
        }
    }

    /// Distinct roots of some values, as root value indices.
    pub(super) fn roots_of(&self, values: &[ValueId]) -> Vec<u32> {
        let mut roots: Vec<u32> =
            values.iter().map(|v| self.root[v.index()]).filter(|&r| r != NONE).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Bytes of the roots of `values` that get no store of their own. (Those
    /// that do may be kept at an instant, and must not be counted twice.)
    pub(super) fn bytes_without_store(&self, values: &[ValueId]) -> u64 {
        let roots = self.roots_of(values).into_iter().map(|r| ValueId::new(r as usize));
        let required = |d: DerivationId| self.required_derivation[d.index()];
        roots
            .filter(|&r| !self.required_value[r.index()])
            .filter(|&r| !self.only_derivation(r).is_some_and(required))
            // What may be kept on a detour is counted there.
            .filter(|&r| self.choice_readers[r.index()] == 0)
            .map(|r| self.problem.value(r).bytes.0)
            .sum()
    }

    fn scale(&self) -> f64 {
        let total: f64 = self.problem.derivations().iter().map(|d| d.time.0).sum();
        if !(total.is_finite() && total > 0.0) {
            return 1.0;
        }
        // A power of two with total × scale in [2^(TIME_BITS - 2), 2^TIME_BITS],
        // by halving and doubling, which are exact on every machine.
        let mut scale = 1.0f64;
        while total * scale > (1u64 << TIME_BITS) as f64 {
            scale /= 2.0;
        }
        while total * scale <= (1u64 << (TIME_BITS - 2)) as f64 && scale < f64::MAX / 2.0 {
            scale *= 2.0;
        }
        scale
    }

    fn build(self) -> Relaxed {
        let mut relaxed =
            Relaxed { stores: Vec::new(), actions: Vec::new(), base_time: 0, scale: self.scale() };
        let scale = relaxed.scale;
        let scaled = |time: f64| (time * scale).floor() as u64;
        let mut store_of = vec![NONE; self.problem.values().len()];
        for &id in &self.fired {
            let derivation = self.problem.derivation(id);
            let mut unique = Vec::new();
            for &value in &derivation.outputs {
                let only = self.only_derivation(value).is_some();
                let done = store_of[value.index()] != NONE;
                if only && derivation.alias.is_none() {
                    unique.push(value);
                } else if !only && self.required_value[value.index()] && !done {
                    let action = self.choice(value, &store_of, &scaled);
                    push_action(&mut relaxed, action, &[value], &mut store_of, self.problem);
                }
            }
            if !self.required_derivation[id.index()] {
                continue;
            }
            if derivation.alias.is_some() && unique.is_empty() {
                relaxed.base_time += scaled(derivation.time.0);
                continue;
            }
            let inputs = self.roots_of(&derivation.inputs);
            let others = self.bytes_without_store(&derivation.outputs);
            let action = Action {
                derivation: id,
                time: scaled(derivation.time.0),
                once: !derivation.recomputable,
                inputs: inputs.iter().map(|&r| StoreId::new(store_of[r as usize] as usize)).collect(),
                outputs: Vec::new(),
                detour: None,
                workspace: derivation.workspace.0 + others,
            };
            push_action(&mut relaxed, action, &unique, &mut store_of, self.problem);
        }
        self.finish(relaxed, &store_of)
    }

    fn finish(&self, mut relaxed: Relaxed, store_of: &[u32]) -> Relaxed {
        for action in relaxed.action_ids() {
            relaxed.base_time += relaxed.action(action).time;
            for store in relaxed.action(action).inputs.clone() {
                relaxed.stores[store.index()].users.push(action);
            }
            let detour = relaxed.action(action).detour.iter();
            for store in detour.flat_map(|d| d.stores.clone()).collect::<Vec<_>>() {
                relaxed.stores[store.index()].detoured_by.push(action);
            }
        }
        for value in self.problem.outputs() {
            let root = self.root[value.index()];
            if root != NONE && store_of[root as usize] != NONE {
                relaxed.stores[store_of[root as usize] as usize].output = true;
            }
        }
        relaxed
    }
}

/// Appends `action` and a store for each of `outputs`.
fn push_action(
    relaxed: &mut Relaxed,
    mut action: Action,
    outputs: &[ValueId],
    store_of: &mut [u32],
    problem: &Problem,
) {
    let maker = ActionId::new(relaxed.actions.len());
    for &value in outputs {
        let store = StoreId::new(relaxed.stores.len());
        store_of[value.index()] = relaxed.stores.len() as u32;
        action.outputs.push(store);
        relaxed.stores.push(Store {
            value,
            bytes: problem.value(value).bytes.0,
            maker,
            users: Vec::new(),
            detoured_by: Vec::new(),
            output: false,
        });
    }
    relaxed.actions.push(action);
}
