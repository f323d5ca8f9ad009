//! Facts about loops.

use ckpt_ir::{Module, OpId};

/// Whether the carried value `index` of a loop is passed through unchanged.
#[must_use]
pub fn is_passed_through(module: &Module, op: OpId, index: usize) -> bool {
    let Some(block) =
        module.op(op).regions.get(1).and_then(|body| module.region(*body).blocks.first().copied())
    else {
        return false;
    };
    let argument = module.block(block).arguments.get(index);
    let yielded = module.terminator(block).and_then(|t| module.op(t).operands.get(index));
    argument.is_some() && argument == yielded
}
