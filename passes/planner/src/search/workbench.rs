//! What every step of a search uses: the timeline, provisions, random numbers.

use super::core::Core;
use super::evict::{Choice, put_before, repair};
use super::ids::{StoreId, TaskId};
use super::provide::{Provider, Terms};
use super::random::Random;
use super::restore::restore;
use super::timeline::Timeline;

/// A timeline with the tools to change it.
pub(super) struct Workbench<'c> {
    /// The plan in the making.
    pub(super) timeline: Timeline<'c>,
    /// Finds what has to run to have a store again.
    pub(super) provider: Provider,
    /// Numbers that are the same on every machine.
    pub(super) random: Random,
    /// Live bytes that a plan may have.
    pub(super) limit: i64,
    /// Evictions done so far: the measure of work.
    pub(super) evictions: usize,
}

/// A plan within the limit, with its price.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Tasks in order.
    pub(super) tasks: Vec<TaskId>,
    /// Their time in microseconds.
    pub(super) time: f64,
    /// Microseconds per byte at which it was found.
    pub(super) price: f64,
}

impl<'c> Workbench<'c> {
    /// The program's own order, to be brought within `limit`.
    pub(super) fn new(core: &'c Core, limit: i64, seed: u64) -> Self {
        Self {
            timeline: Timeline::new(core, &core.order),
            provider: Provider::new(core.stores.len()),
            random: Random::new(seed),
            limit,
            evictions: 0,
        }
    }

    /// Evicts until the limit holds, then takes back what fits.
    pub(super) fn settle(&mut self, choice: Choice<'_>, most_steps: usize) -> bool {
        let noise = choice.noise;
        let (held, steps) =
            repair(&mut self.timeline, &mut self.provider, &mut self.random, choice, most_steps);
        self.evictions += steps;
        if held {
            restore(&mut self.timeline, self.limit, &mut self.random, noise);
        }
        held
    }

    /// The plan as it stands.
    pub(super) fn candidate(&self, price: f64) -> Candidate {
        Candidate { tasks: self.timeline.tasks(), time: self.timeline.time(), price }
    }

    /// The first slot with the most live bytes.
    pub(super) fn peak_slot(&self) -> Option<usize> {
        self.timeline.first_above(self.timeline.peak() - 1)
    }

    /// Drops a store that is idle across `slot`, and makes it again before its next reader.
    pub(super) fn drop_across(&mut self, store: StoreId, slot: usize, price: f64) {
        let Some((_, reader)) = self.timeline.idle_across(store, slot) else { return };
        let terms = Terms { limit: self.limit, price, across: slot, most_time: f64::INFINITY, kept: None };
        if let Some(provision) = self.provider.provide(&self.timeline, store, reader, &terms) {
            put_before(&mut self.timeline, reader, &provision);
        }
    }
}
