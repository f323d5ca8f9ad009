//! From the dual bound towards the integer optimum of a closure problem, by a
//! limited best-first branch and bound.
//!
//! At the best prices several solutions meet, some of which fit and some do
//! not. Branching decides the largest store that they disagree on. The bound
//! is the smallest over all open nodes, so it may be stopped at any time.

use super::closure::{Closure, Cut, Decision};
use super::dual::{Best, Dual, Question, best_prices};
use super::price::Price;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// A lower bound on the overhead of a closure problem.
#[derive(Clone, Debug)]
pub(super) enum Overhead {
    /// No legal plan fits the budget.
    Infeasible,
    /// At least this.
    AtLeast(Found),
}

/// A bound with its witnesses.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Scaled time of overhead, proven.
    pub(super) bound: u64,
    /// Prices at the root.
    pub(super) prices: Vec<Price>,
    /// A solution that fits, the cheapest seen.
    pub(super) fits: Option<Rc<Cut>>,
}

struct Node {
    bound: u64,
    prices: Vec<Price>,
    pool: Vec<Rc<Cut>>,
    /// Keep arc and whether it is kept.
    decided: Vec<(usize, bool)>,
    /// What to branch on; `None` if the bound is attained by a solution that fits.
    branch_on: Option<usize>,
}

/// Pool size per node: the solutions that meet at the top, and a few more.
const POOL: usize = 8;

struct Tree<'a> {
    closure: &'a mut Closure,
    capacities: Vec<u64>,
    fits: Option<Rc<Cut>>,
}

/// Lower bound on the overhead of `closure` within `budget`, with at most
/// `max_nodes` nodes.
pub(super) fn branch_and_bound(
    closure: &mut Closure,
    budget: u64,
    hint: Option<&[Price]>,
    max_nodes: usize,
) -> Overhead {
    let left = closure.held.iter().map(|&held| budget.checked_sub(held)).collect();
    let Some(capacities) = left else { return Overhead::Infeasible };
    let mut tree = Tree { closure, capacities, fits: None };
    let Some(root) = tree.solve(Vec::new(), Vec::new(), hint) else { return Overhead::Infeasible };
    let prices = root.prices.clone();
    let found = |bound, fits| Overhead::AtLeast(Found { bound, prices, fits });
    let mut open = BinaryHeap::from([Reverse((root.bound, 0))]);
    let mut nodes = vec![Some(root)];
    while let Some(Reverse((bound, number))) = open.pop() {
        let Some(node) = nodes[number].take() else { continue };
        let Some(arc) = node.branch_on.filter(|_| nodes.len() < max_nodes) else {
            return found(bound, tree.fits);
        };
        for keep in [true, false] {
            let mut decided = node.decided.clone();
            decided.push((arc, keep));
            let pool = inherited(&node.pool, arc, keep);
            if let Some(mut child) = tree.solve(decided, pool, Some(&node.prices)) {
                child.bound = child.bound.max(bound);
                open.push(Reverse((child.bound, nodes.len())));
                nodes.push(Some(child));
            }
        }
    }
    Overhead::Infeasible
}

/// The solutions of a parent that a child's decision allows. Keeping more is
/// always possible, at its bytes.
fn inherited(pool: &[Rc<Cut>], arc: usize, keep: bool) -> Vec<Rc<Cut>> {
    let recent = &pool[pool.len().saturating_sub(POOL)..];
    let adapt = |cut: &Rc<Cut>| match (cut.kept[arc], keep) {
        (kept, keep) if kept == keep => Some(cut.clone()),
        (true, _) => None,
        (false, _) => {
            let mut more = Cut::clone(cut);
            more.kept[arc] = true;
            Some(Rc::new(more))
        }
    };
    recent.iter().filter_map(adapt).collect()
}

impl Tree<'_> {
    fn solve(
        &mut self,
        decided: Vec<(usize, bool)>,
        pool: Vec<Rc<Cut>>,
        hint: Option<&[Price]>,
    ) -> Option<Node> {
        let mut decisions = vec![Decision::Open; self.closure.keeps.len()];
        for &(arc, keep) in &decided {
            decisions[arc] = if keep { Decision::Kept } else { Decision::Dropped };
        }
        let question = Question {
            closure: self.closure,
            decisions: &decisions,
            capacities: &self.capacities,
            pool,
            hint,
            hopeless_below: 0,
        };
        let Dual::Bound(best) = best_prices(question) else { return None };
        for cut in &best.pool {
            let better = self.fits.as_ref().is_none_or(|fits| cut.time < fits.time);
            if better && self.fits_capacities(cut) {
                self.fits = Some(cut.clone());
            }
        }
        let branch_on = self.disagreement(&decisions, &best);
        Some(Node { bound: best.bound, prices: best.prices, pool: best.pool, decided, branch_on })
    }

    fn fits_capacities(&self, cut: &Cut) -> bool {
        let bytes = self.closure.kept_bytes(&cut.kept);
        bytes.iter().zip(&self.capacities).all(|(bytes, capacity)| bytes <= capacity)
    }

    /// The largest store on whose keeping the solutions that meet at the best
    /// prices disagree. `None` if one that fits costs no more than the bound.
    fn disagreement(&self, decisions: &[Decision], best: &Best) -> Option<usize> {
        // Each price is rounded by less than one unit of scaled time.
        let rounding = self.closure.keeps.len() as u64 + 2;
        let attained = |cut: &&Rc<Cut>| cut.time <= best.bound + rounding;
        if best.pool.iter().filter(attained).any(|cut| self.fits_capacities(cut)) {
            return None;
        }
        // The lowest plane of each kind at the best prices.
        let mut lowest: [Option<(f64, &Cut)>; 2] = [None, None];
        for (index, cut) in best.pool.iter().enumerate() {
            let height = self.height(best, index);
            let kind = &mut lowest[usize::from(self.fits_capacities(cut))];
            if kind.is_none_or(|(least, _)| height < least) {
                *kind = Some((height, cut));
            }
        }
        let [exceeds, fits] = lowest.map(|kind| kind.map(|(_, cut)| cut));
        let exceeds = exceeds?;
        let disagree = |&arc: &usize| {
            decisions[arc] == Decision::Open
                && fits.map_or(exceeds.kept[arc], |fits| fits.kept[arc] != exceeds.kept[arc])
        };
        (0..decisions.len()).filter(disagree).max_by_key(|&arc| (self.closure.keeps[arc].bytes, Reverse(arc)))
    }

    /// A solution's plane at the best prices.
    fn height(&self, best: &Best, index: usize) -> f64 {
        let cut = &best.pool[index];
        let bytes = self.closure.kept_bytes(&cut.kept);
        let excess = bytes.iter().zip(&self.capacities).map(|(b, c)| *b as f64 - *c as f64);
        let paid = excess.zip(&best.prices).map(|(excess, price)| excess * price.per_byte());
        cut.time as f64 + paid.sum::<f64>()
    }
}
