//! `chlo.ragged_dot`: a contraction in groups along one dimension of the left operand.

use super::contraction::{dimensions, free, precision_config};
use super::facts::{Shape, dims_compatible};
use super::view::{Check, Op, Stop, invalid, sizes};
use crate::{Attr, DotDims};

/// `#chlo.ragged_dot<…>`.
struct RaggedDims {
    dot: DotDims,
    ragged: Vec<i64>,
    group: Vec<i64>,
}

/// What the ragged dimension is of the left operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Free,
    Contracting,
    Batching,
}

impl RaggedDims {
    /// Reads the attribute, which the data model keeps as text.
    fn of(op: Op<'_>) -> Result<Self, Stop> {
        let Some(Attr::Opaque(text)) = op.attr("ragged_dot_dimension_numbers") else {
            return Err(Stop::CannotTell);
        };
        let text = op.module().names.get(*text);
        let list = |name: &str| -> Vec<i64> {
            let inside = text.split_once(name).and_then(|(_, rest)| rest.split_once('[')?.1.split_once(']'));
            inside.map_or_else(Vec::new, |(list, _)| {
                list.split(',').filter_map(|n| n.trim().parse().ok()).collect()
            })
        };
        let dot = DotDims {
            lhs_batching: list("lhs_batching_dimensions"),
            rhs_batching: list("rhs_batching_dimensions"),
            lhs_contracting: list("lhs_contracting_dimensions"),
            rhs_contracting: list("rhs_contracting_dimensions"),
        };
        Ok(Self { dot, ragged: list("lhs_ragged_dimensions"), group: list("rhs_group_dimensions") })
    }

    /// Dimensions of the left operand that stand before the ragged one among
    /// those of its mode, after the batching dimensions.
    fn prefix(&self, mode: Mode, ragged: i64) -> Vec<i64> {
        let before = |dims: &[i64]| dims.iter().copied().take_while(|dim| *dim != ragged).collect::<Vec<_>>();
        let (batching, contracting) = (&self.dot.lhs_batching, &self.dot.lhs_contracting);
        let rest = match mode {
            Mode::Batching => return before(batching),
            Mode::Contracting => before(contracting),
            Mode::Free => {
                (0..ragged).filter(|dim| !batching.contains(dim) && !contracting.contains(dim)).collect()
            }
        };
        [batching.clone(), rest].concat()
    }
}

/// The constraints of `ragged_dot`.
pub(super) fn ragged_dot(op: Op<'_>) -> Check {
    precision_config(op)?;
    let dims = RaggedDims::of(op)?;
    dimensions(op, &dims.dot)?;
    let (lhs, rhs) = (op.operand(0).tensor()?, op.operand(1).tensor()?);
    let [ragged] = dims.ragged[..] else {
        invalid!("There must be exactly one ragged dimension in the lhs, but got {}", dims.ragged.len())
    };
    if !(0..lhs.rank()).contains(&ragged) {
        let rank = lhs.rank();
        invalid!("Expects lhs_ragged_dim to be in range [0, lhs_rank) i.e. [0, {rank}). got: {ragged}");
    }
    let mode = if dims.dot.lhs_batching.contains(&ragged) {
        Mode::Batching
    } else if dims.dot.lhs_contracting.contains(&ragged) {
        Mode::Contracting
    } else {
        Mode::Free
    };
    let prefix: Vec<i64> = dims.prefix(mode, ragged).iter().map(|dim| lhs.shape[*dim as usize]).collect();
    let groups = group_sizes(op, &prefix)?;
    group_dimension(op, &dims, mode, groups)?;
    let mut shape = Shape::new();
    if mode == Mode::Contracting {
        shape.push(groups);
    }
    shape.extend(dims.dot.lhs_batching.iter().map(|dim| lhs.shape[*dim as usize]));
    shape.extend(free(lhs, &dims.dot.lhs_batching, &dims.dot.lhs_contracting));
    let taken = [dims.dot.rhs_contracting.as_slice(), &dims.group].concat();
    shape.extend(free(rhs, &dims.dot.rhs_batching, &taken));
    op.infers_shape(0, &shape)
}

/// The number of groups: the last dimension of the group sizes, before which
/// may stand the sizes of `prefix`.
fn group_sizes(op: Op<'_>, prefix: &[i64]) -> Result<i64, Stop> {
    let given = op.operand(2).tensor()?;
    let Some((&groups, before)) = given.shape.split_last() else {
        invalid!("expected group_sizes to have rank {}, got 0", prefix.len() + 1)
    };
    if before.is_empty() {
        return Ok(groups);
    }
    if before.len() != prefix.len() {
        invalid!("expected group_sizes to have rank {}, got {}", prefix.len() + 1, given.rank());
    }
    if !before.iter().zip(prefix).all(|(a, b)| dims_compatible(*a, *b)) {
        let (wanted, given) = (sizes(&[prefix, &[groups]].concat()), sizes(&given.shape));
        invalid!("group_sizes is expected to have shape [{wanted}], got [{given}]");
    }
    Ok(groups)
}

/// The dimension of the right operand that holds one slice per group.
fn group_dimension(op: Op<'_>, dims: &RaggedDims, mode: Mode, groups: i64) -> Check {
    let rhs = op.operand(1).tensor()?;
    if let Some(dim) = dims.group.iter().find(|dim| !(0..rhs.rank()).contains(*dim)) {
        let rank = rhs.rank();
        invalid!("Expects rhs_group_dim to be in range [0, rhs_rank) i.e. [0, {rank}). got: {dim}");
    }
    for (name, others) in [
        ("rhs_batching_dimensions", &dims.dot.rhs_batching),
        ("rhs_contracting_dimensions", &dims.dot.rhs_contracting),
    ] {
        if let Some(dim) = dims.group.iter().find(|dim| others.contains(dim)) {
            invalid!("has duplicated dimension from rhs_group_dimensions and {name}: {dim}");
        }
    }
    match (mode, &dims.group[..]) {
        (Mode::Free, [dim]) => {
            let size = rhs.shape[*dim as usize];
            if !dims_compatible(size, groups) {
                invalid!("rhs group dimension is expected to have size={groups}, got {size}");
            }
            Ok(())
        }
        (Mode::Free, other) => invalid!(
            "There must be exactly one group dimension in the rhs when the lhs ragged dimension is \
             non-contracting, but got {}",
            other.len()
        ),
        (_, []) => Ok(()),
        (_, other) => invalid!(
            "There must be zero group dimensions in the rhs when the ragged dimension is batch or contracting, but \
             got {}",
            other.len()
        ),
    }
}
