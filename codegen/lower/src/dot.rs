//! Matrix products of strided operands.

use crate::LowerError;
use crate::axes::{fast_element, merge, sums, take_largest};
use crate::blocks::Lowering;
use crate::view::{View, row_major};
use ckpt_ir::{Attr, DotDims, Module, OpId, OpKind};
use ckpt_runtime::{Element, MatMulStep, OuterLoop, StridedOperand};

impl Lowering<'_> {
    /// A product as one step; none if its types or operands have no fast path.
    pub(crate) fn dot(&mut self, op: OpId) -> Result<Option<MatMulStep>, LowerError> {
        let data = self.module.op(op);
        let ([lhs, rhs], [result]) = (&data.operands[..], &data.results[..]) else { return Ok(None) };
        let Some((element, out_element)) = elements(self.module, op) else { return Ok(None) };
        let views = View::of(&self.values, *lhs).zip(View::of(&self.values, *rhs));
        let (Some((lhs, rhs)), Some(dims)) = (views, dot_dims(self.module, op)) else { return Ok(None) };
        let shape = self.module.tensor_type(*result).and_then(|ty| ty.static_shape());
        let Some(shape) = shape else { return Ok(None) };
        let Some(axes) = Axes::of(&lhs, &rhs, &dims, &shape) else { return Ok(None) };
        let mut loops = merge(&axes.batch);
        let (mut rows, mut columns) = (merge(&axes.rows), merge(&axes.columns));
        let (m, n) = (take_largest(&mut rows), take_largest(&mut columns));
        loops.extend(rows.into_iter().chain(columns));
        let out = self.values.make(*result, op)?;
        Ok(Some(MatMulStep {
            element,
            result: out_element,
            lhs: StridedOperand { buffer: lhs.buffer, offset: lhs.offset },
            rhs: StridedOperand { buffer: rhs.buffer, offset: rhs.offset },
            out: StridedOperand { buffer: out, offset: 0 },
            loops,
            m,
            n,
            sums: sums(&axes.summed),
        }))
    }
}

/// Element types of operands and result, if there is code for them.
pub(crate) fn elements(module: &Module, op: OpId) -> Option<(Element, Element)> {
    let data = module.op(op);
    let element = |value: &ckpt_ir::ValueId| fast_element(module.tensor_type(*value)?.element);
    let (lhs, rhs) = (element(data.operands.first()?)?, element(data.operands.get(1)?)?);
    let result = element(data.results.first()?)?;
    let narrow = matches!(lhs, Element::Bf16 | Element::F16);
    let fits = lhs == rhs && (result == lhs || narrow && result == Element::F32);
    fits.then_some((lhs, result))
}

fn dot_dims(module: &Module, op: OpId) -> Option<DotDims> {
    if module.op(op).kind == OpKind::Dot {
        let rank = module.tensor_type(module.op(op).operands[0])?.rank() as i64;
        return Some(DotDims {
            lhs_contracting: vec![rank - 1],
            rhs_contracting: vec![0],
            ..DotDims::default()
        });
    }
    match module.attr(op, "dot_dimension_numbers")? {
        Attr::DotDims(dims) => Some(dims.clone()),
        _ => None,
    }
}

/// The dimensions of a product by what they are.
struct Axes {
    batch: Vec<OuterLoop>,
    rows: Vec<OuterLoop>,
    columns: Vec<OuterLoop>,
    summed: Vec<OuterLoop>,
}

impl Axes {
    fn of(lhs: &View, rhs: &View, dims: &DotDims, result: &[u64]) -> Option<Self> {
        let index = |list: &[i64]| list.iter().map(|d| usize::try_from(*d).ok()).collect::<Option<Vec<_>>>();
        let (lhs_batch, rhs_batch) = (index(&dims.lhs_batching)?, index(&dims.rhs_batching)?);
        let (lhs_summed, rhs_summed) = (index(&dims.lhs_contracting)?, index(&dims.rhs_contracting)?);
        let mut out = row_major(result).into_iter();
        let both = |a: &[usize], b: &[usize]| -> Option<Vec<OuterLoop>> {
            let pair = |(a, b): (&usize, &usize)| {
                let (lhs, rhs) = (lhs.dims.get(*a)?, rhs.dims.get(*b)?);
                Some(OuterLoop { size: lhs.0, lhs: lhs.1, rhs: rhs.1, out: 0 })
            };
            a.iter().zip(b).map(pair).collect()
        };
        let mut batch = both(&lhs_batch, &rhs_batch)?;
        for axis in &mut batch {
            axis.out = out.next()?.1;
        }
        let summed = both(&lhs_summed, &rhs_summed)?;
        let mut rows = Vec::new();
        for (at, &(size, stride)) in lhs.dims.iter().enumerate() {
            if !lhs_batch.contains(&at) && !lhs_summed.contains(&at) {
                rows.push(OuterLoop { size, lhs: stride, rhs: 0, out: out.next()?.1 });
            }
        }
        let mut columns = Vec::new();
        for (at, &(size, stride)) in rhs.dims.iter().enumerate() {
            if !rhs_batch.contains(&at) && !rhs_summed.contains(&at) {
                columns.push(OuterLoop { size, lhs: 0, rhs: stride, out: out.next()?.1 });
            }
        }
        Some(Self { batch, rows, columns, summed })
    }
}
