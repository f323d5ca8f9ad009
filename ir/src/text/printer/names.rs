//! Names of values: as they were read where that is possible, unique always.

use crate::{Module, ValueId};
use ckpt_entity::EntityVec;
use std::collections::HashSet;

/// The names given so far. A name lives as long as the region it was given in.
pub(super) struct Names {
    names: EntityVec<ValueId, Option<Box<str>>>,
    used: HashSet<Box<str>>,
    /// Names in the order they were given, to be released with their region.
    given: Vec<Box<str>>,
    next_number: u64,
}

/// The state at the start of a region.
pub(super) struct Mark {
    given: usize,
    next_number: u64,
}

impl Names {
    pub(super) fn new(values: usize) -> Self {
        Self {
            names: EntityVec::filled(None, values),
            used: HashSet::new(),
            given: Vec::new(),
            next_number: 0,
        }
    }

    /// Starts a region; an isolated one sees no outer names.
    pub(super) fn enter(&mut self) -> Mark {
        Mark { given: self.given.len(), next_number: self.next_number }
    }

    /// Ends a region.
    pub(super) fn leave(&mut self, mark: &Mark) {
        for name in self.given.drain(mark.given..) {
            self.used.remove(&name);
        }
        self.next_number = mark.next_number;
    }

    /// Names a value, or the first of a group of results.
    pub(super) fn define(&mut self, module: &Module, value: ValueId) {
        let name = match module.value_name(value) {
            Some(name) => self.unique(name),
            None => self.number(),
        };
        self.used.insert(name.clone());
        self.given.push(name.clone());
        self.names[value] = Some(name);
    }

    /// Lets a value carry the name of another, in a region beside that one's.
    pub(super) fn define_like(&mut self, value: ValueId, other: ValueId) {
        let Some(name) = self.names[other].clone() else { return };
        self.used.insert(name.clone());
        self.given.push(name.clone());
        self.names[value] = Some(name);
    }

    fn unique(&mut self, wanted: &str) -> Box<str> {
        if !self.used.contains(wanted) {
            return wanted.into();
        }
        if wanted.bytes().all(|b| b.is_ascii_digit()) {
            return self.number();
        }
        let mut suffix = 0u64;
        loop {
            let name = format!("{wanted}_{suffix}");
            if !self.used.contains(name.as_str()) {
                return name.into();
            }
            suffix += 1;
        }
    }

    /// The next free number.
    fn number(&mut self) -> Box<str> {
        loop {
            let name = self.next_number.to_string();
            self.next_number += 1;
            if !self.used.contains(name.as_str()) {
                return name.into();
            }
        }
    }

    /// The name of a value that was defined; a group's later results are
    /// `name#index`.
    pub(super) fn of(&self, module: &Module, value: ValueId) -> String {
        if let Some(Some(name)) = self.names.get(value) {
            return format!("%{name}");
        }
        if let Some(op) = module.defining_op(value) {
            let results = &module.op(op).results;
            let place = results.iter().position(|r| *r == value).unwrap_or(0);
            let head = (0..place).rev().find_map(|at| Some((at, self.names.get(results[at])?.as_ref()?)));
            if let Some((at, name)) = head {
                return format!("%{name}#{}", place - at);
            }
        }
        // Only a module that does not verify gets here.
        format!("%<undefined {value}>")
    }
}
