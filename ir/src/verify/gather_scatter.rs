//! Gather, scatter and dynamic slices.

use super::Verdict;
use super::site::{Site, compatible, dimensions, distinct, region_joins, require, same_size, sorted};
use crate::{Attr, Dim, GatherDims, OpKind, ScatterDims, TensorType};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    if site.op.operands.iter().chain(&site.op.results).any(|v| site.is_opaque(*v)) {
        return Ok(());
    }
    match site.kind() {
        OpKind::Gather | OpKind::DynamicGather => gather(site),
        OpKind::Scatter => scatter(site),
        OpKind::DynamicSlice => dynamic_slice(site),
        _ => dynamic_update_slice(site),
    }
}

/// The sizes of an indices tensor without the dimension that holds the vectors.
fn batch_shape(indices: &TensorType, vector: i64) -> Result<(Vec<Dim>, Dim), String> {
    let rank = indices.rank();
    let at = usize::try_from(vector).ok().filter(|d| *d <= rank);
    let at =
        at.ok_or_else(|| format!("index_vector_dim is {vector}, beyond the rank {rank} of the indices"))?;
    let shape = (0..rank).filter(|d| *d != at).map(|d| indices.shape[d]).collect();
    Ok((shape, if at < rank { indices.shape[at] } else { Dim::Static(1) }))
}

/// What gather and scatter have in common: which operand dimensions are
/// dropped, batched and indexed.
struct Indexing<'a> {
    dropped: &'a [i64],
    dropped_name: &'static str,
    batching: &'a [i64],
    batching_name: &'static str,
    index_batching: &'a [i64],
    index_batching_name: &'static str,
    map: &'a [i64],
    map_name: &'static str,
    vector: i64,
}

impl Indexing<'_> {
    fn check(&self, operand: &TensorType, indices: &TensorType) -> Verdict {
        require(indices.element.is_integer(), || "the indices must be integers".to_owned())?;
        let (_, vector) = batch_shape(indices, self.vector)?;
        require(same_size(vector, Dim::Static(self.map.len() as u64)), || {
            format!("{} has {} numbers, but index vectors have another length", self.map_name, self.map.len())
        })?;
        let rank = operand.rank();
        sorted(self.dropped, self.dropped_name)?;
        sorted(self.batching, self.batching_name)?;
        dimensions(self.dropped, rank, self.dropped_name)?;
        dimensions(self.batching, rank, self.batching_name)?;
        dimensions(self.map, rank, self.map_name)?;
        let together = |a: &[i64], b: &[i64], name: &str| distinct(&[a, b].concat(), name);
        together(self.dropped, self.batching, &format!("{} and {}", self.dropped_name, self.batching_name))?;
        together(self.map, self.batching, &format!("{} and {}", self.map_name, self.batching_name))?;
        dimensions(self.index_batching, indices.rank(), self.index_batching_name)?;
        require(!self.index_batching.contains(&self.vector), || {
            format!("{} contains index_vector_dim {}", self.index_batching_name, self.vector)
        })?;
        require(self.batching.len() == self.index_batching.len(), || {
            format!(
                "{} and {} must be of one length, but have {} and {}",
                self.batching_name,
                self.index_batching_name,
                self.batching.len(),
                self.index_batching.len()
            )
        })?;
        for (&o, &i) in self.batching.iter().zip(self.index_batching) {
            require(same_size(operand.shape[o as usize], indices.shape[i as usize]), || {
                format!("batching dimension {o} of the operand and {i} of the indices differ in size")
            })?;
        }
        Ok(())
    }
}

fn gather(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(indices), Some(result)) = (site.operand(0), site.operand(1), site.result(0))
    else {
        return Ok(());
    };
    let Some(Attr::GatherDims(dims)) = site.attr("dimension_numbers") else { return Ok(()) };
    gather_indexing(dims).check(operand, indices)?;
    sorted(&dims.offset_dims, "offset_dims")?;
    distinct(&dims.offset_dims, "offset_dims")?;
    let Some(sizes) = slice_sizes(site, operand.rank())? else { return Ok(()) };
    for (d, &size) in sizes.iter().enumerate() {
        let Some(size) = size else { continue };
        let fits = size >= 0 && !matches!(operand.shape[d], Dim::Static(most) if size as u64 > most);
        require(fits, || {
            format!("slice size {size} is out of range for dimension {d} of {}", site.show(operand))
        })?;
        let thin = dims.collapsed_slice_dims.contains(&(d as i64))
            || dims.operand_batching_dims.contains(&(d as i64));
        require(!thin || size <= 1, || format!("slice size {size} of the dropped dimension {d} is above 1"))?;
    }
    let (batch, _) = batch_shape(indices, dims.index_vector_dim)?;
    let rank = batch.len() + dims.offset_dims.len();
    dimensions(&dims.offset_dims, rank, "offset_dims")?;
    let dropped = |d: &usize| {
        dims.collapsed_slice_dims.contains(&(*d as i64)) || dims.operand_batching_dims.contains(&(*d as i64))
    };
    let size_of = |d: usize| sizes[d].map_or(Dim::Dynamic, |size| Dim::Static(size as u64));
    let mut offsets = (0..operand.rank()).filter(|d| !dropped(d)).map(size_of);
    let mut batches = batch.into_iter();
    let shape: Vec<Dim> = (0..rank)
        .map(|d| if dims.offset_dims.contains(&(d as i64)) { offsets.next() } else { batches.next() })
        .map(|dim| dim.unwrap_or(Dim::Dynamic))
        .collect();
    require(offsets.next().is_none(), || {
        format!("offset_dims has {} numbers, fewer than the dimensions that are kept", dims.offset_dims.len())
    })?;
    site.result_is(0, &shape, operand.element)?;
    require(result.element == operand.element, || "the result is of another element type".to_owned())
}

/// The sizes of a gather's slices: an attribute, or an operand that may be a constant.
fn slice_sizes(site: &Site<'_>, rank: usize) -> Result<Option<Vec<Option<i64>>>, String> {
    let sizes: Vec<Option<i64>> = if site.kind() == OpKind::Gather {
        match site.ints("slice_sizes") {
            Some(sizes) => sizes.into_iter().map(Some).collect(),
            None => return Ok(None),
        }
    } else {
        let Some(ty) = site.operand(2) else { return Ok(None) };
        require(ty.rank() == 1 && ty.element.is_integer(), || {
            format!("slice_sizes must be a vector of integers, but is {}", site.show(ty))
        })?;
        match (site.constant_ints(2), ty.shape[0]) {
            (Some(sizes), _) => sizes.into_iter().map(Some).collect(),
            (None, Dim::Static(count)) => vec![None; usize::try_from(count).unwrap_or(usize::MAX)],
            (None, Dim::Dynamic) => vec![None; rank],
        }
    };
    require(sizes.len() == rank, || {
        format!("slice_sizes has {} numbers, but the operand has rank {rank}", sizes.len())
    })?;
    Ok(Some(sizes))
}

fn gather_indexing(dims: &GatherDims) -> Indexing<'_> {
    Indexing {
        dropped: &dims.collapsed_slice_dims,
        dropped_name: "collapsed_slice_dims",
        batching: &dims.operand_batching_dims,
        batching_name: "operand_batching_dims",
        index_batching: &dims.start_indices_batching_dims,
        index_batching_name: "start_indices_batching_dims",
        map: &dims.start_index_map,
        map_name: "start_index_map",
        vector: dims.index_vector_dim,
    }
}

fn scatter_indexing(dims: &ScatterDims) -> Indexing<'_> {
    Indexing {
        dropped: &dims.inserted_window_dims,
        dropped_name: "inserted_window_dims",
        batching: &dims.input_batching_dims,
        batching_name: "input_batching_dims",
        index_batching: &dims.scatter_indices_batching_dims,
        index_batching_name: "scatter_indices_batching_dims",
        map: &dims.scatter_dims_to_operand_dims,
        map_name: "scatter_dims_to_operand_dims",
        vector: dims.index_vector_dim,
    }
}

fn scatter(site: &Site<'_>) -> Verdict {
    let count = site.op.operands.len();
    require(count >= 3 && count % 2 == 1, || {
        format!("needs inputs, indices and as many updates, not {count} operands")
    })?;
    let inputs = count / 2;
    let (Some(input), Some(indices), Some(updates)) =
        (site.operand(0), site.operand(inputs), site.operand(inputs + 1))
    else {
        return Ok(());
    };
    for index in 0..inputs {
        let (Some(input_i), Some(update_i)) = (site.operand(index), site.operand(inputs + 1 + index)) else {
            continue;
        };
        require(
            compatible(&input_i.shape, &input.shape) && compatible(&update_i.shape, &updates.shape),
            || "needs inputs of one shape and updates of one shape".to_owned(),
        )?;
        require(input_i.element == update_i.element, || {
            format!(
                "input {} and update {} are not of one element type",
                site.show(input_i),
                site.show(update_i)
            )
        })?;
        site.result_is(index, &input_i.shape, site.result(index).map_or(input_i.element, |r| r.element))?;
    }
    if let Some(Attr::ScatterDims(dims)) = site.attr("scatter_dimension_numbers") {
        scatter_dims(site, dims, input, indices, updates)?;
    }
    match site.op.regions.first() {
        Some(region) => scatter_body(site, *region, inputs),
        None => Ok(()),
    }
}

fn scatter_dims(
    site: &Site<'_>,
    dims: &ScatterDims,
    input: &TensorType,
    indices: &TensorType,
    updates: &TensorType,
) -> Verdict {
    scatter_indexing(dims).check(input, indices)?;
    sorted(&dims.update_window_dims, "update_window_dims")?;
    dimensions(&dims.update_window_dims, updates.rank(), "update_window_dims")?;
    let (batch, _) = batch_shape(indices, dims.index_vector_dim)?;
    let window = dims.update_window_dims.len();
    require(updates.rank() == batch.len() + window, || {
        format!("updates {} must have rank {}", site.show(updates), batch.len() + window)
    })?;
    let total = window + dims.inserted_window_dims.len() + dims.input_batching_dims.len();
    require(input.rank() == total, || {
        format!(
            "update_window_dims, inserted_window_dims and input_batching_dims are {total}, but the input has rank {}",
            input.rank()
        )
    })?;
    let dropped = |d: &usize| {
        dims.inserted_window_dims.contains(&(*d as i64)) || dims.input_batching_dims.contains(&(*d as i64))
    };
    let kept = (0..input.rank()).filter(|d| !dropped(d));
    for (to, &from) in kept.zip(&dims.update_window_dims) {
        let (most, size) = (input.shape[to], updates.shape[from as usize]);
        let fits = !matches!((most, size), (Dim::Static(most), Dim::Static(size)) if size > most);
        require(fits, || {
            format!("update dimension {from} is larger than input dimension {to} of {}", site.show(input))
        })?;
    }
    let scattered = (0..updates.rank()).filter(|d| !dims.update_window_dims.contains(&(*d as i64)));
    for (dim, size) in scattered.zip(batch) {
        require(same_size(updates.shape[dim], size), || {
            format!(
                "update dimension {dim} of {} differs from that of the indices {}",
                site.show(updates),
                site.show(indices)
            )
        })?;
    }
    Ok(())
}

fn scatter_body(site: &Site<'_>, region: crate::RegionId, inputs: usize) -> Verdict {
    let (Some(arguments), Some(results)) = (site.region_arguments(region), site.region_results(region))
    else {
        return Ok(());
    };
    region_joins(arguments, results, inputs)?;
    for at in 0..2 * inputs {
        let input = site.operand(at % inputs);
        let (Some(ty), Some(input)) = (site.module.tensor_type(arguments[at]), input) else { continue };
        let result = site.module.tensor_type(results[at % inputs]);
        let kind = |t: &TensorType| (t.element.is_float(), t.element.is_integer(), t.element.is_complex());
        require(
            ty.shape.is_empty()
                && kind(ty) == kind(input)
                && ty.element.bit_width() >= input.element.bit_width(),
            || {
                format!(
                    "the region's parameter {at} must be a scalar of the element type of {}, but is {}",
                    site.show(input),
                    site.show(ty)
                )
            },
        )?;
        require(result.is_none_or(|r| r.shape.is_empty() && r.element == ty.element), || {
            format!("the region's result must be of its parameters' type {}", site.show(ty))
        })?;
        let made = site.result(at % inputs);
        require(made.is_none_or(|made| made.element == ty.element), || {
            format!("the region's type {} is not that of the result", site.show(ty))
        })?;
    }
    Ok(())
}

/// The start indices: scalars of one integer type, one per dimension.
fn starts(site: &Site<'_>, first: usize, rank: usize) -> Verdict {
    let count = site.op.operands.len() - first;
    require(count == rank, || format!("needs {rank} start indices, but has {count}"))?;
    let Some(type_of_first) = site.operand(first) else { return Ok(()) };
    for index in first..site.op.operands.len() {
        let Some(ty) = site.operand(index) else { continue };
        require(
            ty.shape.is_empty() && ty.element.is_integer() && ty.element == type_of_first.element,
            || {
                format!(
                    "start indices must be scalars of one integer type, but operand #{index} is {}",
                    site.show(ty)
                )
            },
        )?;
    }
    Ok(())
}

fn dynamic_slice(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(sizes)) = (site.operand(0), site.ints("slice_sizes")) else { return Ok(()) };
    require(sizes.len() == operand.rank(), || {
        format!("slice_sizes has {} numbers, but the operand has rank {}", sizes.len(), operand.rank())
    })?;
    starts(site, 1, operand.rank())?;
    for (d, &size) in sizes.iter().enumerate() {
        let fits = size >= 0 && !matches!(operand.shape[d], Dim::Static(most) if size as u64 > most);
        require(fits, || {
            format!("slice size {size} is out of range for dimension {d} of {}", site.show(operand))
        })?;
    }
    let shape: Vec<Dim> = sizes.iter().map(|size| Dim::Static(*size as u64)).collect();
    site.result_is(0, &shape, operand.element)
}

fn dynamic_update_slice(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(update)) = (site.operand(0), site.operand(1)) else { return Ok(()) };
    require(update.rank() == operand.rank() && update.element == operand.element, || {
        format!(
            "the update {} must have the rank and element type of {}",
            site.show(update),
            site.show(operand)
        )
    })?;
    starts(site, 2, operand.rank())?;
    for d in 0..operand.rank() {
        let fits = !matches!((update.shape[d], operand.shape[d]), (Dim::Static(u), Dim::Static(o)) if u > o);
        require(fits, || {
            format!("the update {} is larger than {} in dimension {d}", site.show(update), site.show(operand))
        })?;
    }
    site.result_is(0, &operand.shape, operand.element)
}
