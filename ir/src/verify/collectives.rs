//! Communication between partitions.

use super::attributes::AttrKind::{Channel, I64Elements, I64NonNegative, I64Positive, ReplicaGroups, Unit};
use super::attributes::{AttrRule, Elements, may, must};
use super::facts::{DYNAMIC, Element, Tensor, dims_compatible};
use super::reduction::{Reducer, reducer};
use super::signature::Regions::Exactly;
use super::signature::Relation::{CompatibleType, PairwiseElement, SameElement};
use super::signature::Row;
use super::slots::{T, TS};
use super::view::{Check, Op, invalid};
use crate::{Attr, ElementType, OpKind as K};
use std::collections::HashSet;

const GROUPS: AttrRule = must("replica_groups", ReplicaGroups);
const CHANNEL: AttrRule = may("channel_handle", Channel);
const GLOBAL: AttrRule = may("use_global_device_ids", Unit);
const ROOT: AttrRule = may("has_dynamic_root", Unit);

pub(super) const ROWS: &[Row] = &[
    Row::new(K::AllGather, &[TS], &[TS])
        .relations(&[PairwiseElement])
        .attributes(&[must("all_gather_dim", I64NonNegative), GROUPS, CHANNEL, GLOBAL])
        .check(all_gather),
    Row::new(K::AllReduce, &[TS], &[TS])
        .regions(Exactly(1))
        .attributes(&[GROUPS, CHANNEL, GLOBAL])
        .check(all_reduce),
    Row::new(K::ReduceScatter, &[T], &[T])
        .regions(Exactly(1))
        .attributes(&[must("scatter_dimension", I64NonNegative), GROUPS, CHANNEL, GLOBAL])
        .check(reduce_scatter),
    Row::new(K::AllToAll, &[TS], &[TS])
        .relations(&[PairwiseElement])
        .attributes(&[
            must("split_dimension", I64NonNegative),
            must("concat_dimension", I64NonNegative),
            must("split_count", I64Positive),
            GROUPS,
            CHANNEL,
        ])
        .check(all_to_all),
    Row::new(K::CollectiveBroadcast, &[TS], &[TS])
        .attributes(&[GROUPS, CHANNEL, ROOT])
        .check(collective_broadcast),
    Row::new(K::CollectiveReduce, &[TS], &[TS])
        .regions(Exactly(1))
        .attributes(&[GROUPS, CHANNEL, GLOBAL, ROOT])
        .check(collective_reduce),
    Row::new(K::CollectivePermute, &[T], &[T])
        .relations(&[SameElement])
        .attributes(&[must("source_target_pairs", I64Elements), CHANNEL])
        .check(collective_permute),
    Row::new(K::CrossReplicaSum, &[T], &[T]).relations(&[CompatibleType]).attributes(&[GROUPS]),
];

/// The replica groups, if they are a literal; a mesh that they name must be there.
fn literal_groups(op: Op<'_>) -> Result<Option<Elements>, super::view::Stop> {
    match op.attr("replica_groups") {
        Some(Attr::Dense(_)) => op.elements("replica_groups"),
        Some(Attr::Opaque(text)) => {
            mesh_axes(op, op.module().names.get(*text))?;
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// `#stablehlo.replica_group_mesh_axes<mesh = @name | #stablehlo.mesh<…>, axes = […]>`.
fn mesh_axes(op: Op<'_>, text: &str) -> Check {
    let Some((_, mesh)) = text.split_once("mesh = ").or_else(|| text.split_once("mesh=")) else {
        return Ok(());
    };
    if let Some(symbol) = mesh.strip_prefix('@') {
        let name = symbol.split([',', '>', ' ']).next().unwrap_or_default().trim_matches('"');
        let module = op.module();
        let known = module
            .block(module.body())
            .ops
            .iter()
            .any(|op| module.string_attr(*op, "sym_name") == Some(name));
        if !known {
            invalid!("replica_groups: mesh symbol '{name}' not found");
        }
        return Ok(());
    }
    // Names of the mesh's axes stand before the list of those that are used.
    let Some((mesh, used)) = mesh.rsplit_once("axes") else { return Ok(()) };
    let quoted =
        |text: &'_ str| -> Vec<String> { text.split('"').skip(1).step_by(2).map(str::to_owned).collect() };
    let known = quoted(mesh);
    match quoted(used).iter().find(|axis| !known.contains(axis)) {
        Some(axis) if !known.is_empty() => invalid!("axis '{axis}' not found in mesh definition"),
        _ => Ok(()),
    }
}

/// Replica groups are a matrix of ids, each of `0..n` once; `-1` fills short
/// groups where these may be of different sizes.
fn replica_groups(op: Op<'_>, same_size: bool, group_size: Option<i64>) -> Check {
    let Some(groups) = literal_groups(op)? else { return Ok(()) };
    let [rows, columns] = groups.shape[..] else {
        invalid!("replica groups should be a rank 2 tensor, but instead it is of rank {}", groups.shape.len())
    };
    if op.flag("use_global_device_ids") && rows * columns == 0 {
        invalid!("if `use_global_device_ids` is set, the replica groups cannot be empty");
    }
    let mut seen = HashSet::new();
    for &id in &groups.values {
        if id == -1 {
            if same_size {
                invalid!("Invalid replica id -1");
            }
        } else if !seen.insert(id) {
            invalid!("replica id #{id} seen more than once");
        }
    }
    if let Some(id) = (0..seen.len() as i64).find(|id| !seen.contains(id)) {
        invalid!("replica id #{id} not seen in replica groups");
    }
    match group_size {
        Some(size) if rows == 0 || columns as i64 != size => {
            invalid!("group size of replica_groups must be {size}, but got {columns}")
        }
        _ => Ok(()),
    }
}

/// The channel's handle; 0 without one.
fn channel(op: Op<'_>) -> i64 {
    match op.attr("channel_handle") {
        Some(Attr::ChannelHandle { handle, .. }) => *handle,
        _ => 0,
    }
}

fn positive_channel(op: Op<'_>) -> Check {
    let channel = channel(op);
    if op.flag("use_global_device_ids") && channel <= 0 {
        invalid!("channel_id must be positive when useGlobalDeviceIds is set but got: {channel}");
    }
    Ok(())
}

/// As many results as there are operands that carry data.
fn result_per_operand(op: Op<'_>, data: usize) -> Check {
    if op.result_count() != data {
        let results = op.result_count();
        invalid!("expects one result per data operand, but got {data} operands and {results} results");
    }
    Ok(())
}

fn all_gather(op: Op<'_>) -> Check {
    replica_groups(op, true, None)?;
    if op.flag("use_global_device_ids") && channel(op) < 0 {
        invalid!("channel_id cannot be negative when useGlobalDeviceIds is set, but got {}", channel(op));
    }
    let dim = usize::try_from(op.int("all_gather_dim")?).unwrap_or(usize::MAX);
    for (operand, result) in op.operands().zip(op.results()) {
        let (from, to) = (operand.tensor()?, result.tensor()?);
        let Some(&size) = from.shape.get(dim) else {
            invalid!("all_gather_dim must be a valid index of operand, but got {dim} for {operand}")
        };
        if size == 0 {
            invalid!("dimension size of operand at 'all_gather_dim' cannot be zero, but got {operand}");
        }
        if from.rank() != to.rank() {
            invalid!("operand and result must have the same rank, but got {operand} and {result}");
        }
        let others = from.shape.iter().zip(&to.shape).enumerate().filter(|(index, _)| *index != dim);
        if others.into_iter().any(|(_, (a, b))| !dims_compatible(*a, *b)) {
            invalid!(
                "operand and result should have the same shape except for the dimension size at 'all_gather_dim', \
                 but got {operand} and {result}"
            );
        }
        let gathered = to.shape[dim];
        if size != DYNAMIC && gathered != DYNAMIC && gathered % size != 0 {
            invalid!(
                "result gather dimension has size {gathered}, expected to be a multiple of operand gather dimension \
                 size {size}"
            );
        }
    }
    Ok(())
}

/// The region combines two scalars of each operand's type; results keep the
/// shape and take the region's element type.
fn reduces(op: Op<'_>, data: usize) -> Check {
    for (index, operand) in op.tensors(0..data)?.into_iter().enumerate() {
        let scalar = Tensor::scalar(operand.element.clone());
        let yielded =
            reducer(op, &Reducer { region: 0, inputs: &[operand], inits: &[&scalar], allowed: &[] })?;
        for element in yielded {
            op.infers(index, &Tensor { element, ..operand.clone() })?;
        }
    }
    Ok(())
}

fn all_reduce(op: Op<'_>) -> Check {
    replica_groups(op, false, None)?;
    positive_channel(op)?;
    result_per_operand(op, op.operand_count())?;
    reduces(op, op.operand_count())
}

fn reduce_scatter(op: Op<'_>) -> Check {
    replica_groups(op, true, None)?;
    let (operand, result) = (op.operand(0), op.result(0));
    let (from, to) = (operand.tensor()?, result.tensor()?);
    let scalar = Tensor::scalar(from.element.clone());
    let yielded = reducer(op, &Reducer { region: 0, inputs: &[from], inits: &[&scalar], allowed: &[] })?;
    if from.rank() != to.rank() {
        invalid!("operand and result should have same rank, but got {operand} and {result}");
    }
    let dim = usize::try_from(op.int("scatter_dimension")?).unwrap_or(usize::MAX);
    if dim >= from.shape.len() {
        invalid!("scatter dim should be less than operand/result rank, but got {dim} for {operand}");
    }
    positive_channel(op)?;
    let (whole, part) = (from.shape[dim], to.shape[dim]);
    for (name, size) in [("result", part), ("operand", whole)] {
        if size == 0 {
            invalid!("{name} dimension size at scatter_dimension cannot be zero");
        }
    }
    if whole != DYNAMIC && part != DYNAMIC && whole % part != 0 {
        invalid!(
            "operand scatter dimension has size {whole}, expected to be a multiple of result scatter dimension size \
             {part}"
        );
    }
    for (index, (a, b)) in from.shape.iter().zip(&to.shape).enumerate() {
        if index != dim && !dims_compatible(*a, *b) {
            invalid!("non scatter dimensions should be same for operand ({a}) and result ({b})");
        }
    }
    for element in yielded {
        if element != to.element {
            let (wanted, given) = (op.quoted_element(&element), op.quoted_element(&to.element));
            invalid!("result element-type is expected to be {wanted}, but got {given}");
        }
    }
    Ok(())
}

fn all_to_all(op: Op<'_>) -> Check {
    let (split, concat, count) =
        (op.int("split_dimension")?, op.int("concat_dimension")?, op.int("split_count")?);
    replica_groups(op, true, Some(count))?;
    for index in 0..op.operand_count() {
        let operand = op.operand(index).tensor()?;
        for (name, dim) in [("split_dimension", split), ("concat_dimension", concat)] {
            if dim >= operand.rank() {
                invalid!("AllToAll {name} {dim} is out-of-bounds for input rank {}", operand.rank());
            }
        }
        let mut shape = operand.shape.clone();
        let (split, concat) = (split as usize, concat as usize);
        if shape[split] != DYNAMIC {
            if shape[split] % count != 0 {
                let size = shape[split];
                invalid!("split dimension has size {size}, expected to be a multiple of split_count {count}");
            }
            shape[split] /= count;
        }
        if shape[concat] != DYNAMIC {
            shape[concat] = shape[concat].saturating_mul(count);
        }
        let mut bounds = operand.bounds.clone();
        if let Some(bound) = bounds.get_mut(split).filter(|bound| **bound != DYNAMIC) {
            *bound /= count;
        }
        if let Some(bound) = bounds.get_mut(concat).filter(|bound| **bound != DYNAMIC) {
            *bound = bound.saturating_mul(count);
        }
        op.infers(index, &Tensor { shape, bounds, element: operand.element.clone() })?;
    }
    Ok(())
}

/// The operands that carry data: all, or all but the root.
fn data_operands(op: Op<'_>) -> Result<usize, super::view::Stop> {
    let (count, name) = (op.operand_count(), &op.kind().name()["stablehlo.".len()..]);
    if !op.flag("has_dynamic_root") {
        if count == 0 {
            invalid!("{name} requires at least one data operand");
        }
        return Ok(count);
    }
    if count < 2 {
        invalid!("{name} with has_dynamic_root=true requires at least two operands (data + root)");
    }
    let (root, data) = (op.operand(count - 1), count - 1);
    let tensor = root.tensor()?;
    if tensor.rank() != 1 || tensor.element != Element::Plain(ElementType::Int(32)) {
        invalid!(
            "last operand of {name} with has_dynamic_root=true must be a rank-1 i32 tensor, but got {root}"
        );
    }
    if tensor.shape[0] != data as i64 {
        invalid!(
            "last operand of {name} with has_dynamic_root=true must have the same number of elements as data \
             operands ({data}), but got {}",
            tensor.shape[0]
        );
    }
    Ok(data)
}

fn collective_broadcast(op: Op<'_>) -> Check {
    if let Some(groups) = literal_groups(op)? {
        if groups.shape.len() != 2 {
            let rank = groups.shape.len();
            invalid!("replica groups should be a rank 2 tensor, but instead it is of rank {rank}");
        }
        let mut seen = HashSet::new();
        for id in groups.values {
            if id < 0 {
                invalid!("replica_groups values must be positive, but was given {id}");
            }
            if !seen.insert(id) {
                invalid!("replica id #{id} seen more than once");
            }
        }
    }
    let data = data_operands(op)?;
    result_per_operand(op, data)?;
    op.tensors(0..data)?.into_iter().enumerate().try_for_each(|(index, operand)| op.infers(index, operand))
}

fn collective_reduce(op: Op<'_>) -> Check {
    replica_groups(op, false, None)?;
    positive_channel(op)?;
    let data = data_operands(op)?;
    result_per_operand(op, data)?;
    reduces(op, data)
}

fn collective_permute(op: Op<'_>) -> Check {
    let Some(pairs) = op.elements("source_target_pairs")? else { return Ok(()) };
    if pairs.shape.len() != 2 {
        let rank = pairs.shape.len();
        invalid!("expect source_target_pairs attribute to be of rank 2, but got rank {rank}");
    }
    if pairs.shape[1] != 2 {
        invalid!("expect source_target_pairs attribute of shape (N, 2), but got {:?}", pairs.shape);
    }
    for (side, name) in [(0, "sources"), (1, "targets")] {
        let mut seen = HashSet::new();
        for id in pairs.values.iter().skip(side).step_by(2) {
            if *id < 0 {
                invalid!("replica ids in source_target_pairs must be >= 0, but got {id}");
            }
            if !seen.insert(*id) {
                invalid!("duplicate {name} not allowed, but {id} is repeated");
            }
        }
    }
    op.infers(0, op.operand(0).tensor()?)
}
