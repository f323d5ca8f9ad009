//! Exact plans of small problems: A* over sets of live stores.
//!
//! A state is what is live and which tasks that run once have run. A step runs
//! one task, after dropping as little as makes it fit: dropping more, or
//! earlier, never helps, since whatever is live may be dropped later. The
//! heuristic is the time of everything that must still run, each task once
//! (Hart, Nilsson and Raphael 1968; it never exceeds the truth and never falls
//! by more than a step takes).

use super::core::Core;
use super::ids::{StoreId, TaskId};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// The answer of the exact search.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Exact {
    /// A plan of the least time.
    Optimal(Vec<TaskId>),
    /// No plan fits.
    Infeasible,
    /// The problem is too large for the limit on states.
    Unknown,
}

/// Sets of stores are masks of this many bits.
const MAX_STORES: usize = 128;

/// The state behind a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    live: u128,
    /// Tasks that run once and have run, by their rank among such tasks.
    done: u64,
}

/// How a state was reached first at least cost.
struct Reached {
    time: f64,
    from: Option<(State, TaskId)>,
    closed: bool,
}

#[derive(PartialEq)]
struct Open {
    estimate: f64,
    time: f64,
    state: State,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        // The least estimate first; among equals the one furthest along.
        (other.estimate.total_cmp(&self.estimate))
            .then(self.time.total_cmp(&other.time))
            .then_with(|| self.state.live.cmp(&other.state.live))
            .then_with(|| self.state.done.cmp(&other.state.done))
    }
}

struct Step {
    task: TaskId,
    time: f64,
    inputs: u128,
    outputs: u128,
    workspace: i64,
    /// Rank among the tasks that run once.
    once: Option<u32>,
    /// Ranks of the ordered tasks that must have run before.
    after: u64,
}

struct Space {
    bytes: Vec<i64>,
    steps: Vec<Step>,
    /// Per store the steps that make it.
    makers: Vec<Vec<usize>>,
    outputs: u128,
    limit: i64,
}

/// The best plan within `limit`, with at most `max_states` states expanded or created.
pub(super) fn solve(core: &Core, limit: i64, max_states: usize) -> Exact {
    let Some(space) = Space::new(core, limit) else { return Exact::Unknown };
    let start = State { live: 0, done: 0 };
    let mut reached = HashMap::from([(start, Reached { time: 0.0, from: None, closed: false })]);
    let mut open = BinaryHeap::new();
    if let Some(rest) = space.rest(start) {
        open.push(Open { estimate: rest, time: 0.0, state: start });
    }
    let mut work = 0;
    while let Some(Open { time, state, .. }) = open.pop() {
        match reached.get_mut(&state) {
            Some(known) if !known.closed && known.time >= time => known.closed = true,
            _ => continue,
        }
        if space.is_goal(state) {
            return Exact::Optimal(path(&reached, state));
        }
        let mut room = true;
        space.successors(state, |task, next_time, next| {
            work += 1;
            let time = time + next_time;
            let better = reached.get(&next).is_none_or(|known| !known.closed && known.time > time);
            if better && let Some(rest) = space.rest(next) {
                reached.insert(next, Reached { time, from: Some((state, task)), closed: false });
                open.push(Open { estimate: time + rest, time, state: next });
            }
            room = work < max_states;
            room
        });
        if !room {
            return Exact::Unknown;
        }
    }
    Exact::Infeasible
}

fn path(reached: &HashMap<State, Reached>, goal: State) -> Vec<TaskId> {
    let mut tasks = Vec::new();
    let mut at = goal;
    while let Some((before, task)) = reached.get(&at).and_then(|r| r.from) {
        tasks.push(task);
        at = before;
    }
    tasks.reverse();
    tasks
}

fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(bit)
    })
}

fn mask(stores: &[StoreId]) -> u128 {
    stores.iter().fold(0, |set, s| set | 1 << s.index())
}

impl Space {
    fn new(core: &Core, limit: i64) -> Option<Self> {
        let once = core.tasks.iter().filter(|t| t.once).count();
        if core.stores.len() > MAX_STORES || once > 64 {
            return None;
        }
        let mut rank = 0;
        let mut ordered = 0;
        let mut makers = vec![Vec::new(); core.stores.len()];
        let mut steps = Vec::new();
        for (index, task) in core.tasks.iter().enumerate() {
            let once = task.once.then_some(rank);
            let after = if task.ordered { ordered } else { 0 };
            if let (true, Some(rank)) = (task.ordered, once) {
                ordered |= 1 << rank;
            }
            rank += u32::from(task.once);
            task.outputs.iter().for_each(|s| makers[s.index()].push(index));
            steps.push(Step {
                task: TaskId::new(index),
                time: task.time,
                inputs: mask(&task.inputs),
                outputs: mask(&task.outputs),
                workspace: task.workspace,
                once,
                after,
            });
        }
        let outputs = core.store_ids().filter(|s| core.store(*s).output);
        Some(Self {
            bytes: core.stores.iter().map(|s| s.bytes).collect(),
            steps,
            makers,
            outputs: mask(&outputs.collect::<Vec<_>>()),
            limit,
        })
    }

    fn is_goal(&self, state: State) -> bool {
        let all_once = self.steps.iter().filter_map(|s| s.once).all(|rank| state.done >> rank & 1 == 1);
        all_once && state.live & self.outputs == self.outputs
    }

    fn bytes_of(&self, set: u128) -> i64 {
        bits(set).map(|s| self.bytes[s]).sum()
    }

    /// What must run in any case before the end: its time, or `None` if the end cannot be reached.
    fn rest(&self, state: State) -> Option<f64> {
        let mut counted = 0u128;
        let mut missing = self.outputs & !state.live;
        let mut seen = missing;
        let mut time = 0.0;
        let need = |inputs: u128, missing: &mut u128, seen: &mut u128| {
            let new = inputs & !state.live & !*seen;
            *seen |= new;
            *missing |= new;
        };
        for step in self.steps.iter().filter(|s| s.once.is_some_and(|rank| state.done >> rank & 1 == 0)) {
            time += step.time;
            counted |= step.outputs;
            need(step.inputs, &mut missing, &mut seen);
        }
        while missing != 0 {
            let store = missing.trailing_zeros() as usize;
            missing &= missing - 1;
            if counted >> store & 1 == 1 {
                continue;
            }
            let can_run = |i: &&usize| self.steps[**i].once.is_none_or(|rank| state.done >> rank & 1 == 0);
            let mut makers = self.makers[store].iter().filter(can_run);
            let first = &self.steps[*makers.next()?];
            let mut least = first.time;
            let mut single = true;
            for other in makers {
                least = least.min(self.steps[*other].time);
                single = false;
            }
            time += least;
            if single {
                counted |= first.outputs;
                need(first.inputs, &mut missing, &mut seen);
            }
        }
        Some(time)
    }

    /// Calls `found` for each step out of a state, until it says stop.
    fn successors(&self, state: State, mut found: impl FnMut(TaskId, f64, State) -> bool) {
        for step in &self.steps {
            let ready = step.inputs & !state.live == 0;
            let allowed = step.once.is_none_or(|rank| state.done >> rank & 1 == 0);
            let in_order = step.after & !state.done == 0;
            if !ready || !allowed || !in_order || (step.outputs & !state.live == 0 && step.outputs != 0) {
                continue;
            }
            let done = step.once.map_or(state.done, |rank| state.done | 1 << rank);
            // Outputs that are live already are dropped and made again.
            let others = state.live & !step.outputs;
            let excess = self.bytes_of(others | step.outputs) + step.workspace - self.limit;
            let mut droppable: Vec<usize> =
                bits(others & !step.inputs).filter(|s| self.bytes[*s] > 0).collect();
            droppable.sort_by_key(|store| (std::cmp::Reverse(self.bytes[*store]), *store));
            let go_on = self.drops(&droppable, excess, |dropped| {
                found(step.task, step.time, State { live: (others & !dropped) | step.outputs, done })
            });
            if !go_on {
                return;
            }
        }
    }

    /// All minimal sets of droppable stores with at least `excess` bytes. The
    /// stores come largest first, so a set is minimal as soon as it is enough:
    /// without any of its stores it lacks at least what the last one gave. Every
    /// branch ends in such a set, so the time is linear in what is found.
    fn drops(&self, droppable: &[usize], excess: i64, mut found: impl FnMut(u128) -> bool) -> bool {
        // Depth first over "dropped" and "kept" for each store; explicit stack
        // of (next store, dropped, bytes still to drop).
        let mut stack = vec![(0usize, 0u128, excess)];
        let mut rest: Vec<i64> = vec![0; droppable.len() + 1];
        for (at, store) in droppable.iter().enumerate().rev() {
            rest[at] = rest[at + 1] + self.bytes[*store];
        }
        while let Some((at, dropped, left)) = stack.pop() {
            if left <= 0 {
                if !found(dropped) {
                    return false;
                }
                continue;
            }
            if at == droppable.len() || rest[at] < left {
                continue;
            }
            let store = droppable[at];
            stack.push((at + 1, dropped, left));
            stack.push((at + 1, dropped | 1 << store, left - self.bytes[store]));
        }
        true
    }
}
