//! The independent check of a layout.

use crate::{BufferId, Layout, Request};
use ckpt_entity::{Bytes, EntityVec};
use std::collections::BTreeMap;
use thiserror::Error;

/// What is wrong with a layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// There are more or fewer offsets than buffers.
    #[error("{offsets} offsets for {buffers} buffers")]
    Count {
        /// Offsets of the layout.
        offsets: usize,
        /// Buffers asked for.
        buffers: usize,
    },
    /// A buffer's live range ends before it starts.
    #[error("{buffer} ends at step {last}, before it starts at {first}")]
    Range {
        /// The buffer.
        buffer: BufferId,
        /// Its first step.
        first: u32,
        /// Its last step.
        last: u32,
    },
    /// A buffer lies beyond the arena's end.
    #[error("{buffer} at {offset} does not fit in an arena of {arena}")]
    Outside {
        /// The buffer.
        buffer: BufferId,
        /// Its offset.
        offset: u64,
        /// The arena.
        arena: Bytes,
    },
    /// A buffer is not aligned as it must be.
    #[error("{buffer} at {offset} is not aligned to {align}")]
    Unaligned {
        /// The buffer.
        buffer: BufferId,
        /// Its offset.
        offset: u64,
        /// What it must be a multiple of.
        align: u64,
    },
    /// Two buffers share bytes at one step.
    #[error("{first} and {second} share bytes at step {step}")]
    Overlap {
        /// The one that lies lower.
        first: BufferId,
        /// The one that lies higher.
        second: BufferId,
        /// The step.
        step: u32,
    },
}

/// Checks a layout against what was asked for. Buffers without bytes may lie
/// anywhere. n log n in the buffers: a sweep over the steps with the live
/// buffers in order of their offsets, in which only neighbours can overlap.
///
/// # Errors
/// The first violation found.
pub fn check(requests: &EntityVec<BufferId, Request>, layout: &Layout) -> Result<(), LayoutError> {
    if requests.len() != layout.offsets.len() {
        return Err(LayoutError::Count { offsets: layout.offsets.len(), buffers: requests.len() });
    }
    let mut events: Vec<(u32, bool, BufferId)> = Vec::with_capacity(2 * requests.len());
    for (buffer, request) in requests.iter() {
        let Request { bytes, align, first, last } = *request;
        let offset = layout.offsets[buffer];
        if last < first {
            return Err(LayoutError::Range { buffer, first, last });
        }
        if offset.checked_add(bytes.0).is_none_or(|end| end > layout.arena.0) {
            return Err(LayoutError::Outside { buffer, offset, arena: layout.arena });
        }
        if align == 0 || !offset.is_multiple_of(align) {
            return Err(LayoutError::Unaligned { buffer, offset, align });
        }
        if bytes.0 > 0 {
            events.push((first, false, buffer));
            events.push((last, true, buffer));
        }
    }
    events.sort_unstable();
    let mut live: BTreeMap<u64, (u64, BufferId)> = BTreeMap::new();
    for (step, ends, buffer) in events {
        let (offset, end) = (layout.offsets[buffer], layout.offsets[buffer] + requests[buffer].bytes.0);
        if ends {
            live.remove(&offset);
            continue;
        }
        if let Some((_, &(_, second))) = live.range(offset..end).next() {
            return Err(LayoutError::Overlap { first: buffer, second, step });
        }
        if let Some((_, &(below, first))) = live.range(..offset).next_back()
            && below > offset
        {
            return Err(LayoutError::Overlap { first, second: buffer, step });
        }
        live.insert(offset, (end, buffer));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(list: &[(u64, u32, u32)]) -> EntityVec<BufferId, Request> {
        list.iter()
            .map(|&(bytes, first, last)| Request { bytes: Bytes(bytes), align: 4, first, last })
            .collect()
    }

    fn layout(offsets: &[u64], arena: u64) -> Layout {
        Layout { offsets: offsets.iter().copied().collect(), arena: Bytes(arena) }
    }

    #[test]
    fn each_violation_is_named() {
        let two = requests(&[(8, 0, 2), (8, 2, 3)]);
        assert_eq!(check(&two, &layout(&[0, 8], 16)), Ok(()));
        assert!(matches!(check(&two, &layout(&[0], 16)), Err(LayoutError::Count { .. })));
        assert!(matches!(check(&two, &layout(&[0, 8], 12)), Err(LayoutError::Outside { .. })));
        assert!(matches!(check(&two, &layout(&[0, 10], 18)), Err(LayoutError::Unaligned { .. })));
        for offsets in [[0, 4], [4, 0], [0, 0]] {
            assert!(matches!(check(&two, &layout(&offsets, 16)), Err(LayoutError::Overlap { step: 2, .. })));
        }
        assert!(matches!(check(&requests(&[(4, 2, 1)]), &layout(&[0], 4)), Err(LayoutError::Range { .. })));
    }

    #[test]
    fn what_is_not_live_together_may_share_and_what_has_no_bytes_lies_anywhere() {
        assert_eq!(check(&requests(&[(8, 0, 1), (8, 2, 3)]), &layout(&[0, 0], 8)), Ok(()));
        assert_eq!(check(&requests(&[(8, 0, 1), (0, 0, 3)]), &layout(&[0, 4], 8)), Ok(()));
    }
}
