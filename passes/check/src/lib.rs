//! The independent checker: that a rematerialised module computes what its
//! input computes, runs its effects as often and in the same order, and holds
//! no more memory than claimed. It reads the two modules and nothing else, and
//! shares no code with the passes that made the second from the first. The idea
//! is that of regalloc2's checker: an abstract state says for each value which
//! *original value* it must equal.
//!
//! # Symbols
//!
//! Both modules are interned into one table of terms; a **symbol** is a term's
//! number. Terms are
//!
//! ```text
//! argument(level, block, index, type)        a block's argument
//! entry(level, block)                        the state of the world on entry to a block
//! op(name, attributes, operand symbols, result types, region codes, callee code, state?)
//! result(op, index), after(op)               a result; the state after an operation with effects
//! block(level, argument types, end, state)   a block as a function of arguments and state
//! region(blocks)
//! ```
//!
//! Names, types and attributes are compared by content; locations, value names
//! and attributes whose name begins with `ckpt.` are not part of a term. A block
//! binds the level that is one above those of the variables free in it, so that
//! terms are equal up to renaming and wherever they are nested; a region's body
//! may compute values again just as a function's may, outer values too.
//!
//! # Transfer function
//!
//! Walking a block with the state `σ` and the symbols `S` of the values defined
//! so far, in this block or around it:
//!
//! - An operand without symbol in `S` is a use before definition: refused.
//! - `optimization_barrier`: result `i` has the symbol of operand `i`.
//! - An operation **without effects**: `op(…)` without state, whose results are
//!   functions of the operands. Repeating, moving or dropping it changes nothing.
//! - An operation **with effects** (side effects, hidden state, collectives,
//!   unknown operations, and whatever has such in its regions or callee):
//!   `op(…, σ)`, and `σ := after(op)`. A repeated, dropped or moved one leads to
//!   another state, hence to other symbols for all that follow.
//! - A value that a [`Justification`] names takes the symbol of the input's
//!   value, once the [rule's verifier](rule_names) has proven both terms equal.
//! - At the end of a block its values leave `S`.
//!
//! # Theorem
//!
//! Let terms be interpreted by any meaning of the operations under which those
//! of the table's pure kinds are functions of operands and attributes, and all
//! others functions of these and of the state. By induction over the walk each
//! value of a run of either module equals the interpretation of its symbol
//! under the arguments and the initial state. [`check`] accepts only if
//! functions of the same name have the same symbol, that is the same signature,
//! attributes, results and final state, for all arguments and states; so
//! **acceptance implies that each function of the output returns, bit for bit,
//! what the input's returns, and leaves the same state**, which includes that
//! effects ran as often, in the same order, on the same operands. (Recursive
//! functions refer to each other by name; for them it holds by induction over
//! the depth of calls.) Nothing is assumed of how the output was made. Beyond
//! what the theorem needs, each operation of the output must compute a value
//! that some operation of the input computes, so that a refusal names the first
//! place where a pass went wrong rather than a result far below it.
//!
//! Trusted are the table of operations in `ckpt_ir::op` (which kinds are pure),
//! the module's own links, and the verifiers in `rules.rs`.
//!
//! # Peak
//!
//! [`check_peak`] recomputes the peak from the output and a
//! [`KernelPartition`]; [`check`] refuses a claim that is not
//! equal to it, to the byte.

mod canonical;
mod captures;
mod effects;
mod explain;
#[cfg(feature = "mutate")]
pub mod mutate;
mod number;
mod peak;
mod refusal;
mod rules;
mod term;

pub use peak::{PeakError, check_peak, check_peak_per_op};
pub use refusal::{Difference, Malformation, Place, Refusal, Side};
pub use rules::{Justification, rule_names};

use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{Bytes, Module, OpId};
use number::{Common, Numbering, Reference};
use rules::Substitutions;
use std::collections::{HashMap, HashSet};

/// What is claimed of an output beside its equality with the input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims<'a> {
    /// The peak of the function that the partition is of, to the byte.
    pub peak_bytes: Option<Bytes>,
    /// The schedule by which the peak is claimed. Without one, each operation
    /// of `@main`, or of the first function with a body, is a kernel of its own.
    pub partition: Option<&'a KernelPartition>,
    /// The values that rules have rewritten.
    pub justifications: &'a [Justification],
}

/// What an accepted pair looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Operations of the input, the module and its functions among them.
    pub input_ops: usize,
    /// Operations of the output, likewise.
    pub output_ops: usize,
    /// Distinct terms of both modules.
    pub terms: usize,
    /// Operations with effects, equal in both modules; each is counted once
    /// where it stands, whatever the number of its runs.
    pub effects: usize,
    /// Operations that compute what another one before them in their block
    /// computes, more of them in the output than in the input: the recomputations.
    pub recomputed_ops: usize,
    /// The output's peak, if one was claimed.
    pub peak_bytes: Option<Bytes>,
}

/// Checks `output` against `input` and the claims about it.
///
/// Both modules must be normalised alike: the same functions, and the same
/// calls in them.
///
/// # Errors
///
/// The first reason to refuse the output, in the order of its text.
///
/// # Complexity
///
/// Linear in the size of both modules, up to hashing and a logarithm for
/// captures. Nesting and calls are on explicit stacks.
pub fn check(input: &Module, output: &Module, claims: &Claims<'_>) -> Result<Report, Refusal> {
    let mut common = Common::default();
    let substitutions = Substitutions::new(input, output, claims.justifications)
        .map_err(|claim| Refusal::JustificationIds { rule: claim.rule.clone() })?;
    let numbered_input = number::number(&mut common, input, None)?;
    let reference =
        Reference { input: &numbered_input, known: common.terms.len(), substitutions: &substitutions };
    let numbered_output = number::number(&mut common, output, Some(reference))?;
    every_claim_was_replayed(&numbered_output, claims)?;
    compare_functions(&common, &numbered_input, &numbered_output)?;
    let peak_bytes = claimed_peak(output, claims)?;
    Ok(Report {
        input_ops: numbered_input.count,
        output_ops: numbered_output.count,
        terms: common.terms.len(),
        effects: numbered_output.effects,
        recomputed_ops: repeated(&numbered_output).saturating_sub(repeated(&numbered_input)),
        peak_bytes,
    })
}

/// Refuses claims about values that the walk did not reach.
fn every_claim_was_replayed(output: &Numbering<'_>, claims: &Claims<'_>) -> Result<(), Refusal> {
    let unreached = claims.justifications.iter().find(|c| output.values[c.output].is_none());
    match unreached {
        Some(claim) => Err(Refusal::JustificationIds { rule: claim.rule.clone() }),
        None => Ok(()),
    }
}

/// Refuses the first function, or the module itself, that differs.
fn compare_functions(common: &Common, input: &Numbering<'_>, output: &Numbering<'_>) -> Result<(), Refusal> {
    let of_input: HashMap<&str, OpId> =
        input.functions.iter().map(|(name, op)| (name.as_str(), *op)).collect();
    for (name, function) in &output.functions {
        let Some(&expected) = of_input.get(name.as_str()) else {
            return Err(Refusal::Function { name: name.clone(), side: Side::Output });
        };
        if input.ops[expected] != output.ops[*function] {
            return Err(explain::function(common, (input, expected), (output, *function)));
        }
    }
    let of_output: HashSet<&str> = output.functions.iter().map(|(name, _)| name.as_str()).collect();
    if let Some((name, _)) = input.functions.iter().find(|(n, _)| !of_output.contains(n.as_str())) {
        return Err(Refusal::Function { name: name.clone(), side: Side::Input });
    }
    let (top_in, top_out) = (input.module.top(), output.module.top());
    if input.ops[top_in] != output.ops[top_out] {
        return Err(explain::function(common, (input, top_in), (output, top_out)));
    }
    Ok(())
}

/// The recomputed peak, if one is claimed and it is as claimed.
fn claimed_peak(output: &Module, claims: &Claims<'_>) -> Result<Option<Bytes>, Refusal> {
    let Some(claimed) = claims.peak_bytes else { return Ok(None) };
    let block_of = |function: &OpId| output.function_body(*function);
    let function = match claims.partition {
        Some(partition) => output.functions().find(|f| block_of(f) == Some(partition.block)),
        None => output
            .function("main")
            .or_else(|| output.functions().find(|function| block_of(function).is_some())),
    };
    let function = function.ok_or(Refusal::NoFunction)?;
    let computed = match claims.partition {
        Some(partition) => check_peak(output, function, partition)?,
        None => check_peak_per_op(output, function)?,
    };
    if computed == claimed { Ok(Some(computed)) } else { Err(Refusal::Peak { claimed, computed }) }
}

/// Number of operations whose term another operation before it in its block has.
fn repeated(numbering: &Numbering<'_>) -> usize {
    let mut seen = HashSet::new();
    let block_of = |op: OpId| numbering.module.op(op).parent;
    let symbols = numbering.ops.iter().filter_map(|(op, sym)| Some((block_of(op), (*sym)?)));
    symbols.filter(|found| !seen.insert(*found)).count()
}
