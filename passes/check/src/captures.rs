//! Which level a region binds, in logarithmic time per question.

use ckpt_ir::{BlockId, Module, OpId, ValueDef, ValueId};
use std::collections::HashMap;

/// The reads of outer values in a function, numbered in the order of the text,
/// so that those inside an operation are a range; and over them a tree of
/// maxima of the levels of what they read.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    /// The reads inside each operation with regions.
    ranges: HashMap<OpId, (usize, usize)>,
    /// The reads of each value that is read from inside a region.
    reads: HashMap<ValueId, Vec<usize>>,
    /// Node `i` has the maximum of nodes `2 i` and `2 i + 1`; the last half are the reads.
    maxima: Vec<u32>,
}

impl Captures {
    /// The captures below `root`, all of level zero so far. Linear time.
    pub(crate) fn below(module: &Module, root: OpId) -> Self {
        let mut this = Self::default();
        let mut count = 0;
        let mut stack = vec![(root, false)];
        while let Some((op, left)) = stack.pop() {
            if left {
                if let Some(range) = this.ranges.get_mut(&op) {
                    range.1 = count;
                }
                continue;
            }
            let data = module.op(op);
            for &value in &data.operands {
                if defining_block(module, value) != data.parent {
                    this.reads.entry(value).or_default().push(count);
                    count += 1;
                }
            }
            if data.regions.is_empty() {
                continue;
            }
            this.ranges.insert(op, (count, count));
            stack.push((op, true));
            let blocks = data.regions.iter().rev().flat_map(|r| module.region(*r).blocks.iter());
            let ops = blocks.rev().flat_map(|block| module.block(*block).ops.iter().rev());
            stack.extend(ops.map(|op| (*op, false)));
        }
        this.maxima = vec![0; 2 * count];
        this
    }

    /// Says that a value has been numbered and what level is free in it.
    pub(crate) fn set_level(&mut self, value: ValueId, level: u32) {
        let half = self.maxima.len() / 2;
        for &read in self.reads.get(&value).map_or(&[][..], Vec::as_slice) {
            let mut node = read + half;
            while node > 0 && self.maxima[node] < level {
                self.maxima[node] = level;
                node /= 2;
            }
        }
    }

    /// The highest level of the values numbered so far that the regions of `op` read.
    pub(crate) fn highest_level(&self, op: OpId) -> u32 {
        let half = self.maxima.len() / 2;
        let Some(&(start, end)) = self.ranges.get(&op) else { return 0 };
        let (mut from, mut to) = (start + half, end + half);
        let mut highest = 0;
        while from < to {
            if from % 2 == 1 {
                highest = highest.max(self.maxima[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                highest = highest.max(self.maxima[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        highest
    }
}

fn defining_block(module: &Module, value: ValueId) -> Option<BlockId> {
    match module.value_def(value) {
        ValueDef::Result { op, .. } => module.op(op).parent,
        ValueDef::Argument { block, .. } => Some(block),
    }
}
