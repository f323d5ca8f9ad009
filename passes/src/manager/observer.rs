//! Watching passes.

use ckpt_ir::Module;

/// Told of each pass, and of each stage inside a pass, before and after it runs.
pub trait Observer {
    /// A pass is about to run.
    fn before(&mut self, pass: &'static str, module: &Module);
    /// It has run.
    fn after(&mut self, pass: &'static str, module: &Module);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn before(&mut self, _: &'static str, _: &Module) {}
    fn after(&mut self, _: &'static str, _: &Module) {}
}
