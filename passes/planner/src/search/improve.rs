//! Improvement by destroying and repairing (Shaw 1998), with worse plans
//! accepted now and then (simulated annealing, Kirkpatrick et al. 1983).
//!
//! A round takes repetitions away, though memory does not allow it, or drops
//! stores, though it need not; evicts elsewhere until the limit holds again;
//! and takes back what fits.

use super::evict::Choice;
use super::ids::StoreId;
use super::restore::{is_repetition, remove_with_causes};
use super::workbench::{Candidate, Workbench};

/// Evictions in one round at most: rounds that need more are given up.
const ROUND_STEPS: usize = 60;

/// The first temperature, as a part of the overhead to be improved. Chosen on
/// the benchmark graphs among 0.001 to 0.1.
const FIRST_TEMPERATURE: f64 = 0.004;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Rounds at most.
    pub(crate) rounds: usize,
    /// Evictions at most, in all rounds together.
    pub(crate) evictions: usize,
}

/// Improves `start` within limits. `base_time`: the time without repetitions.
pub(super) fn improve(
    bench: &mut Workbench<'_>,
    start: Candidate,
    base_time: f64,
    limits: Limits,
) -> Candidate {
    bench.timeline.reset(&start.tasks);
    let temperature = FIRST_TEMPERATURE * (start.time - base_time).max(0.0);
    let price = start.price;
    let mut best = start.clone();
    let mut current = start;
    let first = bench.evictions;
    for round in 0..limits.rounds {
        let done = bench.evictions - first;
        if done >= limits.evictions {
            break;
        }
        let rounds_done = round as f64 / limits.rounds as f64;
        let progress = rounds_done.max(done as f64 / limits.evictions as f64);
        bench.timeline.commit();
        let mark = bench.timeline.mark();
        if !destroy_and_repair(bench, price) {
            break;
        }
        let heat = temperature * (1.0 - progress);
        let tolerance = -heat * bench.random.unit().max(f64::MIN_POSITIVE).ln();
        let time = bench.timeline.time();
        if bench.timeline.peak() <= bench.limit && time <= current.time + tolerance {
            current = bench.candidate(price);
            if time < best.time {
                best.clone_from(&current);
            }
        } else if !bench.timeline.undo_to(mark) {
            bench.timeline.reset(&current.tasks);
        }
    }
    best
}

/// One round; false if there is nothing left to improve.
fn destroy_and_repair(bench: &mut Workbench<'_>, price: f64) -> bool {
    let repetitions: Vec<usize> =
        bench.timeline.occupied().filter(|s| is_repetition(&bench.timeline, *s)).collect();
    if repetitions.is_empty() {
        return false;
    }
    let noise = bench.random.unit();
    let spared = match bench.random.below(4) {
        0 => take_away_scattered(bench, &repetitions),
        1 => take_away_neighbours(bench, &repetitions),
        2 => {
            take_away_neighbours(bench, &repetitions);
            Vec::new()
        }
        _ => {
            drop_neighbours(bench, price);
            Vec::new()
        }
    };
    let price = price * (0.5 + bench.random.unit());
    let choice = Choice { limit: bench.limit, price, noise, spared: &spared };
    bench.settle(choice, ROUND_STEPS);
    true
}

/// Takes away up to three repetitions; returns what they made.
fn take_away_scattered(bench: &mut Workbench<'_>, repetitions: &[usize]) -> Vec<StoreId> {
    let count = 1 + bench.random.below(3);
    let chosen: Vec<usize> = (0..count).map(|_| repetitions[bench.random.below(repetitions.len())]).collect();
    take_away(bench, chosen)
}

/// Takes away repetitions that follow each other; returns what they made.
fn take_away_neighbours(bench: &mut Workbench<'_>, repetitions: &[usize]) -> Vec<StoreId> {
    let first = bench.random.below(repetitions.len());
    let width = 1 + few(bench, 6);
    let last = (first + width).min(repetitions.len());
    take_away(bench, repetitions[first..last].iter().rev().copied())
}

fn take_away(bench: &mut Workbench<'_>, slots: impl IntoIterator<Item = usize>) -> Vec<StoreId> {
    let mut made = Vec::new();
    for slot in slots {
        if is_repetition(&bench.timeline, slot)
            && let Some(task) = bench.timeline.task_at(slot)
        {
            made.extend(&bench.timeline.core().task(task).outputs);
            remove_with_causes(&mut bench.timeline, slot);
        }
    }
    made
}

/// Drops stores of neighbouring ids that are idle across the peak, or across any slot.
fn drop_neighbours(bench: &mut Workbench<'_>, price: f64) {
    let slot = if bench.random.below(2) == 0 {
        bench.peak_slot()
    } else {
        let slots: Vec<usize> = bench.timeline.occupied().collect();
        (!slots.is_empty()).then(|| slots[bench.random.below(slots.len())])
    };
    let Some(run) = slot.and_then(|slot| bench.timeline.run_at(slot)) else { return };
    let core = bench.timeline.core();
    let is_idle = |s: &StoreId| {
        core.store(*s).bytes > 0 && slot.is_some_and(|slot| bench.timeline.idle_across(*s, slot).is_some())
    };
    let idle: Vec<StoreId> = core.store_ids().filter(is_idle).collect();
    if idle.is_empty() {
        return;
    }
    let first = bench.random.below(idle.len());
    let width = 1 + few(bench, 4);
    for &store in idle.iter().skip(first).take(width) {
        // Making room may have numbered the slots anew.
        let Some(slot) = bench.timeline.slot_of(run) else { return };
        bench.drop_across(store, slot, price);
    }
}

/// A number below 2^`scales`, small ones more often.
fn few(bench: &mut Workbench<'_>, scales: usize) -> usize {
    let scale = 2 << bench.random.below(scales);
    bench.random.below(scale)
}
