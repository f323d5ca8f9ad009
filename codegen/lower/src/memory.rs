//! The memory plan: live ranges from the steps, then offsets.
//!
//! The timeline numbers the steps in the order in which their text runs, the
//! blocks of a loop or branch inside their step. A buffer is live from the
//! first step that touches it to the last; one that a loop touches and that was
//! there before it is live to the loop's end, since the next iteration reads it.

use crate::blocks::Unplaced;
use crate::{LowerError, Lowered};
use ckpt_arena::{Effort, Request};
use ckpt_entity::{Bytes, EntityId as _, EntityVec};
use ckpt_runtime::{Buffer, BufferId, Program, Work};

/// Offsets of buffers whose size is a multiple of this are too: a cache line.
const LINE: u64 = 64;

/// The widest alignment that an element needs; what is left of [`LINE`] where
/// cache lines cost bytes, as in programs of a few kilobytes.
const WORD: u64 = 8;

/// Places the buffers of a program.
pub(crate) fn place(draft: Unplaced, effort: Effort) -> Result<Lowered, LowerError> {
    let Unplaced { mut program, sizes } = draft;
    let mut requests = requests(&program, &sizes);
    let mut layout = ckpt_arena::plan(&requests, effort);
    ckpt_arena::check(&requests, &layout)?;
    let liveness_peak: Bytes = ckpt_arena::peak(&requests);
    if layout.arena > liveness_peak {
        for id in requests.ids() {
            requests[id].align = requests[id].align.min(WORD);
        }
        let denser = ckpt_arena::plan(&requests, effort);
        ckpt_arena::check(&requests, &denser)?;
        if denser.arena < layout.arena {
            layout = denser;
        }
    }
    let place = |(offset, bytes): (&u64, &u64)| Buffer { offset: *offset, bytes: *bytes };
    program.buffers = layout.offsets.values().zip(&sizes).map(place).collect();
    program.arena_bytes = layout.arena.0;
    Ok(Lowered { program, liveness_peak })
}

/// The live range of every buffer.
fn requests(program: &Program, sizes: &[u64]) -> EntityVec<ckpt_arena::BufferId, Request> {
    let mut ranges = Ranges { time: 0, ranges: vec![None; sizes.len()] };
    let arguments = program.arguments.iter().filter_map(|a| a.buffer);
    arguments.for_each(|buffer| ranges.touch(buffer));
    ranges.time += 1;
    ranges.walk(program);
    let kept = program.arguments.iter().filter(|a| !a.donated).filter_map(|a| a.buffer);
    kept.chain(program.results.iter().filter_map(|r| r.buffer)).for_each(|buffer| ranges.touch(buffer));
    let request = |(range, bytes): (&Option<(u32, u32)>, &u64)| {
        let (first, last) = range.unwrap_or((0, 0));
        // The largest power of two that the size is a multiple of, up to a line:
        // so alignment alone leaves no gap between buffers of like sizes.
        let align = LINE.min(1 << bytes.trailing_zeros().min(6));
        Request { bytes: Bytes(*bytes), align, first, last }
    };
    ranges.ranges.iter().zip(sizes).map(request).collect()
}

/// First and last touch of every buffer so far.
struct Ranges {
    time: u32,
    ranges: Vec<Option<(u32, u32)>>,
}

/// What the walk does next.
enum Visit {
    /// The step of a block, and those after it.
    Steps(usize, usize),
    /// A buffer is read.
    Touch(BufferId),
    /// The end of a loop that started at this time.
    LoopEnd(u32),
}

impl Ranges {
    fn touch(&mut self, buffer: BufferId) {
        let range = &mut self.ranges[buffer.index()];
        let first = range.map_or(self.time, |(first, _)| first);
        *range = Some((first, self.time));
    }

    /// Visits all steps in order, with an explicit stack. Linear in the steps,
    /// and in the buffers for each loop.
    fn walk(&mut self, program: &Program) {
        let mut stack = vec![Visit::Steps(0, 0)];
        while let Some(visit) = stack.pop() {
            let (block, index) = match visit {
                Visit::Steps(block, index) => (block, index),
                Visit::Touch(buffer) => {
                    self.touch(buffer);
                    self.time += 1;
                    continue;
                }
                Visit::LoopEnd(start) => {
                    self.extend_through_loop(start);
                    self.time += 1;
                    continue;
                }
            };
            let Some(step) = program.blocks.get(block).and_then(|steps| steps.get(index)) else { continue };
            stack.push(Visit::Steps(block, index + 1));
            match &step.work {
                Work::While(step) => {
                    stack.push(Visit::LoopEnd(self.time));
                    stack.push(Visit::Steps(step.body.index(), 0));
                    stack.push(Visit::Touch(step.predicate));
                    stack.push(Visit::Steps(step.condition.index(), 0));
                }
                Work::Case(step) => {
                    self.touch(step.index);
                    let branches = step.branches.iter().rev();
                    stack.extend(branches.map(|branch| Visit::Steps(branch.index(), 0)));
                }
                work => work.buffers().into_iter().for_each(|buffer| self.touch(buffer)),
            }
            self.time += 1;
        }
    }

    /// What was there before the loop and is touched in it stays until its end.
    fn extend_through_loop(&mut self, start: u32) {
        for (first, last) in self.ranges.iter_mut().flatten() {
            if *first < start && *last >= start {
                *last = self.time;
            }
        }
    }
}
