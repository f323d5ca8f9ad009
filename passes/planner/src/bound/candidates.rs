//! Which instants are worth a closer look.
//!
//! An instant proves much if little is unknown there: when nearly every action
//! is an ancestor or a descendant, and much is live. On small graphs every
//! first run is measured ([`Instant::bytes_without_remat`]); on large ones only
//! a choice is, half of it narrow places with much live in program order, half
//! spread evenly.

use super::ids::ActionId;
use super::instant::Instant;
use super::relaxed::Relaxed;
use std::cmp::Reverse;

/// First runs by the bytes that they need without recomputation, most first;
/// at most as many as `visits` of actions and stores allow.
pub(super) fn ranked(relaxed: &Relaxed, visits: usize) -> Vec<(u64, ActionId)> {
    let count = (visits / relaxed.size()).max(2);
    let mut chosen: Vec<ActionId> = relaxed.action_ids().collect();
    if count < chosen.len() {
        chosen = spread(relaxed, count / 2);
        chosen.extend(narrow(relaxed, count - count / 2));
        chosen.sort_unstable();
        chosen.dedup();
    }
    let bytes = |a| Instant::first_run(relaxed, a).bytes_without_remat(relaxed);
    let mut ranked: Vec<(u64, ActionId)> = chosen.into_iter().map(|a| (bytes(a), a)).collect();
    ranked.sort_unstable_by_key(|&(bytes, action)| (Reverse(bytes), action));
    ranked
}

fn spread(relaxed: &Relaxed, count: usize) -> Vec<ActionId> {
    let stride = relaxed.actions.len().div_ceil(count.max(1));
    relaxed.action_ids().step_by(stride.max(1)).collect()
}

/// Actions at whose depth, and at whose height, there are few others; among
/// equally narrow ones those with the most bytes live in program order.
///
/// An action that is alone at its depth (the longest chain before it) comes
/// before all deeper ones, since each of them has an ancestor at that depth;
/// alone at its height (the longest chain after it), it comes after all higher ones.
fn narrow(relaxed: &Relaxed, count: usize) -> Vec<ActionId> {
    let mut depth = vec![0usize; relaxed.actions.len()];
    for action in relaxed.action_ids() {
        let makers = relaxed.action(action).inputs.iter().map(|&s| relaxed.store(s).maker);
        depth[action.index()] = makers.map(|m| depth[m.index()] + 1).max().unwrap_or(0);
    }
    let mut height = vec![0usize; relaxed.actions.len()];
    for action in relaxed.action_ids().rev() {
        for &store in &relaxed.action(action).inputs {
            let maker = relaxed.store(store).maker.index();
            height[maker] = height[maker].max(height[action.index()] + 1);
        }
    }
    let (deep, high) = (widths(&depth), widths(&height));
    let live = live_in_program_order(relaxed);
    let mut all: Vec<ActionId> = relaxed.action_ids().collect();
    all.sort_unstable_by_key(|a| {
        let others = deep[depth[a.index()]] + high[height[a.index()]] - 2;
        // Widths that differ by less than a factor of two count as equal.
        (usize::BITS - others.leading_zeros(), Reverse(live[a.index()]), *a)
    });
    all.truncate(count);
    all
}

/// How many entries have each level.
fn widths(levels: &[usize]) -> Vec<usize> {
    let mut widths = vec![0; levels.iter().max().map_or(0, |most| most + 1)];
    levels.iter().for_each(|&level| widths[level] += 1);
    widths
}

/// Bytes live during each action when nothing runs twice and actions run in id order.
fn live_in_program_order(relaxed: &Relaxed) -> Vec<u64> {
    let end = relaxed.actions.len();
    let mut freed = vec![0u64; end + 1];
    for store in &relaxed.stores {
        let last = store.users.last().map_or(store.maker.index(), |user| user.index());
        freed[if store.output { end } else { last + 1 }] += store.bytes;
    }
    let mut live = 0u64;
    let mut held = Vec::with_capacity(end);
    for action in relaxed.action_ids() {
        live = live + relaxed.bytes_of(&relaxed.action(action).outputs) - freed[action.index()];
        held.push(live.saturating_add(relaxed.action(action).workspace));
    }
    held
}
