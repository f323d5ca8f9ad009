//! Loops and branches, and what happens where their blocks end.

use crate::LowerError;
use crate::blocks::{Draft, Lowering, Pending};
use ckpt_entity::EntityId as _;
use ckpt_ir::{BlockId, ElementType, OpId, OpKind, ValueId};
use ckpt_passes::loops::is_passed_through;
use ckpt_runtime::{BlockId as StepsId, BufferId, CaseStep, WhileStep, Work};

/// Where the values that a block returns go.
pub(crate) enum Exit {
    /// They are the program's results.
    Function,
    /// Each to its buffer, all at once: a loop's next state, a predicate, or a
    /// branch's results. `direct`: they may be written there at once, since
    /// nothing reads the buffers before the block ends.
    To { buffers: Vec<BufferId>, direct: bool },
}

impl Lowering<'_> {
    /// Lets kernels of a block write what it returns straight to where it goes.
    pub(crate) fn choose_outputs(&mut self, pending: &Pending) {
        let Exit::To { buffers, direct: true } = &pending.exit else { return };
        for (value, buffer) in self.returned(pending.block).into_iter().zip(buffers) {
            let base = self.values.base(value);
            let made_here = self
                .module
                .defining_op(base)
                .is_some_and(|op| self.module.op(op).parent == Some(pending.block));
            if made_here {
                self.values.choose(base, *buffer);
            }
        }
    }

    /// Copies what a block returns to where it goes, unless it lies there already.
    pub(crate) fn leave(&mut self, pending: &Pending) -> Result<(), LowerError> {
        let Exit::To { buffers, .. } = &pending.exit else { return Ok(()) };
        let Some(end) = self.module.terminator(pending.block) else { return Ok(()) };
        let mut pairs = Vec::new();
        for (value, buffer) in self.returned(pending.block).into_iter().zip(buffers) {
            pairs.push((self.in_buffer(pending.steps, value, end)?, *buffer));
        }
        self.push_copies(pending.steps, end, pairs);
        Ok(())
    }

    /// What a block returns, tokens left out.
    fn returned(&self, block: BlockId) -> Vec<ValueId> {
        let end = self.module.terminator(block);
        let values = end.map(|end| self.module.op(end).operands.to_vec()).unwrap_or_default();
        values.into_iter().filter(|value| !self.is_token(*value)).collect()
    }

    /// Makes the steps of a region's block wait for their turn.
    fn wait(&mut self, op: OpId, region: usize, exit: Exit) -> Result<StepsId, LowerError> {
        let region = self.module.op(op).regions.get(region);
        let block = region.and_then(|region| self.module.region(*region).blocks.first());
        let block = *block.ok_or(LowerError::Malformed { op, what: "a region is missing" })?;
        let steps = StepsId::from_index(self.blocks.len());
        self.blocks.push(Vec::new());
        self.pending.push_back(Pending { block, steps, exit });
        Ok(steps)
    }

    /// A loop: its state lies in its results' buffers, or where its initial
    /// values do if the body passes them through.
    pub(crate) fn lower_while(&mut self, steps: StepsId, op: OpId) -> Result<(), LowerError> {
        let data = self.module.op(op).clone();
        let mut copies = Vec::new();
        let mut state: Vec<Option<BufferId>> = Vec::new();
        for (index, (&initial, &result)) in data.operands.iter().zip(&data.results).enumerate() {
            if self.is_token(result) {
                state.push(None);
                continue;
            }
            let found = self.values.find(initial);
            if let Some(buffer) = found.filter(|_| is_passed_through(self.module, op, index)) {
                self.values.put(result, buffer);
                state.push(Some(buffer));
                continue;
            }
            let buffer = self.values.make(result, op)?;
            match found {
                Some(from) => copies.push((from, buffer)),
                None => self.compute(steps, initial, buffer, op)?,
            }
            state.push(Some(buffer));
        }
        self.push_copies(steps, op, copies);
        for region in &data.regions {
            for &block in &self.module.region(*region).blocks {
                let arguments = self.module.block(block).arguments.clone();
                for (argument, buffer) in arguments.into_iter().zip(&state) {
                    if let Some(buffer) = buffer {
                        self.values.put(argument, *buffer);
                    }
                }
            }
        }
        let predicate = self.values.buffer(ElementType::Bool.byte_width());
        let condition = self.wait(op, 0, Exit::To { buffers: vec![predicate], direct: true })?;
        let buffers = state.into_iter().flatten().collect();
        let body = self.wait(op, 1, Exit::To { buffers, direct: false })?;
        self.push(steps, op, Draft::Done(Work::While(WhileStep { condition, predicate, body })));
        Ok(())
    }

    /// A branch: what its blocks return lies in its results' buffers.
    pub(crate) fn lower_case(&mut self, steps: StepsId, op: OpId) -> Result<(), LowerError> {
        let data = self.module.op(op).clone();
        let Some(&index) = data.operands.first() else {
            return Err(LowerError::Malformed { op, what: "a branch needs an index" });
        };
        let index = self.in_buffer(steps, index, op)?;
        let mut buffers = Vec::new();
        for &result in &data.results {
            if !self.is_token(result) {
                buffers.push(self.values.make(result, op)?);
            }
        }
        let regions = 0..data.regions.len();
        let exit = || Exit::To { buffers: buffers.clone(), direct: true };
        let branches = regions.map(|region| self.wait(op, region, exit())).collect::<Result<_, _>>()?;
        let boolean = data.kind == OpKind::If;
        self.push(steps, op, Draft::Done(Work::Case(CaseStep { index, boolean, branches })));
        Ok(())
    }
}
