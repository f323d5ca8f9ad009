//! A relaxation with one derivation per value and no views.
//!
//! Every legal plan of the problem is, step by step, a legal plan of the
//! relaxation that takes no more time and holds no more bytes, so a lower
//! bound for the relaxation is one for the problem. What is given up:
//!
//! - *Views.* A value whose every derivation is a view of the same root is
//!   that root: while it is live the root's storage is. Here it is available
//!   whenever the root is, for no time (the first run of a view is charged to
//!   the base time).
//! - *Several derivations.* A value with several derivations gets one action
//!   that needs what they all need, takes the least of their times, and may
//!   always be repeated. A derivation with several outputs gives each of them
//!   a share of its time.
//! - *Dead actions.* Only actions that every legal plan runs are kept.

use super::ids::{ActionId, StoreId};
use crate::{DerivationId, Problem, ValueId};

/// Bits of the integer base time. Times are multiplied by the power of two
/// that brings their sum to this many bits and rounded down: exact for a sum
/// of small integers, and a relative loss below 2^-27 for 10^4 derivations
/// else. 40 bits leave room to add prices in 64-bit capacities.
pub(super) const TIME_BITS: u32 = 40;

/// A root value with the storage that it and its views hold.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// The root.
    pub(super) value: ValueId,
    /// Size.
    pub(super) bytes: u64,
    /// What makes it.
    pub(super) maker: ActionId,
    /// What reads it, ascending.
    pub(super) users: Vec<ActionId>,
    /// Whether it is live at the end.
    pub(super) output: bool,
}

/// Something that every legal plan does at least once.
#[derive(Clone, Debug)]
pub(super) struct Action {
    /// The derivation, or the first of several.
    pub(super) derivation: DerivationId,
    /// Scaled time, see [`Relaxed::scale`].
    pub(super) time: u64,
    /// Whether it runs exactly once.
    pub(super) once: bool,
    /// Stores that it reads, ascending, made by earlier actions.
    pub(super) inputs: Vec<StoreId>,
    /// Stores that it makes.
    pub(super) outputs: Vec<StoreId>,
    /// Bytes held while it runs besides inputs and outputs.
    pub(super) workspace: u64,
}

/// The relaxation, see the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Relaxed {
    /// Stores, all of which are needed.
    pub(super) stores: Vec<Store>,
    /// Actions in a topological order.
    pub(super) actions: Vec<Action>,
    /// Scaled time that every plan takes: each action and each required view once.
    pub(super) base_time: u64,
    /// Scaled time = microseconds × `scale`, a power of two.
    pub(super) scale: f64,
}

/// No storage: a resident, or a value that nothing derives.
const NONE: u32 = u32::MAX;

impl Relaxed {
    /// Builds the relaxation in time linear in the problem's size.
    pub(super) fn new(problem: &Problem) -> Self {
        Builder::new(problem).build()
    }

    /// Actions and stores: the unit in which work at one instant is counted.
    pub(super) fn size(&self) -> usize {
        (self.actions.len() + self.stores.len()).max(1)
    }

    /// One store.
    pub(super) fn store(&self, id: StoreId) -> &Store {
        &self.stores[id.index()]
    }

    /// One action.
    pub(super) fn action(&self, id: ActionId) -> &Action {
        &self.actions[id.index()]
    }

    /// All action ids in topological order.
    pub(super) fn action_ids(&self) -> impl DoubleEndedIterator<Item = ActionId> + use<> {
        (0..self.actions.len()).map(ActionId::new)
    }

    /// Total bytes of the given stores; they are distinct, so it cannot overflow.
    pub(super) fn bytes_of<'a>(&self, stores: impl IntoIterator<Item = &'a StoreId>) -> u64 {
        stores.into_iter().map(|&s| self.store(s).bytes).sum()
    }

    /// Bytes held while `action` runs: inputs, outputs and workspace.
    pub(super) fn working_set(&self, action: ActionId) -> u64 {
        let a = self.action(action);
        self.bytes_of(a.inputs.iter().chain(&a.outputs)).saturating_add(a.workspace)
    }
}

struct Builder<'p> {
    problem: &'p Problem,
    /// Derivations in the order in which forward chaining from the residents fires them.
    fired: Vec<DerivationId>,
    /// Whether a derivation can ever run.
    derivable: Vec<bool>,
    /// Per value its root, [`NONE`] for residents and their views.
    root: Vec<u32>,
    required_value: Vec<bool>,
    required_derivation: Vec<bool>,
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
        };
        builder.chain_forward();
        builder.find_roots();
        builder.find_required();
        builder
    }

    /// The derivations of `value` that can ever run.
    fn derivations_of(&self, value: ValueId) -> impl Iterator<Item = DerivationId> + '_ {
        self.problem.derivations_of(value).iter().copied().filter(|d| self.derivable[d.index()])
    }

    /// The only derivation of `value` that can ever run, if there is just one.
    fn only_derivation(&self, value: ValueId) -> Option<DerivationId> {
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

    /// What every derivation of `value` needs: values that all of them read,
    /// and roots of which all of them read some view.
    fn common_inputs(&self, value: ValueId) -> Vec<ValueId> {
        let needs = |id: DerivationId| {
            let inputs = &self.problem.derivation(id).inputs;
            let mut needs = self.roots_of(inputs);
            needs.extend(inputs.iter().map(|v| v.index() as u32));
            needs
        };
        let mut derivations = self.derivations_of(value);
        let Some(first) = derivations.next() else { return Vec::new() };
        let mut common = needs(first);
        for other in derivations {
            let needs = needs(other);
            common.retain(|v| needs.contains(v));
        }
        common.into_iter().map(|v| ValueId::new(v as usize)).collect()
    }

    /// Distinct roots of some values, as root value indices.
    fn roots_of(&self, values: &[ValueId]) -> Vec<u32> {
        let mut roots: Vec<u32> =
            values.iter().map(|v| self.root[v.index()]).filter(|&r| r != NONE).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Bytes of the roots of `values` that get no store of their own. (Those
    /// that do may be kept at an instant, and must not be counted twice.)
    fn bytes_without_store(&self, values: &[ValueId]) -> u64 {
        let roots = self.roots_of(values).into_iter().map(|r| ValueId::new(r as usize));
        let required = |d: DerivationId| self.required_derivation[d.index()];
        roots
            .filter(|&r| !self.required_value[r.index()])
            .filter(|&r| !self.only_derivation(r).is_some_and(required))
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
                inputs: inputs
                    .iter()
                    .map(|&r| StoreId::new(store_of[r as usize] as usize))
                    .collect(),
                outputs: Vec::new(),
                workspace: derivation.workspace.0 + others,
            };
            push_action(&mut relaxed, action, &unique, &mut store_of, self.problem);
        }
        self.finish(relaxed, &store_of)
    }

    /// The action for a value with several derivations.
    fn choice(&self, value: ValueId, store_of: &[u32], scaled: &impl Fn(f64) -> u64) -> Action {
        let own = value.index() as u32;
        let mut common: Option<Vec<u32>> = None;
        let mut time = u64::MAX;
        let mut first = None;
        for id in self.derivations_of(value) {
            let derivation = self.problem.derivation(id);
            first = first.or(Some(id));
            let several = |&v: &ValueId| self.only_derivation(v).is_none();
            // A derivation that every plan runs is charged by its own action.
            let shared =
                !self.required_derivation[id.index()] && derivation.outputs.iter().all(several);
            let share = if shared {
                scaled(derivation.time.0) / derivation.outputs.len() as u64
            } else {
                0
            };
            time = time.min(share);
            let inputs = self.roots_of(&derivation.inputs);
            match &mut common {
                None => common = Some(inputs),
                Some(common) => common.retain(|r| inputs.contains(r)),
            }
        }
        let mut common = common.unwrap_or_default();
        common.retain(|&r| r != own && store_of[r as usize] != NONE);
        let workspace = |id: DerivationId| {
            let derivation = self.problem.derivation(id);
            let touched: Vec<ValueId> =
                derivation.inputs.iter().chain(&derivation.outputs).copied().collect();
            derivation.workspace.0 + self.bytes_without_store(&touched)
        };
        let workspace = self.derivations_of(value).map(workspace).min().unwrap_or(0);
        Action {
            derivation: first.unwrap_or(DerivationId::new(0)),
            time: if time == u64::MAX { 0 } else { time },
            once: false,
            inputs: common.iter().map(|&r| StoreId::new(store_of[r as usize] as usize)).collect(),
            outputs: Vec::new(),
            workspace,
        }
    }

    fn finish(&self, mut relaxed: Relaxed, store_of: &[u32]) -> Relaxed {
        for action in relaxed.action_ids() {
            relaxed.base_time += relaxed.action(action).time;
            for store in relaxed.action(action).inputs.clone() {
                relaxed.stores[store.index()].users.push(action);
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
            output: false,
        });
    }
    relaxed.actions.push(action);
}
