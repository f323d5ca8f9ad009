//! The one-hot form of a scatter.

use super::{Sym, Terms};
use ckpt_ir::{Attr, ScatterDims, TensorType};

/// `scatter(zeros, i, u, add)` with one update per row is, at every place, the
/// sum of zero and the row's update where the place's coordinate is the row's
/// index, and zero elsewhere:
///
/// ```text
/// select(iota == spread(i), spread(zeros + u), zeros)
/// ```
///
/// Side conditions, all read off the scatter: the operand is `+0` everywhere;
/// one scattered dimension, all others batching dimensions in their own place;
/// no update window; as many updates as rows; the computation is the sum of
/// its arguments. An index outside the row is dropped by the scatter and
/// equals no coordinate. `+0 + u` is what the scatter computes, so `-0` becomes
/// `+0` on both sides.
pub(super) fn one_hot_scatter(terms: Terms<'_>, value: Sym, target: Sym) -> bool {
    sides(terms, value, target).is_some()
}

fn sides(terms: Terms<'_>, value: Sym, target: Sym) -> Option<()> {
    let scatter = terms.run("stablehlo.scatter", target)?;
    let &[operand, indices, updates] = &scatter.operands[..] else { return None };
    let &[body] = &scatter.regions[..] else { return None };
    let Attr::ScatterDims(dims) = terms.property(scatter, "scatter_dimension_numbers")? else { return None };
    let result = terms.tensor(target)?;
    let axis = scattered_axis(dims, result)?;
    let rows = result.element_count()?.checked_div(result.static_shape()?[axis])?;
    let regular = terms.is_zero(operand)
        && terms.is_binary_body(body, "stablehlo.add")
        && terms.tensor(updates)?.element_count()? == rows
        && terms.tensor(indices)?.element_count()? == rows
        && (result.element.is_float() || result.element.is_integer());

    let select = terms.run("stablehlo.select", value)?;
    let &[hit, chosen, zeros] = &select.operands[..] else { return None };
    let compare = terms.run("stablehlo.compare", hit)?;
    let &[coordinate, at] = &compare.operands[..] else { return None };
    let equal = matches!(terms.property(compare, "comparison_direction")?,
        Attr::Enum(_, value) if terms.common.canonical.names.get(*value) == "EQ");
    let is_sum = |row| {
        let sum = terms.run("stablehlo.add", row);
        sum.is_some_and(|sum| matches!(sum.operands[..], [zero, u] if terms.is_zero(zero) && u == updates))
    };
    let holds = regular
        && equal
        && terms.is_zero(zeros)
        && terms.is_iota(coordinate, axis as i128)
        && spreads(terms, at, axis, |row| row == indices)?
        && spreads(terms, chosen, axis, is_sum)?;
    holds.then_some(())
}

/// The scattered dimension, if every other one is a batching dimension in its place.
fn scattered_axis(dims: &ScatterDims, result: &TensorType) -> Option<usize> {
    let &[axis] = &dims.scatter_dims_to_operand_dims[..] else { return None };
    let rest: Vec<i64> = (0..result.rank() as i64).filter(|dim| *dim != axis).collect();
    let leading: Vec<i64> = (0..rest.len() as i64).collect();
    let regular = dims.update_window_dims.is_empty()
        && dims.inserted_window_dims == [axis]
        && dims.input_batching_dims == rest
        && dims.scatter_indices_batching_dims == leading
        && usize::try_from(dims.index_vector_dim).is_ok_and(|dim| dim >= rest.len());
    regular.then(|| usize::try_from(axis).ok())?
}

/// Whether `value` repeats along `axis` a value with one element per row that
/// `is` holds of, itself or through a reshape.
fn spreads(terms: Terms<'_>, value: Sym, axis: usize, is: impl Fn(Sym) -> bool) -> Option<bool> {
    let broadcast = terms.run("stablehlo.broadcast_in_dim", value)?;
    let shape = terms.tensor(value)?.static_shape()?;
    let kept: Vec<i64> = (0..shape.len() as i64).filter(|dim| *dim != axis as i64).collect();
    let rows: Vec<u64> = kept.iter().map(|dim| shape[*dim as usize]).collect();
    let &[row] = &broadcast.operands[..] else { return None };
    let regular =
        terms.ints(broadcast, "broadcast_dimensions")? == kept && terms.tensor(row)?.static_shape()? == rows;
    let through_reshape = terms.operand("stablehlo.reshape", row);
    Some(regular && (is(row) || through_reshape.is_some_and(is)))
}
