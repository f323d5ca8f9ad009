//! The search: greedy orders, then better orders by moving to the front what
//! lies on top.

use crate::orders::orders;
use crate::place::{Conflicts, place};
use crate::{BufferId, Layout, Request, peak};
use ckpt_entity::EntityVec;

/// How much work the search may do; counts, never seconds, so that layouts are
/// the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Placements tried after the greedy orders. Default: 2000.
    pub placements: u32,
    /// Pairs of buffers looked at in all. Default: 3·10⁸, about 2 s.
    pub steps: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { placements: 2000, steps: 300_000_000 }
    }
}

/// Places all buffers. The arena is at least [`peak()`]; where it is more, the
/// search found nothing better within its effort.
#[must_use]
pub fn plan(requests: &EntityVec<BufferId, Request>, effort: Effort) -> Layout {
    let bound = peak(requests).0;
    let conflicts = Conflicts::of(requests);
    let work = conflicts.work(requests.len()).max(1);
    let mut best: Option<(Layout, Vec<BufferId>)> = None;
    for order in orders(requests) {
        let limit = best.as_ref().map_or(u64::MAX, |(layout, _)| layout.arena.0 - 1);
        if let Some(layout) = place(requests, &conflicts, &order, limit) {
            let done = layout.arena.0 <= bound;
            best = Some((layout, order));
            if done {
                break;
            }
        }
    }
    let Some((mut layout, mut order)) = best else {
        return Layout { offsets: EntityVec::filled(0, requests.len()), arena: ckpt_entity::Bytes(0) };
    };
    let tries = u64::from(effort.placements).min(effort.steps / work);
    let mut random = Random(1);
    for _ in 0..tries {
        if layout.arena.0 <= bound {
            break;
        }
        let candidate = vary(requests, &layout, &order, &mut random);
        if let Some(better) = place(requests, &conflicts, &candidate, layout.arena.0) {
            (layout, order) = (better, candidate);
        }
    }
    layout
}

/// An order in which a buffer on top of the arena comes earlier, and now and
/// then another buffer elsewhere.
fn vary(
    requests: &EntityVec<BufferId, Request>,
    layout: &Layout,
    order: &[BufferId],
    random: &mut Random,
) -> Vec<BufferId> {
    let ends_on_top = |id: &BufferId| layout.offsets[*id] + requests[*id].bytes.0 == layout.arena.0;
    let top: Vec<usize> = (0..order.len()).filter(|at| ends_on_top(&order[*at])).collect();
    let mut candidate = order.to_vec();
    let Some(&from) = top.get(random.below(top.len())) else { return candidate };
    let to = random.below(from + 1);
    candidate[to..=from].rotate_right(1);
    // One more move in two of three tries: out of cycles of the same few orders.
    if random.below(3) > 0 && candidate.len() > 1 {
        let from = random.below(candidate.len());
        let to = random.below(from + 1);
        candidate[to..=from].rotate_right(1);
    }
    candidate
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    /// A number below `bound`, or 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use ckpt_entity::Bytes;

    /// Buffers that fill an arena of `arena` bytes without a hole: a slicing of
    /// time and space, so the optimum is known.
    fn sliced(arena: u64, steps: u32, cuts: usize, seed: u64) -> EntityVec<BufferId, Request> {
        let mut random = Random(seed);
        let mut boxes = vec![(0u64, arena, 0u32, steps - 1)];
        for _ in 0..cuts {
            let at = random.below(boxes.len());
            let (low, high, first, last) = boxes[at];
            if random.below(2) == 0 && high - low > 1 {
                let cut = low + 1 + random.below((high - low - 1) as usize) as u64;
                boxes[at] = (low, cut, first, last);
                boxes.push((cut, high, first, last));
            } else if last > first {
                let cut = first + random.below((last - first) as usize) as u32;
                boxes[at] = (low, high, first, cut);
                boxes.push((low, high, cut + 1, last));
            }
        }
        let request = |(low, high, first, last): (u64, u64, u32, u32)| Request {
            bytes: Bytes(high - low),
            align: 1,
            first,
            last,
        };
        boxes.into_iter().map(request).collect()
    }

    #[test]
    fn layouts_are_legal_and_close_to_a_known_optimum() {
        let optimum = 1u64 << 20;
        let mut total = 0.0;
        for seed in 0..20 {
            let requests = sliced(optimum, 200, 80, seed);
            let layout = plan(&requests, Effort::default());
            assert_eq!(check(&requests, &layout), Ok(()));
            assert_eq!(peak(&requests), Bytes(optimum));
            total += layout.arena.0 as f64 / optimum as f64;
        }
        assert!(total / 20.0 < 1.02, "on average {}", total / 20.0);
    }

    #[test]
    fn chains_of_layers_fit_exactly() {
        // Forward activations live until their backward step: a pyramid.
        let pyramid = (0..40u32).map(|layer| Request {
            bytes: Bytes(64 * u64::from(layer % 5 + 1)),
            align: 64,
            first: layer,
            last: 80 - layer,
        });
        let requests = pyramid.collect();
        assert_eq!(plan(&requests, Effort::default()).arena, peak(&requests));
    }

    #[test]
    fn no_buffers_need_no_arena() {
        assert_eq!(plan(&EntityVec::new(), Effort::default()).arena, Bytes(0));
    }
}
