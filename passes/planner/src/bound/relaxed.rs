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
use super::relax::relax;
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
    /// Actions with a detour around it, ascending.
    pub(super) detoured_by: Vec<ActionId>,
    /// Whether it is live at the end.
    pub(super) output: bool,
}

/// A need that can be met in another way: all of `stores` are available, or
/// something else is kept instead that holds at least `bytes`.
///
/// It stands for a value with several derivations of which one reads `u` and
/// another `p`, where `p` comes from `u` in the only way: whoever runs it after
/// some instant has `u` then, or has kept `p`.
#[derive(Clone, Debug)]
pub(super) struct Detour {
    /// What is needed.
    pub(super) stores: Vec<StoreId>,
    /// The least that is kept otherwise.
    pub(super) bytes: u64,
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
    /// Stores that it needs unless something else is kept.
    pub(super) detour: Option<Detour>,
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

impl Relaxed {
    /// Builds the relaxation in time linear in the problem's size.
    pub(super) fn new(problem: &Problem) -> Self {
        relax(problem)
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
