//! `cargo xtask demo`: the main job on a shipped model, with its saving and
//! the proof that the results are the same.

mod model;

use crate::process::{built_command, cargo, errors_of, root};
use crate::setup;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// How much of the activations' peak the demo allows.
const POLICY: &str = "activations:40%";

pub(crate) fn run() -> anyhow::Result<()> {
    let unusable = setup::install_missing();
    cargo(&[&["build", "--release", "-p", "ckpt-opt"], setup::without_llvm(&unusable)].concat(), &[])?;
    let folder = root().join("target").join("demo");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let file = |name: &str| folder.join(name).display().to_string();
    let (model, smaller, report) = (file("model.mlir"), file("smaller.mlir"), file("report.json"));
    let shape = model::Shape::default();
    std::fs::write(&model, model::training_step(&shape)).with_context(|| model.clone())?;
    println!("model: {shape}");

    println!("\n$ ckpt-opt target/demo/model.mlir --remat={POLICY} -o target/demo/smaller.mlir");
    let mut transform = Command::new(built_command());
    transform.args([&model, &format!("--remat={POLICY}"), "-o", &smaller, &format!("--json={report}")]);
    println!("{}", errors_of(&mut transform, "ckpt-opt")?);

    println!("\nboth programs run on the same inputs, by the reference evaluator:");
    let (before, after) = (file("before.npz"), file("after.npz"));
    for (program, outputs) in [(&model, &before), (&smaller, &after)] {
        let mut command = Command::new(built_command());
        command.args(["run", program, "--seed=1", &format!("--outputs={outputs}")]);
        errors_of(&mut command, "ckpt-opt run")?;
    }
    if std::fs::read(&before)? != std::fs::read(&after)? {
        bail!("the results differ: {before} and {after}");
    }
    summarise(Path::new(&report))
}

/// Prints what the report says.
fn summarise(report: &Path) -> anyhow::Result<()> {
    let report: Value = serde_json::from_slice(&std::fs::read(report)?)?;
    let mebibytes = |key: &str| report[key].as_f64().unwrap_or_default() / f64::from(1 << 20);
    let number = |key: &str| report[key].as_f64().unwrap_or_default();
    println!("  results        bit-identical, and proven equal by the checker");
    println!("  peak before    {:8.1} MiB", mebibytes("baseline_peak_bytes"));
    println!("  peak after     {:8.1} MiB", mebibytes("peak_bytes"));
    println!(
        "  overhead       {:8.2} % of the time (proven: no plan within the budget takes less than {:.2} %)",
        number("overhead_percent"),
        number("lower_bound_percent")
    );
    println!("  recomputed     {:8} values", number("recomputed"));
    Ok(())
}
