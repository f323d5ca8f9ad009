//! The text of a pipeline.

/// Why a text is no pipeline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// Something else stands where a pass or comma should.
    #[error("expected {what} at {rest:?}")]
    Expected {
        /// What should stand there.
        what: &'static str,
        /// What stands there.
        rest: String,
    },
    /// The text ends inside `{…}`.
    #[error("the pipeline ends inside the options of '{pass}'")]
    Unclosed {
        /// The pass.
        pass: String,
    },
    /// No such pass.
    #[error("there is no pass '{name}'{}", nearest.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default())]
    UnknownPass {
        /// The name.
        name: String,
        /// A pass with nearly this name.
        nearest: Option<&'static str>,
    },
    /// The pass has no such option.
    #[error("pass '{pass}' has no option '{option}'")]
    UnknownOption {
        /// The pass.
        pass: &'static str,
        /// The option.
        option: String,
    },
    /// The option does not take this value.
    #[error("option '{option}' of pass '{pass}': {why}")]
    Value {
        /// The pass.
        pass: &'static str,
        /// The option.
        option: &'static str,
        /// What it takes.
        why: String,
    },
}

/// A pass as named, with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) options: Vec<(String, String)>,
}

/// Splits a pipeline into its passes. Linear.
pub(super) fn parse(text: &str) -> Result<Vec<Named>, PipelineError> {
    let text = text.trim();
    let framed = text.strip_prefix("builtin.module(").and_then(|rest| rest.strip_suffix(')'));
    let mut rest = framed.unwrap_or(text).trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
        if end == 0 {
            return Err(PipelineError::Expected { what: "a pass", rest: rest.to_owned() });
        }
        let name = rest[..end].to_owned();
        rest = rest[end..].trim_start();
        let mut options = Vec::new();
        if let Some(inside) = rest.strip_prefix('{') {
            let Some((text, behind)) = inside.split_once('}') else {
                return Err(PipelineError::Unclosed { pass: name });
            };
            options = text.split_whitespace().map(option).collect();
            rest = behind.trim_start();
        }
        found.push(Named { name, options });
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind.trim_start(),
            None if rest.is_empty() => {}
            None => return Err(PipelineError::Expected { what: "',' or the end", rest: rest.to_owned() }),
        }
    }
    Ok(found)
}

/// `key=value`, or `key` for `key=true`.
fn option(text: &str) -> (String, String) {
    let (key, value) = text.split_once('=').unwrap_or((text, "true"));
    (key.to_owned(), value.to_owned())
}
