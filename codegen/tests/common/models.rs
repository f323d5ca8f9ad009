//! The kernels of the shared models, as the pipeline makes them.

use ckpt_codegen::kernels::{KernelSource, Object, compile};
use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{Module, OpId, ValueId};
use ckpt_passes::Policy;
use ckpt_passes::pipeline::{Options, Outcome, optimize};
use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

/// A root with what is computed inside its kernel, in order.
fn source(module: &Module, inlined: &HashSet<OpId>, root: OpId) -> KernelSource {
    let mut kernel = KernelSource { name: module.value_name_or_op(root), ..KernelSource::default() };
    let mut seen: HashSet<ValueId> = HashSet::new();
    let operands = |op: OpId| {
        let inside = module.walk(op).into_iter().flat_map(|op| module.op(op).operands.to_vec());
        let local = |v: &ValueId| match module.value_def(*v) {
            ckpt_ir::ValueDef::Result { op: of, .. } => module.op(of).parent == module.op(op).parent,
            ckpt_ir::ValueDef::Argument { block, .. } => Some(block) == module.op(op).parent,
        };
        inside.filter(local).collect::<Vec<_>>()
    };
    let mut stack: Vec<(ValueId, bool)> = operands(root).into_iter().rev().map(|v| (v, false)).collect();
    while let Some((value, leaving)) = stack.pop() {
        let op = module.defining_op(value).filter(|op| inlined.contains(op));
        match op {
            Some(op) if leaving => kernel.ops.push(op),
            _ if !seen.insert(value) => {}
            None => kernel.inputs.push(value),
            Some(op) => {
                stack.push((value, true));
                stack.extend(operands(op).into_iter().rev().map(|v| (v, false)));
            }
        }
    }
    kernel.ops.push(root);
    kernel.outputs = module.op(root).results.to_vec();
    kernel
}

fn sources(module: &Module, partition: &KernelPartition) -> Vec<KernelSource> {
    let mut all = Vec::new();
    let mut stack = vec![partition];
    while let Some(partition) = stack.pop() {
        let inlined: HashSet<OpId> = partition.inlined.iter().copied().collect();
        all.extend(partition.kernels.iter().flat_map(|k| &k.ops).map(|op| source(module, &inlined, *op)));
        stack.extend(partition.nested.values());
    }
    all
}

fn path_of(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models").join(name)
}

/// What a model's kernels compile to; none where the shared data is missing.
pub fn compiled(name: &str, policy: Policy) -> Option<(Module, Vec<KernelSource>, Object)> {
    let Ok(text) = std::fs::read_to_string(path_of(name)) else {
        eprintln!("skipped: no {name} in ../shared/models");
        return None;
    };
    let options = Options { policy, ..Options::default() };
    let Outcome::Met(optimized) = optimize(super::parse(&text), &options).unwrap() else {
        eprintln!("skipped: {name} does not fit this budget");
        return None;
    };
    let kernels = sources(&optimized.module, &optimized.partition);
    let start = Instant::now();
    let object = compile(&optimized.module, &kernels).unwrap();
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    for (_, reason) in &object.no_path {
        *missing.entry(format!("{reason:?}")).or_default() += 1;
    }
    eprintln!(
        "{name}: {} kernels, {} functions, {} KiB in {:.2?}; without: {missing:?}",
        kernels.len(),
        object.functions,
        object.shared_library.len() >> 10,
        start.elapsed()
    );
    Some((optimized.module.clone(), kernels, object))
}
