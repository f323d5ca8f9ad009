//! A kernel: which family its root belongs to, and the function around it.

use super::attrs::shape_of;
use super::cone::{Cone, Literals};
use super::fold::Fold;
use super::map::map;
use super::nest::Nest;
use super::scatter::Scatter;
use super::select_scatter::SelectScatter;
use super::{Body, Emitted, NoPath, Ssa, Ty, movement, scalar};
use crate::kernels::KernelSource;
use ckpt_ir::{Module, OpId, OpKind, ValueId};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Attempts to find rows that divide no index of a column.
const MAX_DRAFTS: usize = 8;

/// Elements of a tensor at most: positions and byte offsets stay far from overflow.
const MAX_COUNT: u64 = 1 << 56;

/// A kernel's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// The functions, with [`NAME`] for the name: equal kernels have equal text.
    pub(crate) text: String,
    /// The extent of the parallel dimension.
    pub(crate) extent: u64,
}

/// Stands for the kernel's name in its text.
pub(crate) const NAME: &str = "@kernel_name";

/// What a kernel writes, and the range of the parallel dimension.
pub(super) struct Outputs {
    pub(super) values: Vec<(ValueId, Ssa)>,
    pub(super) range: (Ssa, Ssa),
}

/// What came of one attempt.
pub(super) struct Draft {
    pub(super) extent: u64,
    /// A nest that promises better indices.
    pub(super) better: Option<Nest>,
}

/// Emits a kernel.
///
/// # Errors
/// Why it has no fast path.
pub(crate) fn kernel(module: &Module, source: &KernelSource, literals: &mut Literals) -> Emitted<Kernel> {
    check_sizes(module, source)?;
    let ops: HashSet<OpId> = source.ops.iter().copied().collect();
    let family = Family::of(module, source)?;
    let mut nest = family.nest(module, source)?;
    for attempt in 1.. {
        let (mut cone, outputs) = open(module, source, &ops, literals);
        let draft = family.emit(&mut cone, &outputs, &nest)?;
        match draft.better {
            Some(better) if attempt < MAX_DRAFTS => nest = better,
            _ => {
                let text = function(source, &cone.body.finish());
                return Ok(Kernel { text, extent: draft.extent });
            }
        }
    }
    Err(NoPath::TooLarge)
}

/// What kind of loop nest a kernel's root needs.
enum Family {
    /// Each element by itself.
    Map,
    /// A reduction over dimensions or windows.
    Fold(Fold),
    /// A scatter.
    Scatter(Scatter),
    /// A scatter to the elements that windows select.
    SelectScatter(SelectScatter),
}

impl Family {
    /// The family of the operation that makes the outputs.
    fn of(module: &Module, source: &KernelSource) -> Emitted<Self> {
        let first = *source.outputs.first().ok_or(NoPath::Shape)?;
        let Some(root) = module.defining_op(first) else { return Ok(Self::Map) };
        let family = match module.op(root).kind {
            OpKind::Reduce | OpKind::ReduceWindow => Self::Fold(Fold::of(module, root)?),
            OpKind::Scatter => Self::Scatter(Scatter::of(module, root)?),
            OpKind::SelectAndScatter => Self::SelectScatter(SelectScatter::of(module, root)?),
            kind if scalar::is_elementwise(kind) || movement::moves(kind) => return Ok(Self::Map),
            OpKind::Constant | OpKind::Iota | OpKind::OptimizationBarrier => return Ok(Self::Map),
            kind => return Err(NoPath::Operation(kind)),
        };
        // The results of the root, all of them and in order.
        if module.op(root).results[..] == source.outputs[..] {
            Ok(family)
        } else {
            Err(NoPath::Form(module.op(root).kind))
        }
    }

    /// The nest to begin with.
    fn nest(&self, module: &Module, source: &KernelSource) -> Emitted<Nest> {
        match self {
            Self::Fold(fold) => Ok(fold.nest()),
            // They split their work in their own way.
            Self::Scatter(_) | Self::SelectScatter(_) => Ok(Nest::flat(1)),
            Self::Map => {
                let count = |value: &ValueId| {
                    shape_of(module, *value).map(|shape| shape.iter().product::<i64>()).ok_or(NoPath::Shape)
                };
                let counts = source.outputs.iter().map(count).collect::<Emitted<Vec<_>>>()?;
                let first = *counts.first().ok_or(NoPath::Shape)?;
                if counts.iter().all(|count| *count == first) {
                    Ok(Nest::flat(first))
                } else {
                    Err(NoPath::Shape)
                }
            }
        }
    }

    fn emit(&self, cone: &mut Cone<'_>, outputs: &Outputs, nest: &Nest) -> Emitted<Draft> {
        match self {
            Self::Map => map(cone, outputs, nest),
            Self::Fold(fold) => fold.emit(cone, outputs, nest),
            Self::Scatter(scatter) => scatter.emit(cone, outputs),
            Self::SelectScatter(scatter) => scatter.emit(cone, outputs),
        }
    }
}

/// A body with its parameters: inputs, outputs, and the range.
fn open<'a>(
    module: &'a Module,
    source: &KernelSource,
    ops: &'a HashSet<OpId>,
    literals: &'a mut Literals,
) -> (Cone<'a>, Outputs) {
    let mut body = Body::default();
    let pointers: HashMap<ValueId, Ssa> =
        source.inputs.iter().map(|input| (*input, body.parameter(Ty::Ptr))).collect();
    let values = source.outputs.iter().map(|output| (*output, body.parameter(Ty::Ptr))).collect();
    let range = (body.parameter(Ty::I64), body.parameter(Ty::I64));
    (Cone::new(module, ops, body, pointers, literals), Outputs { values, range })
}

/// No tensor without elements, which no index could point into, and none too large.
fn check_sizes(module: &Module, source: &KernelSource) -> Emitted<()> {
    let results = source.ops.iter().flat_map(|op| module.op(*op).results.iter());
    for &value in source.inputs.iter().chain(&source.outputs).chain(results) {
        let count = module.tensor_type(value).and_then(ckpt_ir::TensorType::element_count);
        if !count.is_some_and(|count| (1..=MAX_COUNT).contains(&count)) {
            return Err(NoPath::Shape);
        }
    }
    Ok(())
}

/// The exported function, which unpacks the table of buffers, and the one that
/// computes, whose parameters tell LLVM that buffers do not overlap.
fn function(source: &KernelSource, body: &str) -> String {
    let count = source.inputs.len() + source.outputs.len();
    let mut text = format!("func.func {NAME}(%table: !llvm.ptr, %begin: i64, %end: i64) {{\n");
    let mut arguments = String::new();
    let mut types = String::new();
    let mut parameters = String::new();
    for buffer in 0..count {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "%a{buffer} = llvm.getelementptr inbounds %table[{buffer}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n\
             %p{buffer} = llvm.load %a{buffer} : !llvm.ptr -> !llvm.ptr"
        );
        let _ = write!(arguments, "%p{buffer}, ");
        types.push_str("!llvm.ptr, ");
        let access = if buffer < source.inputs.len() { ", llvm.readonly" } else { "" };
        let _ = write!(parameters, "%{buffer}: !llvm.ptr {{llvm.noalias{access}}}, ");
    }
    let _ = write!(
        text,
        "func.call {NAME}_body({arguments}%begin, %end) : ({types}i64, i64) -> ()\nreturn\n}}\n\
         func.func private {NAME}_body({parameters}%{}: i64, %{}: i64) attributes \
         {{llvm.linkage = #llvm.linkage<internal>, passthrough = [\"noinline\"]}} {{\n{body}return\n}}\n",
        count,
        count + 1
    );
    text
}
