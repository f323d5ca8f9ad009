//! Starting points: what to keep at the program's peak, by minimum cuts.

use super::evict::put_before;
use super::ids::StoreId;
use super::provide::{Provider, Terms};
use super::timeline::Timeline;

/// Drops every store that is idle across `slot` and not `kept`, and makes it
/// again right before its next reader, out of what is kept.
pub(super) fn drop_all_but(timeline: &mut Timeline<'_>, provider: &mut Provider, slot: usize, kept: &[bool]) {
    let core = timeline.core();
    let Some(run) = timeline.run_at(slot) else { return };
    let mut dropped: Vec<(usize, StoreId)> = Vec::new();
    for store in core.store_ids() {
        if !kept[store.index()]
            && let Some((_, reader)) = timeline.idle_across(store, slot)
        {
            dropped.push((reader, store));
        }
    }
    dropped.sort_unstable();
    for (_, store) in dropped {
        let Some(here) = timeline.slot_of(run) else { return };
        let Some((_, reader)) = timeline.idle_across(store, here) else { continue };
        let terms =
            Terms { limit: i64::MAX, price: 0.0, across: here, most_time: f64::INFINITY, kept: Some(kept) };
        if let Some(provision) = provider.provide(timeline, store, reader, &terms) {
            put_before(timeline, reader, &provision);
        }
    }
}
