//! The default command: read, rematerialise, print.

use crate::failure::Failure;
use crate::optimise::{RematArgs, optimise};
use crate::program::Program;
use crate::{input_output, report};
use ckpt_ir::text::{PrintOptions, print};
use ckpt_passes::Policy;
use ckpt_passes::report::text;
use std::collections::BTreeMap;
use std::time::Instant;

/// Arguments of the default command.
#[derive(clap::Args)]
pub(crate) struct TransformArgs {
    /// An MLIR file with StableHLO, or `-` for standard input.
    #[arg(default_value = "-")]
    input: String,
    /// Where the program goes.
    #[arg(short, default_value = "-")]
    output: String,
    #[command(flatten)]
    remat: RematArgs,
    /// Where the report goes, as JSON.
    #[arg(long)]
    json: Option<String>,
    /// Print locations.
    #[arg(long = "mlir-print-debuginfo")]
    debug_info: bool,
    /// Print every operation in generic form.
    #[arg(long = "mlir-print-op-generic")]
    generic: bool,
    /// Print the seconds of each phase to standard error.
    #[arg(long, visible_alias = "mlir-timing")]
    timing: bool,
}

/// Reads, rematerialises if asked to, and prints.
pub(crate) fn run(args: &TransformArgs) -> Result<(), Failure> {
    let mut phases = Phases::default();
    let program = Program::read(&args.input)?;
    let module = phases.time("read", || program.module())?;
    let print_options = PrintOptions { debug_info: args.debug_info, generic: args.generic };
    if args.remat.remat.is_none() && args.json.is_none() {
        let printed = phases.time("print", || print(&module, &print_options));
        input_output::write(&args.output, printed.as_bytes())?;
        return phases.finish(args.timing);
    }
    let options = args.remat.options()?;
    let optimized = phases.time("optimise", || optimise(&program, &module, &options))?;
    // Without a policy the program stays as it is written; the report is about it.
    let output = if options.policy == Policy::None { &module } else { &optimized.module };
    let printed = phases.time("print", || print(output, &print_options));
    input_output::write(&args.output, printed.as_bytes())?;
    if let Some(path) = &args.json {
        report::write(path, &optimized.report, &phases.seconds)?;
    }
    eprintln!("{}", text::verdict(&optimized.report));
    phases.finish(args.timing)
}

/// Seconds of each phase.
#[derive(Default)]
struct Phases {
    seconds: BTreeMap<&'static str, f64>,
}

impl Phases {
    fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.seconds.insert(name, start.elapsed().as_secs_f64());
        result
    }

    fn finish(&self, print: bool) -> Result<(), Failure> {
        if print {
            for (name, seconds) in &self.seconds {
                eprintln!("{seconds:9.3} s  {name}");
            }
        }
        Ok(())
    }
}
