//! Collectives: who takes part, and what each process gets.

use crate::convolution::split;
use crate::error::{Outcome, invalid, unsupported};
use crate::lanes::Body;
use crate::machine::{Machine, Values};
use crate::movement::concatenate;
use crate::parallel::{Grid, Process, channel};
use crate::site::{Site, static_shape};
use crate::tensor::{Tensor, Value};
use ckpt_ir::OpKind;
use smallvec::SmallVec;

/// Whether an operation exchanges data within groups of processes.
pub(crate) fn is_collective(kind: OpKind) -> bool {
    use OpKind as K;
    matches!(
        kind,
        K::AllGather
            | K::AllReduce
            | K::AllToAll
            | K::CollectiveBroadcast
            | K::CollectivePermute
            | K::CollectiveReduce
            | K::CrossReplicaSum
            | K::ReduceScatter
    )
}

/// The group of a process, in order; empty if it is in none and need not be.
pub(crate) fn group(site: Site<'_>, grid: Grid, process: Process) -> Outcome<Vec<Process>> {
    use OpKind as K;
    if site.kind() == K::CollectivePermute {
        // Everyone takes part: sources and targets meet, the others get zeros.
        return Ok(everyone(site, grid, process));
    }
    let groups = replica_groups(site)?;
    let groups =
        if groups.is_empty() { vec![(0..grid.replicas.max(grid.partitions)).collect()] } else { groups };
    let own: Vec<Vec<Process>> = match (channel(site) > 0, site.flag("use_global_device_ids")) {
        (true, true) => groups.iter().map(|ids| flattened(ids, grid)).collect(),
        (false, true) => return invalid("use_global_device_ids needs a channel"),
        (true, false) if matches!(site.kind(), K::AllToAll | K::CollectiveBroadcast) => groups
            .iter()
            .map(|ids| ids.iter().map(|id| Process { partition: *id, ..process }).collect())
            .collect(),
        (true, false) => groups.iter().map(|ids| replicas_and_partitions(ids, grid)).collect(),
        (false, false) => groups
            .iter()
            .map(|ids| ids.iter().map(|id| Process { replica: *id, ..process }).collect())
            .collect(),
    };
    match own.into_iter().find(|group| group.contains(&process)) {
        Some(group) => Ok(group),
        None if matches!(site.kind(), K::CollectiveBroadcast | K::CollectiveReduce) => Ok(Vec::new()),
        None => invalid("a process is in no replica group"),
    }
}

fn flattened(ids: &[u32], grid: Grid) -> Vec<Process> {
    let place = |id: &u32| Process { replica: id / grid.partitions, partition: id % grid.partitions };
    ids.iter().map(place).collect()
}

fn replicas_and_partitions(ids: &[u32], grid: Grid) -> Vec<Process> {
    let partitions = 0..grid.partitions;
    partitions.flat_map(|partition| ids.iter().map(move |id| Process { replica: *id, partition })).collect()
}

/// The processes that a permutation runs over: the replicas of one partition,
/// or with a channel the partitions of one replica.
fn everyone(site: Site<'_>, grid: Grid, process: Process) -> Vec<Process> {
    if channel(site) > 0 {
        (0..grid.partitions).map(|partition| Process { partition, ..process }).collect()
    } else {
        (0..grid.replicas).map(|replica| Process { replica, ..process }).collect()
    }
}

/// The groups as the attribute has them, without the −1 that fill short rows.
fn replica_groups(site: Site<'_>) -> Outcome<Vec<Vec<u32>>> {
    let Some(ckpt_ir::Attr::Dense(_)) = site.attr("replica_groups") else {
        return unsupported("replica groups of this form");
    };
    let groups = site.listed("replica_groups")?;
    let columns = groups.shape.get(1).copied().unwrap_or(0);
    let ids = groups.to_i64s()?;
    let row = |ids: &[i64]| ids.iter().filter_map(|id| u32::try_from(*id).ok()).collect();
    Ok(if columns == 0 { Vec::new() } else { ids.chunks_exact(columns).map(row).collect() })
}

/// What a process in no group gets: zeros.
pub(crate) fn outside(site: Site<'_>) -> Outcome<Values> {
    let types = (0..site.data().results.len()).map(|index| site.result_type(index));
    types
        .map(|ty| {
            let ty = ty?;
            let shape = static_shape(ty);
            let zero = vec![0; ty.element.byte_width() as usize];
            let scalar = Tensor::from_bytes(ty.element, &[], &zero);
            match (shape, scalar) {
                (Some(shape), Some(scalar)) => Ok(scalar.splat(shape).into()),
                _ => unsupported("a result of this type"),
            }
        })
        .collect()
}

/// What process `index` of a group gets, given everyone's operands in the group's order.
pub(crate) fn results(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    group: &[Process],
    index: usize,
    operands: &[Vec<Tensor>],
) -> Outcome<Values> {
    let own = &operands[index];
    if operands.iter().any(|other| other.len() != own.len()) {
        return invalid("the processes bring different numbers of operands");
    }
    let of_all = |operand: usize| -> Vec<&Tensor> { operands.iter().map(|all| &all[operand]).collect() };
    let mut results = Values::new();
    for operand in 0..own.len() {
        let result = match site.kind() {
            OpKind::AllGather => concatenate(&of_all(operand), site.size("all_gather_dim")?)?,
            OpKind::AllReduce | OpKind::CrossReplicaSum => {
                all_reduce(machine, site, group, &of_all(operand))?
            }
            OpKind::ReduceScatter => {
                let reduced = all_reduce(machine, site, group, &of_all(operand))?;
                split(&reduced, group.len(), site.int("scatter_dimension")?)?.swap_remove(index)
            }
            OpKind::AllToAll => all_to_all(site, index, &of_all(operand))?,
            OpKind::CollectiveBroadcast => return broadcast(site, own, operands),
            OpKind::CollectiveReduce => return reduce_to_root(machine, site, group, index, operands),
            OpKind::CollectivePermute => return permuted(site, group, index, operands),
            _ => return unsupported("this collective"),
        };
        results.push(result.into());
    }
    Ok(results)
}

/// Reduces everyone's operand elementwise, in the order of the processes.
fn all_reduce(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    group: &[Process],
    operands: &[&Tensor],
) -> Outcome<Tensor> {
    let body = match site.kind() {
        OpKind::CrossReplicaSum => Body::Binary(OpKind::Add),
        _ => Body::of(site.module, site.block(0)?)?,
    };
    if operands.iter().any(|operand| operand.shape != operands[0].shape) {
        return invalid("the processes bring operands of different shapes");
    }
    let mut order: SmallVec<[usize; 8]> = (0..group.len()).collect();
    order.sort_by_key(|at| group[*at]);
    let lanes = &[operands[0].len()][..];
    let flat = |at: usize| operands[at].clone().reshaped(lanes);
    let mut sum = flat(order[0]);
    for &at in &order[1..] {
        sum = match body.run(machine, &[sum, flat(at)])?.pop() {
            Some(sum) => sum,
            None => return invalid("the body of a collective returns nothing"),
        };
    }
    Ok(sum.reshaped(operands[0].shape.clone()))
}

fn all_to_all(site: Site<'_>, index: usize, operands: &[&Tensor]) -> Outcome<Tensor> {
    let (parts, along) = (site.size("split_count")?, site.int("split_dimension")?);
    let mut received = Vec::new();
    for operand in operands {
        match split(operand, parts, along)?.into_iter().nth(index) {
            Some(part) => received.push(part),
            None => return invalid("split_count is not the size of the group"),
        }
    }
    concatenate(&received.iter().collect::<Vec<_>>(), site.size("concat_dimension")?)
}

/// The position in the group of the process that a rooted collective names for
/// each result: the first, or what its last operand says.
fn roots(site: Site<'_>, own: &[Tensor]) -> Outcome<Vec<i64>> {
    let results = site.data().results.len();
    match own.get(results) {
        Some(roots) => Ok(roots.to_i64s()?.into_iter().take(results).collect()),
        None => Ok(vec![0; results]),
    }
}

/// The root gets the reduced values, the others zeros.
fn reduce_to_root(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    group: &[Process],
    index: usize,
    operands: &[Vec<Tensor>],
) -> Outcome<Values> {
    let mut results = outside(site)?;
    for (operand, root) in roots(site, &operands[index])?.into_iter().enumerate() {
        if root == index as i64 {
            let all: Vec<&Tensor> = operands.iter().map(|all| &all[operand]).collect();
            results[operand] = all_reduce(machine, site, group, &all)?.into();
        }
    }
    Ok(results)
}

/// Everyone gets the first process' operands, or with a dynamic root those of
/// the process that the last operand names for each.
fn broadcast(site: Site<'_>, own: &[Tensor], operands: &[Vec<Tensor>]) -> Outcome<Values> {
    let one = |(operand, root): (usize, &i64)| {
        let sender = usize::try_from(*root).ok().and_then(|root| operands.get(root));
        match sender {
            Some(sender) => Ok(sender[operand].clone().into()),
            None => invalid("the root of a broadcast is no member of its group"),
        }
    };
    roots(site, own)?.iter().enumerate().map(one).collect()
}

fn permuted(site: Site<'_>, group: &[Process], index: usize, operands: &[Vec<Tensor>]) -> Outcome<Values> {
    let pairs = site.ints("source_target_pairs")?;
    let own =
        |process: &Process| i64::from(if channel(site) > 0 { process.partition } else { process.replica });
    let me = own(&group[index]);
    let source = pairs.chunks_exact(2).find(|pair| pair[1] == me).map(|pair| pair[0]);
    let sender = source.and_then(|source| group.iter().position(|process| own(process) == source));
    match sender {
        Some(sender) => Ok(operands[sender].iter().cloned().map(Value::from).collect()),
        None => outside(site),
    }
}
