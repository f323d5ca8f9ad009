//! A proven lower bound on the peak of any legal plan.

use super::closure::Closure;
use super::ids::ActionId;
use super::instant::Instant;
use super::relaxed::Relaxed;
use super::time::{BoundOptions, ranked_instants};
use crate::{Bytes, DerivationId, Problem, ValueId};

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
    peak_bound_of(&Relaxed::new(problem), &BoundOptions::default())
}

/// The bytes of [`peak_bound`].
#[must_use]
pub fn peak_floor(problem: &Problem) -> Bytes {
    peak_bound(problem).bytes
}

pub(super) fn peak_bound_of(relaxed: &Relaxed, options: &BoundOptions) -> PeakBound {
    let mut best = at_instant(relaxed, &Instant::end(relaxed), None);
    let largest =
        relaxed.action_ids().max_by_key(|&a| (relaxed.working_set(a), std::cmp::Reverse(a)));
    let has_once = relaxed.actions.iter().any(|a| a.once);
    let mut candidates: Vec<ActionId> = largest.into_iter().collect();
    if has_once {
        let ranked = ranked_instants(relaxed, options.ranking_visits);
        candidates.extend(ranked.iter().map(|&(_, action)| action));
    }
    let size = relaxed.actions.len() + relaxed.stores.len();
    for &action in candidates.iter().take(1 + options.cut_visits / size.max(1)) {
        let bound = at_instant(relaxed, &Instant::first_run(relaxed, action), Some(action));
        if bound.bytes > best.bytes {
            best = bound;
        }
    }
    best
}

fn at_instant(relaxed: &Relaxed, instant: &Instant, during: Option<ActionId>) -> PeakBound {
    let mut closure = Closure::new(relaxed, std::slice::from_ref(instant));
    // Without a solution there would be no legal plan; the held bytes stand.
    let (bytes, kept) = closure.fewest_bytes().unwrap_or_default();
    let stores = instant.live.iter().chain(&closure.must_keep[0]).chain(&kept);
    let mut live: Vec<(ValueId, Bytes)> =
        stores.map(|&s| (relaxed.store(s).value, Bytes(relaxed.store(s).bytes))).collect();
    live.sort_unstable();
    PeakBound {
        bytes: Bytes(closure.held[0].saturating_add(bytes)),
        during: during.map(|action| relaxed.action(action).derivation),
        live,
        workspace: Bytes(instant.workspace),
    }
}
