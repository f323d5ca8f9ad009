//! Where values lie: buffers without offsets yet, and the values that share them.

use crate::LowerError;
use ckpt_entity::{EntityId as _, EntityVec};
use ckpt_ir::{Module, OpId, OpKind, ValueId};
use ckpt_runtime::{BufferId, TensorSpec};

/// The buffers of a program and which values lie in them.
pub(crate) struct Values<'m> {
    pub(crate) module: &'m Module,
    buffers: Vec<u64>,
    places: EntityVec<ValueId, Option<BufferId>>,
    /// Buffers that values will be written to, chosen before their kernel is met.
    chosen: EntityVec<ValueId, Option<BufferId>>,
}

impl<'m> Values<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        let none = || EntityVec::filled(None, module.value_count());
        Self { module, buffers: Vec::new(), places: none(), chosen: none() }
    }

    /// Sizes of all buffers in bytes.
    pub(crate) fn into_sizes(self) -> Vec<u64> {
        self.buffers
    }

    /// A new buffer.
    pub(crate) fn buffer(&mut self, bytes: u64) -> BufferId {
        self.buffers.push(bytes);
        BufferId::from_index(self.buffers.len() - 1)
    }

    /// The type of a value that lies in memory.
    pub(crate) fn spec(&self, value: ValueId, op: OpId) -> Result<TensorSpec, LowerError> {
        let ty = self.module.tensor_type(value);
        let shape = ty.and_then(|ty| Some((ty, ty.static_shape()?)));
        let (ty, shape) = shape.ok_or(LowerError::NoTensor { value, op })?;
        Ok(TensorSpec::new(ty.element, &shape))
    }

    /// Bytes of a value.
    pub(crate) fn bytes(&self, value: ValueId, op: OpId) -> Result<u64, LowerError> {
        let bytes = self.module.tensor_type(value).and_then(|ty| ty.bytes());
        bytes.map(|bytes| bytes.0).ok_or(LowerError::NoTensor { value, op })
    }

    /// Says where a value lies.
    pub(crate) fn put(&mut self, value: ValueId, buffer: BufferId) {
        self.places[value] = Some(buffer);
    }

    /// Says where a value is to be written; the first choice stands.
    pub(crate) fn choose(&mut self, value: ValueId, buffer: BufferId) {
        if self.chosen[value].is_none() {
            self.chosen[value] = Some(buffer);
        }
    }

    /// The buffer for a kernel's result: the chosen one, or a new one.
    pub(crate) fn make(&mut self, value: ValueId, op: OpId) -> Result<BufferId, LowerError> {
        let buffer = match self.chosen[value] {
            Some(buffer) => buffer,
            None => {
                let bytes = self.bytes(value, op)?;
                self.buffer(bytes)
            }
        };
        self.put(value, buffer);
        Ok(buffer)
    }

    /// The value itself, or what it is a view of: barriers hand their operands
    /// on, a reshape is its operand's bytes.
    pub(crate) fn base(&self, value: ValueId) -> ValueId {
        let mut value = value;
        while self.places[value].is_none() {
            let ckpt_ir::ValueDef::Result { op, index } = self.module.value_def(value) else { break };
            let data = self.module.op(op);
            let operand = match data.kind {
                OpKind::Reshape => data.operands.first(),
                OpKind::OptimizationBarrier => data.operands.get(index as usize),
                _ => None,
            };
            match operand {
                Some(operand) => value = *operand,
                None => break,
            }
        }
        value
    }

    /// Where a value lies, if it or what it is a view of is in a buffer.
    pub(crate) fn find(&self, value: ValueId) -> Option<BufferId> {
        self.places[self.base(value)]
    }

    /// Where exactly this value lies, views not followed.
    pub(crate) fn own(&self, value: ValueId) -> Option<BufferId> {
        self.places[value]
    }
}
