//! The cut network of a [`Closure`](super::closure::Closure).

use super::closure::Keep;
use super::flow::{SINK, SOURCE};
use super::ids::{ActionId, StoreId};
use super::instant::Instant;
use super::relaxed::{Detour, Relaxed};

/// What an arc's capacity stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arc {
    /// The choice of this index.
    Keep(usize),
    /// Running an action again, with its scaled time.
    Time(ActionId, u64),
    /// An implication.
    Infinite,
}

/// A network as [`build`] leaves it.
#[derive(Debug)]
pub(super) struct Built {
    /// Number of nodes.
    pub(super) nodes: usize,
    /// Tails and heads of arcs.
    pub(super) ends: Vec<(usize, usize)>,
    /// What they stand for.
    pub(super) arcs: Vec<Arc>,
    /// The choices.
    pub(super) keeps: Vec<Keep>,
    /// Per instant the stores that must be kept.
    pub(super) must_keep: Vec<Vec<StoreId>>,
}

/// No node.
const NONE: usize = usize::MAX;

/// Builds the network. Linear time per instant.
///
/// Copies are built from the last instant to the first, since what a later one
/// needs, an earlier one may need too. Only what may be needed gets nodes. A
/// store's node is the source if it is needed for sure, and the node of what
/// needs it if there is just one.
pub(super) fn build(relaxed: &Relaxed, instants: &[Instant]) -> Built {
    let mut built = Built {
        nodes: 2,
        ends: Vec::new(),
        arcs: Vec::new(),
        keeps: Vec::new(),
        must_keep: vec![Vec::new(); instants.len()],
    };
    let mut later: Option<Copy> = None;
    for at in (0..instants.len()).rev() {
        let ran_before_earlier = |a: ActionId| instants[..at].iter().any(|i| i.before[a.index()]);
        let mut copy = Copy::new(relaxed, &instants[at]);
        copy.collect(later.as_ref(), &mut built);
        copy.connect_actions(later.as_ref(), &ran_before_earlier, &mut built);
        copy.connect_detours(at, &mut built);
        copy.connect_stores(later.as_ref(), at, &mut built);
        later = Some(copy);
    }
    built
}

impl Built {
    fn node(&mut self) -> usize {
        self.nodes += 1;
        self.nodes - 1
    }

    fn connect(&mut self, tail: usize, head: usize, arc: Arc) {
        self.ends.push((tail, head));
        self.arcs.push(arc);
    }
}

struct Copy<'a> {
    relaxed: &'a Relaxed,
    instant: &'a Instant,
    live: Vec<bool>,
    /// Per store: it is needed for sure.
    forced: Vec<bool>,
    /// Stores that some solution may need, in the order reached.
    needed: Vec<StoreId>,
    is_needed: Vec<bool>,
    /// Nodes of actions that some solution may run again.
    action_node: Vec<usize>,
    /// Such actions.
    actions: Vec<ActionId>,
    /// Nodes of detours that some solution may have to make.
    detour_node: Vec<usize>,
    /// Nodes of needed stores.
    store_node: Vec<usize>,
}

impl<'a> Copy<'a> {
    fn new(relaxed: &'a Relaxed, instant: &'a Instant) -> Self {
        let mut live = vec![false; relaxed.stores.len()];
        instant.live.iter().for_each(|s| live[s.index()] = true);
        Self {
            relaxed,
            instant,
            live,
            forced: vec![false; relaxed.stores.len()],
            needed: Vec::new(),
            is_needed: vec![false; relaxed.stores.len()],
            action_node: vec![NONE; relaxed.actions.len()],
            actions: Vec::new(),
            detour_node: vec![NONE; relaxed.actions.len()],
            store_node: vec![NONE; relaxed.stores.len()],
        }
    }

    /// Notes that a store may be needed, unless it is live or made later anyway.
    fn need(&mut self, store: StoreId) {
        let maker = self.relaxed.store(store).maker;
        let open = !self.live[store.index()] && !self.instant.after[maker.index()];
        if open && !std::mem::replace(&mut self.is_needed[store.index()], true) {
            self.needed.push(store);
        }
    }

    fn force(&mut self, store: StoreId) {
        self.forced[store.index()] = true;
        self.need(store);
    }

    /// Notes that an action may run again, and so what it needs.
    fn run(&mut self, action: ActionId, built: &mut Built) {
        let must = self.instant.after[action.index()];
        if must || self.action_node[action.index()] != NONE {
            return;
        }
        if self.relaxed.action(action).once && self.instant.before[action.index()] {
            self.action_node[action.index()] = SINK;
            return;
        }
        self.action_node[action.index()] = built.node();
        self.actions.push(action);
        for &input in &self.relaxed.action(action).inputs {
            self.need(input);
        }
        self.detour(action, built);
    }

    /// Notes that an action's detour may have to be made.
    fn detour(&mut self, action: ActionId, built: &mut Built) {
        if let Some(detour) = &self.relaxed.action(action).detour {
            self.detour_node[action.index()] = built.node();
            detour.stores.iter().for_each(|&store| self.need(store));
        }
    }

    /// Everything that some solution may need or run again.
    fn collect(&mut self, later: Option<&Self>, built: &mut Built) {
        let relaxed = self.relaxed;
        for action in relaxed.action_ids().filter(|a| self.instant.after[a.index()]) {
            relaxed.action(action).inputs.iter().for_each(|&store| self.force(store));
            self.detour(action, built);
        }
        let outputs = relaxed.stores.iter().enumerate().filter(|(_, store)| store.output);
        outputs.for_each(|(index, _)| self.force(StoreId::new(index)));
        if let Some(later) = later {
            later.needed.iter().for_each(|&store| self.need(store));
            later.actions.iter().for_each(|&action| self.run(action, built));
        }
        let mut at = 0;
        while let Some(&store) = self.needed.get(at) {
            at += 1;
            self.run(relaxed.store(store).maker, built);
        }
    }

    /// Charges, and what runs after a later instant runs after this one.
    fn connect_actions(
        &self,
        later: Option<&Self>,
        ran_before_earlier: &impl Fn(ActionId) -> bool,
        built: &mut Built,
    ) {
        for &action in &self.actions {
            let node = self.action_node[action.index()];
            if self.instant.before[action.index()] && !ran_before_earlier(action) {
                let time = self.relaxed.action(action).time;
                built.connect(node, SINK, Arc::Time(action, time));
            }
        }
        for &action in later.iter().flat_map(|later| &later.actions) {
            let node = self.action_node[action.index()];
            if let Some(later) = later
                && node != NONE
            {
                built.connect(later.action_node[action.index()], node, Arc::Infinite);
            }
        }
    }

    /// Who runs has what is needed, or has kept something else.
    fn connect_detours(&self, instant: usize, built: &mut Built) {
        for action in self.relaxed.action_ids() {
            let (node, detour) = (self.detour_node[action.index()], &self.relaxed.action(action).detour);
            if let Some(Detour { bytes, .. }) = *detour
                && node != NONE
            {
                let must = self.instant.after[action.index()];
                let runs = if must { SOURCE } else { self.action_node[action.index()] };
                built.connect(runs, node, Arc::Keep(built.keeps.len()));
                built.keeps.push(Keep { store: None, bytes, instant });
            }
        }
    }

    fn connect_stores(&mut self, later: Option<&Self>, instant: usize, built: &mut Built) {
        for index in 0..self.needed.len() {
            let store = self.needed[index];
            let node = self.node_of_store(store, later, built);
            self.store_node[store.index()] = node;
            let maker = self.action_node[self.relaxed.store(store).maker.index()];
            if (node, maker) == (SOURCE, SINK) {
                built.must_keep[instant].push(store);
                continue;
            }
            built.connect(node, maker, Arc::Keep(built.keeps.len()));
            built.keeps.push(Keep { store: Some(store), bytes: self.relaxed.store(store).bytes, instant });
        }
    }

    fn node_of_store(&self, store: StoreId, later: Option<&Self>, built: &mut Built) -> usize {
        if self.forced[store.index()] {
            return SOURCE;
        }
        let users = self.relaxed.store(store).users.iter();
        let mut needers: Vec<usize> = users.map(|u| self.action_node[u.index()]).collect();
        let detours = self.relaxed.store(store).detoured_by.iter();
        needers.extend(detours.map(|a| self.detour_node[a.index()]));
        needers.extend(later.map(|later| later.store_node[store.index()]));
        needers.retain(|&node| node != NONE && node != SINK);
        if let [only] = needers[..] {
            return only;
        }
        let own = built.node();
        needers.into_iter().for_each(|needer| built.connect(needer, own, Arc::Infinite));
        own
    }
}
