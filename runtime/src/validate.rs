//! What a program must be so that its steps touch nothing but their buffers.

use crate::program::{
    Buffer, BufferId, CaseStep, ConvolutionStep, CopyStep, KernelStep, MatMulStep, Step, StridedOperand,
    TensorSpec, UpdateStep, WhileStep, Work,
};
use crate::{BlockId, Element, Program, ProgramError, convolution, matmul};
use ckpt_entity::EntityId as _;
use std::collections::HashSet;

/// Sizes and strides of dimensions.
type Dims = Vec<(u64, i64)>;

impl Program {
    /// Checks that buffers lie in the arena, steps name buffers and blocks that
    /// exist, strides stay within them, and no step writes what it reads.
    /// Compiled kernels are trusted. Linear in the program.
    ///
    /// # Errors
    /// [`ProgramError::Inconsistent`], with the step.
    pub fn validate(&self) -> Result<(), ProgramError> {
        let inconsistent = |what: String| Err(ProgramError::Inconsistent(what));
        for (index, buffer) in self.buffers.iter().enumerate() {
            if buffer.offset.checked_add(buffer.bytes).is_none_or(|end| end > self.arena_bytes) {
                return inconsistent(format!("buffer {index} lies outside the arena"));
            }
        }
        let arguments = self.arguments.iter().map(|a| (a.buffer, &a.tensor));
        let results = self.results.iter().map(|r| (r.buffer, &r.tensor));
        for (index, (buffer, tensor)) in arguments.chain(results).enumerate() {
            if !self.holds(buffer, tensor) {
                return inconsistent(format!("argument or result {index} does not fit its buffer"));
            }
        }
        let mut entered = HashSet::new();
        for (block, steps) in self.blocks.iter().enumerate() {
            for step in steps {
                if let Err(what) = self.check_step(block, step, &mut entered) {
                    return inconsistent(format!("step '{}': {what}", step.name));
                }
            }
        }
        Ok(())
    }

    fn holds(&self, buffer: Option<BufferId>, tensor: &TensorSpec) -> bool {
        match buffer {
            None => true,
            Some(id) => self.buffers.get(id.index()).is_some_and(|b| tensor.bytes() == Some(b.bytes)),
        }
    }

    fn find(&self, id: BufferId) -> Result<Buffer, String> {
        let buffer = self.buffers.get(id.index()).copied();
        buffer.ok_or_else(|| format!("there is no buffer {}", id.index()))
    }

    fn check_step(&self, block: usize, step: &Step, entered: &mut HashSet<BlockId>) -> Result<(), String> {
        match &step.work {
            Work::Kernel(KernelStep { buffers, .. }) => {
                buffers.iter().try_for_each(|id| self.find(*id).map(|_| ()))
            }
            Work::MatMul(work) => self.check_product(work),
            Work::Convolution(work) => self.check_convolution(work),
            Work::Copy(work) => self.check_copy(work),
            Work::Update(work) => self.check_update(work),
            Work::Evaluate(work) => {
                work.inputs.iter().chain(&work.outputs).try_for_each(|id| self.find(*id).map(|_| ()))
            }
            Work::While(WhileStep { condition, predicate, body }) => {
                if self.find(*predicate)?.bytes != 1 {
                    return Err("its predicate is no boolean".into());
                }
                self.check_blocks(block, &[*condition, *body], entered)
            }
            Work::Case(CaseStep { index, boolean, branches }) => {
                if self.find(*index)?.bytes != if *boolean { 1 } else { 4 } || branches.is_empty() {
                    return Err("its index or branches are missing".into());
                }
                self.check_blocks(block, branches, entered)
            }
        }
    }

    /// Each block is entered from one place, in a block before it: so blocks nest.
    fn check_blocks(
        &self,
        block: usize,
        inner: &[BlockId],
        entered: &mut HashSet<BlockId>,
    ) -> Result<(), String> {
        for id in inner {
            if id.index() <= block || id.index() >= self.blocks.len() || !entered.insert(*id) {
                return Err(format!("it cannot enter block {}", id.index()));
            }
        }
        Ok(())
    }

    fn check_copy(&self, step: &CopyStep) -> Result<(), String> {
        let mut targets: Vec<Buffer> = Vec::new();
        for (from, to) in &step.pairs {
            let (from, to) = (self.find(*from)?, self.find(*to)?);
            if from.bytes != to.bytes || (from.offset != to.offset && overlap(from, to)) {
                return Err("it copies between buffers of other sizes, or that overlap".into());
            }
            if targets.iter().any(|other| overlap(*other, to)) {
                return Err("it writes a place twice".into());
            }
            targets.push(to);
        }
        Ok(())
    }

    fn check_update(&self, step: &UpdateStep) -> Result<(), String> {
        let bytes = |shape: &[u64]| shape.iter().try_fold(step.element_bytes, |n, size| n.checked_mul(*size));
        let ranks = step.shape.len() == step.slice.len() && step.shape.len() == step.starts.len();
        let fits = step.slice.iter().zip(&step.shape).all(|(part, whole)| part <= whole);
        let sizes = bytes(&step.shape) == Some(self.find(step.target)?.bytes)
            && bytes(&step.slice) == Some(self.find(step.update)?.bytes);
        for start in &step.starts {
            if !matches!(self.find(*start)?.bytes, 1 | 2 | 4 | 8) {
                return Err("a position is no integer".into());
            }
        }
        if !(ranks && fits && sizes) {
            return Err("the part does not fit".into());
        }
        self.apart(step.target, &[step.update])
    }

    fn check_product(&self, step: &MatMulStep) -> Result<(), String> {
        if !matmul::is_supported(step.element, step.result) || step.sums.is_empty() {
            return Err("there is no such product".into());
        }
        let axes = || step.loops.iter().chain([&step.m, &step.n]);
        let mut lhs: Dims = axes().map(|a| (a.size, a.lhs)).collect();
        let mut rhs: Dims = axes().map(|a| (a.size, a.rhs)).collect();
        lhs.extend(step.sums.iter().map(|s| (s.size, s.lhs)));
        rhs.extend(step.sums.iter().map(|s| (s.size, s.rhs)));
        let out: Dims = axes().map(|a| (a.size, a.out)).collect();
        if axes().any(|a| a.size == 0) {
            return Ok(());
        }
        self.reaches(step.lhs, step.element, &lhs)?;
        self.reaches(step.rhs, step.element, &rhs)?;
        self.reaches(step.out, step.result, &out)?;
        self.apart(step.out.buffer, &[step.lhs.buffer, step.rhs.buffer])
    }

    fn check_convolution(&self, step: &ConvolutionStep) -> Result<(), String> {
        if !convolution::is_supported(step.element, step.result) {
            return Err("there is no such convolution".into());
        }
        let axes = [step.groups, step.batch, step.outputs];
        let dilated = step.spatial.iter().all(|d| d.input_dilation > 0 && d.step > 0);
        let small = step.spatial.iter().all(|d| d.output.max(d.kernel) <= u64::from(u32::MAX));
        if !dilated || !small {
            return Err("its window is out of range".into());
        }
        let mut lhs: Dims = axes.iter().map(|a| (a.size, a.lhs)).collect();
        let mut rhs: Dims = axes.iter().map(|a| (a.size, a.rhs)).collect();
        let mut out: Dims = axes.iter().map(|a| (a.size, a.out)).collect();
        lhs.push((step.features.size, step.features.lhs));
        rhs.push((step.features.size, step.features.rhs));
        for dim in &step.spatial {
            lhs.push((dim.input, dim.lhs));
            rhs.push((dim.kernel, dim.rhs));
            out.push((dim.output, dim.out));
        }
        let dense = |buffer| StridedOperand { buffer, offset: 0 };
        self.reaches(dense(step.lhs), step.element, &lhs)?;
        self.reaches(dense(step.rhs), step.element, &rhs)?;
        self.reaches(dense(step.out), step.result, &out)?;
        self.apart(step.out, &[step.lhs, step.rhs])
    }

    /// Checks that all elements of strided dimensions lie in the buffer.
    fn reaches(&self, operand: StridedOperand, element: Element, dims: &[(u64, i64)]) -> Result<(), String> {
        let bytes = self.find(operand.buffer)?.bytes;
        if dims.iter().any(|(size, _)| *size == 0) {
            return Ok(());
        }
        let mut last = i128::from(operand.offset);
        for &(size, stride) in dims {
            if stride < 0 {
                return Err("it has a negative stride".into());
            }
            last += i128::from(size - 1) * i128::from(stride);
        }
        let limit = i128::from(bytes / element.bytes());
        if last < limit { Ok(()) } else { Err("it reaches beyond a buffer".into()) }
    }

    fn apart(&self, out: BufferId, others: &[BufferId]) -> Result<(), String> {
        let out = self.find(out)?;
        for id in others {
            if overlap(out, self.find(*id)?) {
                return Err("it writes what it reads".into());
            }
        }
        Ok(())
    }
}

fn overlap(a: Buffer, b: Buffer) -> bool {
    a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes
}
