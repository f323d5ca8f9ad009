//! Interned strings.

use ckpt_entity::{EntityId, define_id};
use indexmap::IndexSet;

define_id! {
    /// An interned string: an operation, attribute, symbol or value name.
    pub struct Symbol("sym");
}

/// The strings of one module, each stored once.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    names: IndexSet<Box<str>>,
}

impl NameTable {
    /// The symbol of `name`, interning it on first sight.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(index) = self.names.get_index_of(name) {
            return Symbol::from_index(index);
        }
        Symbol::from_index(self.names.insert_full(name.into()).0)
    }

    /// The symbol of `name`, if it was ever interned.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.names.get_index_of(name).map(Symbol::from_index)
    }

    /// The string of a symbol of this table.
    #[must_use]
    pub fn get(&self, symbol: Symbol) -> &str {
        &self.names[symbol.index()]
    }
}
