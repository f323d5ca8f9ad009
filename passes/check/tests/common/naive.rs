//! Random straight-line programs, random legal schedules of them, and the
//! definition of the peak written out as it is read: quadratic and plain.

use super::build::Build;
use super::programs::donate;
use super::remat::Random;
use ckpt_ir::schedule::{Kernel, KernelPartition};
use ckpt_ir::{Attr, Bytes, Category, Module, OpId, OpKind, ValueId};

/// A function `main` of up to twenty operations on vectors of several sizes.
pub fn program(random: &mut Random) -> Module {
    let mut b = Build::new();
    let sizes: Vec<u64> = (0..3).map(|_| 2 * (1 + random.below(8) as u64)).collect();
    let types: Vec<_> = sizes.iter().map(|size| b.f32(&[*size])).collect();
    let squares: Vec<_> = sizes.iter().map(|size| b.f32(&[2, size / 2])).collect();
    let main = b.function("main", &types, &[]);
    let mut values: Vec<(usize, ValueId)> = (0..3).map(|i| (i, b.argument(i))).collect();
    for _ in 0..random.below(20) {
        let (size, x) = values[random.below(values.len())];
        let same: Vec<_> = values.iter().filter(|v| v.0 == size).map(|v| v.1).collect();
        let y = same[random.below(same.len())];
        let value = match random.below(5) {
            0 => b.constant(types[size], &1f32.to_le_bytes(), true),
            1 => {
                let square = b.op(OpKind::Reshape, &[x], squares[size], &[]);
                b.op(OpKind::Reshape, &[square], types[size], &[])
            }
            2 => b.same(OpKind::Tanh, &[x]),
            _ => b.same(OpKind::Subtract, &[x, y]),
        };
        values.push((size, value));
    }
    let returned: Vec<_> = (0..1 + random.below(3)).map(|_| values[random.below(values.len())].1).collect();
    b.ret(&returned);
    let donated: Vec<usize> = (0..3).filter(|_| random.below(2) == 0).collect();
    donate(&mut b, main, &donated);
    b.module
}

fn body(module: &Module) -> Vec<OpId> {
    let main = module.function("main").unwrap();
    module.block(module.function_body(main).unwrap()).ops.clone()
}

fn is_free(module: &Module, op: OpId) -> bool {
    matches!(module.op(op).kind, OpKind::Reshape | OpKind::Constant)
}

/// Kernels of operations in a random legal order; some views and constants inlined.
pub fn schedule(module: &Module, random: &mut Random) -> KernelPartition {
    let ops = body(module);
    let block = module.op(ops[0]).parent.unwrap();
    let mut partition = KernelPartition::new(block);
    let mut pending = Vec::new();
    for &op in &ops[..ops.len() - 1] {
        if is_free(module, op) && random.below(2) == 0 {
            partition.inlined.push(op);
        } else {
            pending.push(op);
        }
    }
    while !pending.is_empty() {
        let ready = |op: OpId| !pending.iter().any(|other| *other != op && depends(module, op, *other));
        let ready: Vec<_> = pending.iter().copied().filter(|op| ready(*op)).collect();
        let op = ready[random.below(ready.len())];
        pending.retain(|other| *other != op);
        match partition.kernels.last_mut() {
            Some(kernel) if random.below(2) == 0 => kernel.ops.push(op),
            _ => partition.kernels.push(Kernel::single(op)),
        }
    }
    for kernel in &mut partition.kernels {
        kernel.workspace = Bytes(random.below(3) as u64 * 8);
    }
    partition
}

/// Whether `op` reads what `on` makes, directly or not.
fn depends(module: &Module, op: OpId, on: OpId) -> bool {
    let mut makers = module.op(op).operands.iter().filter_map(|v| module.defining_op(*v));
    makers.any(|maker| maker == on || depends(module, maker, on))
}

/// The kernels that read `value`, by itself or through views; the count of
/// kernels stands for the end.
fn readers(module: &Module, partition: &KernelPartition, value: ValueId) -> Vec<usize> {
    let mut found = Vec::new();
    for op in body(module) {
        if !module.op(op).operands.contains(&value) {
            continue;
        }
        if module.op(op).kind.is_terminator() {
            found.push(partition.kernels.len());
        }
        found.extend(kernel_of(partition, op));
        if module.op(op).kind == OpKind::Reshape {
            found.extend(readers(module, partition, module.op(op).results[0]));
        }
    }
    found
}

fn kernel_of(partition: &KernelPartition, op: OpId) -> Option<usize> {
    partition.kernels.iter().position(|kernel| kernel.ops.contains(&op))
}

fn is_donated(module: &Module, index: usize) -> bool {
    let attrs = module.attr(module.function("main").unwrap(), "arg_attrs");
    let Some(Attr::Array(attrs)) = attrs else { return false };
    !matches!(module.attrs.get(attrs[index]), Attr::Dictionary(entries) if entries.is_empty())
}

/// The peak by definition.
pub fn peak(module: &Module, partition: &KernelPartition) -> u64 {
    let ops = body(module);
    let block = partition.block;
    let end = partition.kernels.len();
    let bytes = |value: ValueId| module.tensor_type(value).unwrap().bytes().unwrap().0;
    let mut peak: u64 = module.block(block).arguments.iter().map(|argument| bytes(*argument)).sum();
    for now in 0..=end {
        let mut held = partition.kernels.get(now).map_or(0, |kernel| kernel.workspace.0);
        for (index, &argument) in module.block(block).arguments.iter().enumerate() {
            let needed = readers(module, partition, argument).iter().any(|k| *k >= now);
            if needed || !is_donated(module, index) {
                held += bytes(argument);
            }
        }
        for &op in &ops[..ops.len() - 1] {
            let Some(made) = kernel_of(partition, op) else { continue };
            if module.op(op).kind == OpKind::Reshape {
                continue;
            }
            let value = module.op(op).results[0];
            let readers = readers(module, partition, value);
            let inside = !readers.is_empty() && readers.iter().all(|k| *k == made);
            let alive = now == made || now > made && readers.iter().any(|k| *k >= now);
            if alive && !inside {
                held += bytes(value);
            }
        }
        peak = peak.max(held);
    }
    peak
}

/// The schedule with one thing wrong, in every way.
pub fn broken(module: &Module, partition: &KernelPartition) -> Vec<KernelPartition> {
    let mut found = Vec::new();
    for (at, kernel) in partition.kernels.iter().enumerate() {
        for (i, &op) in kernel.ops.iter().enumerate() {
            let mut left_out = partition.clone();
            left_out.kernels[at].ops.remove(i);
            let mut twice = left_out.clone();
            twice.kernels[at].ops.extend([op, op]);
            found.extend([left_out.clone(), twice]);
            for earlier in 0..at {
                let needs = |other: &OpId| *other != op && depends(module, op, *other);
                let blocked =
                    partition.kernels[earlier + 1..=at].iter().any(|kernel| kernel.ops.iter().any(needs));
                if blocked {
                    let mut moved = left_out.clone();
                    moved.kernels[earlier].ops.push(op);
                    found.push(moved);
                }
            }
            if !is_free(module, op) && !matches!(module.op(op).kind.category(), Category::Elementwise(_)) {
                left_out.inlined.push(op);
                found.push(left_out);
            }
        }
    }
    found
}
