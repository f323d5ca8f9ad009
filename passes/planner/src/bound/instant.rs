//! Instants: points in time that every legal plan passes.
//!
//! An [`Instant`] says what is known of the plan there: which actions have all
//! run before, which must still run after, what is live. The first run of any
//! action is one: its ancestors ran before, it and its descendants have not.

use super::ids::{ActionId, StoreId};
use super::relaxed::{Relaxed, Store};

/// What is known of every legal plan at one point of its time.
#[derive(Clone, Debug)]
pub(super) struct Instant {
    /// Per action: it has run at least once.
    pub(super) before: Vec<bool>,
    /// Per action: it will run at least once (again).
    pub(super) after: Vec<bool>,
    /// Stores that are live whatever else is kept, ascending.
    pub(super) live: Vec<StoreId>,
    /// Bytes held besides.
    pub(super) workspace: u64,
}

impl Instant {
    /// During the first run of `action`: inputs, outputs and workspace are held.
    /// Linear time.
    pub(super) fn first_run(relaxed: &Relaxed, action: ActionId) -> Self {
        let a = relaxed.action(action);
        let mut live: Vec<StoreId> = a.inputs.iter().chain(&a.outputs).copied().collect();
        live.sort_unstable();
        live.dedup();
        let mut after = descendants(relaxed, action);
        after[action.index()] = false;
        let mut before = ancestors(relaxed, action);
        before[action.index()] = true;
        Self { before, after, live, workspace: a.workspace }
    }

    /// The end of the plan: all outputs are held, nothing runs any more.
    pub(super) fn end(relaxed: &Relaxed) -> Self {
        let count = relaxed.actions.len();
        let stores = relaxed.stores.iter().enumerate();
        let live = stores.filter(|(_, s)| s.output).map(|(s, _)| StoreId::new(s)).collect();
        Self { before: vec![true; count], after: vec![false; count], live, workspace: 0 }
    }

    /// Bytes that are live here if nothing is computed twice and everything is
    /// kept that is needed later: a quick measure of how tight the instant is.
    pub(super) fn bytes_without_remat(&self, relaxed: &Relaxed) -> u64 {
        let used_after = |users: &[ActionId]| users.iter().any(|u| self.after[u.index()]);
        let crosses = |&(index, store): &(usize, &Store)| {
            !self.after[store.maker.index()]
                && self.live.binary_search(&StoreId::new(index)).is_err()
                && (store.output || used_after(&store.users))
        };
        let stores = relaxed.stores.iter().enumerate();
        let crossing: u64 = stores.filter(crosses).map(|(_, store)| store.bytes).sum();
        self.held(relaxed).saturating_add(crossing)
    }

    /// Bytes held whatever else is kept.
    pub(super) fn held(&self, relaxed: &Relaxed) -> u64 {
        relaxed.bytes_of(&self.live).saturating_add(self.workspace)
    }
}

/// `action` and what must run before it for the first time, per action.
pub(super) fn ancestors(relaxed: &Relaxed, action: ActionId) -> Vec<bool> {
    let mut marked = vec![false; relaxed.actions.len()];
    let mut stack = vec![action];
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut marked[at.index()], true) {
            let detour = relaxed.action(at).detour.iter().flat_map(|d| &d.stores);
            let needs = relaxed.action(at).inputs.iter().chain(detour);
            stack.extend(needs.map(|&s| relaxed.store(s).maker));
        }
    }
    marked
}

/// `action` and what cannot run before it, per action.
pub(super) fn descendants(relaxed: &Relaxed, action: ActionId) -> Vec<bool> {
    let mut marked = vec![false; relaxed.actions.len()];
    let mut stack = vec![action];
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut marked[at.index()], true) {
            for &store in &relaxed.action(at).outputs {
                stack.extend(&relaxed.store(store).users);
                stack.extend(&relaxed.store(store).detoured_by);
            }
        }
    }
    marked
}
