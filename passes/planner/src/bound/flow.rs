//! Minimum cut in a network with integer capacities.
//!
//! Dinic's algorithm (E. A. Dinic, 1970): breadth-first levels, then a
//! blocking flow along strictly falling levels. O(V² E) in the worst case; the
//! networks here have short augmenting paths and take a few rounds.

/// Effectively infinite: no sum of finite capacities of one network reaches it
/// (times are scaled to at most 2^42, see `relaxed::TIME_BITS`, prices are
/// clamped to about the same).
pub(super) const INFINITE: u64 = 1 << 60;

/// The node that flow comes from.
pub(super) const SOURCE: usize = 0;
/// The node that flow goes to.
pub(super) const SINK: usize = 1;

const UNREACHED: u32 = u32::MAX;

/// A network with fixed arcs and changeable capacities.
#[derive(Clone, Debug)]
pub(super) struct Network {
    node_count: usize,
    /// Arc `2k` is the `k`-th arc, `2k + 1` its reverse.
    head: Vec<u32>,
    residual: Vec<u64>,
    /// Arcs leaving node `v` are `leaving[start[v]..start[v + 1]]`.
    start: Vec<u32>,
    leaving: Vec<u32>,
    level: Vec<u32>,
    next: Vec<u32>,
}

impl Network {
    /// A network over nodes `0..node_count` with the given `(tail, head)` arcs. Linear time.
    pub(super) fn new(node_count: usize, arcs: &[(usize, usize)]) -> Self {
        let mut start = vec![0u32; node_count + 1];
        for &(tail, head) in arcs {
            start[tail + 1] += 1;
            start[head + 1] += 1;
        }
        for node in 0..node_count {
            start[node + 1] += start[node];
        }
        let mut fill = start.clone();
        let mut leaving = vec![0u32; arcs.len() * 2];
        let mut heads = Vec::with_capacity(arcs.len() * 2);
        for (index, &(tail, head)) in arcs.iter().enumerate() {
            for (from, to, arc) in [(tail, head, 2 * index), (head, tail, 2 * index + 1)] {
                leaving[fill[from] as usize] = arc as u32;
                fill[from] += 1;
                heads.push(to as u32);
            }
        }
        Self {
            node_count,
            head: heads,
            residual: vec![0; arcs.len() * 2],
            start,
            leaving,
            level: vec![UNREACHED; node_count],
            next: vec![0; node_count],
        }
    }

    /// The value of a minimum cut under `capacities` (one per arc), `None` if
    /// it is infinite. Afterwards [`Network::on_source_side`] tells the cut
    /// with the smallest source side.
    pub(super) fn minimum_cut(&mut self, capacities: &[u64]) -> Option<u64> {
        for (index, &capacity) in capacities.iter().enumerate() {
            self.residual[2 * index] = capacity.min(INFINITE);
            self.residual[2 * index + 1] = 0;
        }
        let mut total = 0u64;
        while self.set_levels() {
            self.next.copy_from_slice(&self.start[..self.node_count]);
            total = total.saturating_add(self.blocking_flow());
            if total >= INFINITE {
                return None;
            }
        }
        Some(total)
    }

    /// Whether the last cut has `node` on the side of the source.
    pub(super) fn on_source_side(&self, node: usize) -> bool {
        self.level[node] != UNREACHED
    }

    /// Tail and head of the `index`-th arc.
    pub(super) fn ends(&self, index: usize) -> (usize, usize) {
        (self.head[2 * index + 1] as usize, self.head[2 * index] as usize)
    }

    /// Breadth-first levels from the source over arcs with residual capacity;
    /// whether the sink is reached.
    fn set_levels(&mut self) -> bool {
        self.level.fill(UNREACHED);
        self.level[SOURCE] = 0;
        let mut queue = vec![SOURCE as u32];
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            let node = node as usize;
            for slot in self.start[node]..self.start[node + 1] {
                let arc = self.leaving[slot as usize] as usize;
                let to = self.head[arc] as usize;
                if self.residual[arc] > 0 && self.level[to] == UNREACHED {
                    self.level[to] = self.level[node] + 1;
                    queue.push(to as u32);
                }
            }
        }
        self.level[SINK] != UNREACHED
    }

    /// Saturates all shortest paths, depth first with an explicit path.
    fn blocking_flow(&mut self) -> u64 {
        let mut total = 0u64;
        let mut path: Vec<usize> = Vec::new();
        let mut node = SOURCE;
        loop {
            if node == SINK {
                let pushed = path.iter().map(|&arc| self.residual[arc]).min().unwrap_or(0).min(INFINITE);
                total = total.saturating_add(pushed);
                if total >= INFINITE {
                    return total;
                }
                let mut back_to = None;
                for (depth, &arc) in path.iter().enumerate() {
                    self.residual[arc] -= pushed;
                    self.residual[arc ^ 1] = self.residual[arc ^ 1].saturating_add(pushed);
                    if self.residual[arc] == 0 && back_to.is_none() {
                        back_to = Some(depth);
                    }
                }
                let depth = back_to.unwrap_or(0);
                node = self.head[path[depth] ^ 1] as usize;
                path.truncate(depth);
                continue;
            }
            match self.admissible(node) {
                Some(arc) => {
                    path.push(arc);
                    node = self.head[arc] as usize;
                }
                None => match path.pop() {
                    // A dead end: its tail moves on to its next arc.
                    Some(arc) => {
                        node = self.head[arc ^ 1] as usize;
                        self.next[node] += 1;
                    }
                    None => return total,
                },
            }
        }
    }

    /// The next arc of `node` that leads one level down with capacity left.
    fn admissible(&mut self, node: usize) -> Option<usize> {
        while self.next[node] < self.start[node + 1] {
            let arc = self.leaving[self.next[node] as usize] as usize;
            let to = self.head[arc] as usize;
            if self.residual[arc] > 0 && self.level[to] == self.level[node] + 1 {
                return Some(arc);
            }
            self.next[node] += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest sum of capacities over all subsets that hold the source and not the sink.
    fn brute_force(nodes: usize, arcs: &[(usize, usize)], capacities: &[u64]) -> u64 {
        let cut = |set: usize| {
            let crosses = |&(tail, head): &(usize, usize)| set >> tail & 1 == 1 && set >> head & 1 == 0;
            arcs.iter().zip(capacities).filter(|(arc, _)| crosses(arc)).map(|(_, c)| c).sum()
        };
        (0..1usize << nodes).filter(|set| set & 3 == 1).map(cut).min().unwrap()
    }

    #[test]
    fn agrees_with_brute_force() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for _ in 0..500 {
            let nodes = 3 + random(6);
            let arcs: Vec<_> = (0..random(24)).map(|_| (random(nodes), random(nodes))).collect();
            let capacities: Vec<u64> = arcs.iter().map(|_| random(10) as u64).collect();
            let mut network = Network::new(nodes, &arcs);
            let value = network.minimum_cut(&capacities);
            assert_eq!(value, Some(brute_force(nodes, &arcs, &capacities)));
            let crosses = |&(tail, head): &(usize, usize)| {
                network.on_source_side(tail) && !network.on_source_side(head)
            };
            let cut: u64 = arcs.iter().zip(&capacities).filter(|(arc, _)| crosses(arc)).map(|(_, c)| c).sum();
            assert_eq!(Some(cut), value);
        }
    }

    #[test]
    fn infinite_cut_is_told() {
        let mut network = Network::new(3, &[(0, 2), (2, 1)]);
        assert_eq!(network.minimum_cut(&[INFINITE, INFINITE]), None);
        assert_eq!(network.minimum_cut(&[INFINITE, 7]), Some(7));
        assert!(network.on_source_side(2));
    }
}
