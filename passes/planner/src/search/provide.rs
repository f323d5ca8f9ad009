//! What has to run so that a store is there again.

use super::ids::{StoreId, TaskId};
use super::timeline::Timeline;

/// Runs of one provision at most: longer chains are built in several steps.
const MAX_RUNS: usize = 512;

/// How to weigh time against bytes, and where bytes matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<'a> {
    /// Live bytes that should not be exceeded.
    pub(super) limit: i64,
    /// Microseconds that one byte at `across` is worth.
    pub(super) price: f64,
    /// The slot that is to be relieved.
    pub(super) across: usize,
    /// Provisions that take longer are of no interest.
    pub(super) most_time: f64,
    /// If there, decides alone which stores are kept longer and which are made again.
    pub(super) kept: Option<&'a [bool]>,
}

/// Runs that make a store available at a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Provision {
    /// What runs, in order, right before the slot.
    pub(super) tasks: Vec<TaskId>,
    /// Its time.
    pub(super) time: f64,
    /// Bytes of copies that are kept longer for it across the slot to be relieved.
    pub(super) extended: i64,
}

/// Finds provisions. Reuses its tables between questions.
#[derive(Debug)]
pub(super) struct Provider {
    /// Per store: the question in which it was last planned, and whether it is done.
    planned: Vec<(u32, bool)>,
    question: u32,
    stack: Vec<Frame>,
}

#[derive(Debug)]
struct Frame {
    task: TaskId,
    next_input: usize,
}

impl Provider {
    /// For timelines over `stores` stores.
    pub(super) fn new(stores: usize) -> Self {
        Self { planned: vec![(0, false); stores], question: 0, stack: Vec::new() }
    }

    /// The runs that make `store` right before `slot`; `None` if it may not be
    /// made again, or only at more time than is of interest.
    /// Depth first over what is missing, at most [`MAX_RUNS`] runs.
    pub(super) fn provide(
        &mut self,
        timeline: &Timeline<'_>,
        store: StoreId,
        slot: usize,
        terms: &Terms<'_>,
    ) -> Option<Provision> {
        self.question += 1;
        self.stack.clear();
        let mut provision = Provision::default();
        self.plan(timeline, store, slot, &mut provision)?;
        while let Some(frame) = self.stack.last_mut() {
            let task = timeline.core().task(frame.task);
            match task.inputs.get(frame.next_input) {
                None => {
                    provision.tasks.push(frame.task);
                    self.stack.pop();
                    task.outputs.iter().for_each(|s| self.planned[s.index()] = (self.question, true));
                }
                Some(&input) => {
                    frame.next_input += 1;
                    if !self.is_there(timeline, input, slot, terms, &mut provision)? {
                        self.plan(timeline, input, slot, &mut provision)?;
                        if provision.time > terms.most_time
                            || self.stack.len() + provision.tasks.len() > MAX_RUNS
                        {
                            return None;
                        }
                    }
                }
            }
        }
        (provision.time <= terms.most_time).then_some(provision)
    }

    /// Starts to plan a run that makes `store`.
    fn plan(
        &mut self,
        timeline: &Timeline<'_>,
        store: StoreId,
        slot: usize,
        provision: &mut Provision,
    ) -> Option<()> {
        let core = timeline.core();
        let missing = |task: TaskId| {
            let inputs = core.task(task).inputs.iter();
            let missing = inputs.filter(|s| {
                self.planned[s.index()] != (self.question, true)
                    && timeline.copy_before(**s, slot).is_none_or(|copy| copy.last < slot)
            });
            missing.map(|s| core.store(*s).tasks.first().map_or(0.0, |t| core.task(*t).time)).sum::<f64>()
        };
        let tasks = &core.store(store).tasks;
        let repeatable = tasks.iter().copied().filter(|t| !core.task(*t).once);
        let task = match tasks[..] {
            [only] if !core.task(only).once => only,
            _ => repeatable.min_by(|a, b| {
                let cost = |t: TaskId| core.task(t).time + missing(t);
                cost(*a).total_cmp(&cost(*b))
            })?,
        };
        core.task(task).outputs.iter().for_each(|s| self.planned[s.index()] = (self.question, false));
        provision.time += core.task(task).time;
        self.stack.push(Frame { task, next_input: 0 });
        Some(())
    }

    /// Whether `input` need not be made for a reader at `slot`: it is live
    /// there, planned already, or better kept until then. `None` on a circle.
    fn is_there(
        &self,
        timeline: &Timeline<'_>,
        input: StoreId,
        slot: usize,
        terms: &Terms<'_>,
        provision: &mut Provision,
    ) -> Option<bool> {
        match self.planned[input.index()] {
            (question, done) if question == self.question => return done.then_some(true),
            _ => {}
        }
        let core = timeline.core();
        let store = core.store(input);
        let Some(copy) = timeline.copy_before(input, slot) else { return Some(false) };
        if copy.last >= slot {
            return Some(true);
        }
        if terms.kept.is_none() && timeline.peak_within(copy.last + 1, slot) + store.bytes <= terms.limit {
            return Some(true);
        }
        if let Some(kept) = terms.kept {
            return Some(kept[input.index()] || store.tasks.iter().all(|t| core.task(*t).once));
        }
        let own_time = store.tasks.iter().map(|t| core.task(*t)).filter(|t| !t.once).map(|t| t.time);
        let least = own_time.fold(f64::INFINITY, f64::min);
        if terms.price * store.bytes as f64 <= least {
            if copy.last < terms.across {
                provision.extended += store.bytes;
            }
            return Some(true);
        }
        Some(false)
    }
}
