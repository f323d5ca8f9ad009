//! `scatter`: a copy of the operands, then the updates in row-major order.
//!
//! Updates may meet at an element, so that their order is kept. Where the
//! innermost dimension is one that windows cover whole, its columns are
//! independent: they are the parallel dimension and the inner loop. Otherwise,
//! if there are few updates, the outermost dimension is the parallel one, and
//! each call makes the updates that fall into its part.

use super::attrs::shape_of;
use super::combine::Combiner;
use super::cone::Cone;
use super::integer::Width;
use super::kernel::{Draft, Outputs};
use super::{Emitted, NoPath, Ssa, Ty, scalar};
use crate::index::{Affine, strides};
use ckpt_ir::{Attr, Module, OpId, OpKind, ScatterDims, ValueId};

/// Start indices are clamped to this, far outside every tensor, so that adding
/// to them cannot overflow.
const FAR: i64 = 1 << 40;

/// Elements per update from which on looking at every update in every part
/// costs less than copying in one part only.
const FEW_UPDATES: i64 = 8;

const FORM: NoPath = NoPath::Form(OpKind::Scatter);

/// A scatter.
pub(super) struct Scatter {
    combiner: Combiner,
    operands: Vec<ValueId>,
    indices: ValueId,
    updates: Vec<ValueId>,
    dims: ScatterDims,
    shape: Vec<i64>,
    update_shape: Vec<i64>,
    /// The updates' dimension along the operand's innermost one, if windows
    /// cover that whole.
    column: Option<usize>,
}

impl Scatter {
    /// The scatter that an operation is.
    ///
    /// # Errors
    /// Attributes that are missing or malformed.
    pub(super) fn of(module: &Module, op: OpId) -> Emitted<Self> {
        let data = module.op(op);
        let count = data.operands.len() / 2;
        let (operands, rest) = data.operands.split_at(count);
        let (indices, updates) = rest.split_first().ok_or(FORM)?;
        let Some(Attr::ScatterDims(dims)) = module.attr(op, "scatter_dimension_numbers") else {
            return Err(FORM);
        };
        let shape = shape_of(module, *operands.first().ok_or(FORM)?).ok_or(NoPath::Shape)?;
        let update_shape = shape_of(module, *updates.first().ok_or(FORM)?).ok_or(NoPath::Shape)?;
        let last = shape.len() as i64 - 1;
        let windowed =
            ![&dims.inserted_window_dims, &dims.input_batching_dims, &dims.scatter_dims_to_operand_dims]
                .iter()
                .any(|list| list.contains(&last));
        let column = dims
            .update_window_dims
            .last()
            .and_then(|dim| usize::try_from(*dim).ok())
            .filter(|dim| windowed && update_shape.get(*dim) == shape.last());
        Ok(Self {
            combiner: Combiner::of(module, op, 0)?,
            operands: operands.to_vec(),
            indices: *indices,
            updates: updates.to_vec(),
            dims: dims.clone(),
            shape,
            update_shape,
            column,
        })
    }

    /// Emits the kernel.
    ///
    /// # Errors
    /// What has no fast path.
    pub(super) fn emit(&self, cone: &mut Cone<'_>, outputs: &Outputs) -> Emitted<Draft> {
        if self.column.is_some() { self.by_columns(cone, outputs) } else { self.by_slices(cone, outputs) }
    }

    fn by_columns(&self, cone: &mut Cone<'_>, outputs: &Outputs) -> Emitted<Draft> {
        let (begin, end) = outputs.range;
        let columns = self.shape.last().copied().unwrap_or(1);
        let rows = self.shape.iter().product::<i64>() / columns;
        let (zero, rows_end) = (cone.body.int(Ty::I64, 0), cone.body.int(Ty::I64, rows));
        let row = cone.open_loop(zero, rows_end, 1, (0, rows - 1));
        let column = cone.open_loop(begin, end, 1, (0, columns - 1));
        self.copy(cone, outputs, &row.times(columns).plus(1, &column))?;
        cone.close_loop();
        cone.close_loop();
        let updates = self.update_shape.iter().product::<i64>() / columns;
        let updates_end = cone.body.int(Ty::I64, updates);
        let update = cone.open_loop(zero, updates_end, 1, (0, updates - 1));
        let column = cone.open_loop(begin, end, 1, (0, columns - 1));
        self.update(cone, outputs, &update, &column, None)?;
        cone.close_loop();
        cone.close_loop();
        Ok(Draft { extent: columns as u64, better: None })
    }

    fn by_slices(&self, cone: &mut Cone<'_>, outputs: &Outputs) -> Emitted<Draft> {
        let total: i64 = self.shape.iter().product();
        let updates: i64 = self.update_shape.iter().product();
        let few = updates.saturating_mul(FEW_UPDATES) <= total;
        let slices = self.shape.first().copied().filter(|_| few).unwrap_or(1);
        let (begin, end) = outputs.range;
        let size = cone.body.int(Ty::I64, total / slices);
        let (from, to) =
            (cone.body.binary("arith.muli", begin, size), cone.body.binary("arith.muli", end, size));
        let position = cone.open_loop(from, to, 1, (0, total - 1));
        self.copy(cone, outputs, &position)?;
        cone.close_loop();
        let zero = cone.body.int(Ty::I64, 0);
        let updates_end = cone.body.int(Ty::I64, updates);
        // A call for an empty part has no element of its own to fall back on.
        let some = cone.body.cmpi("ult", begin, end);
        let updates_end = cone.body.select(some, updates_end, zero);
        let update = cone.open_loop(zero, updates_end, 1, (0, updates - 1));
        let part = (slices > 1).then_some((begin, end));
        self.update(cone, outputs, &update, &Affine::default(), part)?;
        cone.close_loop();
        Ok(Draft { extent: slices as u64, better: None })
    }

    /// Copies an element of each operand.
    fn copy(&self, cone: &mut Cone<'_>, outputs: &Outputs, position: &Affine) -> Emitted<()> {
        let index = cone.indices.unflatten(position, &self.shape);
        for ((&operand, &(_, pointer)), element) in
            self.operands.iter().zip(&outputs.values).zip(&self.combiner.elements)
        {
            let value = cone.element(operand, &index)?;
            cone.store(*element, pointer, position, value);
        }
        Ok(())
    }

    /// Combines one element of the updates with what is there.
    fn update(
        &self,
        cone: &mut Cone<'_>,
        outputs: &Outputs,
        update: &Affine,
        column: &Affine,
        part: Option<(Ssa, Ssa)>,
    ) -> Emitted<()> {
        let mut outer = self.update_shape.clone();
        if let Some(dim) = self.column {
            outer[dim] = 1;
        }
        let mut at = cone.indices.unflatten(update, &outer);
        if let Some(dim) = self.column {
            at[dim] = column.clone();
        }
        let (mut target, mut inside) = self.target(cone, &at)?;
        if let (Some(part), Some(outermost)) = (part, target.first_mut()) {
            let (own, hit) = within(cone, outermost, part, self.shape[0]);
            *outermost = own;
            inside = cone.both(inside, Some(hit));
        }
        let position = Affine::flatten(&target, &strides(&self.shape));
        let mut held = Vec::new();
        let mut new = Vec::new();
        for ((&update, &(_, pointer)), element) in
            self.updates.iter().zip(&outputs.values).zip(&self.combiner.elements)
        {
            new.push(cone.element(update, &at)?);
            held.push(cone.read_back(*element, pointer, &position)?);
        }
        let results = self.combiner.apply(cone, &held, &new)?;
        let targets = outputs.values.iter().zip(&self.combiner.elements);
        for ((&(_, pointer), element), (new, old)) in targets.zip(results.iter().zip(&held)) {
            let chosen = match inside {
                Some(inside) => scalar::select(&mut cone.body, inside, *new, *old),
                None => *new,
            };
            cone.store(*element, pointer, &position, chosen);
        }
        Ok(())
    }

    /// Where an element of the updates goes, clamped, and whether that is inside.
    fn target(&self, cone: &mut Cone<'_>, at: &[Affine]) -> Emitted<(Vec<Affine>, Option<Ssa>)> {
        let is = |list: &[i64], dim: usize| list.contains(&(dim as i64));
        let dims = &self.dims;
        let batch: Vec<Affine> = (0..at.len())
            .filter(|dim| !is(&dims.update_window_dims, *dim))
            .map(|dim| at[dim].clone())
            .collect();
        let mut target = vec![Affine::default(); self.shape.len()];
        let rank = cone.shape(self.indices)?.len();
        let element = cone.element_type(self.indices)?;
        let signed = Width::of(element).is_some_and(|width| width.signed);
        for (position, &dim) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            let mut index = batch.clone();
            let vector = usize::try_from(dims.index_vector_dim).map_err(|_| FORM)?;
            if vector < rank && vector <= index.len() {
                index.insert(vector, Affine::constant(position as i64));
            }
            let start = cone.element(self.indices, &index)?.re;
            let wide = cone.body.cast(if signed { "arith.extsi" } else { "arith.extui" }, start, Ty::I64);
            let (low, high) = (cone.body.int(Ty::I64, -FAR), cone.body.int(Ty::I64, FAR));
            let near = cone.body.binary("arith.maxsi", wide, low);
            let near = cone.body.binary("arith.minsi", near, high);
            let slot = usize::try_from(dim).ok().and_then(|dim| target.get_mut(dim)).ok_or(FORM)?;
            *slot = cone.variable(near, (-FAR, FAR));
        }
        for (&dim, &from) in dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims) {
            let skip = i64::from(from > dims.index_vector_dim);
            let from = usize::try_from(from - skip).map_err(|_| FORM)?;
            let slot = usize::try_from(dim).ok().and_then(|dim| target.get_mut(dim)).ok_or(FORM)?;
            *slot = batch.get(from).cloned().ok_or(FORM)?;
        }
        let kept = (0..self.shape.len())
            .filter(|dim| !is(&dims.inserted_window_dims, *dim) && !is(&dims.input_batching_dims, *dim));
        for (dim, &window) in kept.zip(&dims.update_window_dims) {
            let offset = usize::try_from(window).ok().and_then(|dim| at.get(dim)).ok_or(FORM)?;
            target[dim] = target[dim].plus(1, offset);
        }
        let mut inside = None;
        for (slot, size) in target.iter_mut().zip(&self.shape) {
            let (clamped, hit) = cone.clamp_index(slot, size - 1);
            inside = cone.both(inside, hit);
            *slot = clamped;
        }
        Ok((target, inside))
    }
}

/// An index moved into a part of its dimension, and whether it was there.
fn within(cone: &mut Cone<'_>, index: &Affine, (begin, end): (Ssa, Ssa), size: i64) -> (Affine, Ssa) {
    let at = cone.position(index);
    let one = cone.body.int(Ty::I64, 1);
    let last = cone.body.binary("arith.subi", end, one);
    let after = cone.body.cmpi("uge", at, begin);
    let before = cone.body.cmpi("ule", at, last);
    let hit = cone.body.binary("arith.andi", after, before);
    let moved = cone.body.binary("arith.maxsi", at, begin);
    let moved = cone.body.binary("arith.minsi", moved, last);
    (cone.variable(moved, (0, size - 1)), hit)
}
