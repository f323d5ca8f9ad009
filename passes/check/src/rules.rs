//! Rewritten values: claims that a value of the output equals one of the input
//! by a named rule, and the checker's own verifier of each rule.
//!
//! A verifier looks at the two terms only, never at how the rewriter matched.
//! What it accepts holds bit for bit (NaN payloads aside) for all operands.

mod one_hot;
mod pool_code;

use crate::number::Common;
use crate::term::{OpTerm, Sym, Term};
use ckpt_entity::{EntityId, EntitySet};
use ckpt_ir::{Attr, ElementType, Module, OpId, TensorType, ValueDef, ValueId};
use std::collections::HashMap;

/// A claim that a value of the output equals a value of the input by a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Justification {
    /// The rule's name, one of [`rule_names`].
    pub rule: String,
    /// The value of the output: a result of an operation.
    pub output: ValueId,
    /// The value of the input that it equals.
    pub input: ValueId,
    /// Further operations of the output that the rule inserted and that compute
    /// no value of the input.
    pub helpers: Vec<OpId>,
}

/// The justifications by what they speak of.
pub(crate) struct Substitutions<'a> {
    by_value: HashMap<ValueId, &'a Justification>,
    admitted: EntitySet<OpId>,
}

impl<'a> Substitutions<'a> {
    /// Indexes the claims, or gives back the first that names what is not in
    /// the modules or claims the same value twice.
    pub(crate) fn new(
        input: &Module,
        output: &Module,
        claims: &'a [Justification],
    ) -> Result<Self, &'a Justification> {
        let mut this = Self { by_value: HashMap::new(), admitted: EntitySet::new() };
        for claim in claims {
            let exist = claim.input.index() < input.value_count()
                && claim.output.index() < output.value_count()
                && claim.helpers.iter().all(|op| op.index() < output.op_count());
            if !exist || this.by_value.insert(claim.output, claim).is_some() {
                return Err(claim);
            }
            let ValueDef::Result { op, .. } = output.value_def(claim.output) else {
                return Err(claim);
            };
            for &op in claim.helpers.iter().chain([&op]) {
                this.admitted.insert(op);
            }
        }
        Ok(this)
    }

    /// Whether a rule has put `op` into the output.
    pub(crate) fn admits(&self, op: OpId) -> bool {
        self.admitted.contains(op)
    }

    /// The claim about `value`.
    pub(crate) fn of(&self, value: ValueId) -> Option<&'a Justification> {
        self.by_value.get(&value).copied()
    }
}

/// Proves that a value equals a target, both as terms.
type Verifier = fn(Terms<'_>, Sym, Sym) -> bool;

/// The rules that the checker can replay. A name that is not here is refused.
static RULES: &[(&str, Verifier)] = &[
    ("identity", |_, value, target| value == target),
    ("reshape-chain", reshape_chain),
    ("transpose-inverse", transpose_inverse),
    ("convert-round-trip", convert_round_trip),
    ("packed-predicate", packed_predicate),
    ("mask-from-output", mask_from_output),
    ("one-hot-scatter", one_hot::one_hot_scatter),
    ("pool-code", pool_code::pool_code),
];

/// The names of the rules that [`check`](crate::check) can replay.
pub fn rule_names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// Replays a claim: `value` is the output's term, `target` the input's.
pub(crate) fn verify(
    common: &Common,
    claim: &Justification,
    value: Sym,
    target: Sym,
) -> Result<(), &'static str> {
    let rule = RULES.iter().find(|(name, _)| *name == claim.rule);
    let (_, verifier) = rule.ok_or("the checker knows no such rule")?;
    if common.terms.value_type(value) != common.terms.value_type(target) {
        return Err("the types differ");
    }
    let holds = value == target || verifier(Terms { common }, value, target);
    if holds { Ok(()) } else { Err("the terms do not match the rule") }
}

/// Reading terms by operation.
#[derive(Clone, Copy)]
struct Terms<'a> {
    common: &'a Common,
}

impl<'a> Terms<'a> {
    /// The pure run named `name` that yields `value` as its only result.
    fn run(self, name: &str, value: Sym) -> Option<&'a OpTerm> {
        let op = self.common.terms.producer(value)?;
        let named = self.common.canonical.names.get(op.name) == name;
        (named && op.state.is_none() && op.results.len() == 1).then_some(op)
    }

    /// The operand of a run with one operand.
    fn operand(self, name: &str, value: Sym) -> Option<Sym> {
        match self.run(name, value)?.operands[..] {
            [operand] => Some(operand),
            _ => None,
        }
    }

    fn property(self, op: &OpTerm, name: &str) -> Option<&'a Attr> {
        let names = &self.common.canonical.names;
        let found = op.properties.iter().find(|(symbol, _)| names.get(*symbol) == name)?;
        Some(self.common.canonical.attrs.get(found.1))
    }

    fn ints(self, op: &OpTerm, name: &str) -> Option<&'a [i64]> {
        match self.property(op, name)? {
            Attr::DenseIntArray { values, .. } => Some(values),
            _ => None,
        }
    }

    fn tensor(self, value: Sym) -> Option<&'a TensorType> {
        self.common.canonical.types.as_tensor(self.common.terms.value_type(value)?)
    }

    /// Whether every element of `value` is the integer `expected` of one byte,
    /// written as a splat or as a scalar that is broadcast.
    fn is_byte(self, value: Sym, expected: u8) -> bool {
        let value = self.operand("stablehlo.broadcast_in_dim", value).unwrap_or(value);
        let Some(op) = self.run("stablehlo.constant", value) else { return false };
        match self.property(op, "value") {
            Some(Attr::Dense(dense)) => {
                (dense.splat || dense.bytes.len() == 1) && dense.bytes[..] == [expected]
            }
            _ => false,
        }
    }

    /// Whether every element of `value` is known to be `+0` (or integer zero).
    fn is_zero(self, value: Sym) -> bool {
        let mut value = value;
        loop {
            let through = ["stablehlo.broadcast_in_dim", "stablehlo.reshape"];
            match through.iter().find_map(|name| self.operand(name, value)) {
                Some(operand) => value = operand,
                None => break,
            }
        }
        let constant = self.run("stablehlo.constant", value);
        let literal = constant.and_then(|op| self.property(op, "value"));
        matches!(literal, Some(Attr::Dense(dense)) if dense.bytes.iter().all(|byte| *byte == 0))
    }

    fn is_iota(self, value: Sym, dimension: i128) -> bool {
        let op = self.run("stablehlo.iota", value);
        let found = op.and_then(|op| self.property(op, "iota_dimension"));
        matches!(found, Some(Attr::Int { value, .. }) if *value == dimension)
    }

    /// Whether `region` is `(a, b) -> name(a, b)`.
    fn is_binary_body(self, region: Sym, name: &str) -> bool {
        self.binary_body(region, name).is_some()
    }

    /// The run of `name` in a region `(a, b) -> name(a, b)`.
    fn binary_body(self, region: Sym, name: &str) -> Option<&'a OpTerm> {
        let terms = &self.common.terms;
        let Term::Region(blocks) = terms.get(region) else { return None };
        let [block] = blocks[..] else { return None };
        let Term::Block { level, arguments, ops, state } = terms.get(block) else { return None };
        let pure = matches!(terms.get(*state), Term::Entry { .. });
        let ([a, b], [end]) = (&arguments[..], &ops[..]) else { return None };
        let yielded = terms.op(*end).and_then(|end| match end.operands[..] {
            [value] => self.run(name, value),
            _ => None,
        });
        let body = yielded?;
        let argument = |value: Sym, which: u32, expected| {
            matches!(terms.get(value), Term::Argument { level: l, index, ty, .. }
                if l == level && *index == which && *ty == expected)
        };
        let holds = pure && matches!(body.operands[..], [x, y] if argument(x, 0, *a) && argument(y, 1, *b));
        holds.then_some(body)
    }
}

/// A chain of reshapes of `x` to `x`'s own type is `x`.
fn reshape_chain(terms: Terms<'_>, mut value: Sym, target: Sym) -> bool {
    while let Some(operand) = terms.operand("stablehlo.reshape", value) {
        if operand == target {
            return true;
        }
        value = operand;
    }
    false
}

/// `transpose(transpose(x, p), q)` is `x` where `q` undoes `p`.
fn transpose_inverse(terms: Terms<'_>, value: Sym, target: Sym) -> bool {
    let permutation = |value| {
        let op = terms.run("stablehlo.transpose", value)?;
        Some((op.operands.first().copied()?, terms.ints(op, "permutation")?))
    };
    let Some((inner, outer_order)) = permutation(value) else { return false };
    let Some((source, inner_order)) = permutation(inner) else { return false };
    let undone = outer_order.iter().enumerate().all(|(at, &dim)| {
        usize::try_from(dim).ok().and_then(|dim| inner_order.get(dim)) == Some(&(at as i64))
    });
    source == target && undone
}

/// `convert(convert(x))` is `x` where the type between holds every value of `x`'s.
fn convert_round_trip(terms: Terms<'_>, value: Sym, target: Sym) -> bool {
    let between = terms.operand("stablehlo.convert", value);
    let Some(between) = between else { return false };
    let element = |value| terms.tensor(value).map(|tensor| tensor.element);
    let (Some(narrow), Some(wide)) = (element(target), element(between)) else { return false };
    terms.operand("stablehlo.convert", between) == Some(target) && holds_exactly(wide, narrow)
}

/// Whether each value of `narrow` is one of `wide`, so that converting there
/// and back is the identity.
fn holds_exactly(wide: ElementType, narrow: ElementType) -> bool {
    use ElementType as E;
    match (narrow, wide) {
        (E::Bf16 | E::F16, E::F32 | E::F64) | (E::F32, E::F64) => true,
        (E::Bool, E::Int(bits) | E::Uint(bits)) => bits >= 2,
        (E::Int(from), E::Int(to)) | (E::Uint(from), E::Uint(to)) => to >= from,
        (E::Uint(from), E::Int(to)) => to > from,
        _ => false,
    }
}

/// `max(x, z) > z` is `x > z`, whichever of the two is the input's: both are
/// false where either is NaN, and zeros of both signs compare equal. Not so in
/// the total order, where NaN and the zeros have places.
fn mask_from_output(terms: Terms<'_>, value: Sym, target: Sym) -> bool {
    is_mask_of_maximum(terms, value, target) || is_mask_of_maximum(terms, target, value)
}

/// Whether `of_output` is `max(x, z) > z` where `of_input` is `x > z`.
fn is_mask_of_maximum(terms: Terms<'_>, of_output: Sym, of_input: Sym) -> bool {
    let compare = |value| terms.run("stablehlo.compare", value);
    let (Some(outer), Some(inner)) = (compare(of_output), compare(of_input)) else { return false };
    let ([maximum, z], [x, bound]) = (&outer.operands[..], &inner.operands[..]) else {
        return false;
    };
    let Some(maximum) = terms.run("stablehlo.maximum", *maximum) else { return false };
    let is = |name, wanted| match terms.property(inner, name) {
        Some(Attr::Enum(_, value)) => terms.common.canonical.names.get(*value) == wanted,
        _ => false,
    };
    let of_x = maximum.operands[..] == [*x, *z] || maximum.operands[..] == [*z, *x];
    of_x && z == bound
        && outer.properties == inner.properties
        && is("comparison_direction", "GT")
        && !is("compare_type", "TOTALORDER")
}

/// Eight predicates per byte, bit `k` of byte `i` being element `8 i + k` in
/// row-major order, and back:
///
/// ```text
/// pack(m)   = reduce_or(shift_left(convert(reshape(m) : Nx8xi1) : Nx8xui8, iota 1), dims = [1])
/// unpack(p) = reshape(convert(and(shift_right_logical(broadcast(p, [0]) : Nx8xui8, iota 1), 1)) : Nx8xi1)
/// ```
///
/// Each of the eight shifted bytes has at most its own bit, so the disjunction
/// keeps all of them and the shift back finds the same bit.
fn packed_predicate(terms: Terms<'_>, value: Sym, target: Sym) -> bool {
    let packed = unpacked(terms, value);
    packed.and_then(|packed| pack_source(terms, packed)) == Some(target)
}

/// The packed bytes that `value` unpacks.
fn unpacked(terms: Terms<'_>, value: Sym) -> Option<Sym> {
    let bits = terms.operand("stablehlo.reshape", value)?;
    let masked = terms.operand("stablehlo.convert", bits)?;
    let masked = terms.run("stablehlo.and", masked)?;
    let [shifted, one] = masked.operands[..] else { return None };
    let shift = terms.run("stablehlo.shift_right_logical", shifted)?;
    let [spread, places] = shift.operands[..] else { return None };
    let broadcast = terms.run("stablehlo.broadcast_in_dim", spread)?;
    let rows = terms.ints(broadcast, "broadcast_dimensions")? == [0];
    let regular = rows
        && terms.is_byte(one, 1)
        && terms.is_iota(places, 1)
        && is_rows_of_eight(terms, bits, ElementType::Bool)
        && is_rows_of_eight(terms, shifted, ElementType::Uint(8));
    if regular { broadcast.operands.first().copied() } else { None }
}

/// The predicates that `packed` packs.
fn pack_source(terms: Terms<'_>, packed: Sym) -> Option<Sym> {
    let reduce = terms.run("stablehlo.reduce", packed)?;
    let ([shifted, zero], [body]) = (&reduce.operands[..], &reduce.regions[..]) else {
        return None;
    };
    let shift = terms.run("stablehlo.shift_left", *shifted)?;
    let [bytes, places] = shift.operands[..] else { return None };
    let rows = terms.operand("stablehlo.convert", bytes)?;
    let regular = terms.ints(reduce, "dimensions")? == [1]
        && terms.is_binary_body(*body, "stablehlo.or")
        && terms.is_byte(*zero, 0)
        && terms.is_iota(places, 1)
        && is_rows_of_eight(terms, bytes, ElementType::Uint(8))
        && is_rows_of_eight(terms, rows, ElementType::Bool);
    if regular { terms.operand("stablehlo.reshape", rows) } else { None }
}

/// Whether `value` has the shape `N x 8` and the element type.
fn is_rows_of_eight(terms: Terms<'_>, value: Sym, element: ElementType) -> bool {
    let shape = terms.tensor(value).filter(|t| t.element == element).map(TensorType::static_shape);
    matches!(shape, Some(Some(shape)) if matches!(shape[..], [_, 8]))
}
