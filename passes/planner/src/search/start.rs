//! Where a search starts: the program with what does not fit evicted, and
//! plans that keep what a minimum cut at the program's peak says.

use super::core::Core;
use super::evict::Choice;
use super::seed::drop_all_but;
use super::workbench::{Candidate, Workbench};
use crate::bound::KeepSets;
use crate::effort::LARGE;
use crate::{Bytes, Problem};

/// Prices of a byte to evict at, in times of base time over peak. Spread over
/// what was best on some graph.
const PRICES: [f64; 6] = [0.05, 0.2, 0.5, 1.0, 5.0, f64::INFINITY];

/// The same where only the peak matters.
const PRICES_FOR_PEAK: [f64; 2] = [1.0, f64::INFINITY];

/// Budgets to cut for, in percent of the limit: above it, since a plan frees
/// what a cut at one instant keeps; below it, since what runs again needs room.
const CUT_PERCENT: [u64; 16] = [108, 105, 103, 101, 100, 99, 98, 97, 96, 94, 92, 89, 86, 82, 76, 70];

/// The same on large problems, where each cut takes long.
const CUT_PERCENT_LARGE: [u64; 2] = [100, 96];

/// Budgets to fill exactly, in percent of the limit.
const EXACT_PERCENT: [u64; 2] = [100, 99];

/// Evictions of one start at most, per store.
const STEPS_PER_STORE: usize = 8;

/// The starts found within the bench's limit, the least time first. Without
/// `cuts` only the program's order is tried, at few prices.
pub(super) fn starts(bench: &mut Workbench<'_>, problem: &Problem, cuts: bool) -> Vec<Candidate> {
    let core = bench.timeline.core();
    let scale = bench.timeline.time() / bench.timeline.peak().max(1) as f64;
    let mut found = Vec::new();
    let large = core.stores.len() >= LARGE;
    let prices = if cuts && !large { &PRICES[..] } else { &PRICES_FOR_PEAK[..] };
    for &factor in prices {
        try_start(bench, core, factor * scale, None, &mut found);
    }
    if cuts {
        for kept in keep_sets(bench, problem) {
            try_start(bench, core, scale, Some(&kept), &mut found);
        }
    }
    found.sort_by(|a, b| a.time.total_cmp(&b.time));
    found
}

fn try_start(
    bench: &mut Workbench<'_>,
    core: &Core,
    price: f64,
    kept: Option<&[bool]>,
    found: &mut Vec<Candidate>,
) {
    bench.timeline.reset(&core.order);
    if let (Some(kept), Some(slot)) = (kept, bench.peak_slot()) {
        drop_all_but(&mut bench.timeline, &mut bench.provider, slot, kept);
    }
    let choice = Choice { limit: bench.limit, price, noise: 0.0, spared: &[] };
    if bench.settle(choice, STEPS_PER_STORE * core.stores.len()) {
        let finite = if price.is_finite() { price } else { f64::MAX };
        found.push(bench.candidate(finite));
    }
}

/// Per choice of a cut at the program's peak: which stores are kept.
fn keep_sets(bench: &mut Workbench<'_>, problem: &Problem) -> Vec<Vec<bool>> {
    let core = bench.timeline.core();
    bench.timeline.reset(&core.order);
    let Some(task) = bench.peak_slot().and_then(|slot| bench.timeline.task_at(slot)) else {
        return Vec::new();
    };
    let percent = |p: &u64| Bytes((bench.limit as u128 * u128::from(*p) / 100) as u64);
    let large = core.stores.len() >= LARGE;
    let budgets = if large { &CUT_PERCENT_LARGE[..] } else { &CUT_PERCENT[..] };
    let exact = if large { &[][..] } else { &EXACT_PERCENT[..] };
    let sets = KeepSets::new(problem).at(
        core.task(task).derivation,
        &budgets.iter().map(percent).collect::<Vec<_>>(),
        &exact.iter().map(percent).collect::<Vec<_>>(),
    );
    let as_mask = |values: Vec<crate::ValueId>| {
        let mut kept = vec![false; core.stores.len()];
        let stores = values.iter().filter_map(|v| core.store_of[v.index()]);
        stores.for_each(|store| kept[store.index()] = true);
        kept
    };
    sets.into_iter().map(as_mask).collect()
}
