//! Source locations, uniqued per module.

use crate::{AttrId, Symbol};
use ckpt_entity::{EntityId, define_id};
use indexmap::IndexSet;

define_id! {
    /// A uniqued location.
    pub struct LocId("loc");
}

impl LocId {
    /// The unknown location, which every table has.
    #[must_use]
    pub fn unknown() -> Self {
        Self::from_index(0)
    }
}

/// A location as MLIR's builtin dialect defines them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Loc {
    /// `loc(unknown)`.
    Unknown,
    /// `loc("file":line:col)`.
    File {
        /// The file as named.
        file: Symbol,
        /// From one.
        line: u32,
        /// From one.
        column: u32,
    },
    /// `loc("file":line:col to line:col)`.
    FileRange {
        /// The file as named.
        file: Symbol,
        /// Line and column of the start.
        start: (u32, u32),
        /// Line (if it differs from the start's) and column of the end.
        end: (Option<u32>, u32),
    },
    /// `loc("name"(child))`, or `loc("name")` where the child is unknown.
    Name {
        /// The name.
        name: Symbol,
        /// Where the named thing is.
        child: LocId,
    },
    /// `loc(callsite(callee at caller))`.
    CallSite {
        /// Inside the callee.
        callee: LocId,
        /// Of the call.
        caller: LocId,
    },
    /// `loc(fused<metadata>[…])`.
    Fused {
        /// The parts.
        parts: Vec<LocId>,
        /// The metadata, if any.
        metadata: Option<AttrId>,
    },
}

/// The locations of one module, each stored once.
#[derive(Clone, Debug)]
pub struct LocTable {
    locs: IndexSet<Loc>,
}

impl Default for LocTable {
    fn default() -> Self {
        Self { locs: IndexSet::from([Loc::Unknown]) }
    }
}

impl LocTable {
    /// The id of `loc`, interning it on first sight.
    pub fn intern(&mut self, loc: Loc) -> LocId {
        LocId::from_index(self.locs.insert_full(loc).0)
    }

    /// The location of an id of this table.
    #[must_use]
    pub fn get(&self, id: LocId) -> &Loc {
        &self.locs[id.index()]
    }
}
