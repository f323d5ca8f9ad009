//! From a planned module to a program of the runtime.
//!
//! - **Computes** a [`Program`]: one step per kernel of the schedule, in its
//!   order; one buffer per value that the schedule keeps; offsets in one arena.
//! - **Requires** a function of static tensor types with its [`KernelPartition`],
//!   as `ckpt_passes::pipeline::optimize` makes them.
//! - **Guarantees** that views share their base's buffer, that a buffer's bytes
//!   are used by nothing else from its making to its last reader, and that the
//!   arena has passed `ckpt_arena::check`.
//! - **Complexity** linear in the function, then the arena's search.
//!
//! Matrix products and convolutions become steps of their own; everything else
//! is offered to a [`Compiler`], and what that has no fast code for is left to
//! the reference evaluator, as text.

mod attributes;
mod axes;
mod blocks;
mod cone;
mod control;
mod convolution;
mod dot;
mod error;
mod memory;
mod text;
mod update;
mod values;
mod view;
mod whole;

pub use blocks::lower_blocks;
pub use error::LowerError;
pub use whole::needs_evaluator;

use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{Bytes, Module, OpId, ValueId};
use ckpt_runtime::Program;

/// A kernel to compile: operations that run as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A name, once per program.
    pub name: String,
    /// Operations, each after those it needs.
    pub ops: Vec<OpId>,
    /// Values from outside that they read, each in a buffer.
    pub inputs: Vec<ValueId>,
    /// Values that they make and others read, each in a buffer. Buffers are
    /// aligned to their element and no more.
    pub outputs: Vec<ValueId>,
}

/// A compiled kernel in a shared object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its symbol.
    pub symbol: String,
    /// `[0, extent)` may be split anywhere among threads.
    pub extent: u64,
}

/// What a compiler makes of the kernels of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// A shared object.
    pub library: Vec<u8>,
    /// Per source; none where there is no fast code.
    pub kernels: Vec<Option<Symbol>>,
}

/// What turns kernels into machine code.
pub trait Compiler {
    /// Compiles all kernels of a program at once.
    ///
    /// # Errors
    /// A message for a defect of the compiler; what it does not cover is no error.
    fn compile(&mut self, module: &Module, sources: &[Source]) -> Result<Compiled, String>;
}

/// No compiler: every kernel goes to the reference evaluator.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCompiler;

impl Compiler for NoCompiler {
    fn compile(&mut self, _: &Module, sources: &[Source]) -> Result<Compiled, String> {
        Ok(Compiled { library: Vec::new(), kernels: vec![None; sources.len()] })
    }
}

/// A program with what its memory plan achieves.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// The most bytes that its buffers hold at one step: what no arena can be smaller than.
    pub liveness_peak: Bytes,
}

/// Lowers `function` as it runs by `partition`.
///
/// # Errors
/// See [`LowerError`].
pub fn lower(
    module: &Module,
    function: OpId,
    partition: &KernelPartition,
    effort: ckpt_arena::Effort,
    compiler: &mut dyn Compiler,
) -> Result<Lowered, LowerError> {
    let draft = lower_blocks(module, function, partition)?;
    let draft = draft.compile(module, compiler)?;
    memory::place(draft, effort)
}
