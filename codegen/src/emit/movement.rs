//! Operations whose elements are elements of an operand, found by index arithmetic.

use super::attrs::{int, ints};
use super::cone::Cone;
use super::element::Elem;
use super::integer::Width;
use super::{Emitted, NoPath, Ssa, Ty, scalar};
use crate::index::{Affine, strides};
use ckpt_ir::{Attr, ElementType, GatherDims, OpId, OpKind, ValueId};

/// Whether [`Cone::movement`] emits a kind.
pub(super) fn moves(kind: OpKind) -> bool {
    use OpKind as K;
    matches!(
        kind,
        K::BroadcastInDim
            | K::Reshape
            | K::Transpose
            | K::Slice
            | K::Reverse
            | K::Concatenate
            | K::Pad
            | K::DynamicSlice
            | K::DynamicUpdateSlice
            | K::Gather
    )
}

impl Cone<'_> {
    /// An element of an operation of this file; none if elements are missing.
    pub(super) fn movement(&mut self, op: OpId, index: &[Affine]) -> Emitted<Option<Elem>> {
        let module = self.module;
        let data = module.op(op);
        let form = NoPath::Form(data.kind);
        let operand = *data.operands.first().ok_or(form)?;
        let shape = self.shape(operand)?;
        let list = |name| ints(module, op, name).ok_or(form);
        let dims = |values: Vec<i64>, rank: usize| {
            let inside = |dim: i64| usize::try_from(dim).ok().filter(|dim| *dim < rank);
            values.into_iter().map(inside).collect::<Option<Vec<_>>>().ok_or(form)
        };
        let at = match data.kind {
            OpKind::BroadcastInDim => {
                let targets = dims(list("broadcast_dimensions")?, index.len())?;
                let pick = |(target, size): (&usize, &i64)| {
                    if *size == 1 { Affine::default() } else { index[*target].clone() }
                };
                targets.iter().zip(&shape).map(pick).collect()
            }
            OpKind::Reshape => {
                let flat = Affine::flatten(index, &strides(&self.shape(data.results[0])?));
                self.indices.unflatten(&flat, &shape)
            }
            OpKind::Transpose => {
                let permutation = dims(list("permutation")?, shape.len())?;
                let mut at = vec![Affine::default(); shape.len()];
                for (position, dim) in permutation.into_iter().enumerate() {
                    at[dim] = index.get(position).cloned().ok_or(form)?;
                }
                at
            }
            OpKind::Slice => {
                let (starts, steps) = (list("start_indices")?, list("strides")?);
                let bounds = starts.iter().zip(&steps);
                index.iter().zip(bounds).map(|(i, (start, step))| i.times(*step).offset(*start)).collect()
            }
            OpKind::Reverse => {
                let reversed = dims(list("dimensions")?, shape.len())?;
                let mut at = index.to_vec();
                for dim in reversed {
                    at[dim] = index[dim].times(-1).offset(shape[dim] - 1);
                }
                at
            }
            OpKind::Concatenate => return self.concatenate(op, index),
            OpKind::Pad => return self.pad(op, index),
            OpKind::DynamicSlice => {
                let sizes = self.shape(data.results[0])?;
                let Some(starts) = self.starts(&data.operands[1..], &shape, &sizes)? else {
                    return Ok(None);
                };
                index.iter().zip(&starts).map(|(i, start)| i.plus(1, start)).collect()
            }
            OpKind::DynamicUpdateSlice => return self.dynamic_update_slice(op, index),
            _ => return self.gather(op, index),
        };
        Ok(self.want(operand, at))
    }

    /// Where a slice starts, moved so that it lies inside; none if elements are missing.
    fn starts(&mut self, starts: &[ValueId], shape: &[i64], sizes: &[i64]) -> Emitted<Option<Vec<Affine>>> {
        if starts.len() != shape.len() || sizes.len() != shape.len() {
            return Err(NoPath::Form(OpKind::DynamicSlice));
        }
        let mut clamped = Vec::new();
        for ((&start, size), window) in starts.iter().zip(shape).zip(sizes) {
            let Some(value) = self.want(start, Vec::new()) else { continue };
            let element = self.element_type(start)?;
            clamped.push(self.clamped_index(element, value.re, size - window));
        }
        Ok((clamped.len() == starts.len()).then_some(clamped))
    }

    /// An integer as an index in `0..=last`, clamped.
    pub(super) fn clamped_index(&mut self, element: ElementType, value: Ssa, last: i64) -> Affine {
        if last == 0 {
            return Affine::default();
        }
        let signed = Width::of(element).is_some_and(|width| width.signed);
        let wide = self.body.cast(if signed { "arith.extsi" } else { "arith.extui" }, value, Ty::I64);
        let high = self.body.int(Ty::I64, last);
        let inside = if signed {
            let zero = self.body.int(Ty::I64, 0);
            let raised = self.body.binary("arith.maxsi", wide, zero);
            self.body.binary("arith.minsi", raised, high)
        } else {
            self.body.binary("arith.minui", wide, high)
        };
        self.variable(inside, (0, last))
    }

    /// An index clamped to `0..=last`, and whether it was inside; none for
    /// "always inside".
    pub(super) fn clamp_index(&mut self, index: &Affine, last: i64) -> (Affine, Option<Ssa>) {
        let (low, high) = self.indices.range(index);
        if low >= 0 && high <= last {
            return (index.clone(), None);
        }
        self.edges.push((index.clone(), last));
        let value = self.position(index);
        let (zero, end) = (self.body.int(Ty::I64, 0), self.body.int(Ty::I64, last));
        // As an unsigned number, a negative index is beyond the end.
        let inside = self.body.cmpi("ule", value, end);
        let raised = if low < 0 { self.body.binary("arith.maxsi", value, zero) } else { value };
        let clamped = if high > last { self.body.binary("arith.minsi", raised, end) } else { raised };
        (self.variable(clamped, (0, last)), Some(inside))
    }

    fn concatenate(&mut self, op: OpId, index: &[Affine]) -> Emitted<Option<Elem>> {
        let form = NoPath::Form(OpKind::Concatenate);
        let dimension = int(self.module, op, "dimension").and_then(|dim| usize::try_from(dim).ok());
        let dimension = dimension.filter(|dim| *dim < index.len()).ok_or(form)?;
        let (low, high) = self.indices.range(&index[dimension]);
        let mut parts = Vec::new();
        let mut from = 0;
        for &operand in &self.module.op(op).operands {
            let size = *self.shape(operand)?.get(dimension).ok_or(form)?;
            if low < from + size && high >= from && size > 0 {
                let mut at = index.to_vec();
                at[dimension] = self.clamp_index(&index[dimension].offset(-from), size - 1).0;
                parts.push((from + size, self.want(operand, at)));
            }
            from += size;
        }
        let Some(parts) = parts.into_iter().map(|(end, e)| Some((end, e?))).collect::<Option<Vec<_>>>()
        else {
            return Ok(None);
        };
        let mut parts = parts.into_iter().rev();
        let (_, mut result) = parts.next().ok_or(form)?;
        let at = self.position(&index[dimension]);
        for (end, part) in parts {
            let end = self.body.int(Ty::I64, end);
            let before = self.body.cmpi("slt", at, end);
            result = scalar::select(&mut self.body, before, part, result);
        }
        Ok(Some(result))
    }

    fn pad(&mut self, op: OpId, index: &[Affine]) -> Emitted<Option<Elem>> {
        let form = NoPath::Form(OpKind::Pad);
        let (operand, value) = (self.module.op(op).operands[0], self.module.op(op).operands[1]);
        let shape = self.shape(operand)?;
        let list = |name| ints(self.module, op, name).filter(|list| list.len() == shape.len()).ok_or(form);
        let (low, interior) = (list("edge_padding_low")?, list("interior_padding")?);
        let mut inside = None;
        let mut at = Vec::new();
        for dim in 0..shape.len() {
            let (clamped, hit) = self.spread_index(
                &index[dim].plus(-1, &Affine::constant(low[dim])),
                interior[dim].saturating_add(1),
                shape[dim],
            );
            inside = self.both(inside, hit);
            at.push(clamped);
        }
        let (element, padding) = (self.want(operand, at), self.want(value, Vec::new()));
        let (Some(element), Some(padding)) = (element, padding) else { return Ok(None) };
        Ok(Some(match inside {
            Some(inside) => scalar::select(&mut self.body, inside, element, padding),
            None => element,
        }))
    }

    /// Which element of a dimension of `size` stands at `index` once the
    /// elements are `step` apart, and whether one does; none for "always".
    pub(super) fn spread_index(&mut self, index: &Affine, step: i64, size: i64) -> (Affine, Option<Ssa>) {
        if step == 1 {
            return self.clamp_index(index, size - 1);
        }
        let quotient = self.indices.div(index, step);
        let rest = index.plus(-step, &quotient);
        let (clamped, inside) = self.clamp_index(&quotient, size - 1);
        if self.indices.range(&rest) == (0, 0) {
            return (clamped, inside);
        }
        let rest = self.position(&rest);
        let zero = self.body.int(Ty::I64, 0);
        let exact = self.body.cmpi("eq", rest, zero);
        (clamped, self.both(inside, Some(exact)))
    }

    /// The conjunction of conditions that may be absent.
    pub(super) fn both(&mut self, a: Option<Ssa>, b: Option<Ssa>) -> Option<Ssa> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.body.binary("arith.andi", a, b)),
            (a, b) => a.or(b),
        }
    }

    fn dynamic_update_slice(&mut self, op: OpId, index: &[Affine]) -> Emitted<Option<Elem>> {
        let module = self.module;
        let operands = &module.op(op).operands;
        let (operand, update) = (operands[0], operands[1]);
        let (shape, sizes) = (self.shape(operand)?, self.shape(update)?);
        let Some(starts) = self.starts(&operands[2..], &shape, &sizes)? else { return Ok(None) };
        let mut inside = None;
        let mut at = Vec::new();
        for dim in 0..shape.len() {
            let (clamped, hit) = self.clamp_index(&index[dim].plus(-1, &starts[dim]), sizes[dim] - 1);
            inside = self.both(inside, hit);
            at.push(clamped);
        }
        let (new, old) = (self.want(update, at), self.want(operand, index.to_vec()));
        let (Some(new), Some(old)) = (new, old) else { return Ok(None) };
        Ok(Some(match inside {
            Some(inside) => scalar::select(&mut self.body, inside, new, old),
            None => new,
        }))
    }

    fn gather(&mut self, op: OpId, index: &[Affine]) -> Emitted<Option<Elem>> {
        let module = self.module;
        let form = NoPath::Form(OpKind::Gather);
        let (operand, start) = (module.op(op).operands[0], module.op(op).operands[1]);
        let Some(Attr::GatherDims(dims)) = module.attr(op, "dimension_numbers") else { return Err(form) };
        let sizes = ints(module, op, "slice_sizes").ok_or(form)?;
        let shape = self.shape(operand)?;
        let is = |list: &[i64], dim: usize| list.contains(&(dim as i64));
        let batch: Vec<Affine> = (0..index.len())
            .filter(|dim| !is(&dims.offset_dims, *dim))
            .map(|dim| index[dim].clone())
            .collect();
        let mut at = vec![Affine::default(); shape.len()];
        let mut missing = false;
        for (position, &dim) in dims.start_index_map.iter().enumerate() {
            let dim = usize::try_from(dim).ok().filter(|dim| *dim < shape.len()).ok_or(form)?;
            let Some(value) = self.want(start, start_index(dims, &batch, position, self.shape(start)?.len()))
            else {
                missing = true;
                continue;
            };
            let element = self.element_type(start)?;
            at[dim] = self.clamped_index(element, value.re, shape[dim] - sizes[dim]);
        }
        if missing {
            return Ok(None);
        }
        for (&dim, &start_dim) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
            // Batch dimensions of the indices, without the index vector.
            let skip = i64::from(start_dim > dims.index_vector_dim);
            let from = usize::try_from(start_dim - skip).map_err(|_| form)?;
            at[usize::try_from(dim).map_err(|_| form)?] = batch.get(from).cloned().ok_or(form)?;
        }
        let kept = (0..shape.len())
            .filter(|dim| !is(&dims.collapsed_slice_dims, *dim) && !is(&dims.operand_batching_dims, *dim));
        for (dim, &offset_dim) in kept.zip(&dims.offset_dims) {
            let offset = index.get(usize::try_from(offset_dim).map_err(|_| form)?).ok_or(form)?;
            at[dim] = at[dim].plus(1, offset);
        }
        Ok(self.want(operand, at))
    }
}

/// Where in the start indices component `position` of a batch position stands.
fn start_index(dims: &GatherDims, batch: &[Affine], position: usize, rank: usize) -> Vec<Affine> {
    let mut at = batch.to_vec();
    let vector = dims.index_vector_dim as usize;
    if vector < rank && vector <= at.len() {
        at.insert(vector, Affine::constant(position as i64));
    }
    at
}
