//! `interpreter.run_parallel`, StableHLO's own way to say which programs form a grid.

use super::facts::class::TOKEN;
use super::signature::{Row, Slot};
use super::slots::{ANY, VALUE};
use super::structure::function_type;
use super::view::{Check, Op, Stop, invalid};
use crate::{Attr, AttrId, OpId, OpKind as K, TypeId};

const MANY: Slot = VALUE.many();

pub(super) const ROWS: &[Row] = &[Row::new(K::InterpreterRunParallel, &[MANY], &[MANY]).check(run_parallel)];

/// `programs` is a grid of functions that take the operands and return the
/// results in turn; each function of `infeed` returns one tensor.
fn run_parallel(op: Op<'_>) -> Check {
    let rows = array(op.attr("programs"))?;
    if rows.is_empty() {
        invalid!("`programs` attribute cannot be empty");
    }
    let (mut inputs, mut results, mut columns) = (0, 0, None);
    for row in rows {
        let row = array(Some(op.module().attrs.get(*row)))?;
        let width = *columns.get_or_insert(row.len());
        if row.is_empty() || row.len() != width {
            invalid!(
                "sizes of second dimension of `programs` should all match {width}, but got {}",
                row.len()
            );
        }
        for &name in row {
            let (takes, returns) = signature(op, name)?;
            inputs += takes.len();
            results += returns.len();
        }
    }
    if inputs != op.operand_count() {
        let count = op.operand_count();
        invalid!("number of inputs ({count}) should match the sum of the inputs of all programs ({inputs})");
    }
    if results != op.result_count() {
        let count = op.result_count();
        invalid!(
            "number of results ({count}) should match the sum of the results of all programs ({results})"
        );
    }
    if op.attr("infeed").is_none() {
        return Ok(());
    }
    let queue = array(op.attr("infeed"))?;
    if queue.is_empty() {
        invalid!("infeed attribute is optional or should not be empty");
    }
    for &name in queue {
        let (_, returns) = signature(op, name)?;
        let [ty] = returns else {
            invalid!("an infeed function should return 1 tensor, but returns {}", returns.len())
        };
        let value = op.context.of_type(*ty);
        if value.facts.class & TOKEN != 0 || value.facts.class & ANY == 0 && value.tensor().is_ok() {
            invalid!("an infeed function should return a tensor, but returns {value}");
        }
    }
    Ok(())
}

fn array(attr: Option<&Attr>) -> Result<&[AttrId], Stop> {
    match attr {
        Some(Attr::Array(items)) => Ok(items),
        _ => invalid!("requires a list of programs"),
    }
}

/// What a function takes and returns.
fn signature<'m>(op: Op<'m>, name: AttrId) -> Result<(&'m [TypeId], &'m [TypeId]), Stop> {
    let module = op.module();
    let Attr::SymbolRef(path) = module.attrs.get(name) else { invalid!("a program is not a symbol") };
    let name = path.first().map(|name| module.names.get(*name)).unwrap_or_default();
    let function: Option<OpId> = module.function(name);
    match function.and_then(|function| function_type(module, function)) {
        Some(types) => Ok(types),
        None => invalid!("function \"{name}\" not found"),
    }
}
