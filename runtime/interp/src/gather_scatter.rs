//! `gather` and `scatter`: data-dependent indexing and update.

use crate::error::{Outcome, invalid};
use crate::lanes::Body;
use crate::machine::{Machine, Values};
use crate::scalar::{self, Visitor};
use crate::shape::{Shape, advance, checked_count, count, offset_of, strides};
use crate::site::{Site, size};
use crate::tensor::{Storage, Tensor, Value};
use ckpt_ir::Attr;
use smallvec::SmallVec;

/// Which dimension of the index tensor is what.
struct Starts<'a> {
    indices: &'a Tensor,
    index_vector_dim: i64,
    /// Which dimension each component of an index vector addresses.
    map: &'a [i64],
    /// Dimensions of the addressed tensor that run along with those of the indices.
    batching: &'a [i64],
    indices_batching: &'a [i64],
}

impl Starts<'_> {
    /// The sizes of the index tensor without the index vectors.
    fn batch_shape(&self) -> Shape {
        let vector = self.index_vector_dim;
        let sizes = self.indices.shape.iter().enumerate();
        sizes.filter(|(dim, _)| *dim as i64 != vector).map(|(_, size)| *size).collect()
    }

    /// Start indices into a tensor of `rank` dimensions, `rank` numbers for each
    /// index of the batch shape.
    fn read(&self, rank: usize) -> Outcome<Vec<i64>> {
        let numbers = self.indices.to_i64s()?;
        let from = strides(&self.indices.shape);
        let vector = usize::try_from(self.index_vector_dim).unwrap_or(usize::MAX);
        let components = self.indices.shape.get(vector).copied().unwrap_or(1);
        let in_rank = |dims: &[i64]| dims.iter().all(|dim| (*dim as usize) < rank && *dim >= 0);
        let batching_ok =
            self.indices_batching.iter().all(|d| (*d as usize) < from.len() && *d as usize != vector);
        if components != self.map.len() || !in_rank(self.map) || !in_rank(self.batching) || !batching_ok {
            return invalid("the index vectors do not fit the dimension numbers");
        }
        let dims: Shape = (0..from.len()).filter(|dim| *dim != vector).collect();
        let shape = self.batch_shape();
        let mut starts = Vec::with_capacity(count(&shape) * rank);
        let mut index: Shape = SmallVec::from_elem(0, shape.len());
        if shape.contains(&0) {
            return Ok(starts);
        }
        loop {
            let base: usize = index.iter().zip(&dims).map(|(i, dim)| i * from[*dim]).sum();
            let row = starts.len();
            starts.resize(row + rank, 0);
            for (component, &dim) in self.map.iter().enumerate() {
                let step = from.get(vector).map_or(0, |stride| component * stride);
                starts[row + dim as usize] = numbers[base + step];
            }
            for (&dim, &along) in self.batching.iter().zip(self.indices_batching) {
                let position = dims.iter().position(|dim| *dim as i64 == along).unwrap_or(0);
                starts[row + dim as usize] = index[position] as i64;
            }
            if !advance(&mut index, &shape) {
                return Ok(starts);
            }
        }
    }
}

/// For each dimension of the result (or update): how far a step goes in the
/// batch of start indices, and how far in the window.
struct Windows {
    batch_strides: Shape,
    /// The addressed dimension that a window dimension runs along.
    window_dims: SmallVec<[Option<usize>; 6]>,
}

impl Windows {
    fn of(rank: usize, window: &[i64], batch: &[usize], addressed: &[usize]) -> Outcome<Self> {
        let mut windows = Self {
            batch_strides: SmallVec::from_elem(0, rank),
            window_dims: SmallVec::from_elem(None, rank),
        };
        if window.len() != addressed.len() || rank != window.len() + batch.len() {
            return invalid("the dimension numbers do not fit the ranks");
        }
        let batch_strides = strides(batch);
        let (mut next_batch, mut next_window) = (0, 0);
        for dim in 0..rank {
            if window.contains(&(dim as i64)) {
                windows.window_dims[dim] = Some(addressed[next_window]);
                next_window += 1;
            } else if next_batch < batch.len() {
                windows.batch_strides[dim] = batch_strides[next_batch];
                next_batch += 1;
            } else {
                return invalid("the dimension numbers name a dimension twice");
            }
        }
        Ok(windows)
    }
}

/// The dimensions of `0..rank` that are in neither list.
fn others(rank: usize, a: &[i64], b: &[i64]) -> Vec<usize> {
    (0..rank).filter(|dim| !a.contains(&(*dim as i64)) && !b.contains(&(*dim as i64))).collect()
}

/// Evaluates `gather` with the given slice sizes.
pub(crate) fn gather(site: Site<'_>, operand: &Tensor, indices: &Tensor, sizes: &[i64]) -> Outcome<Tensor> {
    let Some(Attr::GatherDims(dims)) = site.attr("dimension_numbers") else {
        return invalid("gather needs dimension numbers");
    };
    let rank = operand.shape.len();
    let sizes = sizes.iter().map(|s| size(*s)).collect::<Outcome<Shape>>()?;
    if sizes.len() != rank || sizes.iter().zip(&operand.shape).any(|(size, shape)| size > shape) {
        return invalid("slice_sizes do not fit the operand");
    }
    let starts = Starts {
        indices,
        index_vector_dim: dims.index_vector_dim,
        map: &dims.start_index_map,
        batching: &dims.operand_batching_dims,
        indices_batching: &dims.start_indices_batching_dims,
    };
    let batch = starts.batch_shape();
    let mut starts = starts.read(rank)?;
    for row in starts.chunks_exact_mut(rank.max(1)) {
        for (dim, start) in row.iter_mut().enumerate() {
            *start = (*start).clamp(0, (operand.shape[dim] - sizes[dim]) as i64);
        }
    }
    let addressed = others(rank, &dims.collapsed_slice_dims, &dims.operand_batching_dims);
    if (0..rank).any(|dim| sizes[dim] == 0 && !addressed.contains(&dim)) {
        return invalid("a slice of no elements along a collapsed dimension has no element to take");
    }
    let result_rank = batch.len() + dims.offset_dims.len();
    let windows = Windows::of(result_rank, &dims.offset_dims, &batch, &addressed)?;
    let mut next = batch.iter();
    let shape: Shape = (0..result_rank)
        .map(|dim| match windows.window_dims[dim] {
            Some(along) => sizes[along],
            None => next.next().copied().unwrap_or(0),
        })
        .collect();
    checked_count(&shape)?;
    Ok(gather_rows(operand, &starts, &windows, shape))
}

/// Reads each element of the result.
fn gather_rows(operand: &Tensor, starts: &[i64], windows: &Windows, shape: Shape) -> Tensor {
    let from = strides(&operand.shape);
    let rank = from.len();
    let base_of = |row: &[i64]| row.iter().zip(&from).map(|(start, stride)| *start as usize * stride).sum();
    let bases: Vec<usize> = match rank {
        0 => vec![0; count(&shape).max(1)],
        _ => starts.chunks_exact(rank).map(base_of).collect(),
    };
    let window_strides: Shape =
        windows.window_dims.iter().map(|dim| dim.map_or(0, |dim| from[dim])).collect();
    let mut positions = Vec::with_capacity(count(&shape));
    let mut index: Shape = SmallVec::from_elem(0, shape.len());
    if !shape.contains(&0) {
        loop {
            let base = bases[offset_of(&index, &windows.batch_strides)];
            positions.push(base + offset_of(&index, &window_strides));
            if !advance(&mut index, &shape) {
                break;
            }
        }
    }
    operand.pick(shape, &positions)
}

/// Evaluates `scatter`. Updates outside the operand are left out; the others
/// happen in row-major order of the updates.
pub(crate) fn scatter(machine: &mut Machine<'_>, site: Site<'_>, operands: &[Value]) -> Outcome<Values> {
    let Some(Attr::ScatterDims(dims)) = site.attr("scatter_dimension_numbers") else {
        return invalid("scatter needs dimension numbers");
    };
    let tensors = operands.iter().map(|v| v.tensor().cloned()).collect::<Outcome<Vec<_>>>()?;
    if tensors.len() < 3 || tensors.len() % 2 == 0 {
        return invalid("scatter needs one update for each input");
    }
    let (inputs, rest) = tensors.split_at(tensors.len() / 2);
    let (indices, updates) = (&rest[0], &rest[1..]);
    let rank = inputs[0].shape.len();
    let starts = Starts {
        indices,
        index_vector_dim: dims.index_vector_dim,
        map: &dims.scatter_dims_to_operand_dims,
        batching: &dims.input_batching_dims,
        indices_batching: &dims.scatter_indices_batching_dims,
    };
    let batch = starts.batch_shape();
    let starts = starts.read(rank)?;
    let addressed = others(rank, &dims.inserted_window_dims, &dims.input_batching_dims);
    let update_shape = &updates[0].shape;
    let windows = Windows::of(update_shape.len(), &dims.update_window_dims, &batch, &addressed)?;
    let scattered = update_shape.iter().enumerate().filter(|(dim, _)| windows.window_dims[*dim].is_none());
    let same = |tensors: &[Tensor]| tensors.iter().all(|tensor| tensor.shape == tensors[0].shape);
    if !scattered.map(|(_, size)| size).eq(&batch) || !same(inputs) || !same(updates) {
        return invalid("the shapes of inputs, indices and updates do not fit");
    }
    let targets = targets(&inputs[0].shape, update_shape, &starts, &windows);
    let body = Body::of(site.module, site.block(0)?)?;
    let results = update_at(machine, &body, inputs.to_vec(), updates, &targets)?;
    Ok(results.into_iter().map(Value::from).collect())
}

/// Where each element of the update goes; none for those outside.
fn targets(shape: &[usize], update_shape: &[usize], starts: &[i64], windows: &Windows) -> Vec<Option<usize>> {
    let to = strides(shape);
    let rank = shape.len();
    let mut targets = Vec::with_capacity(count(update_shape));
    if update_shape.contains(&0) {
        return targets;
    }
    let mut index: Shape = SmallVec::from_elem(0, update_shape.len());
    let mut full: SmallVec<[i64; 6]> = SmallVec::new();
    loop {
        let row = offset_of(&index, &windows.batch_strides) * rank;
        full.clear();
        full.extend_from_slice(&starts[row..row + rank]);
        for (dim, along) in windows.window_dims.iter().enumerate() {
            if let Some(along) = along {
                full[*along] = full[*along].saturating_add(index[dim] as i64);
            }
        }
        let inside = full.iter().zip(shape).all(|(i, size)| *i >= 0 && *i < *size as i64);
        let offset = || full.iter().zip(&to).map(|(i, stride)| *i as usize * stride).sum();
        targets.push(inside.then(offset));
        if !advance(&mut index, update_shape) {
            return targets;
        }
    }
}

/// Updates elements in order: `result[target] = body(result[target], update)`.
pub(crate) fn update_at(
    machine: &mut Machine<'_>,
    body: &Body,
    mut results: Vec<Tensor>,
    updates: &[Tensor],
    targets: &[Option<usize>],
) -> Outcome<Vec<Tensor>> {
    if let ([_], [update]) = (&results[..], updates) {
        let element = update.element;
        match body {
            Body::Binary(kind) if element == results[0].element => {
                let fold = FoldAt { result: &mut results[0], update, targets };
                if let Some(outcome) = scalar::dispatch(*kind, element, fold) {
                    return outcome.map(|()| results);
                }
            }
            Body::Second => {
                for (at, target) in targets.iter().enumerate() {
                    if let Some(target) = target {
                        results[0].set(*target, &update.at(at));
                    }
                }
                return Ok(results);
            }
            _ => {}
        }
    }
    for (at, target) in targets.iter().enumerate() {
        let Some(target) = *target else { continue };
        let mut arguments: Vec<Tensor> = results.iter().map(|result| result.at(target)).collect();
        arguments.extend(updates.iter().map(|update| update.at(at)));
        let arguments: Vec<Tensor> = arguments.into_iter().map(|a| a.reshaped(&[1][..])).collect();
        let updated = body.run(machine, &arguments)?;
        if updated.len() != results.len() {
            return invalid("the body of a scatter returns another number of values");
        }
        for (result, value) in results.iter_mut().zip(&updated) {
            result.set(target, value);
        }
    }
    Ok(results)
}

struct FoldAt<'a> {
    result: &'a mut Tensor,
    update: &'a Tensor,
    targets: &'a [Option<usize>],
}

impl Visitor for FoldAt<'_> {
    type Output = Outcome<()>;

    fn visit<S: Storage>(self, f: impl Fn(S, S) -> S + Copy) -> Outcome<()> {
        let updates = self.update.elements::<S>()?;
        let Some(results) = S::peek_mut(&mut self.result.data) else {
            return invalid("the update has another element type than the input");
        };
        for (target, update) in self.targets.iter().zip(updates) {
            if let Some(target) = *target {
                results[target] = f(results[target], *update);
            }
        }
        Ok(())
    }
}

/// Evaluates `torch_index_select`: takes slices of a dimension by index, the
/// first `batch_dims` dimensions running along with those of the indices.
pub(crate) fn torch_index_select(site: Site<'_>, operand: &Tensor, index: &Tensor) -> Outcome<Tensor> {
    let (dim, batch) = (site.size("dim")?, site.size("batch_dims")?);
    let (rank, index_rank) = (operand.shape.len(), index.shape.len());
    if dim >= rank || batch > dim || batch > index_rank {
        return invalid("torch_index_select names no dimension");
    }
    let numbers = index.to_i64s()?;
    let shape: Shape =
        [&operand.shape[..dim], &index.shape[batch..], &operand.shape[dim + 1..]].concat().into();
    let (from, along) = (strides(&operand.shape), strides(&index.shape));
    let mut positions = Vec::with_capacity(count(&shape));
    let mut at: Shape = SmallVec::from_elem(0, shape.len());
    let last = operand.shape[dim].saturating_sub(1) as i64;
    if !shape.contains(&0) {
        loop {
            let (before, rest) = at.split_at(dim);
            let (picked, after) = rest.split_at(index_rank - batch);
            let number = offset_of(&before[..batch], &along[..batch]) + offset_of(picked, &along[batch..]);
            let chosen = numbers[number].clamp(0, last) as usize;
            positions.push(
                offset_of(before, &from[..dim]) + chosen * from[dim] + offset_of(after, &from[dim + 1..]),
            );
            if !advance(&mut at, &shape) {
                break;
            }
        }
    }
    Ok(operand.pick(shape, &positions))
}
