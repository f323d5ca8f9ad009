//! Symbolic terms, each stored once: two values with one [`Sym`] are equal.

use ckpt_entity::{EntityId, EntityVec, define_id};
use ckpt_ir::{NamedAttr, Symbol, TypeId};
use indexmap::IndexSet;
use smallvec::SmallVec;

define_id! {
    /// A term. Terms of the input are numbered first, so that a term of the
    /// output is the input's own if its number is below the input's count.
    pub(crate) struct Sym("s");
}

/// A run of an operation. All ids are of the common tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpTerm {
    /// The full name.
    pub(crate) name: Symbol,
    /// Inherent attributes, sorted by name.
    pub(crate) properties: SmallVec<[NamedAttr; 2]>,
    /// Discardable attributes but the project's own bookkeeping, sorted by name.
    pub(crate) attributes: SmallVec<[NamedAttr; 0]>,
    /// What it reads.
    pub(crate) operands: SmallVec<[Sym; 4]>,
    /// Types of its results.
    pub(crate) results: SmallVec<[TypeId; 1]>,
    /// One [`Term::Region`] per region.
    pub(crate) regions: SmallVec<[Sym; 0]>,
    /// The code of the function that it calls.
    pub(crate) callee: Option<Sym>,
    /// The state of the world that it runs in, if it can change or observe it.
    pub(crate) state: Option<Sym>,
}

/// A term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    /// An argument of a block. Blocks are named by a level and their index in
    /// the region, not by identity, so that terms are equal up to renaming.
    Argument { level: u32, block: u32, index: u32, ty: TypeId },
    /// The state of the world on entry to a block.
    Entry { level: u32, block: u32 },
    /// A run of an operation.
    Op(OpTerm),
    /// A result of a run.
    Result { op: Sym, index: u32 },
    /// The state of the world after a run.
    After { op: Sym },
    /// A block as a function of its arguments and of the state on entry.
    Block {
        /// The level that it binds: one more than that of any variable that is
        /// free in it.
        level: u32,
        /// Types of the arguments.
        arguments: Vec<TypeId>,
        /// The operations that count: the terminator, or all of them where it
        /// is not known what the owner makes of them.
        ops: SmallVec<[Sym; 1]>,
        /// The state at the end.
        state: Sym,
    },
    /// The blocks of a region.
    Region(SmallVec<[Sym; 1]>),
}

/// The terms of all modules under comparison.
#[derive(Debug, Default)]
pub(crate) struct TermTable {
    terms: IndexSet<Term>,
    /// The highest level of a variable that is free in the term; zero if closed.
    free_levels: EntityVec<Sym, u32>,
}

impl TermTable {
    /// The id of `term`, interning it on first sight.
    pub(crate) fn intern(&mut self, term: Term) -> Sym {
        let (index, new) = self.terms.insert_full(term);
        let sym = Sym::from_index(index);
        if new {
            let level = self.level_of(&self.terms[index]);
            self.free_levels.push(level);
        }
        sym
    }

    /// The highest level of a variable that is free in a term; zero if closed.
    pub(crate) fn free_level(&self, sym: Sym) -> u32 {
        self.free_levels[sym]
    }

    fn level_of(&self, term: &Term) -> u32 {
        let highest = |parts: &[Sym]| parts.iter().map(|sym| self.free_levels[*sym]).max();
        match term {
            Term::Argument { level, .. } | Term::Entry { level, .. } => *level,
            Term::Op(op) => {
                let state = op.state.map(|state| self.free_levels[state]);
                highest(&op.operands).max(highest(&op.regions)).max(state).unwrap_or(0)
            }
            Term::Result { op, .. } | Term::After { op } => self.free_levels[*op],
            Term::Block { level, .. } => level.saturating_sub(1),
            Term::Region(blocks) => highest(blocks).unwrap_or(0),
        }
    }

    /// The term of an id.
    pub(crate) fn get(&self, sym: Sym) -> &Term {
        &self.terms[sym.index()]
    }

    /// Number of terms so far.
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The run that a value is the only or first result of.
    pub(crate) fn producer(&self, value: Sym) -> Option<&OpTerm> {
        match self.get(value) {
            Term::Result { op, index: 0 } => self.op(*op),
            _ => None,
        }
    }

    /// The run behind an operation's symbol.
    pub(crate) fn op(&self, op: Sym) -> Option<&OpTerm> {
        match self.get(op) {
            Term::Op(term) => Some(term),
            _ => None,
        }
    }

    /// The type of a value; none for states, blocks and regions.
    pub(crate) fn value_type(&self, value: Sym) -> Option<TypeId> {
        match self.get(value) {
            Term::Argument { ty, .. } => Some(*ty),
            Term::Result { op, index } => self.op(*op)?.results.get(*index as usize).copied(),
            _ => None,
        }
    }
}
