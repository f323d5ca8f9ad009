//! The rules of the house that a compiler does not check: who may depend on
//! whom, what each manifest says, and how long a file may be.

use crate::process::root;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Per crate of the project: which others it may depend on, in tests too.
const MAY_DEPEND_ON: [(&str, &[&str]); 14] = [
    ("ckpt-arena", &["ckpt-entity"]),
    ("ckpt-entity", &[]),
    ("ckpt-ir", &["ckpt-entity"]),
    ("ckpt-planner", &["ckpt-entity"]),
    ("ckpt-check", &["ckpt-entity", "ckpt-ir"]),
    ("ckpt-interp", &["ckpt-entity", "ckpt-ir"]),
    ("ckpt-passes", &["ckpt-check", "ckpt-entity", "ckpt-ir", "ckpt-planner"]),
    ("ckpt-runtime", &["ckpt-entity", "ckpt-interp", "ckpt-ir"]),
    ("ckpt-lower", &["ckpt-arena", "ckpt-entity", "ckpt-ir", "ckpt-passes", "ckpt-runtime"]),
    ("ckpt-codegen", &["ckpt-entity", "ckpt-interp", "ckpt-ir", "ckpt-passes"]),
    ("ckpt-bench", &["ckpt-ir", "ckpt-planner"]),
    ("ckpt-fuzz", &["ckpt-interp", "ckpt-ir", "ckpt-passes"]),
    (
        "ckpt-opt",
        &[
            "ckpt-arena",
            "ckpt-check",
            "ckpt-codegen",
            "ckpt-interp",
            "ckpt-ir",
            "ckpt-lower",
            "ckpt-passes",
            "ckpt-planner",
            "ckpt-runtime",
        ],
    ),
    ("xtask", &[]),
];

/// Libraries that only some crates may use.
const ONLY_IN: [(&str, &[&str]); 4] = [
    ("egg", &["ckpt-passes"]),
    ("clap", &["ckpt-fuzz", "ckpt-opt", "xtask"]),
    ("inkwell", &["ckpt-codegen"]),
    ("melior", &["ckpt-mlir", "ckpt-codegen"]),
];

/// A source file has at most this many lines.
const MAX_LINES: usize = 800;

/// Fails with all violations.
pub(crate) fn check() -> anyhow::Result<()> {
    let mut problems = Vec::new();
    for package in packages()? {
        problems.extend(wrong_dependencies(&package));
        problems.extend(incomplete_manifest(&package)?);
    }
    problems.extend(too_long(&root())?);
    if !problems.is_empty() {
        bail!("rules of the house:\n  {}", problems.join("\n  "));
    }
    Ok(())
}

/// A crate of the workspace.
struct Package {
    name: String,
    described: bool,
    manifest: PathBuf,
    /// Direct dependencies, those of tests and build scripts included.
    dependencies: Vec<String>,
}

/// All crates of the workspace, as `cargo metadata` gives them.
fn packages() -> anyhow::Result<Vec<Package>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--no-deps"]).current_dir(root());
    let output = command.output().context("`cargo metadata` does not start")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` gives no JSON")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let package = |package: &Value| Package {
        name: text(&package["name"]),
        described: !text(&package["description"]).is_empty(),
        manifest: text(&package["manifest_path"]).into(),
        dependencies: list(&package["dependencies"]).iter().map(|d| text(&d["name"])).collect(),
    };
    Ok(list(&metadata["packages"]).iter().map(package).collect())
}

/// Dependencies that point the wrong way.
fn wrong_dependencies(package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{name}: add the crate to MAY_DEPEND_ON in tools/xtask/src/tidy.rs")];
    };
    let is_wrong = |dependency: &str| {
        let ours = MAY_DEPEND_ON.iter().any(|(known, _)| *known == dependency);
        let restricted = ONLY_IN.iter().find(|(library, _)| *library == dependency);
        ours && dependency != name && !allowed.contains(&dependency)
            || restricted.is_some_and(|(_, users)| !users.contains(&name))
    };
    let wrong = package.dependencies.iter().filter(|dependency| is_wrong(dependency));
    wrong.map(|dependency| format!("{name} may not depend on {dependency}")).collect()
}

/// What a manifest leaves out.
fn incomplete_manifest(package: &Package) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    let manifest =
        std::fs::read_to_string(&package.manifest).with_context(|| package.manifest.display().to_string())?;
    if !package.described {
        problems.push(format!("{}: the manifest has no description", package.name));
    }
    let lines: Vec<&str> = manifest.lines().map(str::trim).collect();
    if !lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"]) {
        problems.push(format!("{}: the manifest takes no lints from the workspace", package.name));
    }
    Ok(problems)
}

/// Source files below `root` that one does not read in a sitting.
fn too_long(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut folders = vec![root.to_owned()];
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
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_keeps_its_rules() {
        check().unwrap();
    }

    #[test]
    fn dependencies_that_point_the_wrong_way_are_found() {
        let wrong = |name: &str, dependencies: &[&str]| {
            let dependencies = dependencies.iter().map(|d| (*d).to_owned()).collect();
            let package =
                Package { name: name.to_owned(), described: true, manifest: PathBuf::new(), dependencies };
            wrong_dependencies(&package)
        };
        assert_eq!(wrong("ckpt-check", &["ckpt-ir", "thiserror"]), Vec::<String>::new());
        assert_eq!(
            wrong("ckpt-check", &["ckpt-passes", "egg"]),
            ["ckpt-check may not depend on ckpt-passes", "ckpt-check may not depend on egg"]
        );
        assert_eq!(wrong("ckpt-new", &[]).len(), 1);
    }
}
