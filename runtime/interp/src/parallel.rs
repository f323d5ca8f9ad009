//! The grid of processes, and what they say to one another.

use crate::machine::Values;
use ckpt_ir::{OpId, OpKind};

/// A process of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Process {
    /// Its replica.
    pub(crate) replica: u32,
    /// Its partition.
    pub(crate) partition: u32,
}

/// What a process brings to an operation that needs others.
pub(crate) struct Post {
    /// The operation.
    pub(crate) op: OpId,
    /// The process.
    pub(crate) process: Process,
    /// Its operands.
    pub(crate) operands: Values,
}

impl Post {
    /// Whether operations of this kind need other processes.
    pub(crate) fn waits(kind: OpKind) -> bool {
        use OpKind as K;
        matches!(
            kind,
            K::AllGather
                | K::AllReduce
                | K::AllToAll
                | K::CollectiveBroadcast
                | K::CollectivePermute
                | K::CrossReplicaSum
                | K::ReduceScatter
                | K::Send
                | K::Recv
                | K::Infeed
                | K::Outfeed
        )
    }
}
