//! The liveness peak: what no arena can be smaller than.

use crate::{BufferId, Request};
use ckpt_entity::{Bytes, EntityVec};

/// The largest sum of sizes of buffers that are live at one moment; saturates.
/// Linear in the buffers, but for sorting.
#[must_use]
pub fn peak(requests: &EntityVec<BufferId, Request>) -> Bytes {
    // At one step, what starts comes before what ends: ranges are inclusive.
    let mut events: Vec<(u32, bool, u64)> = Vec::with_capacity(2 * requests.len());
    for request in requests.values() {
        events.push((request.first, false, request.bytes.0));
        events.push((request.last, true, request.bytes.0));
    }
    events.sort_unstable();
    let (mut held, mut peak) = (0u64, 0u64);
    for (_, ends, bytes) in events {
        held = if ends { held.saturating_sub(bytes) } else { held.saturating_add(bytes) };
        peak = peak.max(held);
    }
    Bytes(peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_ends_where_another_starts_is_held_beside_it() {
        let request = |bytes, first, last| Request { bytes: Bytes(bytes), align: 1, first, last };
        let requests = [request(3, 0, 1), request(4, 1, 2), request(5, 2, 3)].into_iter().collect();
        assert_eq!(peak(&requests), Bytes(9));
    }
}
