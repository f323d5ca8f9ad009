//! The rules of the house that a compiler does not check: who may depend on
//! whom, and how long a file may be.

use crate::process::root;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Per crate of the project: which others it may depend on.
const MAY_DEPEND_ON: [(&str, &[&str]); 10] = [
    ("ckpt-entity", &[]),
    ("ckpt-ir", &["ckpt-entity"]),
    ("ckpt-planner", &[]),
    ("ckpt-check", &["ckpt-entity", "ckpt-ir"]),
    ("ckpt-interp", &["ckpt-entity", "ckpt-ir"]),
    ("ckpt-passes", &["ckpt-check", "ckpt-entity", "ckpt-ir", "ckpt-planner"]),
    ("ckpt-bench", &["ckpt-planner"]),
    ("ckpt-opt", &["ckpt-check", "ckpt-interp", "ckpt-ir", "ckpt-passes", "ckpt-planner"]),
    ("lit-tests", &["ckpt-opt"]),
    ("xtask", &[]),
];

/// Libraries that only some crates may use.
const ONLY_IN: [(&str, &[&str]); 4] = [
    ("egg", &["ckpt-passes"]),
    ("clap", &["ckpt-opt", "xtask"]),
    ("inkwell", &["ckpt-codegen"]),
    ("melior", &["ckpt-mlir", "ckpt-codegen"]),
];

/// A source file has at most this many lines.
const MAX_LINES: usize = 800;

/// Fails with all violations.
pub(crate) fn check() -> anyhow::Result<()> {
    let mut problems = Vec::new();
    for (name, dependencies) in dependencies()? {
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(known, _)| *known == name) else {
            problems.push(format!("{name}: add the crate to MAY_DEPEND_ON in tools/xtask/src/tidy.rs"));
            continue;
        };
        for dependency in dependencies {
            let ours = MAY_DEPEND_ON.iter().any(|(known, _)| *known == dependency);
            if ours && dependency != name && !allowed.contains(&dependency.as_str()) {
                problems.push(format!("{name} may not depend on {dependency}"));
            }
            let restricted = ONLY_IN.iter().find(|(library, _)| *library == dependency);
            if restricted.is_some_and(|(_, users)| !users.contains(&name.as_str())) {
                problems.push(format!("{name} may not depend on {dependency}"));
            }
        }
    }
    too_long(&mut problems)?;
    if !problems.is_empty() {
        bail!("rules of the house:\n  {}", problems.join("\n  "));
    }
    Ok(())
}

/// Per crate of the workspace its direct dependencies, tests' included.
fn dependencies() -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--no-deps"]).current_dir(root());
    let output = command.output().context("`cargo metadata` does not start")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` gives no JSON")?;
    let name_of = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    Ok(packages
        .iter()
        .map(|p| (name_of(p), list(&p["dependencies"]).iter().map(name_of).collect()))
        .collect())
}

fn too_long(problems: &mut Vec<String>) -> anyhow::Result<()> {
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let lines = std::fs::read_to_string(&path)?.lines().count();
                if lines > MAX_LINES {
                    problems.push(format!("{}: {lines} lines, at most {MAX_LINES}", path.display()));
                }
            }
        }
    }
    Ok(())
}
