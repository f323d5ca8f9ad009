//! The arena: one allocation, counted.
#![allow(unsafe_code)]

use crate::program::Buffer;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::slice;

/// Alignment of the arena's start: a cache line, and the widest vector.
const ARENA_ALIGN: usize = 64;

/// Bytes that an instance holds for values, and the most it ever held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    held: u64,
    peak: u64,
}

impl Counter {
    fn take(&mut self, bytes: u64) {
        self.held += bytes;
        self.peak = self.peak.max(self.held);
    }

    /// The most bytes held at one moment.
    pub(crate) fn peak(self) -> u64 {
        self.peak
    }
}

/// The memory of an instance.
pub(crate) struct Arena {
    start: NonNull<u8>,
    layout: Layout,
}

// The memory is owned, and who accesses it is the machine's business.
unsafe impl Send for Arena {}
unsafe impl Sync for Arena {}

impl Arena {
    /// Takes exactly `bytes` bytes, zeroed; none if the system has not got them.
    pub(crate) fn new(bytes: u64, counter: &mut Counter) -> Option<Self> {
        let size = usize::try_from(bytes).ok()?;
        let layout = Layout::from_size_align(size, ARENA_ALIGN).ok()?;
        if size == 0 {
            return Some(Self { start: NonNull::dangling(), layout });
        }
        // SAFETY: the layout has a size.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        counter.take(layout.size() as u64);
        Some(Self { start, layout })
    }

    /// The first byte of a buffer of a validated program.
    pub(crate) fn pointer(&self, buffer: Buffer) -> *mut u8 {
        debug_assert!(buffer.offset + buffer.bytes <= self.layout.size() as u64);
        // SAFETY: validation has checked that the buffer lies in the arena.
        unsafe { self.start.as_ptr().add(buffer.offset as usize) }
    }

    /// A buffer's bytes.
    pub(crate) fn bytes(&self, buffer: Buffer) -> &[u8] {
        // SAFETY: in the arena, initialised to zero at first; steps that write
        // hold the arena's owner exclusively.
        unsafe { slice::from_raw_parts(self.pointer(buffer), buffer.bytes as usize) }
    }

    /// A buffer's bytes, to be written.
    pub(crate) fn bytes_mut(&mut self, buffer: Buffer) -> &mut [u8] {
        // SAFETY: as above, and the arena is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.pointer(buffer), buffer.bytes as usize) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), self.layout) }
        }
    }
}
