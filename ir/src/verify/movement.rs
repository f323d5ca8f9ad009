//! Operations that move elements and change shapes.

use super::Verdict;
use super::site::{Site, compatible, dimension, dimensions, distinct, require, same_size};
use crate::{Attr, Dim, OpKind};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    use OpKind as K;
    if site.op.operands.iter().chain(&site.op.results).any(|v| site.is_opaque(*v)) {
        return Ok(());
    }
    match site.kind() {
        K::BroadcastInDim => broadcast_in_dim(site),
        K::Broadcast => broadcast(site),
        K::Transpose => transpose(site),
        K::Reshape => reshape(site),
        K::Concatenate => concatenate(site),
        K::Pad => pad(site),
        K::Reverse => reverse(site),
        K::Slice => slice(site),
        K::Iota => iota(site),
        K::Constant => constant(site),
        K::DynamicIota | K::DynamicReshape | K::DynamicBroadcastInDim | K::DynamicPad => dynamic(site),
        K::GetDimensionSize | K::SetDimensionSize => dimension_size(site),
        _ => Ok(()),
    }
}

fn broadcast_in_dim(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(result)) = (site.operand(0), site.result(0)) else { return Ok(()) };
    let Some(dims) = site.ints("broadcast_dimensions") else { return Ok(()) };
    require(dims.len() == operand.rank(), || {
        format!(
            "broadcast_dimensions has {} numbers, but the operand has rank {}",
            dims.len(),
            operand.rank()
        )
    })?;
    let dims = dimensions(&dims, result.rank(), "broadcast_dimensions")?;
    for (from, &to) in dims.iter().enumerate() {
        let fits = operand.shape[from] == Dim::Static(1) || same_size(operand.shape[from], result.shape[to]);
        require(fits, || {
            format!(
                "the size of operand dimension {from} in {} is neither 1 nor that of result dimension {to} in {}",
                site.show(operand),
                site.show(result)
            )
        })?;
    }
    require(operand.element == result.element, || {
        format!(
            "needs operand and result of one element type, but has {} and {}",
            site.show(operand),
            site.show(result)
        )
    })
}

fn broadcast(site: &Site<'_>) -> Verdict {
    let Some(operand) = site.operand(0) else { return Ok(()) };
    let Some(sizes) = site.ints("broadcast_sizes") else { return Ok(()) };
    let negative = sizes.iter().find(|size| **size < 0);
    require(negative.is_none(), || {
        format!("broadcast_sizes has {}, which is negative", negative.unwrap_or(&0))
    })?;
    let leading = sizes.iter().map(|size| Dim::Static(*size as u64));
    let shape: Vec<Dim> = leading.chain(operand.shape.iter().copied()).collect();
    site.result_is(0, &shape, operand.element)
}

fn transpose(site: &Site<'_>) -> Verdict {
    let Some(operand) = site.operand(0) else { return Ok(()) };
    let Some(permutation) = site.ints("permutation") else { return Ok(()) };
    require(permutation.len() == operand.rank(), || {
        format!("permutation has {} numbers, but the operand has rank {}", permutation.len(), operand.rank())
    })?;
    let order = dimensions(&permutation, operand.rank(), "permutation")?;
    let shape: Vec<Dim> = order.into_iter().map(|d| operand.shape[d]).collect();
    site.result_is(0, &shape, operand.element)
}

fn reshape(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(result)) = (site.operand(0), site.result(0)) else { return Ok(()) };
    require(operand.element == result.element, || {
        format!(
            "needs operand and result of one element type, but has {} and {}",
            site.show(operand),
            site.show(result)
        )
    })?;
    match (operand.element_count(), result.element_count()) {
        (Some(from), Some(to)) => require(from == to, || {
            format!(
                "the number of elements of {} is {from}, and of {} it is {to}",
                site.show(operand),
                site.show(result)
            )
        }),
        _ => Ok(()),
    }
}

fn concatenate(site: &Site<'_>) -> Verdict {
    let Some(first) = site.operand(0) else { return Err("needs at least one operand".to_owned()) };
    let Some(along) = site.int("dimension") else { return Ok(()) };
    let along = dimension(along, first.rank(), "dimension")?;
    let mut total = Some(0u64);
    for index in 0..site.op.operands.len() {
        let Some(ty) = site.operand(index) else { return Ok(()) };
        let others_match = ty.rank() == first.rank()
            && (0..first.rank()).all(|d| d == along || same_size(ty.shape[d], first.shape[d]));
        require(others_match && ty.element == first.element, || {
            format!("cannot join {} and {} along dimension {along}", site.show(first), site.show(ty))
        })?;
        total = match (total, ty.shape[along]) {
            (Some(total), Dim::Static(size)) => total.checked_add(size),
            _ => None,
        };
    }
    let mut shape = first.shape.clone();
    for index in 1..site.op.operands.len() {
        let Some(ty) = site.operand(index) else { continue };
        for (known, other) in shape.iter_mut().zip(&ty.shape) {
            if *known == Dim::Dynamic {
                *known = *other;
            }
        }
    }
    shape[along] = total.map_or(Dim::Dynamic, Dim::Static);
    site.result_is(0, &shape, first.element)
}

fn pad(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(value)) = (site.operand(0), site.operand(1)) else { return Ok(()) };
    require(value.shape.is_empty() && value.element == operand.element, || {
        format!(
            "the padding value must be a scalar of the operand's element type, but is {}",
            site.show(value)
        )
    })?;
    let rank = operand.rank();
    let [low, high, interior] = [
        site.ints_or("edge_padding_low", rank, 0)?,
        site.ints_or("edge_padding_high", rank, 0)?,
        site.ints_or("interior_padding", rank, 0)?,
    ];
    let mut shape = Vec::new();
    for d in 0..rank {
        require(interior[d] >= 0, || format!("interior_padding is {}, which is negative", interior[d]))?;
        let Dim::Static(size) = operand.shape[d] else {
            shape.push(Dim::Dynamic);
            continue;
        };
        let inner = i128::from(size) + i128::from(size.saturating_sub(1)) * i128::from(interior[d]);
        let padded = inner + i128::from(low[d]) + i128::from(high[d]);
        let padded = u64::try_from(padded).map_err(|_| {
            format!("padding makes dimension {d} of {} negative: {padded}", site.show(operand))
        })?;
        shape.push(Dim::Static(padded));
    }
    site.result_is(0, &shape, operand.element)
}

fn reverse(site: &Site<'_>) -> Verdict {
    let Some(operand) = site.operand(0) else { return Ok(()) };
    let Some(dims) = site.ints("dimensions") else { return Ok(()) };
    dimensions(&dims, operand.rank(), "dimensions")?;
    site.result_is(0, &operand.shape, operand.element)
}

fn slice(site: &Site<'_>) -> Verdict {
    let Some(operand) = site.operand(0) else { return Ok(()) };
    let (Some(starts), Some(limits)) = (site.ints("start_indices"), site.ints("limit_indices")) else {
        return Ok(());
    };
    let rank = operand.rank();
    let strides = site.ints_or("strides", rank, 1)?;
    require(starts.len() == rank && limits.len() == rank, || {
        format!(
            "start_indices and limit_indices need {rank} numbers each, but have {} and {}",
            starts.len(),
            limits.len()
        )
    })?;
    let mut shape = Vec::new();
    for d in 0..rank {
        let (start, limit, stride) = (starts[d], limits[d], strides[d]);
        require(start >= 0, || format!("start_indices has {start} in dimension {d}, which is negative"))?;
        require(stride > 0, || format!("strides has {stride} in dimension {d}, which is not positive"))?;
        require(start <= limit, || format!("start {start} is beyond limit {limit} in dimension {d}"))?;
        if let Dim::Static(size) = operand.shape[d] {
            require(limit as u64 <= size, || {
                format!("limit {limit} is beyond size {size} in dimension {d}")
            })?;
        }
        shape.push(Dim::Static(((limit - start) as u64).div_ceil(stride as u64)));
    }
    site.result_is(0, &shape, operand.element)
}

/// A literal is of the result's type.
fn constant(site: &Site<'_>) -> Verdict {
    let (Some(Attr::Dense(dense)), Some(result)) = (site.attr("value"), site.result(0)) else {
        return Ok(());
    };
    match site.module.types.as_tensor(dense.ty) {
        Some(ty) => site.result_is(0, &ty.shape, ty.element),
        None => {
            require(result.shape.is_empty(), || format!("the literal is not of type {}", site.show(result)))
        }
    }
}

fn iota(site: &Site<'_>) -> Verdict {
    let (Some(result), Some(along)) = (site.result(0), site.int("iota_dimension")) else { return Ok(()) };
    require(result.rank() > 0, || "does not make scalars".to_owned())?;
    dimension(along, result.rank(), "iota_dimension").map(|_| ())
}

/// The operand that gives a shape has a number for each dimension of the result.
fn dynamic(site: &Site<'_>) -> Verdict {
    let Some(result) = site.result(0) else { return Ok(()) };
    let (at, name) = match site.kind() {
        OpKind::DynamicIota => (0, "output_shape"),
        OpKind::DynamicPad => (2, "edge_padding_low"),
        _ => (1, "output_shape"),
    };
    let Some(sizes) = site.operand(at) else { return Ok(()) };
    require(sizes.rank() == 1 && sizes.element.is_integer(), || {
        format!("{name} must be a vector of integers, but is {}", site.show(sizes))
    })?;
    require(same_size(sizes.shape[0], Dim::Static(result.rank() as u64)), || {
        format!(
            "{name} {} does not have a number for each dimension of {}",
            site.show(sizes),
            site.show(result)
        )
    })?;
    match site.kind() {
        OpKind::DynamicIota => iota(site),
        OpKind::DynamicBroadcastInDim => dynamic_broadcast(site),
        OpKind::DynamicReshape => reshape(site),
        _ => Ok(()),
    }
}

fn dynamic_broadcast(site: &Site<'_>) -> Verdict {
    broadcast_in_dim(site)?;
    let Some(operand) = site.operand(0) else { return Ok(()) };
    let list = |name: &str| site.ints(name).unwrap_or_default();
    let mut hints = list("known_expanding_dimensions");
    hints.extend(list("known_nonexpanding_dimensions"));
    distinct(&hints, "known expanding and nonexpanding dimensions together")?;
    dimensions(&hints, operand.rank(), "known expanding and nonexpanding dimensions").map(|_| ())
}

fn dimension_size(site: &Site<'_>) -> Verdict {
    let (Some(operand), Some(along)) = (site.operand(0), site.int("dimension")) else { return Ok(()) };
    dimension(along, operand.rank(), "dimension")?;
    match site.result(0) {
        Some(result) if site.kind() == OpKind::SetDimensionSize => {
            require(result.rank() == operand.rank() && result.element == operand.element, || {
                format!("cannot give {} for {}", site.show(result), site.show(operand))
            })
        }
        Some(result) => {
            require(compatible(&result.shape, &[]), || format!("gives a scalar, not {}", site.show(result)))
        }
        None => Ok(()),
    }
}
