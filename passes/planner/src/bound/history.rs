//! What a live set says of the past.
//!
//! Stores that are live together at some time were computed one after the
//! other. Whichever was computed last, the rest was live meanwhile, beside its
//! maker's inputs and workspace; and just before that run the rest and those
//! inputs were live together. So a bottleneck search over live sets, backwards
//! from one that every plan passes, gives a lower bound on the peak: the least
//! over all histories of the most bytes held. (Pebble games know the same
//! search; what must stay live for later uses is left out here.)

use super::ids::{ActionId, StoreId};
use super::relaxed::Relaxed;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Which actions run before which for the first time, as a bit matrix.
#[derive(Debug)]
pub(super) struct Ancestry {
    words: usize,
    bits: Vec<u64>,
}

impl Ancestry {
    /// Actions up to which the matrix is built: 8 MiB.
    const MAX_ACTIONS: usize = 1 << 13;

    /// The matrix, if the problem is small enough. Quadratic time and space over 64.
    pub(super) fn new(relaxed: &Relaxed) -> Option<Self> {
        let count = relaxed.actions.len();
        if count > Self::MAX_ACTIONS {
            return None;
        }
        let words = count.div_ceil(64);
        let mut bits = vec![0u64; words * count];
        for action in relaxed.action_ids() {
            let row = action.index() * words;
            for &input in &relaxed.action(action).inputs {
                let maker = relaxed.store(input).maker.index();
                bits[row + maker / 64] |= 1 << (maker % 64);
                let (earlier, own) = bits.split_at_mut(row);
                let from = &earlier[maker * words..(maker + 1) * words];
                own[..words].iter_mut().zip(from).for_each(|(own, from)| *own |= from);
            }
        }
        Some(Self { words, bits })
    }

    /// Whether every plan runs `first` before the first run of `second`.
    pub(super) fn precedes(&self, first: ActionId, second: ActionId) -> bool {
        let word = self.bits[second.index() * self.words + first.index() / 64];
        word >> (first.index() % 64) & 1 == 1
    }
}

/// A live set: stores in ascending order.
type Live = Vec<StoreId>;

/// Searches for the history of `live` that holds the fewest bytes at its
/// worst. Returns those bytes, at least `floor`, and the work done: stores
/// looked at. When that exceeds `max_work`, it returns what is proven so far.
pub(super) fn least_peak_before(
    relaxed: &Relaxed,
    ancestry: Option<&Ancestry>,
    live: &[StoreId],
    floor: u64,
    max_work: usize,
) -> (u64, usize) {
    let mut closed: HashSet<Live> = HashSet::new();
    // Least bytes first; among equals what lies furthest back.
    let mut open = BinaryHeap::from([Reverse((floor, latest(relaxed, live), live.to_vec()))]);
    let mut most = floor;
    let mut work = 0;
    while let Some(Reverse((bytes, _, stores))) = open.pop() {
        most = bytes;
        if stores.is_empty() || work >= max_work {
            break;
        }
        if !closed.insert(stores.clone()) {
            continue;
        }
        for maker in makers(relaxed, &stores) {
            work += stores.len() + relaxed.action(maker).inputs.len();
            if work >= max_work {
                return (most, work);
            }
            let Some((during, before)) = step_back(relaxed, ancestry, &stores, maker) else {
                continue;
            };
            if !closed.contains(&before) {
                open.push(Reverse((bytes.max(during), latest(relaxed, &before), before)));
            }
        }
    }
    (most, work)
}

/// The run that computed the last of `stores`, if that was `maker`: bytes held
/// during it, and what was live before. `None` if it cannot have been.
fn step_back(
    relaxed: &Relaxed,
    ancestry: Option<&Ancestry>,
    stores: &[StoreId],
    maker: ActionId,
) -> Option<(u64, Live)> {
    let action = relaxed.action(maker);
    let mut before: Live = stores.iter().copied().filter(|&s| relaxed.store(s).maker != maker).collect();
    let ran_already = |rest: &StoreId| {
        ancestry.is_some_and(|ancestry| ancestry.precedes(maker, relaxed.store(*rest).maker))
    };
    if action.once && before.iter().any(ran_already) {
        return None;
    }
    before.extend(&action.inputs);
    before.sort_unstable();
    before.dedup();
    let during = relaxed.bytes_of(before.iter().chain(&action.outputs));
    Some((during.saturating_add(action.workspace), before))
}

/// The last of the makers.
fn latest(relaxed: &Relaxed, stores: &[StoreId]) -> Option<ActionId> {
    stores.iter().map(|&s| relaxed.store(s).maker).max()
}

/// The distinct makers of some stores.
fn makers(relaxed: &Relaxed, stores: &[StoreId]) -> Vec<ActionId> {
    let mut makers: Vec<ActionId> = stores.iter().map(|&s| relaxed.store(s).maker).collect();
    makers.sort_unstable();
    makers.dedup();
    makers
}
