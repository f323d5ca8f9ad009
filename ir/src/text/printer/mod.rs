//! Printing a module, as MLIR's own printer would.

mod attributes;
mod names;
mod operations;
mod sayable;
mod sdy;
mod special;

use crate::{AttrId, LocId, Module, TypeId};
use names::Names;

/// How to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Print `loc(…)`. Default: no.
    pub debug_info: bool,
    /// Print every operation in generic form. Default: no.
    pub generic: bool,
}

/// The text of a module. Linear in its size.
#[must_use]
pub fn print(module: &Module, options: &PrintOptions) -> String {
    let mut printer = Printer::new(module, options);
    printer.top_module();
    printer.out
}

/// The text of an attribute.
pub(crate) fn attribute_text(module: &Module, attr: AttrId) -> String {
    let options = PrintOptions::default();
    let mut printer = Printer::new(module, &options);
    printer.attribute(attr);
    printer.out
}

/// The text of a type.
pub(crate) fn type_text(module: &Module, ty: TypeId) -> String {
    let options = PrintOptions::default();
    let mut printer = Printer::new(module, &options);
    printer.ty(ty);
    printer.out
}

/// A text under way.
struct Printer<'m> {
    module: &'m Module,
    options: &'m PrintOptions,
    out: String,
    indent: usize,
    names: Names,
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module, options: &'m PrintOptions) -> Self {
        Self { module, options, out: String::new(), indent: 0, names: Names::new(module.value_count()) }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    /// Items separated by commas.
    fn list<T: Copy>(&mut self, items: &[T], mut print: impl FnMut(&mut Self, T)) {
        for (index, &item) in items.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            print(self, item);
        }
    }

    fn integers(&mut self, values: &[i64]) {
        self.push("[");
        self.list(values, |printer, value| printer.push(&value.to_string()));
        self.push("]");
    }

    /// ` loc(…)` if locations are printed.
    fn trailing_location(&mut self, loc: LocId) {
        if self.options.debug_info {
            self.push(" ");
            self.location(loc);
        }
    }
}
