//! The closure problem at one or several instants.
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
//! the rest is a minimum cut (Picard 1976; PyTorch's partitioner solves the
//! same cut with fixed prices): `x` and `y` are on the source's side if one,
//! keeping `v` is an arc from `y_v` to `x_maker(v)`, time an arc from `x_a` to
//! the sink.
//!
//! Several instants, each after the one before in every plan, give one copy
//! each, with a capacity and a price each. What runs, or is needed, after a
//! later instant does so after the earlier ones: arcs from copy to copy. An
//! action is charged in the first copy before which it has run. The same
//! recomputations must so satisfy all capacities.

use super::flow::{INFINITE, Network};
use super::ids::{ActionId, StoreId};
use super::instant::Instant;
use super::network::{self, Arc};
use super::price::Price;
use super::relaxed::Relaxed;

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

/// A store that may be kept at an instant, or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// The store; `None` for what is kept on a [`Detour`](super::relaxed::Detour).
    pub(super) store: Option<StoreId>,
    /// Its bytes.
    pub(super) bytes: u64,
    /// Index of the instant.
    pub(super) instant: usize,
}

/// A solution of the closure problem without its capacities.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// Scaled time of everything that runs again.
    pub(super) time: u64,
    /// Per keep arc: the store is kept, by choice or decision.
    pub(super) kept: Vec<bool>,
    /// What runs again and is charged.
    pub(super) again: Vec<ActionId>,
}

/// The closure problem, see the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    network: Network,
    arcs: Vec<Arc>,
    /// The choices.
    pub(super) keeps: Vec<Keep>,
    /// Per instant the stores that must be kept: needed, and made by an action that may not run again.
    pub(super) must_keep: Vec<Vec<StoreId>>,
    /// Per instant the bytes that are held whatever is chosen.
    pub(super) held: Vec<u64>,
    /// Scaled time of all charged actions together: no solution takes more.
    pub(super) total_time: u64,
    capacities: Vec<u64>,
}

impl Closure {
    /// Builds the network for instants that follow each other in every plan.
    /// Time linear in the problem's size, per instant.
    pub(super) fn new(relaxed: &Relaxed, instants: &[Instant]) -> Self {
        let built = network::build(relaxed, instants);
        let held = |(instant, must): (&Instant, &Vec<StoreId>)| {
            instant.held(relaxed).saturating_add(relaxed.bytes_of(must))
        };
        let charged = |arc: &Arc| if let Arc::Time(_, time) = arc { *time } else { 0 };
        Self {
            network: Network::new(built.nodes, &built.ends),
            held: instants.iter().zip(&built.must_keep).map(held).collect(),
            must_keep: built.must_keep,
            keeps: built.keeps,
            total_time: built.arcs.iter().map(charged).sum(),
            capacities: Vec::with_capacity(built.arcs.len()),
            arcs: built.arcs,
        }
    }

    /// Frees an action of its charge. Other bounds on the same network follow.
    pub(super) fn uncharge(&mut self, free: &[bool]) {
        for arc in &mut self.arcs {
            if let Arc::Time(action, time) = arc
                && free[action.index()]
            {
                *time = 0;
            }
        }
    }

    /// The smallest cut under a price per instant, with its value (decided
    /// keeps are free in it); `None` if the decisions rule out all solutions.
    pub(super) fn cut(&mut self, prices: &[Price], decisions: &[Decision]) -> Option<(u64, Cut)> {
        let limit = self.cost_limit();
        let price = |keep: &Keep| prices[keep.instant].floor(keep.bytes, limit);
        let value = self.solve(price, |time| time, decisions)?;
        let mut cut = Cut {
            time: 0,
            kept: decisions.iter().map(|d| *d == Decision::Kept).collect(),
            again: Vec::new(),
        };
        for (_, arc) in self.arcs.iter().enumerate().filter(|(index, _)| self.is_cut(*index)) {
            match *arc {
                Arc::Keep(keep) => cut.kept[keep] = true,
                Arc::Time(action, time) => {
                    cut.time += time;
                    cut.again.push(action);
                }
                Arc::Infinite => {}
            }
        }
        Some((value, cut))
    }

    /// The most that one store is charged. Less than its price is sound: it
    /// only lowers a cut. All arcs together stay below `INFINITE`, so that no
    /// finite cut looks infinite.
    fn cost_limit(&self) -> u64 {
        (INFINITE >> 1) / (self.keeps.len() as u64 + 1)
    }

    /// The highest price at which no store reaches the limit on costs: far
    /// above any time saved, except for tiny stores beside huge ones.
    pub(super) fn dearest_price(&self) -> Price {
        let largest = self.keeps.iter().map(|k| k.bytes).max().unwrap_or(1).max(1);
        Price::new(0.5 * self.cost_limit() as f64 / largest as f64)
    }

    /// Bytes of what a solution keeps at each instant.
    pub(super) fn kept_bytes(&self, kept: &[bool]) -> Vec<u64> {
        let mut bytes = vec![0; self.held.len()];
        for (keep, _) in self.keeps.iter().zip(kept).filter(|(_, kept)| **kept) {
            bytes[keep.instant] += keep.bytes;
        }
        bytes
    }

    /// With one instant: a lower bound on the bytes that any solution keeps
    /// besides [`Closure::held`], and a choice that keeps so few; `None` if
    /// there is no solution.
    pub(super) fn fewest_bytes(&mut self) -> Option<(u64, Vec<StoreId>)> {
        // Shifted down so that no sum reaches INFINITE; rounding down is sound.
        let total: u64 = self.keeps.iter().map(|k| k.bytes).sum();
        let shift = (64 - total.leading_zeros()).saturating_sub(58);
        let open = vec![Decision::Open; self.keeps.len()];
        let value = self.solve(|keep| keep.bytes >> shift, |_| 0, &open)?;
        let keep = |(index, arc): (usize, &Arc)| match arc {
            Arc::Keep(keep) if self.is_cut(index) => self.keeps[*keep].store,
            _ => None,
        };
        Some((value << shift, self.arcs.iter().enumerate().filter_map(keep).collect()))
    }

    fn is_cut(&self, arc: usize) -> bool {
        let (tail, head) = self.network.ends(arc);
        self.network.on_source_side(tail) && !self.network.on_source_side(head)
    }

    fn solve(
        &mut self,
        price: impl Fn(&Keep) -> u64,
        time: impl Fn(u64) -> u64,
        decisions: &[Decision],
    ) -> Option<u64> {
        self.capacities.clear();
        self.capacities.extend(self.arcs.iter().map(|arc| match *arc {
            Arc::Keep(keep) => match decisions[keep] {
                Decision::Open => price(&self.keeps[keep]),
                Decision::Kept => 0,
                Decision::Dropped => INFINITE,
            },
            Arc::Time(_, own) => time(own),
            Arc::Infinite => INFINITE,
        }));
        self.network.minimum_cut(&self.capacities)
    }
}
