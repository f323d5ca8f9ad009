//! Data-dependent indexing.

use super::attributes::AttrKind::{Bool, GatherDims, I64, I64Array, ScatterDims};
use super::attributes::{may, must};
use super::facts::class::{INDEX, ODD_INT, PRED};
use super::facts::{DYNAMIC, Shape, Tensor, dims_compatible};
use super::reduction::{Reducer, reducer};
use super::shape::distinct;
use super::signature::Regions::Exactly;
use super::signature::Relation::FirstElement;
use super::signature::{Row, Slot};
use super::slots::{I, INT, T, TS};
use super::view::{Check, Op, invalid, sizes};
use crate::{OpKind as K, ScatterDims as Dims};
use smallvec::SmallVec;

pub(super) const ROWS: &[Row] = &[
    Row::new(K::Gather, &[T, I], &[T])
        .relations(&[FirstElement])
        .attributes(&[
            must("dimension_numbers", GatherDims),
            must("slice_sizes", I64Array),
            may("indices_are_sorted", Bool),
        ])
        .check(gather),
    Row::new(K::DynamicGather, &[T, I, I.rank(1).fixed()], &[T])
        .attributes(&[must("dimension_numbers", GatherDims), may("indices_are_sorted", Bool)])
        .check(dynamic_gather),
    Row::new(K::Scatter, &[TS, Slot::of(INT | ODD_INT | INDEX | PRED), TS], &[TS])
        .regions(Exactly(1))
        .attributes(&[
            must("scatter_dimension_numbers", ScatterDims),
            may("indices_are_sorted", Bool),
            may("unique_indices", Bool),
        ])
        .check(scatter),
    Row::new(K::TorchIndexSelect, &[T, T], &[T]).attributes(&[must("dim", I64), must("batch_dims", I64)]),
];

/// Every dimension is below a bound.
fn in_range(name: &str, dims: &[i64], bound: i64, of: &str) -> Check {
    match dims.iter().find(|dim| !(0..bound).contains(*dim)) {
        Some(dim) => {
            invalid!("Expects each element of {name} to be in range [0, {of}) i.e. [0, {bound}). got: {dim}")
        }
        None => Ok(()),
    }
}

/// `index_vector_dim` is a dimension of the indices, or the one after the last.
fn index_vector(dim: i64, rank: i64, of: &str) -> Check {
    if !(0..=rank).contains(&dim) {
        invalid!("Expects index_vector_dim to be in range [0, rank-of('{of}')] i.e. [0, {rank}]. got: {dim}");
    }
    Ok(())
}

/// Two lists share no dimension and repeat none.
fn disjoint(a: (&str, &[i64]), b: (&str, &[i64])) -> Check {
    let all: Vec<i64> = a.1.iter().chain(b.1).copied().collect();
    match all.iter().enumerate().find(|(index, dim)| all[..*index].contains(dim)) {
        Some((_, dim)) => invalid!("has duplicated dimension from {} and {}: {dim}", a.0, b.0),
        None => Ok(()),
    }
}

fn sorted(name: &str, dims: &[i64]) -> Check {
    if !dims.is_sorted() {
        invalid!("expects {name} to be sorted, got: [{}]", sizes(dims));
    }
    Ok(())
}

fn unrepeated(name: &str, dims: &[i64]) -> Check {
    if !distinct(dims) {
        invalid!("expects {name} to not repeat, got: [{}]", sizes(dims));
    }
    Ok(())
}

/// Batching dimensions of the operand and of the indices pair up.
fn batching(
    operand: (&str, &[i64], &[i64]),
    indices: (&str, &[i64], &[i64]),
    index_vector_dim: i64,
    of: &str,
) -> Check {
    let ((name, dims, shape), (other, other_dims, other_shape)) = (operand, indices);
    unrepeated(other, other_dims)?;
    in_range(other, other_dims, other_shape.len() as i64, of)?;
    if other_dims.contains(&index_vector_dim) {
        invalid!("expects {other} not to include index_vector_dim {index_vector_dim}");
    }
    if dims.len() != other_dims.len() {
        let (a, b) = (dims.len(), other_dims.len());
        invalid!("{name} and {other} should have the same size, but got {a} and {b}");
    }
    for (index, (a, b)) in dims.iter().zip(other_dims).enumerate() {
        let (a, b) = (size(shape, *a), size(other_shape, *b));
        if !dims_compatible(a, b) {
            invalid!("{name}[{index}] and {other}[{index}] must have compatible sizes, but got {a} and {b}");
        }
    }
    Ok(())
}

/// A size by dimension; unknown outside the shape.
fn size(shape: &[i64], dim: i64) -> i64 {
    usize::try_from(dim).ok().and_then(|dim| shape.get(dim).copied()).unwrap_or(DYNAMIC)
}

/// What both forms of gather ask; `slices` is the number of slice sizes.
fn gather_dims(op: Op<'_>, slices: i64) -> Check {
    let (operand, indices) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let dims = op.gather_dims("dimension_numbers")?;
    let (rank, operand_name) = (operand.rank(), "rank-of('operand')");
    let (offsets, collapsed, batch) =
        (&dims.offset_dims, &dims.collapsed_slice_dims, &dims.operand_batching_dims);
    if rank != (offsets.len() + collapsed.len() + batch.len()) as i64 {
        let (offsets, collapsed, batch) = (offsets.len(), collapsed.len(), batch.len());
        invalid!(
            "offset_dims size ({offsets}) plus collapse_slice_dims size ({collapsed}) plus \
             operand_batching_dims size ({batch}) is not equal to operand rank ({rank})"
        );
    }
    let vector = dims.index_vector_dim;
    index_vector(vector, indices.rank(), "start_indices")?;
    let width = if vector == indices.rank() { 1 } else { size(&indices.shape, vector) };
    if !dims_compatible(width, dims.start_index_map.len() as i64) {
        let map = dims.start_index_map.len();
        invalid!(
            "start_index_map size ({map}) is not equal to size of index dimension ({vector}) of start_indices \
             ({width})"
        );
    }
    sorted("offset_dims", offsets)?;
    unrepeated("offset_dims", offsets)?;
    disjoint(("collapsed_slice_dims", collapsed), ("operand_batching_dims", batch))?;
    sorted("collapsed_slice_dims", collapsed)?;
    in_range("collapsed_slice_dims", collapsed, rank, operand_name)?;
    sorted("operand_batching_dims", batch)?;
    in_range("operand_batching_dims", batch, rank, operand_name)?;
    batching(
        ("operand_batching_dims", batch, &operand.shape),
        ("start_indices_batching_dims", &dims.start_indices_batching_dims, &indices.shape),
        vector,
        "rank-of('start_indices')",
    )?;
    disjoint(("start_index_map", &dims.start_index_map), ("operand_batching_dims", batch))?;
    in_range("start_index_map", &dims.start_index_map, rank, operand_name)?;
    if slices != DYNAMIC && slices != rank {
        invalid!("slice_sizes size ({slices}) not equal to operand rank ({rank})");
    }
    Ok(())
}

/// Slice sizes, where they are known, and the shape that follows.
fn gather_shape(op: Op<'_>, slice_sizes: Option<&[i64]>) -> Check {
    let (operand, indices) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let dims = op.gather_dims("dimension_numbers")?;
    if let Some(slice_sizes) = slice_sizes {
        for (name, dims) in [
            ("collapsed_slice_dims", &dims.collapsed_slice_dims),
            ("operand_batching_dims", &dims.operand_batching_dims),
        ] {
            if let Some(wide) = dims.iter().map(|dim| size(slice_sizes, *dim)).find(|size| *size > 1) {
                invalid!(
                    "Expects that for each dim in {name}, slice_sizes[dim] should be <= 1, but got {wide}"
                );
            }
        }
        for (index, (&slice, &whole)) in slice_sizes.iter().zip(&operand.shape).enumerate() {
            if slice < 0 || (whole != DYNAMIC && slice > whole) {
                invalid!(
                    "slice size ({slice}) is out of bounds for operand dimension ({whole}) at index {index}"
                );
            }
        }
    }
    let vector = dims.index_vector_dim;
    let batch_rank = indices.rank() - i64::from(vector < indices.rank());
    let rank = batch_rank + dims.offset_dims.len() as i64;
    in_range("offset_dims", &dims.offset_dims, rank, "implied-result-rank")?;
    let dropped =
        |dim: &i64| dims.collapsed_slice_dims.contains(dim) || dims.operand_batching_dims.contains(dim);
    let mut offsets = (0..operand.rank()).filter(|dim| !dropped(dim));
    let mut batches = (0..indices.rank()).filter(|dim| *dim != vector);
    let (mut shape, mut bounds) = (Shape::new(), SmallVec::new());
    for dim in 0..rank {
        if dims.offset_dims.contains(&dim) {
            let dim = offsets.next().unwrap_or(-1);
            shape.push(slice_sizes.map_or(DYNAMIC, |sizes| size(sizes, dim)));
            bounds.push(DYNAMIC);
        } else {
            let dim = batches.next().unwrap_or(-1);
            shape.push(size(&indices.shape, dim));
            bounds.push(size(&indices.bounds, dim));
        }
    }
    op.infers(0, &Tensor { shape, bounds, element: operand.element.clone() })
}

fn gather(op: Op<'_>) -> Check {
    let slice_sizes = op.ints("slice_sizes")?;
    gather_dims(op, slice_sizes.len() as i64)?;
    gather_shape(op, Some(slice_sizes))
}

fn dynamic_gather(op: Op<'_>) -> Check {
    gather_dims(op, op.operand(2).tensor()?.shape.first().copied().unwrap_or(DYNAMIC))?;
    gather_shape(op, op.constant_operand(2).as_deref())
}

fn scatter(op: Op<'_>) -> Check {
    let groups = op.operand_count() / 2;
    if groups == 0 || op.result_count() != groups {
        let results = op.result_count();
        invalid!("expects one result per input, but got {groups} inputs and {results} results");
    }
    let inputs = op.tensors(0..groups)?;
    let updates = op.tensors(groups + 1..2 * groups + 1)?;
    let indices = op.operand(groups).tensor()?;
    for (what, tensors) in [("inputs", &inputs), ("updates", &updates)] {
        if tensors.iter().any(|tensor| !tensor.shape_compatible(tensors[0])) {
            invalid!("Not all {what} have compatible shapes");
        }
    }
    let dims = op.scatter_dims("scatter_dimension_numbers")?;
    index_vector(dims.index_vector_dim, indices.rank(), "scatter_indices")?;
    let scalars: Vec<Tensor> = updates.iter().map(|update| Tensor::scalar(update.element.clone())).collect();
    let yielded = reducer(
        op,
        &Reducer { region: 0, inputs: &inputs, inits: &scalars.iter().collect::<Vec<_>>(), allowed: &[] },
    )?;
    let mut expanded = indices.shape.clone();
    if dims.index_vector_dim == indices.rank() {
        expanded.push(1);
    }
    for (input, update) in inputs.iter().zip(&updates) {
        scatter_dims(dims, input, &expanded, update)?;
        scatter_bounds(dims, input, &expanded, update)?;
    }
    for (index, (input, element)) in inputs.iter().zip(yielded).enumerate() {
        op.infers(index, &Tensor { element, ..(*input).clone() })?;
    }
    Ok(())
}

fn scatter_dims(dims: &Dims, operand: &Tensor, indices: &[i64], update: &Tensor) -> Check {
    let (windows, inserted, batch) =
        (&dims.update_window_dims, &dims.inserted_window_dims, &dims.input_batching_dims);
    let wanted = indices.len() - 1 + windows.len();
    if update.rank() != wanted as i64 {
        invalid!(
            "expects updates tensor must be of rank {wanted} ( == rank-of('scatter_indices') - 1 + \
             size-of('update_window_dims'), where 'scatter_indices' is expanded by a trailing 1 dimension if \
             'index_vector_dim' == rank-of('scatter_indices')), but got {}",
            update.rank()
        );
    }
    let (rank, parts) = (operand.rank(), windows.len() + inserted.len() + batch.len());
    let operand_name = "rank-of('operand')";
    if rank != parts as i64 {
        invalid!(
            "Expects rank-of operand to match size-of('update_window_dims') + size-of('inserted_window_dims') + \
             size-of('input_batching_dims') i.e. {parts} but got {rank}"
        );
    }
    sorted("update_window_dims", windows)?;
    unrepeated("update_window_dims", windows)?;
    in_range("update_window_dims", windows, update.rank(), "rank-of('updates')")?;
    disjoint(("inserted_window_dims", inserted), ("input_batching_dims", batch))?;
    sorted("inserted_window_dims", inserted)?;
    in_range("inserted_window_dims", inserted, rank, operand_name)?;
    sorted("input_batching_dims", batch)?;
    in_range("input_batching_dims", batch, rank, operand_name)?;
    batching(
        ("input_batching_dims", batch, &operand.shape),
        ("scatter_indices_batching_dims", &dims.scatter_indices_batching_dims, indices),
        dims.index_vector_dim,
        "rank-of('scatter_indices')",
    )?;
    let (map, vector) = (&dims.scatter_dims_to_operand_dims, dims.index_vector_dim);
    let width = size(indices, vector);
    if !dims_compatible(width, map.len() as i64) {
        invalid!(
            "Scatter op has {} elements in scatter_dims_to_operand_dims and the bound of dimension \
             index_vector_dim={vector} of scatter_indices is {width}. These two numbers must be equal",
            map.len()
        );
    }
    disjoint(("scatter_dims_to_operand_dims", map), ("input_batching_dims", batch))?;
    in_range("scatter_dims_to_operand_dims", map, rank, operand_name)
}

/// Windows fit into the operand, the other dimensions are those of the indices.
fn scatter_bounds(dims: &Dims, operand: &Tensor, indices: &[i64], update: &Tensor) -> Check {
    let dropped =
        |dim: &i64| dims.inserted_window_dims.contains(dim) || dims.input_batching_dims.contains(dim);
    let kept = (0..operand.rank()).filter(|dim| !dropped(dim));
    for (dim, target) in dims.update_window_dims.iter().zip(kept) {
        let (bound, limit) = (size(&update.shape, *dim), size(&operand.shape, target));
        if bound != DYNAMIC && limit != DYNAMIC && bound > limit {
            invalid!(
                "expects bounds of the window dimensions of updates to not exceed the bounds of the corresponding \
                 dimensions of operand. For dimension {dim}, updates bound is {bound}, operand bound is {limit}"
            );
        }
    }
    let scattered = (0..update.rank()).filter(|dim| !dims.update_window_dims.contains(dim));
    let sources = (0..indices.len() as i64).filter(|dim| *dim != dims.index_vector_dim);
    for (dim, source) in scattered.zip(sources) {
        let (bound, wanted) = (size(&update.shape, dim), size(indices, source));
        if !dims_compatible(bound, wanted) {
            invalid!(
                "expects bounds of the scatter dimensions of updates to be same as the bounds of the corresponding \
                 dimensions of scatter indices. For scatter dimension {dim}, updates bound is {bound}, \
                 scatter_indices bound is {wanted}"
            );
        }
    }
    Ok(())
}
