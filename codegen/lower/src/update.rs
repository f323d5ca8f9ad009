//! `dynamic_update_slice`: in place where the schedule says so, else after a copy.

use crate::LowerError;
use crate::blocks::{Draft, Lowering};
use ckpt_ir::{ElementType, OpId};
use ckpt_runtime::{BlockId as StepsId, BufferId, UpdateStep, Work};

impl Lowering<'_> {
    /// Pushes the steps of an update; says whether there is a fast path.
    pub(crate) fn update(&mut self, steps: StepsId, op: OpId, in_place: bool) -> Result<bool, LowerError> {
        let data = self.module.op(op).clone();
        let ([target, update, starts @ ..], [result]) = (&data.operands[..], &data.results[..]) else {
            return Ok(false);
        };
        let found: Option<Vec<BufferId>> = starts.iter().map(|start| self.values.find(*start)).collect();
        let operands = self.values.find(*target).zip(self.values.find(*update));
        let (Some((target_buffer, update_buffer)), Some(starts_found)) = (operands, found) else {
            return Ok(false);
        };
        let (whole, part) = (self.module.tensor_type(*target), self.module.tensor_type(*update));
        let shapes =
            whole.zip(part).and_then(|(w, p)| Some((w.static_shape()?, p.static_shape()?, w.element)));
        let Some((shape, slice, element)) = shapes else { return Ok(false) };
        let index = starts.first().and_then(|start| self.module.tensor_type(*start)).map(|ty| ty.element);
        let buffer = if in_place {
            self.values.put(*result, target_buffer);
            target_buffer
        } else {
            let buffer = self.values.make(*result, op)?;
            self.push_copies(steps, op, vec![(target_buffer, buffer)]);
            buffer
        };
        let work = UpdateStep {
            target: buffer,
            update: update_buffer,
            starts: starts_found,
            signed: !matches!(index, Some(ElementType::Uint(_))),
            element_bytes: element.byte_width(),
            shape,
            slice,
        };
        self.push(steps, op, Draft::Done(Work::Update(work)));
        Ok(true)
    }
}
