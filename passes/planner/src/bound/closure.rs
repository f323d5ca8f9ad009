//! The closure problem at an instant, and its cut network.
//!
//! At an [`Instant`], what is needed later is either kept or computed again.
//! Let `x_a` say that action `a` runs after the instant and `y_v` that store
//! `v` is needed after it:
//!
//! ```text
//! min  Σ time_a x_a  over actions that ran before
//! s.t. y_v = 1                   for inputs of actions that must run after, and outputs
//!      y_v ≥ x_a                 for each input v of a
//!      Σ bytes_v max(0, y_v − x_maker(v)) ≤ capacity
//! ```
//!
//! An action that ran before and runs again is overhead; one of which neither
//! is known costs nothing here. With a price per byte in place of the last row
//! the rest is a minimum cut (Picard 1976; in PyTorch's partitioner the same
//! cut has fixed prices): `x` and `y` are on the source's side if one, keeping
//! `v` is an arc from `y_v` to `x_maker(v)`, time an arc from `x_a` to the sink.

use super::flow::{INFINITE, Network, SINK, SOURCE};
use super::ids::{ActionId, StoreId};
use super::instant::Instant;
use super::relaxed::Relaxed;

/// A price per byte: `units / 2^PRICE_SHIFT` scaled time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Price(pub(super) u128);

/// Fraction bits of a [`Price`]: a price of one scaled microsecond for a
/// tebibyte still has 20 significant bits.
pub(super) const PRICE_SHIFT: u32 = 60;

impl Price {
    /// The price at which `bytes` cost `time`, rounded down.
    pub(super) fn at(time: u64, bytes: u64) -> Self {
        Self((u128::from(time) << PRICE_SHIFT) / u128::from(bytes.max(1)))
    }

    /// What `bytes` cost, rounded down and at most `limit`.
    pub(super) fn floor(self, bytes: u64, limit: u64) -> u64 {
        let exact = self.0.checked_mul(u128::from(bytes)).map_or(u128::MAX, |p| p >> PRICE_SHIFT);
        exact.min(u128::from(limit)) as u64
    }

    /// What `bytes` cost, rounded up; `None` if it does not fit.
    pub(super) fn ceil(self, bytes: u64) -> Option<u64> {
        let exact = self.0.checked_mul(u128::from(bytes))?;
        u64::try_from(exact.div_ceil(1 << PRICE_SHIFT)).ok()
    }
}

/// What a branch has decided about a [`Closure`]'s keep arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nothing.
    Open,
    /// The store is live at the instant, and paid for.
    Kept,
    /// The store is not live at the instant.
    Dropped,
}

#[derive(Clone, Copy, Debug)]
enum Arc {
    Keep(usize),
    Time(u64),
    Infinite,
}

/// A solution of the closure problem.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// Value of the cut under the price that it was computed for, without what is decided.
    pub(super) value: u64,
    /// Scaled time of everything that runs again.
    pub(super) time: u64,
    /// Bytes of everything kept that is not decided yet.
    pub(super) bytes: u64,
    /// Per keep arc: it is cut, so the store is kept by choice.
    pub(super) kept: Vec<bool>,
}

/// The closure problem at one instant.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    network: Network,
    arcs: Vec<Arc>,
    /// Stores that may be kept or not, by keep arc.
    pub(super) stores: Vec<StoreId>,
    /// Their bytes.
    pub(super) bytes: Vec<u64>,
    /// Stores that must be kept: needed, and made by an action that may not run again.
    pub(super) must_keep: Vec<StoreId>,
    /// Bytes that are held whatever is chosen.
    pub(super) held: u64,
    capacities: Vec<u64>,
}

impl Closure {
    /// Builds the network. Linear time.
    pub(super) fn new(relaxed: &Relaxed, instant: &Instant) -> Self {
        Builder::new(relaxed, instant).build()
    }

    /// The smallest cut under a price, `None` if the decisions rule out all solutions.
    pub(super) fn cut(&mut self, price: Price, decisions: &[Decision]) -> Option<Cut> {
        // Less than the price is sound: it only lowers a cut. All arcs together
        // stay below INFINITE, so that no finite cut looks infinite.
        let limit = (INFINITE >> 1) / (self.stores.len() as u64 + 1);
        let value = self.solve(|bytes| price.floor(bytes, limit), |time| time, decisions)?;
        let (mut time, mut bytes) = (0, 0);
        let mut kept = vec![false; self.stores.len()];
        for (index, arc) in self.arcs.iter().enumerate() {
            let (tail, head) = self.network.ends(index);
            if !self.network.on_source_side(tail) || self.network.on_source_side(head) {
                continue;
            }
            match *arc {
                Arc::Keep(keep) if decisions[keep] == Decision::Open => {
                    bytes += self.bytes[keep];
                    kept[keep] = true;
                }
                Arc::Time(own) => time += own,
                _ => {}
            }
        }
        Some(Cut { value, time, bytes, kept })
    }

    /// A lower bound on the bytes kept by any solution, besides [`Closure::held`],
    /// however long it takes, and the kept stores; `None` if there is no solution.
    pub(super) fn fewest_bytes(&mut self, decisions: &[Decision]) -> Option<u64> {
        // Shifted down so that no sum reaches INFINITE; rounding down is sound.
        let total: u64 = self.bytes.iter().sum();
        let shift = (64 - total.leading_zeros()).saturating_sub(58);
        self.solve(|bytes| bytes >> shift, |_| 0, decisions).map(|value| value << shift)
    }

    /// After [`Closure::fewest_bytes`]: what that solution keeps.
    pub(super) fn kept_by_last(&self) -> Vec<StoreId> {
        let cut = |index: &usize| {
            let (tail, head) = self.network.ends(*index);
            self.network.on_source_side(tail) && !self.network.on_source_side(head)
        };
        let keep = |index: usize| match self.arcs[index] {
            Arc::Keep(keep) => Some(self.stores[keep]),
            _ => None,
        };
        (0..self.arcs.len()).filter(cut).filter_map(keep).collect()
    }

    fn solve(
        &mut self,
        price: impl Fn(u64) -> u64,
        time: impl Fn(u64) -> u64,
        decisions: &[Decision],
    ) -> Option<u64> {
        self.capacities.clear();
        self.capacities.extend(self.arcs.iter().map(|arc| match *arc {
            Arc::Keep(keep) => match decisions[keep] {
                Decision::Open => price(self.bytes[keep]),
                Decision::Kept => 0,
                Decision::Dropped => INFINITE,
            },
            Arc::Time(own) => time(own),
            Arc::Infinite => INFINITE,
        }));
        self.network.minimum_cut(&self.capacities)
    }
}

/// Not reached.
const NONE: usize = usize::MAX;

struct Builder<'a> {
    relaxed: &'a Relaxed,
    instant: &'a Instant,
    /// Per store: it must be available after the instant.
    forced: Vec<bool>,
    live: Vec<bool>,
    /// Stores that some solution may need, in the order reached.
    needed: Vec<StoreId>,
    is_needed: Vec<bool>,
    /// Per action: its node, if some solution may run it again.
    action_node: Vec<usize>,
    /// Such actions.
    actions: Vec<ActionId>,
    nodes: usize,
}

impl<'a> Builder<'a> {
    fn new(relaxed: &'a Relaxed, instant: &'a Instant) -> Self {
        let mut live = vec![false; relaxed.stores.len()];
        instant.live.iter().for_each(|s| live[s.index()] = true);
        Self {
            relaxed,
            instant,
            forced: vec![false; relaxed.stores.len()],
            live,
            needed: Vec::new(),
            is_needed: vec![false; relaxed.stores.len()],
            action_node: vec![NONE; relaxed.actions.len()],
            actions: Vec::new(),
            nodes: 2,
        }
    }

    /// Whether a store needs a decision: it is not live anyway and not made after anyway.
    fn open(&self, store: StoreId) -> bool {
        let maker = self.relaxed.store(store).maker;
        !self.live[store.index()] && !self.instant.after[maker.index()]
    }

    fn need(&mut self, store: StoreId) {
        if self.open(store) && !std::mem::replace(&mut self.is_needed[store.index()], true) {
            self.needed.push(store);
        }
    }

    /// Whether an action may not run after the instant.
    fn never_again(&self, action: ActionId) -> bool {
        self.relaxed.action(action).once && self.instant.before[action.index()]
    }

    fn collect(&mut self) {
        let relaxed = self.relaxed;
        for action in relaxed.action_ids().filter(|a| self.instant.after[a.index()]) {
            for &store in &relaxed.action(action).inputs {
                self.forced[store.index()] = true;
                self.need(store);
            }
        }
        for (index, _) in relaxed.stores.iter().enumerate().filter(|(_, s)| s.output) {
            self.forced[index] = true;
            self.need(StoreId::new(index));
        }
        let mut at = 0;
        while let Some(&store) = self.needed.get(at) {
            at += 1;
            let maker = relaxed.store(store).maker;
            if self.action_node[maker.index()] != NONE {
                continue;
            }
            if self.never_again(maker) {
                self.action_node[maker.index()] = SINK;
                continue;
            }
            self.action_node[maker.index()] = self.nodes;
            self.nodes += 1;
            self.actions.push(maker);
            for &input in &relaxed.action(maker).inputs {
                self.need(input);
            }
        }
    }

    /// The node of `y_v`: the source if forced, the only user's node if there
    /// is just one, else a node of its own.
    fn store_node(&mut self, store: StoreId, ends: &mut Vec<(usize, usize)>) -> usize {
        if self.forced[store.index()] {
            return SOURCE;
        }
        let users = self.relaxed.store(store).users.iter();
        let nodes: Vec<usize> = users
            .map(|u| self.action_node[u.index()])
            .filter(|&node| node != NONE && node != SINK)
            .collect();
        if let [only] = nodes[..] {
            return only;
        }
        let own = self.nodes;
        self.nodes += 1;
        ends.extend(nodes.into_iter().map(|user| (user, own)));
        own
    }

    fn build(mut self) -> Closure {
        self.collect();
        let mut ends = Vec::new();
        let mut arcs = Vec::new();
        let mut stores = Vec::new();
        let mut must_keep = Vec::new();
        for &action in &self.actions {
            let counted = self.instant.before[action.index()];
            if counted {
                ends.push((self.action_node[action.index()], SINK));
                arcs.push(Arc::Time(self.relaxed.action(action).time));
            }
        }
        for store in std::mem::take(&mut self.needed) {
            let maker = self.action_node[self.relaxed.store(store).maker.index()];
            let node = self.store_node(store, &mut ends);
            arcs.resize(ends.len(), Arc::Infinite);
            if (node, maker) == (SOURCE, SINK) {
                must_keep.push(store);
                continue;
            }
            ends.push((node, maker));
            arcs.push(Arc::Keep(stores.len()));
            stores.push(store);
        }
        let held =
            self.instant.held(self.relaxed).saturating_add(self.relaxed.bytes_of(&must_keep));
        Closure {
            network: Network::new(self.nodes, &ends),
            bytes: stores.iter().map(|&s| self.relaxed.store(s).bytes).collect(),
            stores,
            must_keep,
            held,
            capacities: Vec::with_capacity(arcs.len()),
            arcs,
        }
    }
}
