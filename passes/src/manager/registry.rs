//! The table of passes.

use super::text::{Named, PipelineError};
use super::{Pass, Run, Step};
use crate::cost::Device;
use crate::normalise::{self, inline};
use crate::pipeline::{Options, Outcome, optimize_observed};
use crate::remat::apply::Barriers;
use crate::{Effort, PassError, Policy, PolicyError};
use ckpt_ir::Module;

/// A pass, as the user meets it.
pub struct PassInfo {
    /// Its name in pipelines.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [PassOption],
    make: Make,
}

/// How a pass comes to be.
enum Make {
    /// It is a function.
    Plain(PlainRun),
    /// It is made of the values of its options.
    Configured(fn(&Values<'_>) -> Result<Box<dyn Pass>, PipelineError>),
}

type PlainRun = fn(&mut Module, &mut Run<'_>) -> Result<(), PassError>;

/// An option of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassOption {
    /// Its name.
    pub name: &'static str,
    /// What it takes and does.
    pub summary: &'static str,
}

/// All passes.
pub static PASSES: [PassInfo; 7] = [
    plain("inline", "replace calls by the bodies of their callees", |module, run| {
        let inlined = inline::inline_calls(module)?;
        run.statistics.push(("inline", "calls inlined", inlined));
        Ok(())
    }),
    plain("fold", "remove operations that are the identity, barriers included", |module, run| {
        run.statistics.push(("fold", "operations folded", normalise::fold(module, false)));
        Ok(())
    }),
    plain("cse", "merge equal operations", |module, run| {
        run.statistics.push(("cse", "operations merged", normalise::merge_equal(module)));
        Ok(())
    }),
    plain("dce", "remove operations that nothing uses", |module, run| {
        run.statistics.push(("dce", "operations removed", normalise::remove_unused(module)));
        Ok(())
    }),
    plain("normalise", "inline, fold, merge and remove, as rematerialisation does first", |module, run| {
        let stats = normalise::normalise(module, false)?;
        let counts = [
            ("calls inlined", stats.calls_inlined),
            ("operations folded", stats.folded),
            ("operations merged", stats.merged),
            ("operations removed", stats.removed),
        ];
        run.statistics.extend(counts.map(|(name, count)| ("normalise", name, count)));
        Ok(())
    }),
    plain("check", "verify the module", |module, _| match ckpt_ir::verify(module).into_iter().next() {
        None => Ok(()),
        Some(violation) => Err(PassError::Invalid(Box::new(violation))),
    }),
    PassInfo {
        name: "remat",
        summary: "store or recompute: plan the entry function for a policy and apply the plan",
        options: &[
            PassOption { name: "policy", summary: "as --remat; default min" },
            PassOption { name: "budget", summary: "SIZE: short for policy=budget:SIZE" },
            PassOption { name: "effort", summary: "1 to 5; default 3" },
            PassOption { name: "barriers", summary: "stablehlo or none; default stablehlo" },
            PassOption { name: "cost-model", summary: "a built-in device description; default a100" },
        ],
        make: Make::Configured(Remat::make),
    },
];

const fn plain(name: &'static str, summary: &'static str, run: PlainRun) -> PassInfo {
    PassInfo { name, summary, options: &[], make: Make::Plain(run) }
}

/// A pass without options.
struct Plain(PlainRun);

impl Pass for Plain {
    fn run(&self, module: &mut Module, run: &mut Run<'_>) -> Result<(), PassError> {
        (self.0)(module, run)
    }
}

/// Rematerialisation.
struct Remat(Options);

impl Remat {
    fn make(values: &Values<'_>) -> Result<Box<dyn Pass>, PipelineError> {
        let defaults = Options::default();
        let policy = values.get("policy", |text| text.parse().map_err(|e: PolicyError| e.to_string()))?;
        let budget = values
            .get("budget", |text| format!("budget:{text}").parse::<Policy>().map_err(|e| e.to_string()))?;
        let effort = values.get("effort", |text| {
            let level = text.parse().ok().and_then(Effort::new);
            level.ok_or_else(|| "write a number from 1 to 5".to_owned())
        })?;
        let barriers = values.get("barriers", |text| match text {
            "stablehlo" => Ok(Barriers::StableHlo),
            "none" => Ok(Barriers::None),
            _ => Err("write stablehlo or none".to_owned()),
        })?;
        let device = values.get("cost-model", |text| {
            Device::built_in(text).ok_or_else(|| {
                format!("write one of {}", Device::built_in_names().collect::<Vec<_>>().join(", "))
            })
        })?;
        Ok(Box::new(Self(Options {
            policy: budget.or(policy).unwrap_or(Policy::Min),
            effort: effort.unwrap_or(defaults.effort),
            barriers: barriers.unwrap_or(defaults.barriers),
            device: device.unwrap_or(defaults.device),
            rules: defaults.rules,
        })))
    }
}

impl Pass for Remat {
    fn run(&self, module: &mut Module, run: &mut Run<'_>) -> Result<(), PassError> {
        match optimize_observed(module.clone(), &self.0, run.observer)? {
            Outcome::Met(optimized) => {
                run.statistics.push(("remat", "values kept", optimized.report.kept()));
                run.statistics.push(("remat", "values recomputed", optimized.report.recomputed()));
                *module = optimized.module.clone();
                run.optimized = Some(optimized);
                Ok(())
            }
            Outcome::Unmet(unmet) => Err(PassError::Unmet(unmet)),
        }
    }
}

/// The options that a pipeline gives a pass.
struct Values<'a> {
    pass: &'static PassInfo,
    given: &'a [(&'static str, String)],
}

impl Values<'_> {
    /// The value of an option, if it is given.
    fn get<T>(
        &self,
        option: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, PipelineError> {
        let given = self.given.iter().rev().find(|(name, _)| *name == option);
        let value = given.map(|(_, text)| read(text)).transpose();
        value.map_err(|why| PipelineError::Value { pass: self.pass.name, option, why })
    }
}

/// Looks a pass up and gives it its options.
pub(super) fn step(named: &Named) -> Result<Step, PipelineError> {
    let Some(info) = PASSES.iter().find(|pass| pass.name == named.name) else {
        let name = named.name.clone();
        return Err(PipelineError::UnknownPass { nearest: nearest(&name), name });
    };
    let known = |name: &str| info.options.iter().find(|option| option.name == name).map(|o| o.name);
    let options = named.options.iter().map(|(name, value)| match known(name) {
        Some(option) => Ok((option, value.clone())),
        None => Err(PipelineError::UnknownOption { pass: info.name, option: name.clone() }),
    });
    let options = options.collect::<Result<Vec<_>, _>>()?;
    let pass = match info.make {
        Make::Plain(run) => Box::new(Plain(run)),
        Make::Configured(make) => make(&Values { pass: info, given: &options })?,
    };
    Ok(Step { info, options, pass })
}

/// The pass whose name is one edit away or has the name as a beginning.
fn nearest(name: &str) -> Option<&'static str> {
    let names = || PASSES.iter().map(|pass| pass.name);
    let close = |known: &&str| {
        let common = known.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        common > 0 && known.len().abs_diff(name.len()) <= 1 && common + 1 >= known.len().min(name.len())
    };
    names().find(close).or_else(|| names().find(|known| !name.is_empty() && known.starts_with(name)))
}
