//! The step loop, with an explicit stack of running blocks.

use crate::arena::Arena;
use crate::evaluate::Evaluator;
use crate::library::{self, Entry};
use crate::matmul::Operands;
use crate::program::{BlockId, BufferId, CaseStep, EvaluateStep, KernelStep, Program, Step, WhileStep, Work};
use crate::{RunError, convolution, copies, matmul, update};
use ckpt_entity::EntityId as _;
use std::time::{Duration, Instant};

/// What a step needs besides its description.
pub(crate) enum Prepared {
    /// Nothing.
    Plain,
    /// A compiled kernel.
    Kernel(Entry),
    /// A function for the reference evaluator.
    Evaluator(Box<Evaluator>),
}

/// How often a step ran, and for how long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) runs: u64,
    pub(crate) time: Duration,
}

/// A run in progress.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) prepared: &'a [Vec<Prepared>],
    pub(crate) arena: &'a mut Arena,
    /// Per block and step; empty if nobody asks.
    pub(crate) clocks: &'a mut [Vec<Clock>],
}

/// A running block.
struct Frame {
    block: usize,
    next: usize,
    /// The loop whose condition or body this is.
    role: Role,
}

#[derive(Clone, Copy)]
enum Role {
    Once,
    Condition(WhileStep),
    Body(WhileStep),
}

impl Machine<'_> {
    /// Runs the first block to its end.
    pub(crate) fn run(&mut self) -> Result<(), RunError> {
        if self.program.blocks.is_empty() {
            return Ok(());
        }
        let program = self.program;
        let mut frames = vec![Frame { block: 0, next: 0, role: Role::Once }];
        while let Some(frame) = frames.last_mut() {
            let Some(step) = program.blocks[frame.block].get(frame.next) else {
                let role = frame.role;
                frames.pop();
                match role {
                    Role::Condition(step) if self.holds(step.predicate) => {
                        frames.push(enter(step.body, Role::Body(step)));
                    }
                    Role::Body(step) => frames.push(enter(step.condition, Role::Condition(step))),
                    _ => {}
                }
                continue;
            };
            let place = (frame.block, frame.next);
            frame.next += 1;
            match &step.work {
                Work::While(step) => frames.push(enter(step.condition, Role::Condition(*step))),
                Work::Case(step) => frames.push(enter(self.branch(step), Role::Once)),
                _ => self.timed(place, step)?,
            }
        }
        Ok(())
    }

    fn timed(&mut self, (block, index): (usize, usize), step: &Step) -> Result<(), RunError> {
        if self.clocks.is_empty() {
            return self.step(step, &self.prepared[block][index]);
        }
        let start = Instant::now();
        self.step(step, &self.prepared[block][index])?;
        let clock = &mut self.clocks[block][index];
        clock.runs += 1;
        clock.time += start.elapsed();
        Ok(())
    }

    fn holds(&self, predicate: BufferId) -> bool {
        self.arena.bytes(self.program.buffer(predicate)).first().is_some_and(|byte| *byte != 0)
    }

    fn branch(&self, step: &CaseStep) -> BlockId {
        let bytes = self.arena.bytes(self.program.buffer(step.index));
        let index = match *bytes {
            [byte] => i32::from(byte == 0),
            [a, b, c, d] => i32::from_le_bytes([a, b, c, d]),
            _ => 0,
        };
        let last = step.branches.len() - 1;
        step.branches[usize::try_from(index).map_or(last, |index| index.min(last))]
    }

    fn pointer(&self, id: BufferId) -> *mut u8 {
        self.arena.pointer(self.program.buffer(id))
    }

    #[allow(unsafe_code)]
    fn step(&mut self, step: &Step, prepared: &Prepared) -> Result<(), RunError> {
        match (&step.work, prepared) {
            (Work::Kernel(work), Prepared::Kernel(entry)) => self.kernel(work, *entry),
            (Work::Evaluate(work), Prepared::Evaluator(evaluator)) => {
                self.evaluate(step, work, evaluator)?;
            }
            (Work::MatMul(work), _) => {
                let operands = self.operands(work.lhs.buffer, work.rhs.buffer, work.out.buffer);
                // SAFETY: validation has checked the step against its buffers.
                unsafe { matmul::run(work, operands) }
            }
            (Work::Convolution(work), _) => {
                let operands = self.operands(work.lhs, work.rhs, work.out);
                // SAFETY: as above.
                unsafe { convolution::run(work, operands) }
            }
            (Work::Copy(work), _) => copies::run(self.program, self.arena, work),
            (Work::Update(work), _) => update::run(self.program, self.arena, work),
            // Control is the loop's business; other steps are prepared as what they are.
            _ => {}
        }
        Ok(())
    }

    fn operands(&self, lhs: BufferId, rhs: BufferId, out: BufferId) -> Operands {
        Operands { lhs: self.pointer(lhs), rhs: self.pointer(rhs), out: self.pointer(out) }
    }

    #[allow(unsafe_code)]
    fn kernel(&self, work: &KernelStep, entry: Entry) {
        let pointers: Vec<*mut u8> = work.buffers.iter().map(|id| self.pointer(*id)).collect();
        let bytes = work.buffers.iter().map(|id| self.program.buffer(*id).bytes).sum();
        // SAFETY: the compiler made the kernel for buffers of these types; the
        // memory plan keeps them apart, and the arena is borrowed exclusively.
        unsafe { library::run(entry, &pointers, work.extent, bytes) }
    }

    fn evaluate(&mut self, step: &Step, work: &EvaluateStep, evaluator: &Evaluator) -> Result<(), RunError> {
        let inputs: Vec<&[u8]> =
            work.inputs.iter().map(|id| self.arena.bytes(self.program.buffer(*id))).collect();
        let results = evaluator.run(step, &inputs)?;
        for (id, bytes) in work.outputs.iter().zip(results) {
            self.arena.bytes_mut(self.program.buffer(*id)).copy_from_slice(&bytes);
        }
        Ok(())
    }
}

fn enter(block: BlockId, role: Role) -> Frame {
    Frame { block: block.index(), next: 0, role }
}
