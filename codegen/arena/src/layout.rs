//! What is asked for, and what comes of it.

use ckpt_entity::{Bytes, EntityVec, define_id};

define_id! {
    /// A buffer.
    pub struct BufferId("buffer");
}

/// A buffer to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its size.
    pub bytes: Bytes,
    /// Its offset is a multiple of this, a power of two.
    pub align: u64,
    /// The first step at which it is live.
    pub first: u32,
    /// The last step at which it is live, not before `first`.
    pub last: u32,
}

impl Request {
    /// Whether two buffers are live at one moment.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Where each buffer lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Distance of each buffer from the arena's start, in bytes.
    pub offsets: EntityVec<BufferId, u64>,
    /// Size of the arena.
    pub arena: Bytes,
}
