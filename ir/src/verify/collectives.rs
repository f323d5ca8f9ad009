//! Communication between partitions.

use super::Verdict;
use super::site::{Site, dimension, distinct, require, same_size};
use crate::{Attr, Dim, OpKind, TensorType};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    if site.op.operands.iter().chain(&site.op.results).any(|v| site.is_opaque(*v)) {
        return Ok(());
    }
    use OpKind as K;
    replica_groups(site)?;
    match site.kind() {
        K::AllGather => all_gather(site),
        K::AllToAll => all_to_all(site),
        K::AllReduce | K::CollectiveReduce => {
            same_types(site)?;
            joining_region(site)
        }
        K::ReduceScatter => reduce_scatter(site),
        K::CollectiveBroadcast => broadcast(site),
        K::CollectivePermute => permute(site),
        K::ReplicaId | K::PartitionId => site.result_is(0, &[], crate::ElementType::Uint(32)),
        _ => Ok(()),
    }
}

/// A matrix of integers as its shape and values.
fn matrix(site: &Site<'_>, name: &str) -> Option<(Vec<u64>, Vec<i64>)> {
    let Some(Attr::Dense(dense)) = site.attr(name) else { return None };
    Some((site.module.types.as_tensor(dense.ty)?.static_shape()?, site.ints(name)?))
}

/// Replica groups hold each replica once; −1 fills up short groups.
fn replica_groups(site: &Site<'_>) -> Verdict {
    let Some((shape, values)) = matrix(site, "replica_groups") else { return Ok(()) };
    require(shape.len() == 2, || format!("replica groups must have rank 2, but have rank {}", shape.len()))?;
    let negative = values.iter().find(|v| **v < -1);
    require(negative.is_none(), || {
        format!("replica_groups has {}, which is negative", negative.unwrap_or(&0))
    })?;
    let uniform = matches!(site.kind(), OpKind::AllToAll | OpKind::AllGather | OpKind::ReduceScatter);
    let ids: Vec<i64> = values.iter().copied().filter(|v| *v >= 0).collect();
    require(!uniform || ids.len() == values.len(), || {
        "replica_groups must be of one size, but has -1".to_owned()
    })?;
    distinct(&ids, "replica_groups")?;
    // A broadcast may leave replicas out.
    if site.kind() == OpKind::CollectiveBroadcast {
        return Ok(());
    }
    let missing = (0..ids.len() as i64).find(|id| !ids.contains(id));
    require(missing.is_none(), || format!("replica {} is in no replica group", missing.unwrap_or(0)))
}

/// Operands and results agree one by one.
fn same_types(site: &Site<'_>) -> Verdict {
    let count = if has_dynamic_root(site) { site.op.operands.len() - 1 } else { site.op.operands.len() };
    require(site.op.results.len() == count, || {
        format!("needs as many results as operands, but has {} and {count}", site.op.results.len())
    })?;
    for index in 0..count {
        if let Some(ty) = site.operand(index) {
            site.result_is(index, &ty.shape, site.result(index).map_or(ty.element, |r| r.element))?;
        }
    }
    Ok(())
}

/// The region takes two scalars and returns one, of a type that results have.
fn joining_region(site: &Site<'_>) -> Verdict {
    let Some(&region) = site.op.regions.first() else { return Err("needs a region".to_owned()) };
    let (Some(arguments), Some(results)) = (site.region_arguments(region), site.region_results(region))
    else {
        return Ok(());
    };
    require(arguments.len() == 2, || {
        format!("the region must take 2 parameters, but takes {}", arguments.len())
    })?;
    require(results.len() == 1, || {
        format!("the region must return 1 tensor, but returns {}", results.len())
    })?;
    let types = [arguments[0], arguments[1], results[0]].map(|v| site.module.tensor_type(v));
    let [Some(a), Some(b), Some(result)] = types else {
        return Err("the region must take and return tensors".to_owned());
    };
    let scalar = |t: &TensorType| t.shape.is_empty();
    require(scalar(a) && scalar(b) && scalar(result), || {
        "the region must take and return scalars".to_owned()
    })?;
    require(a.element == b.element && a.element == result.element, || {
        format!("the region's types {}, {} and {} must be one", site.show(a), site.show(b), site.show(result))
    })?;
    for index in 0..site.op.results.len() {
        let (Some(operand), Some(made)) = (site.operand(index), site.result(index)) else { continue };
        let widens = a.element.bit_width() >= operand.element.bit_width()
            && a.element.is_float() == operand.element.is_float()
            && a.element.is_complex() == operand.element.is_complex();
        require(widens && made.element == a.element, || {
            format!(
                "the region's type {} does not fit {} and {}",
                site.show(a),
                site.show(operand),
                site.show(made)
            )
        })?;
    }
    Ok(())
}

/// The number of replicas in a group.
fn group_size(site: &Site<'_>) -> Option<u64> {
    let (shape, _) = matrix(site, "replica_groups")?;
    shape.get(1).copied()
}

fn all_gather(site: &Site<'_>) -> Verdict {
    let Some(along) = site.int("all_gather_dim") else { return Ok(()) };
    for index in 0..site.op.operands.len() {
        let (Some(operand), Some(result)) = (site.operand(index), site.result(index)) else { continue };
        let along = dimension(along, operand.rank(), "all_gather_dim")?;
        grows(site, operand, result, along)?;
    }
    Ok(())
}

/// All sizes agree but that of `along`, which is a multiple.
fn grows(site: &Site<'_>, small: &TensorType, large: &TensorType, along: usize) -> Verdict {
    require(small.rank() == large.rank() && small.element == large.element, || {
        format!("{} and {} must have one rank and element type", site.show(small), site.show(large))
    })?;
    for d in 0..small.rank() {
        let fits = match (small.shape[d], large.shape[d]) {
            (Dim::Static(0), Dim::Static(to)) if d == along => to == 0,
            (Dim::Static(from), Dim::Static(to)) if d == along => {
                to % from == 0 && group_size(site).is_none_or(|n| has_partitions(site) || to == from * n)
            }
            (from, to) => same_size(from, to),
        };
        require(fits, || {
            format!("dimension {d} of {} does not fit that of {}", site.show(large), site.show(small))
        })?;
    }
    Ok(())
}

/// Whether groups are not of replicas alone, so that their size says little.
fn has_partitions(site: &Site<'_>) -> bool {
    site.attr("channel_handle").is_some()
}

fn reduce_scatter(site: &Site<'_>) -> Verdict {
    let Some(along) = site.int("scatter_dimension") else { return Ok(()) };
    if let (Some(operand), Some(result)) = (site.operand(0), site.result(0)) {
        let along = dimension(along, operand.rank(), "scatter_dimension")?;
        dimension(along as i64, result.rank(), "scatter_dimension")?;
        let zero = result.shape[along] == Dim::Static(0) || operand.shape[along] == Dim::Static(0);
        require(!zero, || {
            format!("dimension {along} of {} and {} cannot be 0", site.show(operand), site.show(result))
        })?;
        let same_element = TensorType { element: operand.element, ..result.clone() };
        grows(site, &same_element, operand, along)?;
    }
    joining_region(site)
}

fn all_to_all(site: &Site<'_>) -> Verdict {
    let numbers = ["split_dimension", "concat_dimension", "split_count"].map(|name| site.int(name));
    let [Some(split), Some(concat), Some(count)] = numbers else { return Ok(()) };
    require(count > 0, || format!("split_count must be positive, but is {count}"))?;
    require(group_size(site).is_none_or(|n| n == count as u64), || {
        format!("replica groups must be of split_count {count} replicas")
    })?;
    for index in 0..site.op.operands.len() {
        let Some(operand) = site.operand(index) else { continue };
        let split = dimension(split, operand.rank(), "split_dimension")?;
        let concat = dimension(concat, operand.rank(), "concat_dimension")?;
        let mut shape = operand.shape.clone();
        if let Dim::Static(size) = shape[split] {
            require(size % count as u64 == 0, || {
                format!("split dimension of size {size} is not a multiple of {count}")
            })?;
            shape[split] = Dim::Static(size / count as u64);
        }
        if let Dim::Static(size) = shape[concat] {
            shape[concat] = size.checked_mul(count as u64).map_or(Dim::Dynamic, Dim::Static);
        }
        site.result_is(index, &shape, operand.element)?;
    }
    Ok(())
}

fn has_dynamic_root(site: &Site<'_>) -> bool {
    !matches!(site.attr("has_dynamic_root"), None | Some(Attr::Bool(false)))
}

fn broadcast(site: &Site<'_>) -> Verdict {
    if has_dynamic_root(site) {
        let count = site.op.operands.len();
        require(count >= 2, || "with has_dynamic_root needs data and a root".to_owned())?;
    }
    same_types(site)
}

fn permute(site: &Site<'_>) -> Verdict {
    if let Some((shape, values)) = matrix(site, "source_target_pairs") {
        require(shape.len() == 2 && shape[1] == 2, || {
            format!("source_target_pairs must be pairs, but have shape {shape:?}")
        })?;
        let negative = values.iter().find(|v| **v < 0);
        require(negative.is_none(), || {
            format!("source_target_pairs has {}, which is negative", negative.unwrap_or(&0))
        })?;
        let column = |at: usize| values.iter().copied().skip(at).step_by(2).collect::<Vec<_>>();
        distinct(&column(0), "sources")?;
        distinct(&column(1), "targets")?;
    }
    same_types(site)
}
