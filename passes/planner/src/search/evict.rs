//! Eviction: where the peak stands, drop what is idle and make it again later.
//!
//! Candidates are all stores that are live across the slot and not touched
//! there; the one that costs the least time per byte relieved goes first (the
//! score of XLA's rematerialisation and of DTR, with the whole provision for
//! its time). A store may be dropped over any number of its gaps.

use super::ids::StoreId;
use super::provide::{Provider, Provision, Terms};
use super::random::Random;
use super::restore::remove_if_idle;
use super::timeline::Timeline;
use crate::effort::LARGE;

/// How an eviction chooses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    /// Live bytes to get down to.
    pub(super) limit: i64,
    /// Microseconds per byte at the binding slot; see [`Terms`].
    pub(super) price: f64,
    /// Scores are multiplied by up to `1 + noise`.
    pub(super) noise: f64,
    /// Stores that stay.
    pub(super) spared: &'a [StoreId],
}

/// Each eviction of a store makes another of it in the same repair this much
/// dearer, so that two stores do not push each other around for ever. Arbitrary.
const AGAIN: f64 = 1.5;

/// Evictions without a new smallest peak after which a repair is given up, at
/// least: several slots may share a peak, and some evictions raise another.
const PATIENCE: usize = 60;

/// An eviction that could be done.
struct Candidate {
    score: f64,
    store: StoreId,
    action: Action,
}

/// How a slot is relieved of a store.
enum Action {
    /// The store is made again before its next reader.
    MakeAgain { reader: usize, provision: Provision },
    /// Its only further reader runs before the slot already.
    ReadEarlier { reader: usize },
}

/// Evicts until no slot has more than `choice.limit` bytes, or nothing is left
/// to drop or it leads nowhere or `most_steps` were done: then false. Also
/// returns how many evictions were done.
pub(super) fn repair(
    timeline: &mut Timeline<'_>,
    provider: &mut Provider,
    random: &mut Random,
    choice: Choice<'_>,
    most_steps: usize,
) -> (bool, usize) {
    let mut evicted = vec![0u16; timeline.core().stores.len()];
    let patience = PATIENCE.max(timeline.core().stores.len() / 8);
    let (mut least, mut since) = (i64::MAX, 0);
    for step in 0..most_steps {
        since = if timeline.peak() < least { 0 } else { since + 1 };
        least = least.min(timeline.peak());
        if since > patience {
            return (false, step);
        }
        if timeline.peak() <= choice.limit {
            return (true, step);
        }
        let Some(slot) = timeline.first_above(timeline.peak() - 1) else { return (true, step) };
        let candidates = best(timeline, provider, random, choice, slot, &evicted);
        if candidates.is_empty() {
            return (false, step);
        }
        relieve(timeline, provider, choice, slot, candidates, &mut evicted);
    }
    (timeline.peak() <= choice.limit, most_steps)
}

/// Applies the best candidate at `slot` and, on large problems, those behind it
/// until the slot is relieved: what was found is still good a few evictions on.
fn relieve(
    timeline: &mut Timeline<'_>,
    provider: &mut Provider,
    choice: Choice<'_>,
    slot: usize,
    candidates: Vec<Candidate>,
    evicted: &mut [u16],
) {
    let Some(run) = timeline.run_at(slot) else { return };
    for (rank, candidate) in candidates.into_iter().enumerate() {
        let Some(slot) = timeline.slot_of(run) else { return };
        let again =
            if rank == 0 { Some(candidate) } else { renew(timeline, provider, choice, slot, candidate) };
        let Some(candidate) = again else { continue };
        if rank > 0 && timeline.peak_within(slot, slot) <= choice.limit {
            return;
        }
        evicted[candidate.store.index()] += 1;
        if let Action::ReadEarlier { reader } = candidate.action
            && let Some(task) = timeline.task_at(reader)
        {
            timeline.core().task(task).outputs.iter().for_each(|s| evicted[s.index()] += 1);
        }
        apply(timeline, slot, &candidate);
    }
}

/// A candidate found before other evictions as it is now, if it is no worse.
fn renew(
    timeline: &Timeline<'_>,
    provider: &mut Provider,
    choice: Choice<'_>,
    slot: usize,
    candidate: Candidate,
) -> Option<Candidate> {
    let Action::MakeAgain { provision, .. } = candidate.action else { return None };
    let (_, reader) = timeline.idle_across(candidate.store, slot)?;
    let terms = Terms {
        limit: choice.limit,
        price: choice.price,
        across: slot,
        most_time: provision.time,
        kept: None,
    };
    let provision = provider.provide(timeline, candidate.store, reader, &terms)?;
    let bytes = timeline.core().store(candidate.store).bytes;
    (provision.extended < bytes)
        .then_some(Candidate { action: Action::MakeAgain { reader, provision }, ..candidate })
}

/// Candidates that are applied at a time on large problems, at most.
const BATCH: usize = 64;

/// The best stores to drop across `slot`, best first: one, or up to [`BATCH`]
/// on large problems.
fn best(
    timeline: &Timeline<'_>,
    provider: &mut Provider,
    random: &mut Random,
    choice: Choice<'_>,
    slot: usize,
    evicted: &[u16],
) -> Vec<Candidate> {
    let many = if timeline.core().stores.len() >= LARGE { BATCH } else { 1 };
    // The worst that is still of interest comes last.
    let mut best: Vec<Candidate> = Vec::new();
    let excess = timeline.peak() - choice.limit;
    for store in timeline.core().store_ids() {
        let bytes = timeline.core().store(store).bytes;
        if bytes == 0 || choice.spared.contains(&store) {
            continue;
        }
        let Some((before, reader)) = timeline.idle_across(store, slot) else { continue };
        if let Some(relieved) = relieved_by_reading_earlier(timeline, slot, reader, evicted) {
            let relieved = relieved.min(excess.max(1));
            let score = f64::MIN_POSITIVE / relieved as f64;
            keep_best(&mut best, many, Candidate { score, store, action: Action::ReadEarlier { reader } });
            continue;
        }
        let saved = saved_by_delay(timeline, store, before);
        let again = AGAIN.powi(i32::from(evicted[store.index()]));
        let jitter = (1.0 + choice.noise * random.unit()) * again;
        let worst =
            if best.len() < many { f64::INFINITY } else { best.last().map_or(f64::INFINITY, |b| b.score) };
        let least = worst / jitter;
        let terms = Terms {
            limit: choice.limit,
            price: choice.price,
            across: slot,
            most_time: least * bytes as f64 + saved,
            kept: None,
        };
        let Some(provision) = provider.provide(timeline, store, reader, &terms) else { continue };
        let relieved = (bytes - provision.extended).min(excess.max(1));
        if relieved <= 0 {
            continue;
        }
        let score = (provision.time - saved).max(f64::MIN_POSITIVE) / relieved as f64 * jitter;
        keep_best(
            &mut best,
            many,
            Candidate { score, store, action: Action::MakeAgain { reader, provision } },
        );
    }
    best
}

/// Puts a candidate in its place among the `many` best.
fn keep_best(best: &mut Vec<Candidate>, many: usize, candidate: Candidate) {
    let place = best.partition_point(|b| b.score <= candidate.score);
    if place < many {
        best.truncate(many - 1);
        best.insert(place, candidate);
    }
}

/// Time of the run in slot `made` if it makes nothing but `store`, which nobody
/// reads before it is dropped: dropping it then only delays the run.
fn saved_by_delay(timeline: &Timeline<'_>, store: StoreId, made: usize) -> f64 {
    let Some(task) = timeline.task_at(made) else { return 0.0 };
    let task = timeline.core().task(task);
    if task.outputs == [store] && !task.once { task.time } else { 0.0 }
}

/// Bytes that `slot` has less if the run at `reader` stood right before it.
fn relieved_by_reading_earlier(
    timeline: &Timeline<'_>,
    slot: usize,
    reader: usize,
    evicted: &[u16],
) -> Option<i64> {
    let core = timeline.core();
    let task = core.task(timeline.task_at(reader)?);
    if task.ordered {
        return None;
    }
    let mut relieved = 0;
    for &input in &task.inputs {
        let copy = timeline.copy_before(input, reader)?;
        if copy.made >= slot {
            return None;
        }
        let touched = timeline.idle_across(input, slot).is_none();
        relieved += if copy.last == reader && !touched { core.store(input).bytes } else { 0 };
    }
    for &output in &task.outputs {
        // Not over an earlier copy, and not to and fro.
        let moved = evicted[output.index()] > 0;
        if moved || timeline.copy_before(output, reader).is_some() {
            return None;
        }
        relieved -= core.store(output).bytes;
    }
    (relieved > 0).then_some(relieved)
}

fn apply(timeline: &mut Timeline<'_>, slot: usize, candidate: &Candidate) {
    match &candidate.action {
        Action::MakeAgain { reader, provision } => {
            let Some(copy) = timeline.copy_before(candidate.store, *reader) else { return };
            let maker = timeline.run_at(copy.made);
            put_before(timeline, *reader, provision);
            if let Some(slot) = maker.and_then(|run| timeline.slot_of(run)) {
                remove_if_idle(timeline, slot);
            }
        }
        Action::ReadEarlier { reader } => {
            let Some(run) = timeline.run_at(*reader) else { return };
            let slot = timeline.make_room(slot, 1);
            let (Some(reader), Some(task)) =
                (timeline.slot_of(run), timeline.slot_of(run).and_then(|s| timeline.task_at(s)))
            else {
                return;
            };
            timeline.remove(reader);
            timeline.insert(task, slot - 1);
        }
    }
}

/// Inserts a provision's runs right before a slot.
pub(super) fn put_before(timeline: &mut Timeline<'_>, slot: usize, provision: &Provision) {
    let count = provision.tasks.len();
    let slot = timeline.make_room(slot, count);
    for (at, &task) in provision.tasks.iter().enumerate() {
        timeline.insert(task, slot - count + at);
    }
}
