//! From the dual bound to the integer optimum of a closure problem, by a
//! limited best-first branch and bound.
//!
//! At the best price two solutions meet, one that fits and one that does not.
//! Branching decides the largest store that they disagree on. The bound is the
//! smallest over all open nodes, so it may be stopped at any time.

use super::closure::{Closure, Decision, Price};
use super::dual::{Best, Dual, best_price};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A lower bound on the overhead at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overhead {
    /// No legal plan fits the budget.
    Infeasible,
    /// Scaled time, and the price at the root.
    AtLeast(u64, Price),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    bound: u64,
    /// Breaks ties: older first.
    number: usize,
    capacity: u64,
    price: Price,
    /// Keep arc and whether it is kept.
    decided: Vec<(usize, bool)>,
    /// What to branch on; `None` if the bound is attained by a solution that fits.
    branch_on: Option<usize>,
}

/// Lower bound on the overhead of `closure` within `budget`, with at most
/// `max_nodes` nodes; stops when the bound reaches `enough`.
pub(super) fn branch_and_bound(
    closure: &mut Closure,
    budget: u64,
    hint: Option<Price>,
    max_nodes: usize,
    enough: u64,
) -> Overhead {
    let Some(capacity) = budget.checked_sub(closure.held) else { return Overhead::Infeasible };
    let root = match solve(closure, capacity, hint, Vec::new(), 0) {
        Some(root) => root,
        None => return Overhead::Infeasible,
    };
    let price = root.price;
    let mut open = BinaryHeap::from([Reverse(root)]);
    let mut count = 1;
    while let Some(Reverse(node)) = open.pop() {
        let Some(arc) = node.branch_on.filter(|_| count < max_nodes && node.bound < enough) else {
            return Overhead::AtLeast(node.bound, price);
        };
        for keep in [true, false] {
            let paid = if keep { closure.bytes[arc] } else { 0 };
            let Some(capacity) = node.capacity.checked_sub(paid) else { continue };
            let mut decided = node.decided.clone();
            decided.push((arc, keep));
            count += 1;
            if let Some(mut child) = solve(closure, capacity, Some(node.price), decided, count) {
                child.bound = child.bound.max(node.bound);
                open.push(Reverse(child));
            }
        }
    }
    Overhead::Infeasible
}

fn solve(
    closure: &mut Closure,
    capacity: u64,
    hint: Option<Price>,
    decided: Vec<(usize, bool)>,
    number: usize,
) -> Option<Node> {
    let mut decisions = vec![Decision::Open; closure.stores.len()];
    for &(arc, keep) in &decided {
        decisions[arc] = if keep { Decision::Kept } else { Decision::Dropped };
    }
    match best_price(closure, &decisions, capacity, hint, 0) {
        Dual::Infeasible => None,
        Dual::Bound(best) => Some(Node {
            bound: best.bound,
            number,
            capacity,
            price: best.price,
            decided,
            branch_on: disagreement(closure, &best),
        }),
    }
}

/// The largest store that is kept by just one of the two solutions. `None` if
/// the solution that fits costs no more than the bound.
fn disagreement(closure: &Closure, best: &Best) -> Option<usize> {
    let fits = best.fits.as_ref();
    // Each price is rounded by less than one unit of scaled time.
    let rounding = closure.stores.len() as u64 + 2;
    if fits.is_some_and(|fits| fits.time <= best.bound + rounding) {
        return None;
    }
    let exceeds = best.exceeds.as_ref()?;
    let differs = |arc: &usize| fits.is_none_or(|fits| fits.kept[*arc] != exceeds.kept[*arc]);
    (0..closure.stores.len())
        .filter(|arc| exceeds.kept[*arc] || fits.is_some_and(|fits| fits.kept[*arc]))
        .filter(differs)
        .max_by_key(|&arc| (closure.bytes[arc], Reverse(arc)))
}
