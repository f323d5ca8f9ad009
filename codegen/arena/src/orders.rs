//! The orders in which buffers are placed at first.

use crate::{BufferId, Request};
use ckpt_entity::EntityVec;
use std::cmp::Reverse;

/// What a buffer is sorted by, ascending; ties by id.
type Key = (Reverse<u64>, Reverse<u64>, u64);

/// The orders, each by its key: what is large, long or early goes first. What
/// is live throughout goes first in all of them by its length or lies as well
/// anywhere.
const ORDERS: [fn(&Request) -> Key; 6] = [
    |r| (Reverse(r.bytes.0), Reverse(length(r)), u64::from(r.first)),
    |r| (Reverse(length(r)), Reverse(r.bytes.0), u64::from(r.first)),
    |r| (Reverse(r.bytes.0.saturating_mul(length(r))), Reverse(r.bytes.0), u64::from(r.first)),
    |r| (Reverse(r.align), Reverse(r.bytes.0), u64::from(r.first)),
    |r| (Reverse(u64::MAX - u64::from(r.first)), Reverse(length(r)), r.bytes.0),
    |r| (Reverse(u64::from(r.last)), Reverse(length(r)), r.bytes.0),
];

/// Steps for which a buffer is live.
fn length(request: &Request) -> u64 {
    u64::from(request.last - request.first) + 1
}

/// All orders of the buffers.
pub(crate) fn orders(requests: &EntityVec<BufferId, Request>) -> impl Iterator<Item = Vec<BufferId>> + '_ {
    ORDERS.iter().map(|key| {
        let mut order: Vec<BufferId> = requests.ids().collect();
        order.sort_by_key(|id| (key(&requests[*id]), *id));
        order
    })
}
