//! Reductions: over dimensions, and over windows.
//!
//! The order in which elements are combined is a function of the operation and
//! its shapes alone, never of what is fused, how the range is split or how fast
//! the machine is:
//!
//! - The innermost dimension is kept (or the body is a window's): each result
//!   combines its elements one after the other, row-major. Columns are done in
//!   blocks that stay in the cache.
//! - The innermost dimension is reduced: elements of the trailing reduced
//!   dimensions go to [`lanes`] accumulators in turn, which are combined as a
//!   balanced tree, then with the initial value. Bodies of more than one
//!   operation have one lane.

use super::attrs::{ints, shape_of};
use super::combine::{Combiner, Lanes};
use super::cone::Cone;
use super::element::Elem;
use super::kernel::{Draft, Outputs};
use super::nest::Nest;
use super::{Emitted, NoPath, Ssa, Ty, scalar};
use crate::index::Affine;
use ckpt_ir::{Module, OpId, OpKind, ValueId};

/// Columns whose accumulators are held at once: 4 KiB of `f32`, a page of each row.
const BLOCK: i64 = 1024;

/// Window sizes, steps and paddings at most: their products with indices stay exact.
const MAX_STEP: i64 = 1 << 24;

/// Lanes by the length of the trailing reduced dimensions: enough to fill the
/// vector units, few enough that combining them does not matter.
fn lanes(length: i64) -> i64 {
    match length {
        ..32 => 1,
        32..128 => 8,
        _ => 32,
    }
}

/// A reduction.
pub(super) struct Fold {
    combiner: Combiner,
    inputs: Vec<ValueId>,
    inits: Vec<ValueId>,
    source: Source,
    /// Shape of the results.
    kept: Vec<i64>,
    /// Shape of what one result is reduced from.
    reduced: Vec<i64>,
    /// Product of the reduced dimensions that are innermost in the input; zero
    /// if the innermost dimension is kept.
    trailing: i64,
}

/// Where the elements of a result come from.
enum Source {
    /// Input dimensions: kept or reduced, and which of them.
    Dimensions(Vec<(bool, usize)>),
    /// Windows over each dimension.
    Windows(Vec<Window>),
}

/// How a window moves along a dimension of `size`.
struct Window {
    size: i64,
    stride: i64,
    dilation: i64,
    base_dilation: i64,
    low: i64,
}

impl Fold {
    /// The reduction that an operation is.
    ///
    /// # Errors
    /// Attributes that are missing or malformed.
    pub(super) fn of(module: &Module, op: OpId) -> Emitted<Self> {
        let data = module.op(op);
        let form = NoPath::Form(data.kind);
        let (inputs, inits) = data.operands.split_at(data.operands.len() / 2);
        let shape = shape_of(module, *inputs.first().ok_or(form)?).ok_or(NoPath::Shape)?;
        let kept = shape_of(module, data.results[0]).ok_or(NoPath::Shape)?;
        let (source, reduced, trailing) = match data.kind {
            OpKind::Reduce => dimensions(&shape, &ints(module, op, "dimensions").ok_or(form)?),
            _ => windows(module, op, &shape)?,
        };
        let combiner = Combiner::of(module, op, 0)?;
        let (inputs, inits) = (inputs.to_vec(), inits.to_vec());
        // Accumulators of another type than the inputs would be converted.
        let same = inputs.iter().zip(&combiner.elements);
        if !same.clone().all(|(input, element)| scalar::element_of(module, *input) == Some(*element)) {
            return Err(NoPath::Type(data.kind));
        }
        Ok(Self { combiner, inputs, inits, source, kept, reduced, trailing })
    }

    /// The nest to begin with.
    pub(super) fn nest(&self) -> Nest {
        Nest::flat(self.kept.iter().product())
    }

    /// Emits the kernel.
    ///
    /// # Errors
    /// What has no fast path.
    pub(super) fn emit(&self, cone: &mut Cone<'_>, outputs: &Outputs, nest: &Nest) -> Emitted<Draft> {
        if self.trailing == 0 { self.columns(cone, outputs, nest) } else { self.line(cone, outputs) }
    }

    fn initial(&self, cone: &mut Cone<'_>) -> Emitted<Vec<Elem>> {
        self.inits.iter().map(|init| cone.element(*init, &[])).collect()
    }

    /// Combines an accumulator with the elements at a kept and a reduced index.
    fn combine(
        &self,
        cone: &mut Cone<'_>,
        accumulators: &[Elem],
        kept: &[Affine],
        reduced: &[Affine],
    ) -> Emitted<Vec<Elem>> {
        let (index, inside) = self.source.index(cone, kept, reduced);
        let mut elements = Vec::with_capacity(self.inputs.len());
        for (input, init) in self.inputs.iter().zip(&self.inits) {
            let mut element = cone.element(*input, &index)?;
            if let Some(inside) = inside {
                // Windows are padded with the initial value.
                let padding = cone.element(*init, &[])?;
                element = scalar::select(&mut cone.body, inside, element, padding);
            }
            elements.push(element);
        }
        self.combiner.apply(cone, accumulators, &elements)
    }

    /// The innermost dimension is kept: columns side by side.
    fn columns(&self, cone: &mut Cone<'_>, outputs: &Outputs, nest: &Nest) -> Emitted<Draft> {
        let elements = &self.combiner.elements;
        let rows = nest.rows;
        let count: i64 = self.reduced.iter().product();
        let accumulators = Lanes::new(&mut cone.body, elements, BLOCK.min(rows.row))?;
        let initial = self.initial(cone)?;
        let part = rows.open(cone, outputs.range);
        let last = rows.row - 1;
        let block = cone.open_loop(part.columns.0, part.columns.1, BLOCK, (0, last));
        let from = cone.position(&block);
        let to = cone.position(&block.offset(BLOCK));
        let to = cone.body.binary("arith.minsi", to, part.columns.1);
        let column = cone.open_loop(from, to, 1, (0, last));
        let lane = cone.position(&column.plus(-1, &block));
        accumulators.store(&mut cone.body, lane, &initial);
        cone.close_loop();
        let (zero, end) = (cone.body.int(Ty::I64, 0), cone.body.int(Ty::I64, count));
        let step = cone.open_loop(zero, end, 1, (0, count - 1));
        let column = cone.open_loop(from, to, 1, (0, last));
        let kept = cone.indices.unflatten(&part.base.plus(1, &column), &self.kept);
        let reduced = cone.indices.unflatten(&step, &self.reduced);
        let lane = cone.position(&column.plus(-1, &block));
        let values = accumulators.load(&mut cone.body, elements, lane);
        let values = self.combine(cone, &values, &kept, &reduced)?;
        accumulators.store(&mut cone.body, lane, &values);
        let better = nest.refined(cone, &column);
        cone.close_loop();
        cone.close_loop();
        let column = cone.open_loop(from, to, 1, (0, last));
        let lane = cone.position(&column.plus(-1, &block));
        let values = accumulators.load(&mut cone.body, elements, lane);
        self.store(cone, outputs, &part.base.plus(1, &column), &values);
        for _ in 0..part.loops + 2 {
            cone.close_loop();
        }
        Ok(Draft { extent: rows.extent(), better })
    }

    /// The innermost dimension is reduced: one result after the other.
    fn line(&self, cone: &mut Cone<'_>, outputs: &Outputs) -> Emitted<Draft> {
        let elements = &self.combiner.elements;
        let identities = self.combiner.identities(&mut cone.body);
        let count = if identities.is_some() { lanes(self.trailing) } else { 1 };
        let accumulators = Lanes::new(&mut cone.body, elements, count)?;
        let initial = self.initial(cone)?;
        let start = identities.filter(|_| count > 1).unwrap_or_else(|| initial.clone());
        let total: i64 = self.kept.iter().product();
        let position = cone.open_loop(outputs.range.0, outputs.range.1, 1, (0, total - 1));
        let kept = cone.indices.unflatten(&position, &self.kept);
        let zero = cone.body.int(Ty::I64, 0);
        let width = cone.body.int(Ty::I64, count);
        let lane = cone.open_loop(zero, width, 1, (0, count - 1));
        let at = cone.position(&lane);
        accumulators.store(&mut cone.body, at, &start);
        cone.close_loop();
        let outer = self.reduced.iter().product::<i64>() / self.trailing;
        let outer_end = cone.body.int(Ty::I64, outer);
        let slice = cone.open_loop(zero, outer_end, 1, (0, outer - 1));
        let base = slice.times(self.trailing);
        let blocks = self.trailing / count;
        let blocks_end = cone.body.int(Ty::I64, blocks);
        let block = cone.open_loop(zero, blocks_end, 1, (0, blocks - 1));
        self.lane_loop(cone, &accumulators, &kept, &base.plus(count, &block), count)?;
        cone.close_loop();
        let rest = self.trailing % count;
        if rest > 0 {
            self.lane_loop(cone, &accumulators, &kept, &base.offset(blocks * count), rest)?;
        }
        cone.close_loop();
        let mut values = self.tree(cone, &accumulators, count)?;
        if count > 1 {
            values = self.combiner.apply(cone, &initial, &values)?;
        }
        self.store(cone, outputs, &position, &values);
        cone.close_loop();
        Ok(Draft { extent: total as u64, better: None })
    }

    /// Combines lane l with the element at `base + l`, for each of `count` lanes.
    fn lane_loop(
        &self,
        cone: &mut Cone<'_>,
        accumulators: &Lanes,
        kept: &[Affine],
        base: &Affine,
        count: i64,
    ) -> Emitted<()> {
        let (zero, end) = (cone.body.int(Ty::I64, 0), cone.body.int(Ty::I64, count));
        let lane = cone.open_loop(zero, end, 1, (0, count - 1));
        let reduced = cone.indices.unflatten(&base.plus(1, &lane), &self.reduced);
        let at = cone.position(&lane);
        let values = accumulators.load(&mut cone.body, &self.combiner.elements, at);
        let values = self.combine(cone, &values, kept, &reduced)?;
        accumulators.store(&mut cone.body, at, &values);
        cone.close_loop();
        Ok(())
    }

    /// Combines a power of two of lanes: the upper half into the lower one,
    /// until one is left.
    fn tree(&self, cone: &mut Cone<'_>, accumulators: &Lanes, count: i64) -> Emitted<Vec<Elem>> {
        let elements = &self.combiner.elements;
        let zero = cone.body.int(Ty::I64, 0);
        let mut half = count / 2;
        while half > 0 {
            let end = cone.body.int(Ty::I64, half);
            let lane = cone.open_loop(zero, end, 1, (0, half - 1));
            let (low, high) = (cone.position(&lane), cone.position(&lane.offset(half)));
            let a = accumulators.load(&mut cone.body, elements, low);
            let b = accumulators.load(&mut cone.body, elements, high);
            let sum = self.combiner.apply(cone, &a, &b)?;
            accumulators.store(&mut cone.body, low, &sum);
            cone.close_loop();
            half /= 2;
        }
        Ok(accumulators.load(&mut cone.body, elements, zero))
    }

    fn store(&self, cone: &mut Cone<'_>, outputs: &Outputs, position: &Affine, values: &[Elem]) {
        let results = outputs.values.iter().zip(&self.combiner.elements).zip(values);
        for (((_, pointer), element), value) in results {
            cone.store(*element, *pointer, position, *value);
        }
    }
}

impl Source {
    /// The index of an input's element, and whether there is one; none for "always".
    fn index(&self, cone: &mut Cone<'_>, kept: &[Affine], reduced: &[Affine]) -> (Vec<Affine>, Option<Ssa>) {
        match self {
            Self::Dimensions(dims) => {
                let pick = |(is_kept, at): &(bool, usize)| if *is_kept { &kept[*at] } else { &reduced[*at] };
                (dims.iter().map(|dim| pick(dim).clone()).collect(), None)
            }
            Self::Windows(windows) => {
                let mut inside = None;
                let mut index = Vec::new();
                for ((window, out), offset) in windows.iter().zip(kept).zip(reduced) {
                    let at = out.times(window.stride).plus(window.dilation, offset).offset(-window.low);
                    let (at, hit) = cone.spread_index(&at, window.base_dilation, window.size);
                    inside = cone.both(inside, hit);
                    index.push(at);
                }
                (index, inside)
            }
        }
    }
}

/// Which dimensions of an input are kept and reduced; see [`Fold`] for the rest.
fn dimensions(shape: &[i64], reduced: &[i64]) -> (Source, Vec<i64>, i64) {
    let is_reduced = |dim: usize| reduced.contains(&(dim as i64));
    let (mut kept_count, mut sizes) = (0, Vec::new());
    let mut dims = Vec::new();
    for (dim, &size) in shape.iter().enumerate() {
        if is_reduced(dim) {
            dims.push((false, sizes.len()));
            sizes.push(size);
        } else {
            dims.push((true, kept_count));
            kept_count += 1;
        }
    }
    // Dimensions of one element say nothing about the layout.
    let real = (0..shape.len()).rev().filter(|dim| shape[*dim] > 1);
    let run: Vec<i64> = real.take_while(|dim| is_reduced(*dim)).map(|dim| shape[dim]).collect();
    let any_kept = (0..shape.len()).any(|dim| shape[dim] > 1 && !is_reduced(dim));
    let trailing = if run.is_empty() && any_kept { 0 } else { run.iter().product() };
    (Source::Dimensions(dims), sizes, trailing)
}

fn windows(module: &Module, op: OpId, shape: &[i64]) -> Emitted<(Source, Vec<i64>, i64)> {
    let form = NoPath::Form(module.op(op).kind);
    let rank = shape.len();
    let list = |name| ints(module, op, name).unwrap_or_else(|| vec![1; rank]);
    let sizes = ints(module, op, "window_dimensions").ok_or(form)?;
    let (strides, dilations) = (list("window_strides"), list("window_dilations"));
    let bases = list("base_dilations");
    let padding = ints(module, op, "padding").unwrap_or_else(|| vec![0; 2 * rank]);
    let fits = |list: &[i64]| list.iter().all(|x| (1..=MAX_STEP).contains(x)) && list.len() == rank;
    if ![&sizes, &strides, &dilations, &bases].iter().all(|list| fits(list))
        || padding.iter().any(|x| x.abs() > MAX_STEP)
        || padding.len() != 2 * rank
    {
        return Err(form);
    }
    let window = |dim: usize| Window {
        size: shape[dim],
        stride: strides[dim],
        dilation: dilations[dim],
        base_dilation: bases[dim],
        low: padding[2 * dim],
    };
    Ok((Source::Windows((0..rank).map(window).collect()), sizes, 0))
}
