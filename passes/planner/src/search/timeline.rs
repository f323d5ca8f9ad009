//! A plan in the making: runs of tasks in time, with live bytes kept up to date.
//!
//! Each run stands in a slot; slots between runs are empty, so that runs can be
//! put between others without moving them. A store made by a run is live until
//! the last run that reads it before it is made again; outputs are live to the
//! end. Everything else follows: the order of runs alone is the plan.

use super::core::Core;
use super::ids::{RunId, StoreId, TaskId};
use super::max_tree::MaxTree;

/// One run of a task.
#[derive(Clone, Copy, Debug)]
struct Run {
    task: TaskId,
    slot: usize,
}

/// When a store is made and read.
#[derive(Clone, Debug, Default)]
struct Life {
    /// Slots of the runs that make it, ascending.
    made: Vec<usize>,
    /// Slots of the runs that read it, ascending. The end counts for outputs.
    read: Vec<usize>,
}

/// A stretch of time over which one copy of a store is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Where it is made.
    pub(super) made: usize,
    /// Where it is read last, or made if it is never read.
    pub(super) last: usize,
}

/// A change, so that it can be taken back.
#[derive(Clone, Copy, Debug)]
enum Change {
    Inserted(RunId),
    Removed(TaskId, usize),
}

/// A point in a timeline's changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    changes: usize,
    epoch: usize,
}

/// Free slots beside each run after the slots are numbered anew.
const SPARE: usize = 3;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Timeline<'c> {
    core: &'c Core,
    runs: Vec<Run>,
    /// Ids of runs that were removed, to be used again.
    unused: Vec<RunId>,
    slots: Vec<Option<RunId>>,
    lives: Vec<Life>,
    live_bytes: MaxTree,
    time: f64,
    changes: Vec<Change>,
    /// How often the slots were numbered anew.
    epoch: usize,
}

impl<'c> Timeline<'c> {
    /// The timeline that runs `tasks` in order.
    /// O(n log n) time in the number of runs and what they read.
    pub(super) fn new(core: &'c Core, tasks: &[TaskId]) -> Self {
        let mut timeline = Self {
            core,
            runs: Vec::new(),
            unused: Vec::new(),
            slots: Vec::new(),
            lives: Vec::new(),
            live_bytes: MaxTree::new(0),
            time: 0.0,
            changes: Vec::new(),
            epoch: 0,
        };
        timeline.lay_out(tasks);
        timeline
    }

    /// Goes back to a plan that it had before.
    pub(super) fn reset(&mut self, tasks: &[TaskId]) {
        self.lay_out(tasks);
    }

    /// Runs `tasks` in order, with free slots before each.
    fn lay_out(&mut self, tasks: &[TaskId]) {
        self.runs.clear();
        self.unused.clear();
        self.runs.extend(tasks.iter().map(|&task| Run { task, slot: 0 }));
        let runs: Vec<RunId> = (0..tasks.len()).map(RunId::new).collect();
        self.space_out(&runs, |_| SPARE);
        self.time = tasks.iter().map(|t| self.core.task(*t).time).sum();
    }

    /// Numbers the slots anew with `spare(position)` free slots before each run.
    fn space_out(&mut self, runs: &[RunId], spare: impl Fn(usize) -> usize) {
        self.slots.clear();
        self.changes.clear();
        self.epoch += 1;
        for (position, &run) in runs.iter().enumerate() {
            self.slots.extend(std::iter::repeat_n(None, spare(position)));
            self.runs[run.index()].slot = self.slots.len();
            self.slots.push(Some(run));
        }
        self.slots.extend(std::iter::repeat_n(None, spare(runs.len()) + 1));
        self.index_lives();
    }

    fn index_lives(&mut self) {
        let end = self.end();
        self.lives = vec![Life::default(); self.core.stores.len()];
        for (slot, run) in self.slots.iter().enumerate() {
            let Some(run) = run else { continue };
            let task = self.core.task(self.runs[run.index()].task);
            task.outputs.iter().for_each(|s| self.lives[s.index()].made.push(slot));
            task.inputs.iter().for_each(|s| self.lives[s.index()].read.push(slot));
        }
        let mut change = vec![0i64; end + 2];
        for (life, store) in self.lives.iter_mut().zip(&self.core.stores) {
            if store.output {
                life.read.push(end);
            }
            for index in 0..life.made.len() {
                let stretch = life.stretch(index);
                change[stretch.made] += store.bytes;
                change[stretch.last + 1] -= store.bytes;
            }
        }
        let mut live = 0;
        let mut profile = Vec::with_capacity(end + 1);
        for (slot, run) in self.slots.iter().enumerate() {
            live += change[slot];
            let workspace = run.map_or(0, |r| self.core.task(self.runs[r.index()].task).workspace);
            profile.push((run.is_some(), live + workspace));
        }
        self.live_bytes = MaxTree::from_profile(&profile);
    }

    /// The problem.
    pub(super) fn core(&self) -> &'c Core {
        self.core
    }

    /// The slot behind everything, at which outputs are read.
    pub(super) fn end(&self) -> usize {
        self.slots.len() - 1
    }

    /// Time of all runs in microseconds. Sums and differences of the same
    /// numbers in another order: equal up to rounding to that of the plan.
    pub(super) fn time(&self) -> f64 {
        self.time
    }

    /// The largest number of live bytes.
    pub(super) fn peak(&self) -> i64 {
        self.live_bytes.peak().max(0)
    }

    /// The largest number of live bytes in the slots `first..=last`.
    pub(super) fn peak_within(&self, first: usize, last: usize) -> i64 {
        self.live_bytes.maximum(first, last)
    }

    /// The first slot with more than `limit` live bytes.
    pub(super) fn first_above(&self, limit: i64) -> Option<usize> {
        self.live_bytes.first_above(limit)
    }

    /// What runs in a slot.
    pub(super) fn task_at(&self, slot: usize) -> Option<TaskId> {
        self.slots[slot].map(|run| self.runs[run.index()].task)
    }

    /// The run in a slot. It keeps its id when the slots are numbered anew.
    pub(super) fn run_at(&self, slot: usize) -> Option<RunId> {
        self.slots[slot]
    }

    /// Where a run stands, if it still does.
    pub(super) fn slot_of(&self, run: RunId) -> Option<usize> {
        let slot = self.runs[run.index()].slot;
        (self.slots.get(slot) == Some(&Some(run))).then_some(slot)
    }

    /// The tasks in the order of their runs.
    pub(super) fn tasks(&self) -> Vec<TaskId> {
        self.slots.iter().flatten().map(|run| self.runs[run.index()].task).collect()
    }

    /// Slots with a run, ascending.
    pub(super) fn occupied(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.iter().enumerate().filter(|(_, run)| run.is_some()).map(|(slot, _)| slot)
    }

    /// The copy of a store that a reader at `slot` would read.
    pub(super) fn copy_before(&self, store: StoreId, slot: usize) -> Option<Stretch> {
        let life = &self.lives[store.index()];
        let index = life.made.partition_point(|m| *m < slot).checked_sub(1)?;
        Some(life.stretch(index))
    }

    /// The last reader before `slot` of the copy live there (or its maker), and
    /// the next reader at or after it, if a copy is live across `slot` and no
    /// run at `slot` touches it.
    pub(super) fn idle_across(&self, store: StoreId, slot: usize) -> Option<(usize, usize)> {
        let life = &self.lives[store.index()];
        let stretch = self.copy_before(store, slot)?;
        if stretch.last <= slot {
            return None;
        }
        let next = life.read.partition_point(|r| *r < slot);
        let reader = *life.read.get(next)?;
        if reader == slot {
            return None;
        }
        let before = next.checked_sub(1).map_or(0, |i| life.read[i]);
        Some((before.max(stretch.made), reader))
    }

    /// Makes room for `count` runs right before `slot`; returns where the run
    /// that stood at `slot` stands now. May number all slots anew, which
    /// forgets what can be taken back.
    pub(super) fn make_room(&mut self, slot: usize, count: usize) -> usize {
        if self.room_before(slot, count) {
            return slot;
        }
        let runs: Vec<RunId> = self.slots.iter().flatten().copied().collect();
        let position = self.slots[..slot].iter().flatten().count();
        self.space_out(&runs, |at| if at == position { SPARE + 2 * count } else { SPARE });
        runs.get(position).map_or(self.end(), |run| self.runs[run.index()].slot)
    }

    fn room_before(&self, slot: usize, count: usize) -> bool {
        slot >= count && self.slots[slot - count..slot].iter().all(Option::is_none)
    }

    /// Puts a run of `task` into an empty slot. All it reads must be made before.
    pub(super) fn insert(&mut self, task: TaskId, slot: usize) {
        debug_assert!(self.slots[slot].is_none());
        let id = match self.unused.pop() {
            Some(id) => id,
            None => {
                self.runs.push(Run { task, slot });
                RunId::new(self.runs.len() - 1)
            }
        };
        self.runs[id.index()] = Run { task, slot };
        self.slots[slot] = Some(id);
        let core = self.core;
        let data = core.task(task);
        self.live_bytes.occupy(slot, data.workspace);
        data.inputs.iter().for_each(|s| self.start_reading(*s, slot));
        data.outputs.iter().for_each(|s| self.start_making(*s, slot));
        self.time += data.time;
        self.changes.push(Change::Inserted(id));
    }

    /// Takes the run in `slot` away. Whatever reads what it made must find an earlier copy.
    pub(super) fn remove(&mut self, slot: usize) {
        let Some(id) = self.slots[slot].take() else { return };
        let task = self.runs[id.index()].task;
        let core = self.core;
        let data = core.task(task);
        data.outputs.iter().for_each(|s| self.stop_making(*s, slot));
        data.inputs.iter().for_each(|s| self.stop_reading(*s, slot));
        self.live_bytes.vacate(slot, data.workspace);
        self.time -= data.time;
        self.unused.push(id);
        self.changes.push(Change::Removed(task, slot));
    }

    /// A point to come back to.
    pub(super) fn mark(&self) -> Mark {
        Mark { changes: self.changes.len(), epoch: self.epoch }
    }

    /// Takes back all changes since `mark`; false if the slots were numbered
    /// anew since, and nothing was done.
    #[must_use]
    pub(super) fn undo_to(&mut self, mark: Mark) -> bool {
        if mark.epoch != self.epoch {
            return false;
        }
        while self.changes.len() > mark.changes {
            match self.changes.pop() {
                Some(Change::Inserted(id)) => {
                    self.remove(self.runs[id.index()].slot);
                    self.changes.pop();
                }
                Some(Change::Removed(task, slot)) => {
                    self.insert(task, slot);
                    self.changes.pop();
                }
                None => {}
            }
        }
        true
    }

    /// Forgets what could be taken back.
    pub(super) fn commit(&mut self) {
        self.changes.clear();
    }

    fn bytes(&self, store: StoreId) -> i64 {
        self.core.store(store).bytes
    }

    /// Changes the end of the copy that is live before `slot` by `change`.
    fn adjust(&mut self, store: StoreId, slot: usize, change: impl FnOnce(&mut Life)) {
        let bytes = self.bytes(store);
        let life = &mut self.lives[store.index()];
        let index = life.made.partition_point(|m| *m < slot).checked_sub(1);
        let before = index.map(|i| life.stretch(i).last);
        change(life);
        let (Some(index), Some(before)) = (index, before) else { return };
        let after = life.stretch(index).last;
        if after > before {
            self.live_bytes.add(before + 1, after, bytes);
        } else {
            self.live_bytes.add(after + 1, before, -bytes);
        }
    }

    fn start_reading(&mut self, store: StoreId, slot: usize) {
        self.adjust(store, slot, |life| {
            let at = life.read.partition_point(|r| *r < slot);
            life.read.insert(at, slot);
        });
    }

    fn stop_reading(&mut self, store: StoreId, slot: usize) {
        self.adjust(store, slot, |life| {
            if let Ok(at) = life.read.binary_search(&slot) {
                life.read.remove(at);
            }
        });
    }

    fn start_making(&mut self, store: StoreId, slot: usize) {
        self.adjust(store, slot, |life| {
            let at = life.made.partition_point(|m| *m < slot);
            life.made.insert(at, slot);
        });
        self.count_copy(store, slot, 1);
    }

    fn stop_making(&mut self, store: StoreId, slot: usize) {
        self.count_copy(store, slot, -1);
        self.adjust(store, slot, |life| {
            if let Ok(at) = life.made.binary_search(&slot) {
                life.made.remove(at);
            }
        });
    }

    /// Adds or takes away the bytes of the copy made at `slot`.
    fn count_copy(&mut self, store: StoreId, slot: usize, sign: i64) {
        let life = &self.lives[store.index()];
        let index = life.made.partition_point(|m| *m < slot);
        let stretch = life.stretch(index);
        let bytes = sign * self.bytes(store);
        self.live_bytes.add(stretch.made, stretch.last, bytes);
    }
}

impl Life {
    /// The copy made by the `index`-th run that makes the store.
    fn stretch(&self, index: usize) -> Stretch {
        let made = self.made[index];
        let readers = match self.made.get(index + 1) {
            Some(&again) => self.read.partition_point(|r| *r < again),
            None => self.read.len(),
        };
        let last = readers.checked_sub(1).map_or(made, |i| self.read[i].max(made));
        Stretch { made, last }
    }
}
