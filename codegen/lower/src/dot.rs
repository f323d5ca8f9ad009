//! Matrix products of strided operands.

use crate::LowerError;
use crate::attributes::ints;
use crate::axes::{fast_element, merge, sums, take_largest};
use crate::blocks::Lowering;
use crate::view::{Dim, View, row_major};
use ckpt_ir::{Attr, DotDims, Module, OpId, OpKind, ValueId};
use ckpt_runtime::{BufferId, Element, MatMulStep, OuterLoop, StridedOperand};

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
        let transposes = self.transposes_of(*result);
        let out_dims = match &transposes {
            Some((permutation, _)) => transposed(&shape, permutation),
            None => row_major(&shape),
        };
        let Some(axes) = Axes::of(&lhs, &rhs, &dims, out_dims) else { return Ok(None) };
        let mut loops = merge(&axes.batch);
        let (mut rows, mut columns) = (merge(&axes.rows), merge(&axes.columns));
        let (m, n) = (take_largest(&mut rows), take_largest(&mut columns));
        loops.extend(rows.into_iter().chain(columns));
        let out = match transposes {
            Some((_, values)) => self.make_transposed(&values, op)?,
            None => self.values.make(*result, op)?,
        };
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

impl Lowering<'_> {
    /// The transposes of a product that is read by nothing else and always
    /// transposed in one way: it is then written transposed, and they cost nothing.
    fn transposes_of(&self, product: ValueId) -> Option<(Vec<usize>, Vec<ValueId>)> {
        let mut found: Option<(Vec<i64>, Vec<ValueId>)> = None;
        for user in self.uses.of(product) {
            if self.module.op(user.op).kind != OpKind::Transpose {
                return None;
            }
            let permutation = ints(self.module, user.op, "permutation")?;
            let value = *self.module.op(user.op).results.first()?;
            match &mut found {
                Some((first, values)) if *first == permutation => values.push(value),
                Some(_) => return None,
                None => found = Some((permutation, vec![value])),
            }
        }
        let (permutation, values) = found?;
        // A transpose that is a kernel of its own has a buffer of its own.
        if values.iter().any(|value| self.module.defining_op(*value).is_some_and(|op| self.runs.contains(op)))
        {
            return None;
        }
        let permutation = permutation.iter().map(|at| usize::try_from(*at).ok());
        Some((permutation.collect::<Option<_>>()?, values))
    }

    fn make_transposed(&mut self, values: &[ValueId], op: OpId) -> Result<BufferId, LowerError> {
        let Some((first, others)) = values.split_first() else {
            return Err(LowerError::Malformed { op, what: "a product has no reader" });
        };
        let buffer = self.values.make(*first, op)?;
        others.iter().for_each(|value| self.values.put(*value, buffer));
        Ok(buffer)
    }
}

/// How the dimensions of `shape` lie where their transpose lies row-major.
fn transposed(shape: &[u64], permutation: &[usize]) -> Vec<Dim> {
    let turned: Vec<u64> = permutation.iter().filter_map(|at| shape.get(*at)).copied().collect();
    let mut dims: Vec<Dim> = shape.iter().map(|size| (*size, 0)).collect();
    for (at, (_, stride)) in permutation.iter().zip(row_major(&turned)) {
        if let Some(dim) = dims.get_mut(*at) {
            dim.1 = stride;
        }
    }
    dims
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
    fn of(lhs: &View, rhs: &View, dims: &DotDims, result: Vec<Dim>) -> Option<Self> {
        let index = |list: &[i64]| list.iter().map(|d| usize::try_from(*d).ok()).collect::<Option<Vec<_>>>();
        let (lhs_batch, rhs_batch) = (index(&dims.lhs_batching)?, index(&dims.rhs_batching)?);
        let (lhs_summed, rhs_summed) = (index(&dims.lhs_contracting)?, index(&dims.rhs_contracting)?);
        let mut out = result.into_iter();
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
