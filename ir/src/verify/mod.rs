//! The verifier: is a module a valid StableHLO program?
//!
//! [`verify`] checks each operation against its row in the table of its family
//! (`elementwise.rs`, `movement.rs`, …): how many operands, results and regions,
//! of which types, with which attributes, in which relation; then the
//! constraints and the shape inference of the StableHLO specification that are
//! the operation's own. `structure.rs` checks what is MLIR's: dominance,
//! terminators, functions, calls, symbols.
//!
//! An operation without a row is never refused. What is dynamic is compatible
//! with everything. What is kept as text and not understood passes.

mod attributes;
mod batch_norm;
mod chlo;
mod collectives;
mod contraction;
mod control;
mod convolution;
mod custom_call;
mod dynamic;
mod elementwise;
mod facts;
mod gather_scatter;
mod interpreter;
mod linear_algebra;
mod misc;
mod movement;
mod quant;
mod quantised;
mod ragged_dot;
mod reduction;
mod relations;
mod shape;
mod signature;
mod slots;
mod structure;
mod view;
mod windows;

use crate::text::MAX_DIAGNOSTICS;
use crate::{Diagnostic, Module, OpId, OpKind};
use signature::Row;
use std::sync::LazyLock;
use view::{Check, Context, Op, Stop, invalid};

/// The tables of the families.
static TABLES: &[&[Row]] = &[
    batch_norm::ROWS,
    chlo::ROWS,
    collectives::ROWS,
    contraction::ROWS,
    control::ROWS,
    convolution::ROWS,
    custom_call::ROWS,
    dynamic::ROWS,
    elementwise::ROWS,
    gather_scatter::ROWS,
    interpreter::ROWS,
    linear_algebra::ROWS,
    misc::ROWS,
    movement::ROWS,
    reduction::ROWS,
    shape::ROWS,
];

/// The row of each kind, by its number; `Unknown` is the last kind.
static ROWS: LazyLock<Vec<Option<&'static Row>>> = LazyLock::new(|| {
    let mut rows: Vec<Option<&'static Row>> = vec![None; OpKind::Unknown as usize + 1];
    for row in TABLES.iter().copied().flatten() {
        rows[row.kind as usize] = Some(row);
    }
    rows
});

/// Checks a module against the StableHLO specification and MLIR's structure.
///
/// The first violated constraint of each operation, in the order of the
/// program, up to [`MAX_DIAGNOSTICS`]; empty for a valid module. Linear in the
/// module, times the depth at which an operation uses values from outside its
/// own block.
#[must_use]
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    let context = Context { module, facts: facts::all(module) };
    let order = module.walk(module.top());
    let structure = structure::Structure::new(&context, &order);
    let mut errors = Vec::new();
    for &id in &order {
        if let Err(Stop::Invalid(message)) = check(context.op(id), &structure) {
            let message = format!("'{}' op {message}", module.op_name(id));
            errors.push(Diagnostic::invalid(place(module, id), message));
            if errors.len() == MAX_DIAGNOSTICS {
                break;
            }
        }
    }
    errors
}

/// Everything that is checked of one operation.
fn check(op: Op<'_>, structure: &structure::Structure) -> Check {
    types(op)?;
    structure.check(op)?;
    match ROWS[op.kind() as usize] {
        Some(row) => match signature::check(op, row) {
            Err(Stop::CannotTell) => Ok(()),
            other => other,
        },
        None => Ok(()),
    }
}

/// The types that an operation brings into the program must be valid themselves.
fn types(op: Op<'_>) -> Check {
    for result in op.results() {
        if let Some(defect) = &result.facts.defect {
            invalid!("result type {result} is not valid: {defect}");
        }
    }
    for region in &op.data.regions {
        for &block in &op.module().region(*region).blocks {
            for argument in op.context.arguments(block) {
                if let Some(defect) = &argument.facts.defect {
                    invalid!("type {argument} of a block argument is not valid: {defect}");
                }
            }
        }
    }
    Ok(())
}

/// The offset of an operation, or of the nearest one around it that has one:
/// what a pretty form implies has no place of its own.
fn place(module: &Module, op: OpId) -> usize {
    let mut at = Some(op);
    while let Some(op) = at {
        let data = module.op(op);
        if data.offset != u32::MAX {
            return data.offset as usize;
        }
        let region = data.parent.and_then(|block| module.block(block).parent);
        at = region.and_then(|region| module.region(region).parent);
    }
    0
}
