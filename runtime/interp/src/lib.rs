//! The reference evaluator of StableHLO.
//!
//! It runs a program operation by operation, the way the [StableHLO
//! specification](https://openxla.org/stablehlo/spec) words it, to be the oracle
//! of the tests: plain rather than fast, with nothing fused, reordered or kept in
//! more precision than the types say. Where the specification leaves a choice
//! (conversions out of range, shifts beyond the width, the order of sums), it
//! does what StableHLO's own reference interpreter does.
//!
//! Each family of operations has its file; [`evaluate`] runs a function.
//! Arithmetic is in the types' own precision: small floats are computed in `f64`
//! and rounded once, transcendental functions in `f64` by `libm`, which is the
//! same on every machine.

mod api;
mod batch_norm;
mod check;
mod chlo;
mod collectives;
mod control;
mod convolution;
mod dispatch;
mod dot;
mod dynamic;
mod einsum;
mod elementwise;
mod error;
mod fft;
mod format;
mod gather_scatter;
mod lanes;
mod limits;
mod linear_algebra;
mod liveness;
mod machine;
mod movement;
mod parallel;
mod quantized;
mod random;
mod reduction;
mod scalar;
mod shape;
mod site;
mod sort;
mod tensor;
mod windows;

pub use api::{evaluate, evaluate_within};
pub use error::{EvalError, Fault};
pub use limits::Limits;
pub use machine::{MAX_NESTED_BODIES, MAX_RUNNING_BLOCKS};
pub use shape::Shape;
pub use tensor::{Data, MAX_TENSOR_BYTES, Tensor, Value};
