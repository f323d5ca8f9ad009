//! Live bytes over the slots of a timeline: add to a range, ask for a maximum.

/// Below every real memory use: what an empty slot counts as.
const EMPTY: i64 = i64::MIN / 4;

/// A segment tree over slots with range addition and range maximum.
/// All operations take O(log slots) time.
#[derive(Clone, Debug)]
pub(super) struct MaxTree {
    /// Number of leaves, a power of two.
    leaves: usize,
    /// Maximum of a node's subtree, its own `added` included.
    maximum: Vec<i64>,
    /// Added to everything below a node.
    added: Vec<i64>,
}

impl MaxTree {
    /// A tree over at least `slots` empty slots.
    pub(super) fn new(slots: usize) -> Self {
        let leaves = slots.max(1).next_power_of_two();
        Self { leaves, maximum: vec![EMPTY; 2 * leaves], added: vec![0; 2 * leaves] }
    }

    /// A tree over slots, each occupied or not, and its bytes. Linear time.
    pub(super) fn from_profile(profile: &[(bool, i64)]) -> Self {
        let mut tree = Self::new(profile.len());
        for (slot, &(occupied, bytes)) in profile.iter().enumerate() {
            tree.maximum[tree.leaves + slot] = if occupied { bytes } else { bytes + EMPTY };
        }
        for node in (1..tree.leaves).rev() {
            tree.maximum[node] = tree.maximum[2 * node].max(tree.maximum[2 * node + 1]);
        }
        tree
    }

    /// Fills an empty slot, with `workspace` bytes of its own.
    pub(super) fn occupy(&mut self, slot: usize, workspace: i64) {
        self.add(slot, slot, workspace - EMPTY);
    }

    /// Empties a slot.
    pub(super) fn vacate(&mut self, slot: usize, workspace: i64) {
        self.add(slot, slot, EMPTY - workspace);
    }

    /// Adds `bytes` to the slots `first..=last`; nothing if there are none.
    pub(super) fn add(&mut self, first: usize, last: usize, bytes: i64) {
        if first > last || bytes == 0 {
            return;
        }
        let (mut low, mut high) = (first + self.leaves, last + self.leaves + 1);
        let (bottom_low, bottom_high) = (low, high - 1);
        while low < high {
            if low & 1 == 1 {
                self.add_at(low, bytes);
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                self.add_at(high, bytes);
            }
            low >>= 1;
            high >>= 1;
        }
        self.pull(bottom_low);
        self.pull(bottom_high);
    }

    fn add_at(&mut self, node: usize, bytes: i64) {
        self.maximum[node] += bytes;
        self.added[node] += bytes;
    }

    fn pull(&mut self, leaf: usize) {
        let mut node = leaf >> 1;
        while node >= 1 {
            self.maximum[node] = self.maximum[2 * node].max(self.maximum[2 * node + 1]) + self.added[node];
            node >>= 1;
        }
    }

    /// The maximum of all occupied slots; negative if there are none.
    pub(super) fn peak(&self) -> i64 {
        self.maximum[1]
    }

    /// The maximum over `first..=last`; negative if no slot there is occupied.
    pub(super) fn maximum(&self, first: usize, last: usize) -> i64 {
        if first > last { EMPTY } else { self.maximum_below(1, 0, self.leaves - 1, (first, last)) }
    }

    /// The maximum of a node's subtree over a range, without what stands above
    /// the node. Recursion is as deep as the tree.
    fn maximum_below(&self, node: usize, low: usize, high: usize, range: (usize, usize)) -> i64 {
        let (first, last) = range;
        if first <= low && high <= last {
            return self.maximum[node];
        }
        let middle = low + (high - low) / 2;
        let mut most = EMPTY;
        if first <= middle {
            most = most.max(self.maximum_below(2 * node, low, middle, range));
        }
        if last > middle {
            most = most.max(self.maximum_below(2 * node + 1, middle + 1, high, range));
        }
        most + self.added[node]
    }

    /// The first slot with more than `limit` bytes.
    pub(super) fn first_above(&self, limit: i64) -> Option<usize> {
        if self.maximum[1] <= limit {
            return None;
        }
        let (mut node, mut above) = (1, 0);
        while node < self.leaves {
            above += self.added[node];
            node *= 2;
            if self.maximum[node] + above <= limit {
                node += 1;
            }
        }
        Some(node - self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_array() {
        let mut state = 7u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let slots = 37;
        let mut plain = vec![EMPTY; slots];
        let mut tree = MaxTree::new(slots);
        for (slot, bytes) in plain.iter_mut().enumerate() {
            *bytes += 5 - EMPTY;
            tree.occupy(slot, 5);
        }
        for _ in 0..2000 {
            let (a, b) = (random(slots), random(slots));
            let (first, last) = (a.min(b), a.max(b));
            let bytes = random(100) as i64 - 50;
            plain[first..=last].iter_mut().for_each(|v| *v += bytes);
            tree.add(first, last, bytes);
            let expected = plain[first..=last].iter().max().copied();
            assert_eq!(Some(tree.maximum(first, last)), expected);
            assert_eq!(Some(tree.peak()), plain.iter().max().copied());
            let limit = tree.peak() - random(60) as i64;
            assert_eq!(tree.first_above(limit), plain.iter().position(|v| *v > limit));
        }
    }
}
