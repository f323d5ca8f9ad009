//! What the commands that rematerialise have in common.

use crate::failure::Failure;
use crate::program::Program;
use crate::progress;
use ckpt_ir::Module;
use ckpt_passes::Effort;
use ckpt_passes::cost::Device;
use ckpt_passes::egraph::rules::{RULES, RuleSet};
use ckpt_passes::manager::Observer;
use ckpt_passes::pipeline::{Optimized, Options, Outcome, optimize_observed};
use ckpt_passes::remat::apply::Barriers;
use ckpt_passes::report::text;
use ckpt_passes::{Policy, PolicyError};

/// Options of every command that rematerialises.
#[derive(clap::Args)]
pub(crate) struct RematArgs {
    /// none, budget:SIZE, activations:SIZE, min, sqrt or full; SIZE is bytes,
    /// 8GiB, 500MB, or 60% of the peak without rematerialisation.
    #[arg(long, value_parser = parse_policy)]
    pub(crate) remat: Option<Policy>,
    /// The device that times are estimated for: a built-in description (cpu,
    /// a100, h200) or a JSON file.
    #[arg(long, default_value = "a100")]
    cost_model: String,
    /// How clones are kept apart from their originals: stablehlo or none.
    #[arg(long, default_value = "stablehlo", value_parser = parse_barriers)]
    emit_barriers: Barriers,
    #[command(flatten)]
    effort: EffortArg,
    /// Rules of the e-graph to leave out, by name.
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = parse_rule)]
    without_rule: Vec<String>,
}

/// How much work the planner may do.
#[derive(clap::Args)]
pub(crate) struct EffortArg {
    /// How much work the planner may do, from 1 (a quick answer) to 5. The
    /// plan depends on it, and on nothing that differs between machines.
    #[arg(long = "effort", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    level: u8,
}

impl EffortArg {
    pub(crate) fn effort(&self) -> Effort {
        Effort::new(self.level).unwrap_or_default()
    }
}

fn parse_policy(text: &str) -> Result<Policy, PolicyError> {
    text.parse()
}

fn parse_rule(text: &str) -> Result<String, String> {
    let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    if names.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!("write one of {}", names.join(", ")))
    }
}

fn parse_barriers(text: &str) -> Result<Barriers, String> {
    match text {
        "stablehlo" => Ok(Barriers::StableHlo),
        "none" => Ok(Barriers::None),
        _ => Err("write stablehlo or none".to_owned()),
    }
}

impl RematArgs {
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let device = match Device::built_in(&self.cost_model) {
            Some(device) => device,
            None => device_file(&self.cost_model)?,
        };
        Ok(Options {
            policy: self.remat.unwrap_or_default(),
            device,
            barriers: self.emit_barriers,
            effort: self.effort.effort(),
            rules: RuleSet { without: self.without_rule.clone(), ..RuleSet::default() },
        })
    }
}

fn device_file(path: &str) -> Result<Device, Failure> {
    let bytes = std::fs::read(path).map_err(|source| Failure::Io { path: path.into(), source })?;
    let invalid = |message: String| Failure::Invalid { path: path.to_owned(), message };
    let text = String::from_utf8(bytes).map_err(|_| invalid("the text is not valid UTF-8".to_owned()))?;
    Device::from_json(&text).map_err(|error| invalid(error.to_string()))
}

/// Rematerialises; an unmet budget is a failure that says what can be met.
pub(crate) fn optimise(
    program: &Program,
    module: &Module,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Box<Optimized>, Failure> {
    let optimized = progress::during("planning", || optimize_observed(module.clone(), options, observer));
    match optimized.map_err(|error| program.refuse(module, &error))? {
        Outcome::Met(optimized) => Ok(optimized),
        Outcome::Unmet(unmet) => Err(Failure::Unmet(text::unmet(&unmet, &|_| String::new()))),
    }
}
