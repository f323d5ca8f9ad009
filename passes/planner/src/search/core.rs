//! The problem as the search sees it: views folded into their roots.
//!
//! A view of no cost but bookkeeping is the storage it views: whoever reads it
//! reads the root, and it is made again whenever it is needed
//! ([`expand`](super::expand)). What cannot be folded is never repeated.

use super::ids::{StoreId, TaskId};
use crate::{DerivationId, Problem, ValueId};

/// A root value with the storage that it and its views hold.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// Bytes.
    pub(super) bytes: i64,
    /// What makes it; the first is the one of the program's order, if it is there.
    pub(super) tasks: Vec<TaskId>,
    /// Whether it is live at the end.
    pub(super) output: bool,
}

/// A derivation over stores.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// Where it comes from.
    pub(super) derivation: DerivationId,
    /// Microseconds of one run.
    pub(super) time: f64,
    /// Bytes held only while it runs.
    pub(super) workspace: i64,
    /// Whether it runs exactly once.
    pub(super) once: bool,
    /// Whether it keeps its place among other such tasks.
    pub(super) ordered: bool,
    /// What it reads, distinct.
    pub(super) inputs: Vec<StoreId>,
    /// What it makes, distinct.
    pub(super) outputs: Vec<StoreId>,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) stores: Vec<Store>,
    pub(super) tasks: Vec<Task>,
    /// First runs in the program's order, dead ones left out.
    pub(super) order: Vec<TaskId>,
    /// The view that each value is folded into the root of.
    pub(super) folded: Vec<Option<DerivationId>>,
    /// Store of each value's root; `None` for residents and their views.
    pub(super) store_of: Vec<Option<StoreId>>,
    /// Whether every plan of the problem is one of the core, at the same time
    /// and peak. If not, what is proven of the core is not proven of the problem.
    pub(super) complete: bool,
}

impl Core {
    /// Folds the views of `problem`. Linear time.
    pub(super) fn new(problem: &Problem) -> Self {
        Builder::new(problem).build()
    }

    /// One store.
    pub(super) fn store(&self, id: StoreId) -> &Store {
        &self.stores[id.index()]
    }

    /// One task.
    pub(super) fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id.index()]
    }

    /// All stores.
    pub(super) fn store_ids(&self) -> impl Iterator<Item = StoreId> + use<> {
        (0..self.stores.len()).map(StoreId::new)
    }
}

struct Builder<'p> {
    problem: &'p Problem,
    core: Core,
    /// Per value: what orders a reader behind a view that runs once.
    token: Vec<Option<StoreId>>,
    /// Per value: it has its place in the program's order.
    default: Vec<Option<DerivationId>>,
}

impl<'p> Builder<'p> {
    fn new(problem: &'p Problem) -> Self {
        let values = problem.values().len();
        let mut default = vec![None; values];
        for &id in problem.order() {
            for &value in &problem.derivation(id).outputs {
                default[value.index()] = Some(id);
            }
        }
        let core = Core {
            stores: Vec::new(),
            tasks: Vec::new(),
            order: Vec::new(),
            folded: vec![None; values],
            store_of: vec![None; values],
            complete: true,
        };
        Self { problem, core, token: vec![None; values], default }
    }

    fn build(mut self) -> Core {
        let needed = self.needed();
        for &id in self.problem.order() {
            if needed[id.index()] {
                self.place(id);
            }
        }
        self.add_alternatives();
        for &value in self.problem.outputs() {
            if let Some(store) = self.core.store_of[value.index()] {
                self.core.stores[store.index()].output = true;
            }
        }
        self.core
    }

    /// Derivations of the order that the outputs or effects need.
    fn needed(&self) -> Vec<bool> {
        let problem = self.problem;
        let mut needed = vec![false; problem.derivations().len()];
        let once = |d: &&DerivationId| !problem.derivation(**d).recomputable;
        let mut stack: Vec<DerivationId> = problem.order().iter().filter(once).copied().collect();
        stack.extend(problem.outputs().iter().filter_map(|v| self.default[v.index()]));
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut needed[id.index()], true) {
                let inputs = problem.derivation(id).inputs.iter();
                stack.extend(inputs.filter_map(|v| self.default[v.index()]));
            }
        }
        needed
    }

    fn new_store(&mut self, bytes: u64) -> StoreId {
        self.core.stores.push(Store { bytes: bytes as i64, tasks: Vec::new(), output: false });
        StoreId::new(self.core.stores.len() - 1)
    }

    /// What a derivation reads: roots, and tokens of views that run once.
    fn inputs_of(&self, id: DerivationId) -> Vec<StoreId> {
        let inputs = self.problem.derivation(id).inputs.iter();
        let mut stores: Vec<StoreId> =
            inputs.flat_map(|v| [self.core.store_of[v.index()], self.token[v.index()]]).flatten().collect();
        stores.sort_unstable();
        stores.dedup();
        stores
    }

    fn place(&mut self, id: DerivationId) {
        let derivation = self.problem.derivation(id);
        let mut inputs = self.inputs_of(id);
        let mut once = !derivation.recomputable;
        let mut outputs = Vec::new();
        if let (Some(base), [value]) = (derivation.alias, &derivation.outputs[..]) {
            let root = self.core.store_of[base.index()];
            self.core.store_of[value.index()] = root;
            if !once && inputs.iter().all(|input| Some(*input) == root) {
                self.core.folded[value.index()] = Some(id);
                let free = derivation.time.0 == 0.0 && derivation.workspace.0 == 0;
                self.core.complete &= free && self.problem.derivations_of(*value).len() == 1;
                return;
            }
            self.core.complete = false;
            once = true;
            let token = self.new_store(0);
            self.token[value.index()] = Some(token);
            outputs.push(token);
            self.pin(root);
        } else {
            for &value in &derivation.outputs {
                let store = self.new_store(self.problem.value(value).bytes.0);
                self.core.store_of[value.index()] = Some(store);
                outputs.push(store);
            }
        }
        inputs.dedup();
        let task = self.push_task(id, inputs, outputs, once);
        self.core.order.push(task);
    }

    /// The store is made once only.
    fn pin(&mut self, store: Option<StoreId>) {
        for task in store.iter().flat_map(|s| self.core.stores[s.index()].tasks.clone()) {
            self.core.tasks[task.index()].once = true;
        }
    }

    fn push_task(
        &mut self,
        derivation: DerivationId,
        inputs: Vec<StoreId>,
        outputs: Vec<StoreId>,
        once: bool,
    ) -> TaskId {
        let id = TaskId::new(self.core.tasks.len());
        outputs.iter().for_each(|s| self.core.stores[s.index()].tasks.push(id));
        let source = self.problem.derivation(derivation);
        self.core.tasks.push(Task {
            derivation,
            time: source.time.0,
            workspace: source.workspace.0 as i64,
            once,
            ordered: source.ordered,
            inputs,
            outputs,
        });
        id
    }

    /// Derivations outside the order (or dead in it), as far as they can run.
    /// Views among them are left out: their values have other derivations.
    fn add_alternatives(&mut self) {
        let mut open: Vec<DerivationId> =
            (0..self.problem.derivations().len()).map(DerivationId::new).collect();
        let placed: Vec<DerivationId> = self
            .core
            .order
            .iter()
            .map(|t| self.core.task(*t).derivation)
            .chain(self.core.folded.iter().flatten().copied())
            .collect();
        let mut done = vec![false; open.len()];
        placed.iter().for_each(|d| done[d.index()] = true);
        loop {
            let before = open.len();
            open.retain(|&id| !done[id.index()] && !self.try_alternative(id));
            if open.len() == before {
                break;
            }
        }
    }

    /// Adds a derivation if all it reads is known; says whether it is dealt with.
    fn try_alternative(&mut self, id: DerivationId) -> bool {
        let derivation = self.problem.derivation(id);
        if derivation.alias.is_some() || !derivation.recomputable {
            self.core.complete = false;
            return true;
        }
        let known = |v: &ValueId| self.core.store_of[v.index()].is_some() || self.is_resident(*v);
        if !derivation.inputs.iter().all(known) {
            return false;
        }
        let of_its_own =
            |v: &ValueId| self.core.folded[v.index()].is_none() && self.token[v.index()].is_none();
        let once = |v: &ValueId| {
            let store = self.core.store_of[v.index()];
            store.is_some_and(|s| self.core.store(s).tasks.iter().any(|t| self.core.task(*t).once))
        };
        if derivation.outputs.iter().any(|v| !of_its_own(v) || once(v)) {
            self.core.complete = false;
            return true;
        }
        let mut outputs = Vec::new();
        for &value in &derivation.outputs {
            let store = match self.core.store_of[value.index()] {
                Some(store) => store,
                None => self.new_store(self.problem.value(value).bytes.0),
            };
            self.core.store_of[value.index()] = Some(store);
            outputs.push(store);
        }
        let inputs = self.inputs_of(id);
        if outputs.iter().any(|s| inputs.contains(s)) {
            self.core.complete = false;
        } else {
            self.push_task(id, inputs, outputs, false);
        }
        true
    }

    /// Whether a value is a resident or a view of one.
    fn is_resident(&self, value: ValueId) -> bool {
        self.problem.value(value).resident || self.core.folded[value.index()].is_some()
    }
}
