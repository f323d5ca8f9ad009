//! `select_and_scatter`: the gradient of pooling.
//!
//! The outermost dimension is the parallel one where windows do not move
//! along it, and so is the innermost for the loops over columns, in blocks
//! whose selections so far are held on the stack.

use super::attrs::{ints, shape_of};
use super::combine::{Combiner, Lanes};
use super::cone::Cone;
use super::element::Elem;
use super::kernel::{Draft, Outputs};
use super::{Emitted, NoPath, Ssa, Ty, scalar};
use crate::index::{Affine, strides};
use ckpt_ir::{ElementType, Module, OpId, OpKind, ValueId};

/// Columns that are selected for at once.
const BLOCK: i64 = 128;

/// Window sizes, steps and paddings at most: their products with indices stay exact.
const MAX_STEP: i64 = 1 << 24;

const FORM: NoPath = NoPath::Form(OpKind::SelectAndScatter);

/// A select and scatter.
pub(super) struct SelectScatter {
    select: Combiner,
    scatter: Combiner,
    operand: ValueId,
    source: ValueId,
    init: ValueId,
    shape: Vec<i64>,
    source_shape: Vec<i64>,
    window: Vec<i64>,
    steps: Vec<i64>,
    low: Vec<i64>,
}

impl SelectScatter {
    /// What an operation says.
    ///
    /// # Errors
    /// Attributes that are missing or malformed.
    pub(super) fn of(module: &Module, op: OpId) -> Emitted<Self> {
        let [operand, source, init] = module.op(op).operands[..] else { return Err(FORM) };
        let shape = shape_of(module, operand).ok_or(NoPath::Shape)?;
        let source_shape = shape_of(module, source).ok_or(NoPath::Shape)?;
        let rank = shape.len();
        let list = |name| ints(module, op, name).unwrap_or_else(|| vec![1; rank]);
        let padding = ints(module, op, "padding").unwrap_or_else(|| vec![0; 2 * rank]);
        let (window, steps) = (list("window_dimensions"), list("window_strides"));
        let small = [&window, &steps, &padding].iter().all(|list| list.iter().all(|x| x.abs() <= MAX_STEP));
        let fits =
            small && rank > 0 && [&window, &steps, &source_shape].iter().all(|list| list.len() == rank);
        if !fits || padding.len() != 2 * rank {
            return Err(FORM);
        }
        Ok(Self {
            select: Combiner::of(module, op, 0)?,
            scatter: Combiner::of(module, op, 1)?,
            operand,
            source,
            init,
            shape,
            source_shape,
            window,
            steps,
            low: padding.iter().step_by(2).copied().collect(),
        })
    }

    /// Whether windows leave a dimension alone.
    fn is_still(&self, dim: usize) -> bool {
        self.window[dim] == 1
            && self.steps[dim] == 1
            && self.low[dim] == 0
            && self.shape[dim] == self.source_shape[dim]
    }

    /// Emits the kernel.
    ///
    /// # Errors
    /// What has no fast path.
    pub(super) fn emit(&self, cone: &mut Cone<'_>, outputs: &Outputs) -> Emitted<Draft> {
        let last = self.shape.len() - 1;
        let extent = if self.is_still(0) && last > 0 { self.shape[0] } else { 1 };
        let columns = if self.is_still(last) { self.shape[last] } else { 1 };
        let element = cone.element_type(self.operand)?;
        let best = Lanes::new(&mut cone.body, &[element], BLOCK)?;
        let place = Lanes::new(&mut cone.body, &[ElementType::Int(64)], BLOCK)?;
        let init = cone.element(self.init, &[])?;
        let slice = cone.open_loop(outputs.range.0, outputs.range.1, 1, (0, extent - 1));
        let zero = cone.body.int(Ty::I64, 0);
        let size = self.shape.iter().product::<i64>() / extent;
        let size_end = cone.body.int(Ty::I64, size);
        let (_, pointer) = *outputs.values.first().ok_or(FORM)?;
        let at = cone.open_loop(zero, size_end, 1, (0, size - 1));
        cone.store(element, pointer, &slice.times(size).plus(1, &at), init);
        cone.close_loop();
        let sources = self.source_shape.iter().product::<i64>() / extent / columns;
        let sources_end = cone.body.int(Ty::I64, sources);
        let row = cone.open_loop(zero, sources_end, 1, (0, sources - 1));
        let columns_end = cone.body.int(Ty::I64, columns);
        let block = cone.open_loop(zero, columns_end, BLOCK, (0, columns - 1));
        let from = cone.position(&block);
        let to = cone.position(&block.offset(BLOCK));
        let to = cone.body.binary("arith.minsi", to, columns_end);
        let row = slice.times(sources).plus(1, &row);
        let held = Held { best, place, element, block, from, to, columns };
        self.choose(cone, &row, &held)?;
        self.spread(cone, &row, &held, pointer)?;
        for _ in 0..3 {
            cone.close_loop();
        }
        Ok(Draft { extent: extent as u64, better: None })
    }

    /// Selects an element of each column's window.
    fn choose(&self, cone: &mut Cone<'_>, row: &Affine, held: &Held) -> Emitted<()> {
        let zero = cone.body.int(Ty::I64, 0);
        let (_, lane) = held.open(cone);
        let none = cone.body.int(Ty::I64, -1);
        held.place.store(&mut cone.body, lane, &[Elem::real(none)]);
        cone.close_loop();
        let count: i64 = self.window.iter().product();
        let end = cone.body.int(Ty::I64, count);
        let step = cone.open_loop(zero, end, 1, (0, count - 1));
        let (column, lane) = held.open(cone);
        let out = self.source_index(cone, row, &column, held);
        let offset = cone.indices.unflatten(&step, &self.window);
        let mut index = Vec::new();
        let mut inside = None;
        for dim in 0..self.shape.len() {
            let at = out[dim].times(self.steps[dim]).plus(1, &offset[dim]).offset(-self.low[dim]);
            let (at, hit) = cone.clamp_index(&at, self.shape[dim] - 1);
            inside = cone.both(inside, hit);
            index.push(at);
        }
        let candidate = cone.element(self.operand, &index)?;
        let place = cone.position(&Affine::flatten(&index, &strides(&self.shape)));
        let mut take = inside.unwrap_or_else(|| cone.body.int(Ty::I1, 1));
        let old_place = held.place.load(&mut cone.body, &[ElementType::Int(64)], lane)[0];
        let old = held.best.load(&mut cone.body, &[held.element], lane)[0];
        let keep = self.select.apply(cone, &[old], &[candidate])?;
        let keep = keep.first().ok_or(FORM)?.re;
        let zero_place = cone.body.cmpi("slt", old_place.re, zero);
        let yes = cone.body.int(Ty::I1, 1);
        let better = cone.body.binary("arith.xori", keep, yes);
        let better = cone.body.binary("arith.ori", better, zero_place);
        take = cone.body.binary("arith.andi", take, better);
        let best = scalar::select(&mut cone.body, take, candidate, old);
        let chosen = cone.body.select(take, place, old_place.re);
        held.best.store(&mut cone.body, lane, &[best]);
        held.place.store(&mut cone.body, lane, &[Elem::real(chosen)]);
        cone.close_loop();
        cone.close_loop();
        Ok(())
    }

    /// Adds each column's source to what its window selected.
    fn spread(&self, cone: &mut Cone<'_>, row: &Affine, held: &Held, pointer: Ssa) -> Emitted<()> {
        let zero = cone.body.int(Ty::I64, 0);
        let (column, lane) = held.open(cone);
        let out = self.source_index(cone, row, &column, held);
        let source = cone.element(self.source, &out)?;
        let place = held.place.load(&mut cone.body, &[ElementType::Int(64)], lane)[0].re;
        let selected = cone.body.cmpi("sge", place, zero);
        let place = cone.body.binary("arith.maxsi", place, zero);
        let count: i64 = self.shape.iter().product();
        let position = cone.variable(place, (0, count - 1));
        let old = cone.read_back(held.element, pointer, &position)?;
        let new = self.scatter.apply(cone, &[old], &[source])?;
        let new = scalar::select(&mut cone.body, selected, *new.first().ok_or(FORM)?, old);
        cone.store(held.element, pointer, &position, new);
        cone.close_loop();
        Ok(())
    }

    fn source_index(&self, cone: &mut Cone<'_>, row: &Affine, column: &Affine, held: &Held) -> Vec<Affine> {
        cone.indices.unflatten(&row.times(held.columns).plus(1, column), &self.source_shape)
    }
}

/// What has been selected for a block of columns.
struct Held {
    best: Lanes,
    place: Lanes,
    element: ElementType,
    block: Affine,
    from: Ssa,
    to: Ssa,
    columns: i64,
}

impl Held {
    /// Opens a loop over the block: its column, and the lane that holds it.
    fn open(&self, cone: &mut Cone<'_>) -> (Affine, Ssa) {
        let column = cone.open_loop(self.from, self.to, 1, (0, self.columns - 1));
        let lane = cone.position(&column.plus(-1, &self.block));
        (column, lane)
    }
}
