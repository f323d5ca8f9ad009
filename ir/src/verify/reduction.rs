//! Reductions, windows and sort.

use super::Verdict;
use super::convolution::{Window, dilated};
use super::site::{Site, compatible, dimension, dimensions, region_joins, require, same_size};
use crate::{Dim, OpKind, RegionId, TensorType};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    if site.op.operands.iter().chain(&site.op.results).any(|v| site.is_opaque(*v)) {
        return Ok(());
    }
    match site.kind() {
        OpKind::Reduce => reduce(site),
        OpKind::ReduceWindow => reduce_window(site),
        OpKind::SelectAndScatter => select_and_scatter(site),
        _ => sort(site),
    }
}

/// Inputs of one shape, a scalar initial value each, and the region that joins them.
fn inputs_and_body(site: &Site<'_>) -> Verdict {
    let count = site.op.operands.len();
    require(count >= 2 && count.is_multiple_of(2), || {
        format!("needs as many initial values as inputs, but has {count} operands")
    })?;
    let inputs = count / 2;
    let Some(first) = site.operand(0) else { return Ok(()) };
    for index in 0..inputs {
        let (Some(input), Some(init)) = (site.operand(index), site.operand(inputs + index)) else { continue };
        require(compatible(&input.shape, &first.shape), || {
            format!("needs inputs of one shape, but has {} and {}", site.show(first), site.show(input))
        })?;
        require(init.shape.is_empty(), || {
            format!("initial values must be scalars, but one is {}", site.show(init))
        })?;
        require(init.element == input.element || promotes(input, init), || {
            format!(
                "the initial value {} is not of the element type of {}",
                site.show(init),
                site.show(input)
            )
        })?;
    }
    match site.op.regions.first() {
        Some(region) => body(site, *region, inputs),
        None => Ok(()),
    }
}

/// Accumulators may be wider than what they accumulate.
fn promotes(input: &TensorType, init: &TensorType) -> bool {
    let class = |ty: &TensorType| (ty.element.is_float(), ty.element.is_integer(), ty.element.is_complex());
    class(input) == class(init) && init.element.bit_width() >= input.element.bit_width()
}

/// The region takes an accumulator and an element per input, scalars, and
/// returns the accumulators.
pub(super) fn body(site: &Site<'_>, region: RegionId, inputs: usize) -> Verdict {
    let (Some(arguments), Some(results)) = (site.region_arguments(region), site.region_results(region))
    else {
        return Ok(());
    };
    region_joins(arguments, results, inputs)?;
    for (index, made) in results.iter().enumerate() {
        let argument = |at: usize| site.module.tensor_type(arguments[at]);
        let (Some(accumulator), Some(element)) = (argument(index), argument(inputs + index)) else {
            return Err("the region's parameters must be tensors".to_owned());
        };
        let Some(result) = site.module.tensor_type(*made) else {
            return Err("the region must return tensors".to_owned());
        };
        require(accumulator.shape.is_empty() && element.shape.is_empty(), || {
            format!(
                "the region's parameters must be scalars, but are {} and {}",
                site.show(accumulator),
                site.show(element)
            )
        })?;
        require(result == accumulator && element.element == accumulator.element, || {
            format!(
                "the region's parameters {} and {} and its result {} must be of one type",
                site.show(accumulator),
                site.show(element),
                site.show(result)
            )
        })?;
        let Some(init) = site.operand(inputs + index) else { continue };
        let of_kind = promotes(init, accumulator) || site.kind() == OpKind::Scatter;
        require(of_kind, || {
            format!(
                "the region's type {} is not that of the initial value {}",
                site.show(accumulator),
                site.show(init)
            )
        })?;
    }
    Ok(())
}

/// The element type that a reduction accumulates in.
fn accumulated(site: &Site<'_>, index: usize) -> Option<crate::ElementType> {
    let arguments = site.region_arguments(*site.op.regions.first()?)?;
    Some(site.module.tensor_type(*arguments.get(index)?)?.element)
}

fn reduce(site: &Site<'_>) -> Verdict {
    inputs_and_body(site)?;
    let (Some(first), Some(dims)) = (site.operand(0), site.ints("dimensions")) else { return Ok(()) };
    let reduced = dimensions(&dims, first.rank(), "dimensions")?;
    let kept = (0..first.rank()).filter(|d| !reduced.contains(d));
    let shape: Vec<Dim> = kept.map(|d| first.shape[d]).collect();
    for index in 0..site.op.results.len() {
        if let Some(element) = accumulated(site, index) {
            site.result_is(index, &shape, element)?;
        }
    }
    Ok(())
}

fn reduce_window(site: &Site<'_>) -> Verdict {
    inputs_and_body(site)?;
    let (Some(first), Some(sizes)) = (site.operand(0), site.ints("window_dimensions")) else { return Ok(()) };
    let rank = first.rank();
    require(sizes.len() == rank, || {
        format!("window_dimensions has {} numbers for rank {rank}", sizes.len())
    })?;
    let lists = [
        ("window_dimensions", sizes),
        ("window_strides", site.ints_or("window_strides", rank, 1)?),
        ("base_dilations", site.ints_or("base_dilations", rank, 1)?),
        ("window_dilations", site.ints_or("window_dilations", rank, 1)?),
    ];
    for (name, values) in &lists {
        let bad = values.iter().find(|v| **v <= 0);
        require(bad.is_none(), || format!("{name} must be positive, but has {}", bad.unwrap_or(&0)))?;
    }
    let padding = site.padding(rank)?;
    let [(_, sizes), (_, strides), (_, base), (_, dilations)] = &lists;
    let count = |d: usize| match first.shape[d] {
        Dim::Static(size) => {
            let window = Window { size: sizes[d] as u64, stride: strides[d], dilation: dilations[d] };
            let base = dilated(size, base[d]) + i128::from(padding[d].0) + i128::from(padding[d].1);
            Dim::Static(window.count(base))
        }
        Dim::Dynamic => Dim::Dynamic,
    };
    let shape: Vec<Dim> = (0..rank).map(count).collect();
    for index in 0..site.op.results.len() {
        if let Some(element) = accumulated(site, index) {
            site.result_is(index, &shape, element)?;
        }
    }
    Ok(())
}

fn select_and_scatter(site: &Site<'_>) -> Verdict {
    site.operand_count(3, 3)?;
    let (Some(operand), Some(source), Some(init)) = (site.operand(0), site.operand(1), site.operand(2))
    else {
        return Ok(());
    };
    let rank = operand.rank();
    let sizes = site.ints_or("window_dimensions", rank, 1)?;
    let strides = site.ints_or("window_strides", rank, 1)?;
    let bad = sizes.iter().chain(&strides).find(|v| **v <= 0);
    require(bad.is_none(), || {
        format!("windows and strides must be positive, but one is {}", bad.unwrap_or(&0))
    })?;
    let padding = site.padding(rank)?;
    require(init.shape.is_empty() && init.element == operand.element, || {
        format!(
            "the initial value must be a scalar of the element type of {}, but is {}",
            site.show(operand),
            site.show(init)
        )
    })?;
    require(source.element == operand.element && source.rank() == rank, || {
        format!(
            "needs operand and source of one element type and rank, but has {} and {}",
            site.show(operand),
            site.show(source)
        )
    })?;
    for d in 0..rank {
        if let Dim::Static(size) = operand.shape[d] {
            let window = Window { size: sizes[d] as u64, stride: strides[d], dilation: 1 };
            let places = window.count(i128::from(size) + i128::from(padding[d].0) + i128::from(padding[d].1));
            require(same_size(source.shape[d], Dim::Static(places)), || {
                format!(
                    "windows have {places} places in dimension {d}, but the source is {}",
                    site.show(source)
                )
            })?;
        }
    }
    if let Some(results) = site.op.regions.first().and_then(|r| site.region_results(*r)) {
        let booleans = results.len() == 1
            && site.module.tensor_type(results[0]).is_some_and(|t| t.element == crate::ElementType::Bool);
        require(booleans, || "the selecting region must return one boolean".to_owned())?;
    }
    site.result_is(0, &operand.shape, operand.element)
}

fn sort(site: &Site<'_>) -> Verdict {
    let Some(first) = site.operand(0) else { return Err("needs at least one operand".to_owned()) };
    if let Some(along) = site.int("dimension") {
        let rank = first.rank() as i64;
        dimension(if along < 0 { along + rank } else { along }, first.rank(), "dimension")?;
    }
    for index in 0..site.op.operands.len() {
        let Some(ty) = site.operand(index) else { continue };
        require(compatible(&ty.shape, &first.shape), || {
            format!("needs operands of one shape, but has {} and {}", site.show(first), site.show(ty))
        })?;
        site.result_is(index, &ty.shape, ty.element)?;
    }
    let Some(region) = site.op.regions.first() else { return Ok(()) };
    let (Some(arguments), Some(results)) = (site.region_arguments(*region), site.region_results(*region))
    else {
        return Ok(());
    };
    let count = 2 * site.op.operands.len();
    require(arguments.len() == count, || {
        format!("the comparator must take {count} parameters, but takes {}", arguments.len())
    })?;
    for (at, argument) in arguments.iter().enumerate() {
        let (Some(ty), Some(operand)) = (site.module.tensor_type(*argument), site.operand(at / 2)) else {
            continue;
        };
        require(ty.shape.is_empty() && ty.element == operand.element, || {
            format!(
                "the comparator's parameter {at} must be a scalar of the element type of {}, but is {}",
                site.show(operand),
                site.show(ty)
            )
        })?;
    }
    let boolean = |v| {
        site.module
            .tensor_type(v)
            .is_some_and(|t| t.shape.is_empty() && t.element == crate::ElementType::Bool)
    };
    require(results.len() == 1 && boolean(results[0]), || {
        "the comparator must return one boolean scalar".to_owned()
    })
}
