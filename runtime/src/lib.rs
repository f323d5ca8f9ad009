//! The runtime: a planned program in one arena.
//!
//! A [`Program`] is what the compiler hands over: buffers with their offsets,
//! steps in order, compiled kernels as a shared object. It is a value that can
//! be written to a file and read back ([`Program::to_bytes`],
//! [`Program::from_bytes`]). An [`Instance`] takes one allocation of exactly
//! the planned size and runs the steps; arguments and results lie in it and are
//! written and read in place.
//!
//! Results depend on nothing but the arguments: work is split among threads
//! into parts that do not depend on their number, and sums are taken in one order.
//! What lies outside the arena is scratch of matrix products and convolutions,
//! bounded per thread ([`MAX_SCRATCH_BYTES`]), and the tensors of steps that
//! the reference evaluator runs.

mod arena;
mod block_product;
mod convolution;
mod copies;
#[cfg(target_arch = "x86_64")]
mod dots;
mod element;
mod error;
mod evaluate;
mod file;
mod instance;
mod library;
mod machine;
mod matmul;
mod narrow;
mod patches;
mod program;
mod scratch;
mod update;
mod validate;

pub use element::Element;
pub use error::{ProgramError, RunError};
pub use instance::{Instance, MAX_THREADS, Options, StepTime};
pub use program::{
    Argument, Block, BlockId, Buffer, BufferId, CaseStep, ConvAxis, ConvSpatial, ConvolutionStep, CopyStep,
    EvaluateStep, KernelStep, MatMulStep, OuterLoop, OuterSum, Output, Program, Step, StridedOperand,
    TensorSpec, UpdateStep, WhileStep, Work,
};
pub use scratch::MAX_SCRATCH_BYTES;
