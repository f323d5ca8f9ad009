//! Control: what calls, branches and composites run next.

use crate::error::{Outcome, invalid, unsupported};
use crate::machine::Values;
use crate::site::Site;
use ckpt_ir::{BlockId, OpKind};

/// Whether an operation runs a block.
pub(crate) enum Entered {
    /// This block with these arguments; what it returns are the results.
    Block(BlockId, Values),
    /// None: it is evaluated as a whole.
    No,
}

/// Finds the block that a call, branch or composite runs.
pub(crate) fn enter(site: Site<'_>, operands: &Values) -> Outcome<Entered> {
    match site.kind() {
        OpKind::If => {
            let pred = operands.first().map_or_else(|| invalid("if needs a predicate"), |v| v.tensor())?;
            let branch = if pred.to_bool()? { 0 } else { 1 };
            Ok(Entered::Block(site.block(branch)?, Values::new()))
        }
        OpKind::Case => {
            let index = operands.first().map_or_else(|| invalid("case needs an index"), |v| v.tensor())?;
            let last = site.data().regions.len().wrapping_sub(1);
            // Out of range means the last branch.
            let branch = usize::try_from(index.to_i64()?).unwrap_or(last).min(last);
            Ok(Entered::Block(site.block(branch)?, Values::new()))
        }
        OpKind::FuncCall | OpKind::Composite => {
            let callee = site.module.callee(site.op);
            match callee.and_then(|callee| site.module.function_body(callee)) {
                Some(body) => Ok(Entered::Block(body, operands.clone())),
                None => unsupported("a call of a function without a body"),
            }
        }
        _ => Ok(Entered::No),
    }
}
