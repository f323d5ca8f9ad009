//! The way back: runs that repeat others are taken away where memory allows.

use super::random::Random;
use super::timeline::Timeline;

/// Takes away the run in `slot`, which must repeat what earlier runs made, and
/// whatever ran again only for its sake.
pub(super) fn remove_with_causes(timeline: &mut Timeline<'_>, slot: usize) {
    let mut stack = vec![slot];
    while let Some(slot) = stack.pop() {
        let Some(task) = timeline.task_at(slot) else { continue };
        let core = timeline.core();
        timeline.remove(slot);
        for &input in &core.task(task).inputs {
            let Some(copy) = timeline.copy_before(input, slot) else { continue };
            if is_idle(timeline, copy.made) {
                stack.push(copy.made);
            }
        }
    }
}

/// Takes the run in `slot` away if nobody reads what it makes.
pub(super) fn remove_if_idle(timeline: &mut Timeline<'_>, slot: usize) {
    if is_idle(timeline, slot) {
        remove_with_causes(timeline, slot);
    }
}

/// Whether the run in `slot` repeats earlier ones: all it makes was made before.
pub(super) fn is_repetition(timeline: &Timeline<'_>, slot: usize) -> bool {
    let Some(task) = timeline.task_at(slot) else { return false };
    let task = timeline.core().task(task);
    !task.once && task.outputs.iter().all(|s| timeline.copy_before(*s, slot).is_some())
}

/// Whether nobody reads what the run in `slot` makes, and it need not run.
fn is_idle(timeline: &Timeline<'_>, slot: usize) -> bool {
    let Some(task) = timeline.task_at(slot) else { return false };
    let task = timeline.core().task(task);
    let unread = |store: &super::ids::StoreId| {
        let copy = timeline.copy_before(*store, slot + 1);
        copy.is_none_or(|copy| copy.made == slot && copy.last == slot)
    };
    !task.once && task.outputs.iter().all(unread)
}

/// Tries to take away each repetition, the most time first, if no slot gets
/// more than `limit` bytes. O(repetitions × log) time.
pub(super) fn restore(timeline: &mut Timeline<'_>, limit: i64, random: &mut Random, noise: f64) {
    let mut repetitions: Vec<(f64, usize)> = timeline
        .occupied()
        .filter(|slot| is_repetition(timeline, *slot))
        .filter_map(|slot| Some((timeline.core().task(timeline.task_at(slot)?).time, slot)))
        .collect();
    repetitions.iter_mut().for_each(|(time, _)| *time *= 1.0 + noise * random.unit());
    repetitions.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, slot) in repetitions {
        if is_repetition(timeline, slot) {
            try_remove(timeline, slot, limit);
        }
    }
}

/// Takes a repetition away if memory allows.
pub(super) fn try_remove(timeline: &mut Timeline<'_>, slot: usize, limit: i64) -> bool {
    let Some(task) = timeline.task_at(slot) else { return false };
    // Earlier copies live on from their last reader.
    let outputs = &timeline.core().task(task).outputs;
    let room = outputs.iter().all(|store| {
        let Some(copy) = timeline.copy_before(*store, slot) else { return false };
        let bytes = timeline.core().store(*store).bytes;
        timeline.peak_within(copy.last + 1, slot - 1) + bytes <= limit
    });
    if !room {
        return false;
    }
    let mark = timeline.mark();
    remove_with_causes(timeline, slot);
    timeline.peak() <= limit || {
        let undone = timeline.undo_to(mark);
        debug_assert!(undone, "taking runs away needs no room");
        false
    }
}
