//! A proven lower bound on the peak of any legal plan.

use super::closure::Closure;
use super::history::{Ancestry, least_peak_before};
use super::ids::{ActionId, StoreId};
use super::instant::Instant;
use super::options::BoundOptions;
use super::relaxed::Relaxed;
use super::time::Bounds;

use crate::{Bytes, DerivationId, Problem, ValueId};
use std::cmp::Reverse;

/// A lower bound on the peak of any legal plan, and what blocks a smaller one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakBound {
    /// Proven: no legal plan has a smaller peak.
    pub bytes: Bytes,
    /// The instant where it binds: the first run of this derivation. `None`: the end of the plan.
    pub during: Option<DerivationId>,
    /// Values whose storage is live there, with its bytes: operands, results,
    /// and the cheapest choice (in bytes) of what cannot be had again.
    pub live: Vec<(ValueId, Bytes)>,
    /// Workspace held besides.
    pub workspace: Bytes,
}

/// A lower bound on the peak of any legal plan of `problem`, with the default
/// [`BoundOptions`].
#[must_use]
pub fn peak_bound(problem: &Problem) -> PeakBound {
    Bounds::new(problem, BoundOptions::default()).peak().clone()
}

/// The bytes of [`peak_bound`].
#[must_use]
pub fn peak_floor(problem: &Problem) -> Bytes {
    peak_bound(problem).bytes
}

pub(super) fn peak_bound_of(
    relaxed: &Relaxed,
    ranked: &[(u64, ActionId)],
    options: &BoundOptions,
) -> PeakBound {
    let end = Instant::end(relaxed);
    let mut best = at_instant(relaxed, &end, None);
    let has_once = relaxed.actions.iter().any(|a| a.once);
    let mut candidates: Vec<ActionId> = relaxed.action_ids().collect();
    candidates.sort_unstable_by_key(|&a| (Reverse(relaxed.working_set(a)), a));
    let mut tried = 1;
    if has_once {
        candidates.splice(0..0, ranked.iter().map(|&(_, action)| action));
        tried = (options.cut_visits / relaxed.size()).max(1);
    }
    for &action in candidates.iter().take(tried) {
        let bound = at_instant(relaxed, &Instant::first_run(relaxed, action), Some(action));
        if bound.bytes > best.bytes {
            best = bound;
        }
    }
    improve_by_history(relaxed, options, best)
}

/// No instant gets more than this part of the work on histories.
const HISTORY_SHARES: usize = 8;

/// The most bytes that any history of an instant's live set must hold.
fn improve_by_history(relaxed: &Relaxed, options: &BoundOptions, mut best: PeakBound) -> PeakBound {
    let ancestry = Ancestry::new(relaxed);
    let mut left = options.history_visits;
    let mut starts: Vec<ActionId> = relaxed.action_ids().collect();
    starts.sort_unstable_by_key(|&a| (Reverse(relaxed.working_set(a)), a));
    let instants = std::iter::once((Instant::end(relaxed), None))
        .chain(starts.iter().map(|&a| (Instant::first_run(relaxed, a), Some(a))));
    for (instant, action) in instants {
        if left == 0 {
            break;
        }
        let closure = Closure::new(relaxed, std::slice::from_ref(&instant));
        let mut live = instant.live;
        live.extend(&closure.must_keep[0]);
        live.sort_unstable();
        // Only more than is known is of interest, and easier to tell.
        let floor = closure.held[0].max(best.bytes.0);
        let share = left.min(options.history_visits / HISTORY_SHARES);
        let (bytes, work) = least_peak_before(relaxed, ancestry.as_ref(), &live, floor, share);
        left -= (work + relaxed.size()).min(left);
        if bytes > best.bytes.0 {
            best = PeakBound {
                bytes: Bytes(bytes),
                during: action.map(|action| relaxed.action(action).derivation),
                live: with_bytes(relaxed, &live),
                workspace: Bytes(instant.workspace),
            };
        }
    }
    best
}

fn with_bytes(relaxed: &Relaxed, stores: &[StoreId]) -> Vec<(ValueId, Bytes)> {
    let mut live: Vec<_> =
        stores.iter().map(|&s| (relaxed.store(s).value, Bytes(relaxed.store(s).bytes))).collect();
    live.sort_unstable();
    live
}

fn at_instant(relaxed: &Relaxed, instant: &Instant, during: Option<ActionId>) -> PeakBound {
    let mut closure = Closure::new(relaxed, std::slice::from_ref(instant));
    // Without a solution there would be no legal plan; the held bytes stand.
    let (bytes, kept) = closure.fewest_bytes().unwrap_or_default();
    let stores: Vec<StoreId> =
        instant.live.iter().chain(&closure.must_keep[0]).chain(&kept).copied().collect();
    PeakBound {
        bytes: Bytes(closure.held[0].saturating_add(bytes)),
        during: during.map(|action| relaxed.action(action).derivation),
        live: with_bytes(relaxed, &stores),
        workspace: Bytes(instant.workspace),
    }
}
