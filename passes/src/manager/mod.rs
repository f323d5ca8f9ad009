//! Passes by name, and textual pipelines of them.
//!
//! - [`PASSES`] is the table of passes: a new pass is a file and a line.
//! - [`Pipeline`] is a sequence of passes with options, read from
//!   `builtin.module(normalise,remat{policy=min effort=2})`.
//! - [`Observer`] watches: printing, timing and verification are observers,
//!   so passes know nothing of them.

mod observer;
mod registry;
mod text;

pub use observer::{Observer, Unobserved};
pub use registry::{PASSES, PassInfo, PassOption};
pub use text::PipelineError;

use crate::PassError;
use crate::pipeline::Optimized;
use ckpt_ir::Module;

/// Something that rewrites modules.
pub trait Pass {
    /// Rewrites `module`; `run` takes what others should know of it.
    ///
    /// # Errors
    /// The module cannot be treated; it is then as far as the pass came.
    fn run(&self, module: &mut Module, run: &mut Run<'_>) -> Result<(), PassError>;
}

/// What passes of one run share.
pub struct Run<'a> {
    /// Who watches.
    pub observer: &'a mut dyn Observer,
    /// Counts that passes made, by pass and name, in the order they were made.
    pub statistics: Vec<(&'static str, &'static str, usize)>,
    /// What the last rematerialisation found.
    pub optimized: Option<Box<Optimized>>,
}

impl<'a> Run<'a> {
    /// A run that nothing is known of yet.
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Self { observer, statistics: Vec::new(), optimized: None }
    }
}

/// A pass with its options, ready to run.
pub struct Step {
    info: &'static PassInfo,
    options: Vec<(&'static str, String)>,
    pass: Box<dyn Pass>,
}

/// A sequence of passes.
pub struct Pipeline {
    steps: Vec<Step>,
}

impl Pipeline {
    /// Reads `builtin.module(a,b{key=value})` or the same without the frame.
    ///
    /// # Errors
    /// Where the text is no pipeline, a pass or option is unknown, or a value
    /// is not what the option takes.
    pub fn parse(text: &str) -> Result<Self, PipelineError> {
        let mut steps = Vec::new();
        for named in text::parse(text)? {
            steps.push(registry::step(&named)?);
        }
        Ok(Self { steps })
    }

    /// Runs the passes in order. The observer may end the run before or after any.
    ///
    /// # Errors
    /// The first pass's that fails.
    pub fn run(&self, module: &mut Module, run: &mut Run<'_>) -> Result<(), PassError> {
        for step in &self.steps {
            run.observer.before(step.info.name, module);
            step.pass.run(module, run)?;
            run.observer.after(step.info.name, module);
        }
        Ok(())
    }
}

impl std::fmt::Display for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("builtin.module(")?;
        for (index, step) in self.steps.iter().enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            f.write_str(step.info.name)?;
            if !step.options.is_empty() {
                let options = step.options.iter().map(|(key, value)| format!("{key}={value}"));
                write!(f, "{{{}}}", options.collect::<Vec<_>>().join(" "))?;
            }
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_are_read_and_printed() {
        let text = "builtin.module(normalise,remat{policy=activations:50% effort=2},dce)";
        assert_eq!(Pipeline::parse(text).unwrap().to_string(), text);
        assert_eq!(Pipeline::parse(" cse , dce ").unwrap().to_string(), "builtin.module(cse,dce)");
        assert_eq!(Pipeline::parse("builtin.module()").unwrap().to_string(), "builtin.module()");
    }

    #[test]
    fn what_is_wrong_with_a_pipeline_is_said() {
        let error = |text: &str| Pipeline::parse(text).err().unwrap().to_string();
        assert_eq!(error("csee"), "there is no pass 'csee'; did you mean 'cse'?");
        assert_eq!(error("cse{a=1}"), "pass 'cse' has no option 'a'");
        assert_eq!(error("remat{effort=9}"), "option 'effort' of pass 'remat': write a number from 1 to 5");
        assert_eq!(error("cse{a"), "the pipeline ends inside the options of 'cse'");
        assert_eq!(error("cse)dce"), "expected ',' or the end at \")dce\"");
    }
}
