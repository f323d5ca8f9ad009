//! Options of the default command that concern passes: pipelines, and what is
//! printed while they run, with the names that mlir-opt gives them.

use crate::failure::Failure;
use crate::input_output;
use ckpt_ir::text::{PrintOptions, print};
use ckpt_ir::{Module, verify};
use ckpt_passes::manager::{Observer, PASSES, Pipeline};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options that concern passes.
#[derive(clap::Args)]
pub(crate) struct PassArgs {
    /// Passes to run, as `builtin.module(normalise,remat{budget=8GiB})`; see --list-passes.
    #[arg(long, value_name = "PIPELINE", conflicts_with = "remat", value_parser = check_pipeline)]
    pub(crate) pass_pipeline: Option<String>,
    /// List the passes with their options and end.
    #[arg(long)]
    pub(crate) list_passes: bool,
    /// Print the pipeline to standard error before it runs.
    #[arg(long)]
    dump_pass_pipeline: bool,
    /// Print what passes counted to standard error.
    #[arg(long, visible_alias = "mlir-pass-statistics")]
    pass_statistics: bool,
    /// Verify the module after each pass.
    #[arg(long)]
    verify_each: bool,
    /// Print the module before each pass.
    #[arg(long, visible_alias = "mlir-print-ir-before-all")]
    print_ir_before_all: bool,
    /// Print the module after each pass.
    #[arg(long, visible_alias = "mlir-print-ir-after-all")]
    print_ir_after_all: bool,
    /// Print the module after each pass that changed it.
    #[arg(long, visible_alias = "mlir-print-ir-after-change")]
    print_ir_after_change: bool,
    /// Print the module before these passes.
    #[arg(long, visible_alias = "mlir-print-ir-before", value_name = "PASS", value_delimiter = ',')]
    print_ir_before: Vec<String>,
    /// Print the module after these passes.
    #[arg(long, visible_alias = "mlir-print-ir-after", value_name = "PASS", value_delimiter = ',')]
    print_ir_after: Vec<String>,
    /// Print into numbered files of this folder instead of standard error.
    #[arg(long, visible_alias = "mlir-print-ir-tree-dir", value_name = "FOLDER")]
    print_ir_tree_dir: Option<PathBuf>,
}

fn check_pipeline(text: &str) -> Result<String, String> {
    Pipeline::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

impl PassArgs {
    /// The pipeline that is asked for, announced if that is asked for too.
    pub(crate) fn pipeline(&self) -> Result<Option<Pipeline>, Failure> {
        let pipeline = self.pass_pipeline.as_deref().map(Pipeline::parse).transpose();
        let pipeline = pipeline.map_err(|error| Failure::Usage(error.to_string()))?;
        if let (Some(pipeline), true) = (&pipeline, self.dump_pass_pipeline) {
            tell!("{pipeline}");
        }
        Ok(pipeline)
    }

    /// Who watches the passes.
    pub(crate) fn watcher(&self, print_options: PrintOptions) -> Watcher<'_> {
        Watcher {
            args: self,
            print_options,
            unchanged: None,
            started: Vec::new(),
            seconds: BTreeMap::new(),
            files: 0,
            failure: None,
        }
    }

    /// Prints what passes counted.
    pub(crate) fn print_statistics(&self, statistics: &[(&str, &str, usize)]) {
        for (pass, name, count) in statistics.iter().filter(|_| self.pass_statistics) {
            tell!("{count:9}  {pass}: {name}");
        }
    }
}

/// The passes with their options.
pub(crate) fn list() -> String {
    let mut out = String::new();
    for pass in &PASSES {
        let _ = writeln!(out, "{:12} {}", pass.name, pass.summary);
        for option in pass.options {
            let _ = writeln!(out, "    {}={}", option.name, option.summary);
        }
    }
    out
}

/// Prints, times and verifies while passes run.
pub(crate) struct Watcher<'a> {
    args: &'a PassArgs,
    print_options: PrintOptions,
    /// The text before the pass that runs, where it matters whether it changes.
    unchanged: Option<String>,
    started: Vec<Instant>,
    /// Seconds of each pass, what runs inside it included.
    pub(crate) seconds: BTreeMap<&'static str, f64>,
    files: usize,
    /// The first thing that went wrong while watching.
    failure: Option<Failure>,
}

impl Watcher<'_> {
    /// Says what went wrong while watching, if anything did.
    pub(crate) fn finish(self) -> Result<BTreeMap<&'static str, f64>, Failure> {
        self.failure.map_or(Ok(self.seconds), Err)
    }

    fn dump(&mut self, when: &str, pass: &str, text: &str) {
        match &self.args.print_ir_tree_dir {
            None => tell_part!("// -----// IR Dump {when} {pass} //----- //\n{text}\n"),
            Some(folder) => {
                let name = format!("{}_{}_{pass}.mlir", self.files, when.to_ascii_lowercase());
                self.files += 1;
                if let Err(failure) = write_in(folder, &name, text) {
                    self.failure.get_or_insert(failure);
                }
            }
        }
    }
}

fn write_in(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|source| Failure::Io { path: folder.to_owned(), source })?;
    input_output::write(&folder.join(name).to_string_lossy(), text.as_bytes())
}

impl Observer for Watcher<'_> {
    fn before(&mut self, pass: &'static str, module: &Module) {
        if self.args.print_ir_before_all || self.args.print_ir_before.iter().any(|name| name == pass) {
            self.dump("Before", pass, &print(module, &self.print_options));
        }
        self.unchanged = self.args.print_ir_after_change.then(|| print(module, &self.print_options));
        self.started.push(Instant::now());
    }

    fn after(&mut self, pass: &'static str, module: &Module) {
        let spent = self.started.pop().map_or(0.0, |start| start.elapsed().as_secs_f64());
        *self.seconds.entry(pass).or_default() += spent;
        let named = self.args.print_ir_after.iter().any(|name| name == pass);
        if self.args.print_ir_after_all || self.args.print_ir_after_change || named {
            let text = print(module, &self.print_options);
            if self.unchanged.take().is_none_or(|before| before != text) || named {
                self.dump("After", pass, &text);
            }
        }
        let violation = self.args.verify_each.then(|| verify(module).into_iter().next()).flatten();
        if let Some(violation) = violation {
            let why = format!("pass '{pass}' left an invalid module: {}", violation.message);
            self.failure.get_or_insert(Failure::Internal(why));
        }
    }
}
