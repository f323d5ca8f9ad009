//! The verifier: the constraints of the StableHLO specification.
//!
//! Each operation that the table knows is checked by itself against the types
//! of what it reads and makes; an operation that is not known is never
//! refused. A violated constraint names itself and the values in conflict, at
//! the operation's place. Dynamic sizes agree with everything, and quantised
//! types are left to whoever evaluates them.

mod batch_norm;
mod collectives;
mod composite;
mod contraction;
mod control;
mod convolution;
mod elementwise;
mod gather_scatter;
mod linear_algebra;
mod movement;
mod reduction;
mod site;

use crate::{Category, Diagnostic, Module, OpKind};
use site::Site;

/// A violated constraint, in words.
pub(crate) type Violation = String;

/// Whether a constraint holds.
pub(crate) type Verdict = Result<(), Violation>;

/// Violations reported at most: the first ones tell what is wrong.
pub const MAX_VIOLATIONS: usize = 20;

/// All violated constraints of a module, in the order of its operations, at
/// most [`MAX_VIOLATIONS`]. Linear time.
#[must_use]
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for op in module.walk(module.top()) {
        let site = Site::new(module, op);
        if let Err(violation) = check(&site) {
            let message = format!("'{}' {violation}", module.op_name(op));
            found.push(Diagnostic::invalid(module.op(op).offset as usize, message));
            if found.len() == MAX_VIOLATIONS {
                break;
            }
        }
    }
    found
}

/// Attributes without which an operation means nothing.
const REQUIRED: [(OpKind, &str); 14] = [
    (OpKind::BroadcastInDim, "broadcast_dimensions"),
    (OpKind::Compare, "comparison_direction"),
    (OpKind::Concatenate, "dimension"),
    (OpKind::Constant, "value"),
    (OpKind::Convolution, "dimension_numbers"),
    (OpKind::DotGeneral, "dot_dimension_numbers"),
    (OpKind::DynamicSlice, "slice_sizes"),
    (OpKind::Fft, "fft_length"),
    (OpKind::Gather, "dimension_numbers"),
    (OpKind::Iota, "iota_dimension"),
    (OpKind::Reverse, "dimensions"),
    (OpKind::Scatter, "scatter_dimension_numbers"),
    (OpKind::Slice, "limit_indices"),
    (OpKind::Transpose, "permutation"),
];

fn required(site: &Site<'_>) -> Verdict {
    let missing = REQUIRED.iter().find(|(kind, name)| *kind == site.kind() && site.attr(name).is_none());
    site::require(missing.is_none(), || {
        format!("requires attribute '{}'", missing.map_or("", |(_, name)| name))
    })
}

/// The family of an operation checks it.
fn check(site: &Site<'_>) -> Verdict {
    use OpKind as K;
    required(site)?;
    match site.kind() {
        K::Func | K::FuncReturn | K::Return | K::FuncCall | K::Module | K::Unknown => Ok(()),
        K::While | K::If | K::Case | K::Map | K::OptimizationBarrier | K::Tuple | K::GetTupleElement => {
            control::check(site)
        }
        K::Composite => composite::check(site),
        K::Dot | K::DotGeneral => contraction::check(site),
        K::Convolution => convolution::check(site),
        K::Reduce | K::ReduceWindow | K::SelectAndScatter | K::Sort => reduction::check(site),
        K::Gather | K::DynamicGather | K::Scatter | K::DynamicSlice | K::DynamicUpdateSlice => {
            gather_scatter::check(site)
        }
        K::BatchNormGrad | K::BatchNormInference | K::BatchNormTraining => batch_norm::check(site),
        K::Fft | K::Cholesky | K::TriangularSolve | K::Rng => linear_algebra::check(site),
        K::ReplicaId | K::PartitionId => collectives::check(site),
        kind => match kind.info().category {
            Category::Collective => collectives::check(site),
            Category::Elementwise(_) => elementwise::check(site),
            _ => movement::check(site),
        },
    }
}
