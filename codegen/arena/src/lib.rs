//! The memory plan: an offset in one arena for every buffer.
//!
//! - **Computes** [`Layout`]: offsets such that no two buffers that are live at
//!   one moment share a byte, in an arena as small as the search finds.
//! - **Requires** live ranges in steps of one timeline, both ends inclusive.
//! - **Guarantees** what [`check()`] says, which shares no code with the search;
//!   the arena is never smaller than the liveness [`peak()`], and no buffer's
//!   range, size or alignment changes.
//! - **Complexity** one placement of all buffers is linear in the pairs of
//!   buffers that are live together; the search runs as many as [`Effort`] says.
//!
//! The problem is dynamic storage allocation (Garey and Johnson, SR2), NP-hard.
//! Anchors: minimalloc (Moffitt, ASPLOS 2023) and idealloc (2024); the greedy
//! orders are those of "Efficient memory management for deep neural net
//! inference" (Pisarchyk and Lee, 2020).

mod check;
mod layout;
mod orders;
mod peak;
mod place;
mod search;

pub use check::{LayoutError, check};
pub use layout::{BufferId, Layout, Request};
pub use peak::peak;
pub use search::{Effort, plan};
