//! One placement: buffers in a given order, each at the lowest gap that holds it.

use crate::{BufferId, Layout, Request};
use ckpt_entity::{Bytes, EntityId as _, EntityVec};

/// Pairs of buffers that are live together which are kept as lists, at 4 bytes
/// each; beyond, every placement looks at all buffers.
const MAX_LISTED_PAIRS: usize = 1 << 25;

/// The buffers that each buffer must keep clear of.
pub(crate) struct Conflicts {
    lists: Option<Vec<Vec<u32>>>,
}

impl Conflicts {
    /// Finds all pairs by a sweep over the starts. Linear in the pairs.
    pub(crate) fn of(requests: &EntityVec<BufferId, Request>) -> Self {
        let mut by_start: Vec<BufferId> = requests.ids().filter(|id| requests[*id].bytes.0 > 0).collect();
        by_start.sort_unstable_by_key(|id| (requests[*id].first, *id));
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); requests.len()];
        let mut live: Vec<BufferId> = Vec::new();
        let mut pairs = 0;
        for id in by_start {
            live.retain(|other| requests[*other].last >= requests[id].first);
            pairs += live.len();
            if pairs > MAX_LISTED_PAIRS {
                return Self { lists: None };
            }
            for &other in &live {
                lists[other.index()].push(id.index() as u32);
                lists[id.index()].push(other.index() as u32);
            }
            live.push(id);
        }
        Self { lists: Some(lists) }
    }

    /// Calls `visit` for each buffer live together with `id`, and for others
    /// where lists are too long to keep.
    fn visit(&self, id: BufferId, count: usize, mut visit: impl FnMut(usize)) {
        match &self.lists {
            Some(lists) => lists[id.index()].iter().for_each(|other| visit(*other as usize)),
            None => (0..count).filter(|other| *other != id.index()).for_each(visit),
        }
    }

    /// Steps that one placement of all buffers takes.
    pub(crate) fn work(&self, buffers: usize) -> u64 {
        match &self.lists {
            Some(lists) => lists.iter().map(|list| list.len() as u64).sum::<u64>() + buffers as u64,
            None => (buffers * buffers) as u64,
        }
    }
}

/// An offset that no buffer has.
const UNPLACED: u64 = u64::MAX;

/// Places all buffers in `order`, each in the lowest gap between those placed
/// before that are live together with it; gives up once the arena exceeds `limit`.
pub(crate) fn place(
    requests: &EntityVec<BufferId, Request>,
    conflicts: &Conflicts,
    order: &[BufferId],
    limit: u64,
) -> Option<Layout> {
    let mut offsets: EntityVec<BufferId, u64> = EntityVec::filled(UNPLACED, requests.len());
    let mut taken: Vec<(u64, u64)> = Vec::new();
    let mut arena = 0;
    for &id in order {
        let request = &requests[id];
        if request.bytes.0 == 0 {
            offsets[id] = 0;
            continue;
        }
        taken.clear();
        conflicts.visit(id, requests.len(), |other| {
            let other = BufferId::from_index(other);
            let offset = offsets[other];
            if offset != UNPLACED && requests[other].overlaps(request) {
                taken.push((offset, offset.saturating_add(requests[other].bytes.0)));
            }
        });
        taken.sort_unstable();
        let offset = lowest_gap(&taken, request);
        let end = offset.saturating_add(request.bytes.0);
        if end > limit {
            return None;
        }
        arena = arena.max(end);
        offsets[id] = offset;
    }
    Some(Layout { offsets, arena: Bytes(arena) })
}

/// The lowest aligned offset at which a buffer fits between sorted intervals.
fn lowest_gap(taken: &[(u64, u64)], request: &Request) -> u64 {
    let mut floor = 0u64;
    for &(start, end) in taken {
        let offset = floor.next_multiple_of(request.align);
        if offset.saturating_add(request.bytes.0) <= start {
            return offset;
        }
        floor = floor.max(end);
    }
    floor.next_multiple_of(request.align)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_aligned() {
        let request = |bytes, align| Request { bytes: Bytes(bytes), align, first: 0, last: 0 };
        let taken = [(0, 5), (12, 20), (32, 40)];
        assert_eq!(lowest_gap(&taken, &request(7, 1)), 5);
        assert_eq!(lowest_gap(&taken, &request(4, 4)), 8);
        assert_eq!(lowest_gap(&taken, &request(12, 1)), 20);
        assert_eq!(lowest_gap(&taken, &request(13, 64)), 64);
    }
}
