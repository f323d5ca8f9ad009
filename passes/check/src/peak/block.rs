//! The peak of one block under its schedule.

use super::PeakError;
use super::structure::Structure;
use crate::refusal::Place;
use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{
    Attr, BlockId, Bytes, Category, EntityId, EntitySet, EntityVec, Module, OpId, OpKind, ValueId,
};
use std::collections::HashMap;

/// What a block's arguments and results are to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// The function that runs: its arguments and results count.
    Entry,
    /// A loop's region: its arguments are the loop's results, what it returns
    /// lies beside them.
    Loop,
    /// A branch or callee: its arguments are the owner's operands, what it
    /// returns is written to the owner's results.
    InPlace,
}

/// Time of an operation that is inlined.
const INLINED: u32 = u32::MAX;
/// Time of an operation that no schedule has placed, and of the last use of a
/// value that nothing reads.
const NEVER: u32 = u32::MAX - 1;

/// What each value holds, and for how long.
#[derive(Clone, Copy)]
struct Life {
    /// The kernel that makes it; of an argument, the first.
    made: u32,
    /// The last kernel that reads it, or `NEVER`.
    last: u32,
    /// Whether it, or a view of it, leaves the block.
    returned: bool,
}

/// The peaks of blocks, each computed after those inside it. The side tables
/// are shared, since a value stands in one block.
pub(super) struct BlockPeaks<'a> {
    module: &'a Module,
    structure: &'a Structure,
    times: EntityVec<OpId, u32>,
    lives: EntityVec<ValueId, Life>,
    /// The most that a region or callee of an operation holds.
    inner: HashMap<OpId, Bytes>,
    /// Updates that have no buffer of their own.
    in_place: EntitySet<OpId>,
}

impl<'a> BlockPeaks<'a> {
    /// No block computed yet.
    pub(super) fn new(module: &'a Module, structure: &'a Structure) -> Self {
        let unborn = Life { made: 0, last: NEVER, returned: false };
        Self {
            module,
            structure,
            times: EntityVec::filled(NEVER, module.op_count()),
            lives: EntityVec::filled(unborn, module.value_count()),
            inner: HashMap::new(),
            in_place: EntitySet::new(),
        }
    }

    /// The most that the blocks of an operation hold, or nothing if it has none.
    pub(super) fn of(&self, owner: OpId) -> Bytes {
        self.inner.get(&owner).copied().unwrap_or_default()
    }

    /// Computes a block of `owner` and adds it to the owner's peak.
    pub(super) fn compute(
        &mut self,
        owner: OpId,
        block: BlockId,
        schedule: &KernelPartition,
        boundary: Boundary,
    ) -> Result<(), PeakError> {
        self.place_ops(block, schedule)?;
        self.check_order(block)?;
        self.check_in_place(block, schedule, boundary)?;
        self.find_last_uses(block, schedule.kernels.len() as u32);
        let peak = self.sweep(owner, block, schedule, boundary)?;
        let entry = self.inner.entry(owner).or_default();
        *entry = peak.max(*entry);
        Ok(())
    }

    fn at(&self, op: OpId) -> Place {
        Place::of(self.module, op)
    }

    /// Gives each operation its time: once, and none forgotten.
    fn place_ops(&mut self, block: BlockId, schedule: &KernelPartition) -> Result<(), PeakError> {
        let kernels = schedule.kernels.iter().enumerate();
        let in_kernels = kernels.flat_map(|(at, k)| k.ops.iter().map(move |op| (*op, at as u32)));
        let inlined = schedule.inlined.iter().map(|op| (*op, INLINED));
        for (op, time) in in_kernels.chain(inlined) {
            if op.index() >= self.module.op_count() {
                return Err(PeakError::UnknownOp { op });
            }
            let data = self.module.op(op);
            if data.parent != Some(block) || data.kind.is_terminator() {
                return Err(PeakError::WrongOp { place: self.at(op) });
            }
            if self.times[op] != NEVER {
                return Err(PeakError::Twice { place: self.at(op) });
            }
            if time == INLINED && !self.is_inlinable(op) {
                return Err(PeakError::NotInlinable { place: self.at(op) });
            }
            self.times[op] = time;
        }
        let end = schedule.kernels.len() as u32;
        for &op in &self.module.block(block).ops {
            if self.module.op(op).kind.is_terminator() {
                self.times[op] = end;
            } else if self.times[op] == NEVER {
                return Err(PeakError::Missing { place: self.at(op) });
            }
        }
        Ok(())
    }

    /// Whether readers can compute each element of the results by themselves.
    fn is_inlinable(&self, op: OpId) -> bool {
        let kind = self.module.op(op).kind;
        let folds = matches!(
            kind.category(),
            Category::Constant
                | Category::View
                | Category::Movement
                | Category::Structural
                | Category::Elementwise(_)
        ) || kind == OpKind::DynamicSlice;
        folds && self.module.op(op).regions.is_empty() && !self.structure.effects.contains(op)
    }

    /// Whether the results are the operands' own bytes.
    fn is_view(&self, op: OpId) -> bool {
        let kind = self.module.op(op).kind;
        kind.category() == Category::View || kind == OpKind::OptimizationBarrier
    }

    /// What an operation reads in its own block: operands, and captures of its regions.
    fn reads(&self, op: OpId) -> impl Iterator<Item = ValueId> + use<'a> {
        let captures = self.structure.captures.get(&op).map_or(&[][..], Vec::as_slice);
        self.module.op(op).operands.iter().chain(captures).copied()
    }

    /// Checks that no kernel reads what a later one makes and that effects keep
    /// their order; sets when values are made.
    fn check_order(&mut self, block: BlockId) -> Result<(), PeakError> {
        let mut local = EntitySet::new();
        let arguments = &self.module.block(block).arguments;
        arguments.iter().for_each(|argument| {
            local.insert(*argument);
        });
        let mut last_effect = 0;
        for &op in &self.module.block(block).ops {
            let time = self.times[op];
            let mut made = if time == INLINED { 0 } else { time };
            for value in self.reads(op).filter(|value| self.is_of(*value, block)) {
                if !local.contains(value) {
                    return Err(PeakError::NotVisible { place: self.at(op), value });
                }
                let available = self.lives[value].made;
                if time == INLINED {
                    made = made.max(available);
                } else if available > time {
                    let (kernel, made) = (time as usize, available as usize);
                    return Err(PeakError::TooEarly { place: self.at(op), kernel, value, made });
                }
            }
            if self.structure.effects.contains(op) {
                if time < last_effect {
                    let kernel = time as usize;
                    return Err(PeakError::EffectOrder { place: self.at(op), kernel });
                }
                last_effect = time;
            }
            for &result in &self.module.op(op).results {
                self.lives[result].made = made;
                local.insert(result);
            }
        }
        Ok(())
    }

    /// Checks that updates in place destroy nothing that is still needed.
    fn check_in_place(
        &mut self,
        block: BlockId,
        schedule: &KernelPartition,
        boundary: Boundary,
    ) -> Result<(), PeakError> {
        for &op in &schedule.in_place {
            let refused = PeakError::NotInPlace { place: self.at(op) };
            let data = self.module.op(op);
            let updates = matches!(data.kind, OpKind::DynamicUpdateSlice | OpKind::Scatter);
            let (Some(&target), [result]) = (data.operands.first(), &data.results[..]) else {
                return Err(refused);
            };
            let arguments = &self.module.block(block).arguments;
            let place = arguments.iter().position(|argument| *argument == target);
            let yielded = self.module.terminator(block).map(|t| self.module.op(t));
            let comes_back = place.is_some_and(|at| yielded.and_then(|t| t.operands.get(at)) == Some(result));
            let read_elsewhere = self.module.block(block).ops.iter().any(|other| {
                let times = if *other == op { 1 } else { 0 };
                self.reads(*other).filter(|value| *value == target).count() > times
            });
            let legal = boundary == Boundary::Loop
                && data.parent == Some(block)
                && updates
                && comes_back
                && !read_elsewhere;
            if !legal {
                return Err(refused);
            }
            self.in_place.insert(op);
        }
        Ok(())
    }

    /// Whether result `index` of an operation is a loop's initial value,
    /// passed through unchanged and found in a buffer.
    fn is_passed_through(&self, op: OpId, index: usize) -> bool {
        let data = self.module.op(op);
        if data.kind != OpKind::While {
            return false;
        }
        let body = data.regions.get(1).and_then(|r| self.module.region(*r).blocks.first());
        let Some(body) = body.copied() else { return false };
        let argument = self.module.block(body).arguments.get(index);
        let yielded = self.module.terminator(body).map(|t| self.module.op(t));
        let same = argument.is_some() && yielded.and_then(|t| t.operands.get(index)) == argument;
        let has_buffer = data.operands.get(index).is_some_and(|init| {
            let base = self.behind_barriers(*init);
            self.module.defining_op(base).is_none_or(|maker| self.times[maker] != INLINED)
        });
        same && has_buffer
    }

    /// The value that a chain of optimisation barriers hands on.
    fn behind_barriers(&self, value: ValueId) -> ValueId {
        let mut value = value;
        while let ckpt_ir::ValueDef::Result { op, index } = self.module.value_def(value) {
            let data = self.module.op(op);
            match data.operands.get(index as usize) {
                Some(&operand) if data.kind == OpKind::OptimizationBarrier => value = operand,
                _ => break,
            }
        }
        value
    }

    /// Whether a value is defined in `block`, not around it.
    fn is_of(&self, value: ValueId, block: BlockId) -> bool {
        match self.module.value_def(value) {
            ckpt_ir::ValueDef::Result { op, .. } => self.module.op(op).parent == Some(block),
            ckpt_ir::ValueDef::Argument { block: of, .. } => of == block,
        }
    }

    /// Sets the last use of each value, views passing theirs on to what they hold.
    fn find_last_uses(&mut self, block: BlockId, end: u32) {
        let module = self.module;
        for &op in module.block(block).ops.iter().rev() {
            let time = self.times[op];
            let mut used = (time != INLINED).then_some(time);
            let mut returned = time == end && module.op(op).kind.is_terminator();
            if time == INLINED || self.is_view(op) {
                for &result in &module.op(op).results {
                    let life = self.lives[result];
                    returned |= life.returned;
                    if life.last != NEVER {
                        used = used.max(Some(life.last));
                    }
                }
            }
            if self.module.op(op).kind == OpKind::OptimizationBarrier {
                self.pass_on_barrier(op, block);
                continue;
            }
            let Some(used) = used else { continue };
            for value in self.reads(op) {
                if self.is_of(value, block) {
                    let life = &mut self.lives[value];
                    life.last = if life.last == NEVER { used } else { life.last.max(used) };
                    life.returned |= returned;
                }
            }
        }
    }

    /// Each operand of a barrier is held as long as the result that it becomes.
    fn pass_on_barrier(&mut self, op: OpId, block: BlockId) {
        let module = self.module;
        let data = module.op(op);
        for (&operand, &result) in data.operands.iter().zip(&data.results) {
            let from = self.lives[result];
            if from.last != NEVER && self.is_of(operand, block) {
                let life = &mut self.lives[operand];
                life.last = if life.last == NEVER { from.last } else { life.last.max(from.last) };
                life.returned |= from.returned;
            }
        }
    }

    /// The largest sum of held bytes over the kernels and the end.
    fn sweep(
        &self,
        owner: OpId,
        block: BlockId,
        schedule: &KernelPartition,
        boundary: Boundary,
    ) -> Result<Bytes, PeakError> {
        let overflow = || PeakError::Overflow { place: self.at(owner) };
        let count = schedule.kernels.len();
        let (mut starts, mut ends) = (vec![Bytes(0); count + 1], vec![Bytes(0); count + 1]);
        for (value, first, last) in self.held(owner, block, count as u32, boundary) {
            let bytes = self.module.types.bytes(self.module.value_type(value));
            let place = self.module.defining_op(value).unwrap_or(owner);
            let bytes = bytes.ok_or_else(|| PeakError::UnknownSize { place: self.at(place), value })?;
            for (table, at) in [(&mut starts, first), (&mut ends, last)] {
                table[at as usize] = table[at as usize].checked_add(bytes).ok_or_else(overflow)?;
            }
        }
        let (mut held, mut peak) = (Bytes(0), self.brought(block, boundary).ok_or_else(overflow)?);
        for at in 0..=count {
            held = held.checked_add(starts[at]).ok_or_else(overflow)?;
            let mut total = held;
            if let Some(kernel) = schedule.kernels.get(at) {
                let inner = kernel.ops.iter().map(|op| self.inside(*op)).max().unwrap_or_default();
                let extra = inner.checked_add(kernel.workspace);
                total = extra.and_then(|extra| total.checked_add(extra)).ok_or_else(overflow)?;
            }
            peak = peak.max(total);
            held = held.saturating_sub(ends[at]);
        }
        Ok(peak)
    }

    /// What the caller of the function that runs brings, before any kernel.
    /// Sizes that are not known are found later.
    fn brought(&self, block: BlockId, boundary: Boundary) -> Option<Bytes> {
        let arguments = &self.module.block(block).arguments;
        let counted = arguments.iter().filter(|_| boundary == Boundary::Entry);
        let bytes = counted.filter_map(|argument| self.module.types.bytes(self.module.value_type(*argument)));
        bytes.into_iter().try_fold(Bytes(0), Bytes::checked_add)
    }

    /// What an operation's regions and callee hold.
    fn inside(&self, op: OpId) -> Bytes {
        let callee = self.structure.callee.get(&op).map_or(Bytes(0), |callee| self.of(*callee));
        self.of(op).max(callee)
    }

    /// The values with bytes of the block, with the first and last kernel
    /// during which each is held; the kernel after the last one is the end.
    fn held(&self, owner: OpId, block: BlockId, end: u32, boundary: Boundary) -> Vec<(ValueId, u32, u32)> {
        let module = self.module;
        let mut held = Vec::new();
        if boundary == Boundary::Entry {
            for (index, &argument) in module.block(block).arguments.iter().enumerate() {
                let life = self.lives[argument];
                match is_donated(module, owner, index) {
                    true if life.last == NEVER => {}
                    true => held.push((argument, 0, life.last)),
                    false => held.push((argument, 0, end)),
                }
            }
        }
        for &op in &module.block(block).ops {
            if self.times[op] == INLINED || self.is_view(op) || self.in_place.contains(op) {
                continue;
            }
            for (index, &result) in module.op(op).results.iter().enumerate() {
                if self.is_passed_through(op, index) {
                    continue;
                }
                let Life { made, last, returned } = self.lives[result];
                let in_place = returned && boundary == Boundary::InPlace;
                if last == NEVER {
                    held.push((result, made, made));
                } else if last != made && !in_place {
                    held.push((result, made, last));
                }
            }
        }
        held
    }
}

/// Whether the caller gives an argument's buffer away.
fn is_donated(module: &Module, function: OpId, argument: usize) -> bool {
    let Some(Attr::Array(per_argument)) = module.attr(function, "arg_attrs") else { return false };
    let dictionary = per_argument.get(argument).map(|attr| module.attrs.get(*attr));
    let Some(Attr::Dictionary(entries)) = dictionary else { return false };
    entries.iter().any(|(name, value)| match module.names.get(*name) {
        "tf.aliasing_output" => true,
        "jax.buffer_donor" => !matches!(module.attrs.get(*value), Attr::Bool(false)),
        _ => false,
    })
}
