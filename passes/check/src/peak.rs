//! The peak of a function under a schedule, from the module alone.
//!
//! # Definition
//!
//! The kernels of a block run one after the other. While kernel `k` runs, held
//! are: the values made by kernels up to `k` and read by `k` or a later one (by
//! `k` or none for a value that is never read), all results of `k` among them,
//! its workspace, and the most that a region or callee of its operations holds.
//! The peak is the largest sum. In particular:
//!
//! - **Arguments** of the function are held throughout; a donated one
//!   (`tf.aliasing_output`, `jax.buffer_donor`) until its last use. Before the
//!   first kernel all of them are there.
//! - **Results** are held from their making to the end.
//! - **Views** and inlined operations have no bytes; they hold their operands
//!   until they are read for the last time. Result `i` of an optimisation
//!   barrier is a view of operand `i` alone. A tuple, and an element of one, is a copy.
//! - A loop's result that its body passes through unchanged is a view of the
//!   initial value, if that has a buffer.
//! - An update **in place** in a loop's body has no bytes: its first operand is
//!   a carried value that nothing reads afterwards, and it is yielded in that
//!   value's place.
//! - A value that is read, and only by the kernel that makes it, has no bytes.
//! - **Regions** of `while`, `if` and `case`, and callees, hold what is made
//!   in them. Their arguments are the owner's operands or results, their
//!   captures are operands of the owner. What a branch or callee returns is
//!   written to the owner's results; what a loop's body returns is not, since
//!   the loop's state is still being read: it is held beside it. Bodies of
//!   reductions, sorts and the like work on scalars and hold nothing.

mod block;
mod structure;

use crate::refusal::Place;
use block::{BlockPeaks, Boundary};
use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{BlockId, Bytes, Module, OpId, OpKind, ValueId};
use std::collections::{HashMap, HashSet};
use structure::Structure;
use thiserror::Error;

/// Why a peak cannot be computed, or a schedule is not legal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PeakError {
    /// The function is not one of the module with a body of one block.
    #[error("the function has no body of one block: {place}")]
    NoBody {
        /// The function.
        place: Place,
    },
    /// The id is not one of the module's functions.
    #[error("{op} is no operation of the module")]
    UnknownOp {
        /// The id.
        op: OpId,
    },
    /// A value whose size is not known.
    #[error("{place}: the size of {value} is not known")]
    UnknownSize {
        /// The operation that makes it, or the owner of the block it is an argument of.
        place: Place,
        /// The value.
        value: ValueId,
    },
    /// The sum of held bytes does not fit 64 bits.
    #[error("{place}: the bytes held do not fit 64 bits")]
    Overflow {
        /// The owner of the block.
        place: Place,
    },
    /// A function calls itself.
    #[error("{place}: calls itself")]
    Recursion {
        /// The function.
        place: Place,
    },
    /// A value is read where it is not visible.
    #[error("{place}: reads {value}, which is not visible here")]
    NotVisible {
        /// The reader.
        place: Place,
        /// The value.
        value: ValueId,
    },
    /// The schedule is of another block, or one of its nested schedules is of
    /// a block that the function does not run.
    #[error("the schedule is of {block}, which is not the block that runs")]
    WrongBlock {
        /// The block.
        block: BlockId,
    },
    /// The schedule lists an operation of another block, or a terminator.
    #[error("{place}: is scheduled in a block that it is not of")]
    WrongOp {
        /// The operation.
        place: Place,
    },
    /// An operation that no kernel runs.
    #[error("{place}: is not scheduled")]
    Missing {
        /// The operation.
        place: Place,
    },
    /// An operation that is scheduled twice.
    #[error("{place}: is scheduled twice")]
    Twice {
        /// The operation.
        place: Place,
    },
    /// An update is said to be in place, but the buffer is still needed or is no loop's.
    #[error("{place}: cannot update its operand in place")]
    NotInPlace {
        /// The operation.
        place: Place,
    },
    /// An operation that cannot be computed element by element is inlined.
    #[error("{place}: does work and cannot be inlined")]
    NotInlinable {
        /// The operation.
        place: Place,
    },
    /// A kernel reads what a later kernel makes.
    #[error("{place}: kernel {kernel} reads {value}, which kernel {made} makes")]
    TooEarly {
        /// The reader.
        place: Place,
        /// Its kernel.
        kernel: usize,
        /// The value.
        value: ValueId,
        /// The kernel that makes it.
        made: usize,
    },
    /// An operation with effects runs before one that precedes it in the block.
    #[error("{place}: kernel {kernel} runs it before an effect that precedes it")]
    EffectOrder {
        /// The operation.
        place: Place,
        /// Its kernel.
        kernel: usize,
    },
}

/// The peak of `function` when its body runs by `partition`.
///
/// # Errors
///
/// If the schedule is not legal, or a size is not known.
///
/// # Complexity
///
/// Linear in the operations of the function and of all that it calls.
pub fn check_peak(module: &Module, function: OpId, partition: &KernelPartition) -> Result<Bytes, PeakError> {
    let body = body_of(module, function)?;
    if partition.block != body {
        return Err(PeakError::WrongBlock { block: partition.block });
    }
    let schedules = flattened(partition)?;
    let structure = Structure::of(module, function)?;
    let mut peaks = BlockPeaks::new(module, &structure);
    let mut used = HashSet::new();
    for &callee in &structure.callees_first {
        let blocks = structure.blocks_inside_out(module, callee);
        for (owner, block) in blocks {
            let per_op;
            let schedule = match schedules.get(&block) {
                Some(schedule) => {
                    used.insert(block);
                    *schedule
                }
                None => {
                    per_op = KernelPartition::per_op(module, block);
                    &per_op
                }
            };
            let boundary = match module.op(owner).kind {
                OpKind::Func if owner == function => Boundary::Entry,
                OpKind::While => Boundary::Loop,
                _ => Boundary::InPlace,
            };
            peaks.compute(owner, block, schedule, boundary)?;
        }
    }
    match schedules.keys().filter(|block| !used.contains(*block)).min() {
        Some(&block) => Err(PeakError::WrongBlock { block }),
        None => Ok(peaks.of(function)),
    }
}

/// The peak of `function` in the memory model `ops`: each operation runs by
/// itself, in the order of the text.
///
/// # Errors
///
/// As [`check_peak`].
pub fn check_peak_per_op(module: &Module, function: OpId) -> Result<Bytes, PeakError> {
    let body = body_of(module, function)?;
    check_peak(module, function, &KernelPartition::per_op(module, body))
}

/// The only block of a function's body.
fn body_of(module: &Module, function: OpId) -> Result<BlockId, PeakError> {
    use ckpt_ir::EntityId as _;
    if function.index() >= module.op_count() {
        return Err(PeakError::UnknownOp { op: function });
    }
    let op = module.op(function);
    let blocks = op.regions.first().map_or(&[][..], |region| &module.region(*region).blocks);
    match (op.kind, blocks) {
        (OpKind::Func, [block]) => Ok(*block),
        _ => Err(PeakError::NoBody { place: Place::of(module, function) }),
    }
}

/// A schedule and all schedules nested in it, by block.
fn flattened(partition: &KernelPartition) -> Result<HashMap<BlockId, &KernelPartition>, PeakError> {
    let mut all = HashMap::new();
    let mut stack = vec![partition];
    while let Some(schedule) = stack.pop() {
        if all.insert(schedule.block, schedule).is_some() {
            return Err(PeakError::WrongBlock { block: schedule.block });
        }
        for (&block, nested) in &schedule.nested {
            if nested.block != block {
                return Err(PeakError::WrongBlock { block });
            }
            stack.push(nested);
        }
    }
    Ok(all)
}
