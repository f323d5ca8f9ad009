//! Classification of values into buffers and virtual values.

use super::cone::captured;
use super::{CLASSIFY_ROUNDS, MAX_CONE_INPUTS, MAX_CONE_OPS, MAX_VIRTUAL_FLOPS, is_strided_view};
use ckpt_entity::{EntitySet, EntityVec};
use ckpt_ir::{BlockId, Bytes, Category, Effect, Module, OpId, OpKind, ValueId};

/// What a value is in the `kernels` memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A buffer that exists before the block runs: its arguments and what it captures.
    Resident,
    /// A buffer made by a kernel.
    Root,
    /// Computed inside every kernel that needs it; no bytes.
    Virtual,
}

/// The role of every value of a block.
#[derive(Clone, Debug)]
pub struct Roles {
    roles: EntityVec<ValueId, Role>,
}

impl Roles {
    /// The role of a value; values from outside the block are residents.
    #[must_use]
    pub fn of(&self, value: ValueId) -> Role {
        self.roles.get(value).copied().unwrap_or(Role::Resident)
    }
}

/// How an operation takes part in fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fusibility {
    /// May be virtual, and then any kernel computes it element by element.
    Fusible,
    /// Makes a buffer, and reads its operands element by element.
    ReadsElements,
    /// Makes a buffer, and finds its operands in memory.
    ReadsBuffers,
}

/// The policy: which categories fuse how. An operation with effects never fuses.
fn fusibility(module: &Module, op: OpId) -> Fusibility {
    if module.op(op).results.len() != 1 || module.tensor_type(module.op(op).results[0]).is_none() {
        return Fusibility::ReadsBuffers;
    }
    match module.op(op).kind {
        kind if kind_is_fusible(kind) => Fusibility::Fusible,
        OpKind::Gather | OpKind::Reduce => Fusibility::ReadsElements,
        _ => Fusibility::ReadsBuffers,
    }
}

/// Whether operations of a kind, with one tensor result, may be computed
/// element by element inside any kernel.
#[must_use]
pub fn kind_is_fusible(kind: OpKind) -> bool {
    let by_category =
        matches!(kind.category(), Category::Elementwise(_) | Category::View | Category::Movement);
    by_category || matches!(kind, OpKind::Constant | OpKind::Iota | OpKind::DynamicSlice)
}

/// Whether an operation may be computed element by element inside any kernel.
#[must_use]
pub fn is_fusible(module: &Module, op: OpId) -> bool {
    fusibility(module, op) == Fusibility::Fusible
}

/// Classifies the values of `block`; `results` are the values that must be in
/// buffers at its end (its terminator's operands).
#[must_use]
pub fn classify(module: &Module, block: BlockId) -> Roles {
    let mut classifier = Classifier::new(module, block);
    for _ in 0..CLASSIFY_ROUNDS {
        let consumers = classifier.consumers();
        if !classifier.classify_round(&consumers) {
            break;
        }
    }
    Roles { roles: classifier.roles }
}

struct Classifier<'m> {
    module: &'m Module,
    ops: Vec<OpId>,
    roles: EntityVec<ValueId, Role>,
    /// Values that must be buffers whatever their consumers are.
    pinned: EntitySet<ValueId>,
}

/// The kernels that consume a value: none, one, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consumers {
    None,
    One(OpId),
    Many,
}

impl Consumers {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, c) | (c, Self::None) => c,
            (Self::One(a), Self::One(b)) if a == b => Self::One(a),
            _ => Self::Many,
        }
    }
}

/// What a virtual value costs every kernel that computes it.
#[derive(Clone, Debug, Default)]
struct Reach {
    inputs: Vec<ValueId>,
    ops: usize,
    flops_per_element: u64,
}

impl<'m> Classifier<'m> {
    fn new(module: &'m Module, block: BlockId) -> Self {
        let ops = module.block(block).ops.clone();
        let mut roles = EntityVec::filled(Role::Resident, module.value_count());
        for &op in &ops {
            let role = match fusibility(module, op) {
                Fusibility::Fusible => Role::Virtual,
                _ => Role::Root,
            };
            for &result in &module.op(op).results {
                roles[result] = role;
            }
        }
        let mut classifier = Self { module, ops, roles, pinned: EntitySet::new() };
        classifier.pin_operands();
        classifier
    }

    /// Pins what must be found in memory.
    fn pin_operands(&mut self) {
        for op in self.ops.clone() {
            if self.module.op(op).kind.is_terminator() {
                for value in self.module.op(op).operands.clone() {
                    self.pin_base_of_reshapes(value);
                }
                continue;
            }
            for value in captured(self.module, op) {
                self.pin(value);
            }
            if fusibility(self.module, op) != Fusibility::ReadsBuffers {
                continue;
            }
            let strided = self.module.op(op).kind.category() == Category::Dot;
            for value in self.module.op(op).operands.clone() {
                if strided {
                    self.pin_strided_operand(value);
                } else if !self.is_loop_fill(op, value) {
                    self.pin_base_of_reshapes(value);
                }
            }
        }
    }

    /// A loop writes its initial values into its own result buffers, so a
    /// constant fill needs no buffer of its own.
    fn is_loop_fill(&self, op: OpId, value: ValueId) -> bool {
        self.module.op(op).kind == OpKind::While && self.is_fill(value)
    }

    fn is_fill(&self, value: ValueId) -> bool {
        let mut value = value;
        while let Some(op) = self.module.defining_op(value) {
            match self.module.op(op).kind {
                OpKind::Constant | OpKind::Iota => return true,
                OpKind::BroadcastInDim | OpKind::Reshape => value = self.module.op(op).operands[0],
                _ => return false,
            }
        }
        false
    }

    fn pin(&mut self, value: ValueId) {
        if self.roles[value] == Role::Virtual {
            self.roles[value] = Role::Root;
        }
        self.pinned.insert(value);
    }

    /// A reshape of a buffer is that buffer.
    fn pin_base_of_reshapes(&mut self, value: ValueId) {
        let mut base = value;
        while let Some(op) = self.module.defining_op(base) {
            if self.module.op(op).kind != OpKind::Reshape {
                break;
            }
            base = self.module.op(op).operands[0];
        }
        self.pin(base);
    }

    /// A dot reads strided views; the nearest value that its operand is such a
    /// view of is pinned: a value that is a buffer anyway, or the operand itself.
    fn pin_strided_operand(&mut self, value: ValueId) {
        let mut chain = Vec::new();
        let mut base = value;
        while let Some(op) = self.module.defining_op(base) {
            let view = matches!(self.module.op(op).kind, OpKind::Reshape | OpKind::Transpose | OpKind::Slice);
            if !view {
                break;
            }
            chain.insert(0, op);
            base = self.module.op(op).operands[0];
            if !is_strided_view(self.module, base, &chain) {
                self.pin_base_of_reshapes(value);
                return;
            }
        }
        self.pin(base);
    }

    /// For every value, the kernels that consume it under the current roles.
    fn consumers(&self) -> EntityVec<ValueId, Consumers> {
        let mut consumers = EntityVec::filled(Consumers::None, self.module.value_count());
        for &op in self.ops.iter().rev() {
            let data = self.module.op(op);
            let own = match data.results.first() {
                Some(result) if self.roles[*result] == Role::Virtual => consumers[*result],
                _ => Consumers::One(op),
            };
            for operand in &data.operands {
                consumers[*operand] = consumers[*operand].join(own);
            }
            for operand in captured(self.module, op) {
                consumers[operand] = consumers[operand].join(Consumers::One(op));
            }
        }
        consumers
    }

    /// One forward round; says whether a role changed.
    fn classify_round(&mut self, consumers: &EntityVec<ValueId, Consumers>) -> bool {
        let mut changed = false;
        let mut reach: EntityVec<ValueId, Reach> =
            EntityVec::filled(Reach::default(), self.module.value_count());
        for index in 0..self.ops.len() {
            let op = self.ops[index];
            if fusibility(self.module, op) != Fusibility::Fusible {
                continue;
            }
            let result = self.module.op(op).results[0];
            let own = self.reach_of(op, &reach);
            let role =
                if self.pinned.contains(result) || !self.may_be_virtual(result, &own, consumers[result]) {
                    Role::Root
                } else {
                    Role::Virtual
                };
            changed |= role != self.roles[result];
            self.roles[result] = role;
            if role == Role::Virtual {
                reach[result] = own;
            }
        }
        changed
    }

    fn reach_of(&self, op: OpId, reach: &EntityVec<ValueId, Reach>) -> Reach {
        let data = self.module.op(op);
        let flops = match data.kind.category() {
            Category::Elementwise(flops) => u64::from(flops),
            _ => 0,
        };
        let mut own = Reach { inputs: Vec::new(), ops: 1, flops_per_element: flops };
        for &operand in &data.operands {
            if self.roles[operand] == Role::Virtual {
                let above = &reach[operand];
                own.ops += above.ops;
                own.flops_per_element += above.flops_per_element;
                for input in &above.inputs {
                    if !own.inputs.contains(input) {
                        own.inputs.push(*input);
                    }
                }
            } else if !own.inputs.contains(&operand) {
                own.inputs.push(operand);
            }
        }
        own
    }

    fn may_be_virtual(&self, value: ValueId, reach: &Reach, consumers: Consumers) -> bool {
        if reach.ops > MAX_CONE_OPS || reach.inputs.len() > MAX_CONE_INPUTS {
            return false;
        }
        if consumers != Consumers::Many {
            return true;
        }
        // Residents are there anyway, so reading them again costs no memory.
        let read: Option<Bytes> = reach
            .inputs
            .iter()
            .filter(|input| self.roles[**input] == Role::Root)
            .map(|input| self.module.types.bytes(self.module.value_type(*input)))
            .try_fold(Bytes(0), |sum, bytes| sum.checked_add(bytes?));
        let own = self.module.types.bytes(self.module.value_type(value));
        match (read, own) {
            // A quarter more for the statistics, scales and biases that come along.
            (Some(read), Some(own)) => {
                read.0 <= own.0.saturating_add(own.0 / 4) && reach.flops_per_element <= MAX_VIRTUAL_FLOPS
            }
            _ => false,
        }
    }
}

/// Whether an operation may run more than once: it has no effects of any kind
/// and is not a custom call, whose cost and determinism nobody vouches for.
#[must_use]
pub fn is_recomputable(module: &Module, op: OpId) -> bool {
    module.effect(op) == Effect::Pure && module.op(op).kind.category() != Category::Call
}
