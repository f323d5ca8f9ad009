//! Why an output is refused, with the operations of both modules.

use crate::PeakError;
use ckpt_ir::{Bytes, Loc, LocId, Module, OpId, ValueId};
use std::fmt;
use thiserror::Error;

/// Which of the two modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What the rematerialiser was given.
    Input,
    /// What it produced.
    Output,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
        })
    }
}

/// An operation with what a reader needs to find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its id in its module.
    pub op: OpId,
    /// Its full name, with the first result's name where it has one.
    pub name: Box<str>,
    /// Its innermost source location, empty if unknown.
    pub location: Box<str>,
}

impl Place {
    /// The place of an operation.
    pub(crate) fn of(module: &Module, op: OpId) -> Self {
        let mut name = module.op_name(op).to_owned();
        if let Some(result) = module.op(op).results.first().and_then(|r| module.value_name(*r)) {
            name = format!("%{result} = {name}");
        }
        if let Some(symbol) = module.string_attr(op, "sym_name") {
            name = format!("{name} @{symbol}");
        }
        let location = location(module, module.op(op).loc);
        Self { op, name: name.into(), location: location.into() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.op, self.name)?;
        if self.location.is_empty() { Ok(()) } else { write!(f, " at {}", self.location) }
    }
}

/// The innermost file position or name of a location.
fn location(module: &Module, mut id: LocId) -> String {
    loop {
        match module.locs.get(id) {
            Loc::Unknown => return String::new(),
            Loc::File { file, line, column } => {
                return format!("{}:{line}:{column}", module.names.get(*file));
            }
            Loc::FileRange { file, start: (line, column), .. } => {
                return format!("{}:{line}:{column}", module.names.get(*file));
            }
            Loc::Name { name, child } => {
                if *module.locs.get(*child) == Loc::Unknown {
                    return format!("\"{}\"", module.names.get(*name));
                }
                id = *child;
            }
            Loc::CallSite { callee, .. } => id = *callee,
            Loc::Fused { parts, .. } => match parts.first() {
                Some(part) => id = *part,
                None => return String::new(),
            },
        }
    }
}

/// The first thing in which two operations differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Different operations.
    Name {
        /// The input's.
        input: String,
        /// The output's.
        output: String,
    },
    /// An attribute that differs or that only one has (`None`).
    Attribute {
        /// Its name.
        name: String,
        /// The input's value.
        input: Option<String>,
        /// The output's value.
        output: Option<String>,
    },
    /// Another number of operands, results, regions, blocks or block arguments.
    Count {
        /// Of what.
        what: &'static str,
        /// The input's.
        input: usize,
        /// The output's.
        output: usize,
    },
    /// An operand with another value.
    Operand {
        /// Which.
        index: usize,
        /// The input's operand.
        input: ValueId,
        /// The output's operand.
        output: ValueId,
        /// The input's value that the output's operand equals, if any.
        equals: Option<ValueId>,
    },
    /// A type that differs.
    Type {
        /// Of what.
        what: &'static str,
        /// Which.
        index: usize,
        /// The input's.
        input: String,
        /// The output's.
        output: String,
    },
    /// A region that computes something else.
    Region {
        /// Which.
        index: usize,
    },
    /// A callee that computes something else.
    Callee,
    /// The same operation, but after other effects.
    State,
    /// No operation of the input resembles it.
    Unmatched,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let absent = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".into());
        match self {
            Self::Name { input, output } => write!(f, "`{output}` where the input has `{input}`"),
            Self::Attribute { name, input, output } => {
                write!(f, "attribute `{name}` is {} where the input has {}", absent(output), absent(input))
            }
            Self::Count { what, input, output } => {
                write!(f, "{output} {what} where the input has {input}")
            }
            Self::Operand { index, input, output, equals } => {
                write!(f, "operand {index} is the output's {output}")?;
                if let Some(equals) = equals {
                    write!(f, ", which equals the input's {equals},")?;
                }
                write!(f, " where the input reads its {input}")
            }
            Self::Type { what, index, input, output } => {
                write!(f, "{what} {index} has type {output} where the input has {input}")
            }
            Self::Region { index } => write!(f, "region {index} computes something else"),
            Self::Callee => f.write_str("the callee computes something else"),
            Self::State => f.write_str("it runs after other effects than in the input"),
            Self::Unmatched => f.write_str("nothing in the input resembles it"),
        }
    }
}

/// A structural rule that a module breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformation {
    /// An operand that is not defined before, or not visible here.
    Undefined {
        /// Which operand.
        operand: usize,
        /// The value.
        value: ValueId,
    },
    /// The operation is listed twice, or its parent link names another block.
    Misplaced,
    /// An operation after the block's terminator.
    AfterTerminator,
    /// A barrier whose results are not its operands' types.
    Barrier,
    /// A function whose name another one has, or that has none.
    FunctionName,
}

impl fmt::Display for Malformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined { operand, value } => {
                write!(f, "operand {operand}, {value}, is not defined before it")
            }
            Self::Misplaced => f.write_str("it is listed twice, or in a block that it is not of"),
            Self::AfterTerminator => f.write_str("the block's terminator stands before it"),
            Self::Barrier => f.write_str("the barrier's results are not of its operands' types"),
            Self::FunctionName => f.write_str("the function's name is missing or not its own"),
        }
    }
}

/// Why an output is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// One of the modules is not in SSA form.
    #[error("{side}: {place}: {what}")]
    Malformed {
        /// Which module.
        side: Side,
        /// The operation.
        place: Place,
        /// The rule it breaks.
        what: Malformation,
    },
    /// An operation of the output computes something that the input does not.
    #[error("output: {output}: computes no value of the input: {difference}{}", nearest(.input))]
    UnknownValue {
        /// The operation.
        output: Place,
        /// The operation of the input that resembles it most.
        input: Option<Place>,
        /// In what they differ.
        difference: Box<Difference>,
    },
    /// An operation with effects is not the one that the input runs here.
    #[error("output: {output}: is not the effect that is next in the input: {difference}{}", nearest(.input))]
    Effect {
        /// The operation.
        output: Place,
        /// What the input runs after the same effects.
        input: Option<Place>,
        /// In what they differ.
        difference: Box<Difference>,
    },
    /// The output's function ends before all effects of the input have run.
    #[error("output: {output}: an effect of the input never runs{}", nearest(.input))]
    MissingEffect {
        /// The function, or the module.
        output: Place,
        /// The first effect of the input's that is missing.
        input: Option<Place>,
    },
    /// A result of a function is another value.
    #[error("output: {output}: result {index} is {value}, which is another value than the input's {expected}{}", nearest(.input))]
    Results {
        /// The output's terminator.
        output: Place,
        /// The input's terminator.
        input: Option<Place>,
        /// Which result.
        index: usize,
        /// What the output returns.
        value: ValueId,
        /// What the input returns.
        expected: ValueId,
    },
    /// A function's or the module's interface differs.
    #[error("output: {output}: {difference}{}", nearest(.input))]
    Interface {
        /// The output's function or module.
        output: Place,
        /// The input's.
        input: Option<Place>,
        /// In what they differ.
        difference: Box<Difference>,
    },
    /// A function that only one of the modules has.
    #[error("function @{name} is in the {side} only")]
    Function {
        /// Its name.
        name: String,
        /// Which module has it.
        side: Side,
    },
    /// A justification that does not hold.
    #[error("output: {output}: rule `{rule}` does not justify it: {reason}")]
    Justification {
        /// The operation that the rule is said to have produced.
        output: Place,
        /// The rule's name.
        rule: String,
        /// Why not.
        reason: &'static str,
    },
    /// A justification that names values or operations that do not exist.
    #[error("rule `{rule}` names a value or operation that is not in the module")]
    JustificationIds {
        /// The rule's name.
        rule: String,
    },
    /// The peak cannot be computed, or the schedule is not legal.
    #[error("output: {0}")]
    Schedule(#[from] PeakError),
    /// The claimed peak is not the peak.
    #[error("the claimed peak of {claimed} is not the output's peak of {computed}")]
    Peak {
        /// As claimed.
        claimed: Bytes,
        /// As computed from the output.
        computed: Bytes,
    },
    /// A peak is claimed for a module without a function to hold to it.
    #[error("a peak is claimed but the output has no function with a body")]
    NoFunction,
}

fn nearest(place: &Option<Place>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!("; input: {place}"))
}
