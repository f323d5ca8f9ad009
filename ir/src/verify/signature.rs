//! What an operation's row of a table says of it, and the checks that follow from that alone.

use super::attributes::AttrRule;
use super::facts::{Facts, class};
use super::view::{Check, Op, invalid};
use crate::OpKind;

/// What a slot asks of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    Any,
    Exactly(i64),
}

/// What a slot asks of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sizes {
    Any,
    Static,
    StaticOrSingleBounded,
}

/// An operand or result, or a group of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    classes: u32,
    rank: Rank,
    sizes: Sizes,
    variadic: bool,
}

impl Slot {
    /// A value of one of these classes.
    pub(super) const fn of(classes: u32) -> Self {
        Self { classes, rank: Rank::Any, sizes: Sizes::Any, variadic: false }
    }

    /// Any number of such values.
    pub(super) const fn many(self) -> Self {
        Self { variadic: true, ..self }
    }

    /// The same of a rank.
    pub(super) const fn rank(self, rank: i64) -> Self {
        Self { rank: Rank::Exactly(rank), ..self }
    }

    /// The same with static sizes only.
    pub(super) const fn fixed(self) -> Self {
        Self { sizes: Sizes::Static, ..self }
    }

    /// The same with static sizes or a single bounded dimension.
    pub(super) const fn fixed_or_bounded(self) -> Self {
        Self { sizes: Sizes::StaticOrSingleBounded, ..self }
    }

    fn admits(&self, facts: &Facts) -> bool {
        if facts.class & class::UNKNOWN != 0 {
            return true;
        }
        if facts.class & self.classes == 0 {
            return false;
        }
        let Some(tensor) = &facts.tensor else { return true };
        let rank = match self.rank {
            Rank::Any => true,
            Rank::Exactly(rank) => tensor.rank() == rank,
        };
        rank && match self.sizes {
            Sizes::Any => true,
            Sizes::Static => tensor.is_static(),
            Sizes::StaticOrSingleBounded => tensor.is_static() || tensor.is_single_bounded(),
        }
    }

    /// `0D tensor of integer values`.
    fn describe(&self) -> String {
        let mut text = String::new();
        if self.variadic {
            text.push_str("variadic of ");
        }
        match self.sizes {
            Sizes::Any => {}
            Sizes::Static => text.push_str("statically shaped "),
            Sizes::StaticOrSingleBounded => text.push_str("statically shaped or single bounded dimension "),
        }
        let names = |table: &[(u32, &'static str)]| {
            let named = table.iter().filter(|(bit, _)| self.classes & bit != 0);
            named.map(|(_, name)| *name).collect::<Vec<_>>()
        };
        let (elements, mut whole) = (names(ELEMENTS), names(WHOLE));
        let tensor;
        if !elements.is_empty() {
            let rank = match self.rank {
                Rank::Any if self.classes & class::UNRANKED != 0 => String::new(),
                Rank::Any if self.sizes == Sizes::Any => "ranked ".to_owned(),
                Rank::Any => String::new(),
                Rank::Exactly(0) => "0D ".to_owned(),
                Rank::Exactly(rank) => format!("{rank}-dimensional "),
            };
            tensor = format!("{rank}tensor of {} values", elements.join(" or "));
            whole.insert(0, &tensor);
        }
        text + &whole.join(" or ")
    }
}

/// Names of the classes of elements.
const ELEMENTS: &[(u32, &str)] = &[
    (class::PRED, "i1"),
    (class::SINT, "2/4/8/16/32/64-bit signless integer"),
    (class::UINT, "2/4/8/16/32/64-bit unsigned integer"),
    (class::ODD_INT, "integer"),
    (class::INDEX, "index"),
    (class::FLOAT, "4/6/8/16/32/64-bit float"),
    (class::COMPLEX, "complex"),
    (class::QUANT, "per-tensor integer quantized"),
    (class::QUANT_AXIS, "per-axis integer quantized"),
];

/// Names of the classes of whole values.
const WHOLE: &[(u32, &str)] =
    &[(class::TOKEN, "token"), (class::TUPLE, "tuple"), (class::BUFFER, "memref"), (class::FUTURE, "future")];

/// A relation between all operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// Compatible shapes of all operands and results.
    SameShape,
    /// Equal element types of all operands and results.
    SameElement,
    /// Equal element types of all operands.
    SameOperandElement,
    /// Compatible element types of all operands and results.
    CompatibleElement,
    /// Compatible element types of all operands.
    CompatibleOperandElement,
    /// Compatible types of all operands and results.
    CompatibleType,
    /// Equal element types of the first operand and the first result.
    FirstElement,
    /// As many operands as results, of equal types.
    PairwiseType,
    /// As many operands as results, of equal element types.
    PairwiseElement,
}

/// How many regions an operation has; each has one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Regions {
    Exactly(usize),
    AtLeastOne,
    Any,
}

/// What is known of an operation.
pub(super) struct Row {
    pub(super) kind: OpKind,
    pub(super) operands: &'static [Slot],
    pub(super) results: &'static [Slot],
    pub(super) regions: Regions,
    pub(super) relations: &'static [Relation],
    pub(super) attributes: &'static [AttrRule],
    /// The constraints that are the operation's own.
    pub(super) check: Option<fn(Op<'_>) -> Check>,
}

impl Row {
    /// A row of a kind with operands and results alone.
    pub(super) const fn new(kind: OpKind, operands: &'static [Slot], results: &'static [Slot]) -> Self {
        let (relations, attributes): (&[Relation], &[AttrRule]) = (&[], &[]);
        Self { kind, operands, results, regions: Regions::Exactly(0), relations, attributes, check: None }
    }

    pub(super) const fn regions(self, regions: Regions) -> Self {
        Self { regions, ..self }
    }

    pub(super) const fn relations(self, relations: &'static [Relation]) -> Self {
        Self { relations, ..self }
    }

    pub(super) const fn attributes(self, attributes: &'static [AttrRule]) -> Self {
        Self { attributes, ..self }
    }

    pub(super) const fn check(self, check: fn(Op<'_>) -> Check) -> Self {
        Self { check: Some(check), ..self }
    }
}

/// Counts and types of operands and results, the number of regions, the
/// attributes, the relations, then the operation's own constraints.
pub(super) fn check(op: Op<'_>, row: &Row) -> Check {
    regions(op, row.regions)?;
    slots(op, "operand", row.operands, op.operand_count(), |index| op.operand(index).facts)?;
    slots(op, "result", row.results, op.result_count(), |index| op.result(index).facts)?;
    for rule in row.attributes {
        rule.check(op)?;
    }
    for relation in row.relations {
        super::relations::check(op, *relation)?;
    }
    row.check.map_or(Ok(()), |check| check(op))
}

fn regions(op: Op<'_>, regions: Regions) -> Check {
    let count = op.data.regions.len();
    match regions {
        Regions::Exactly(0) if count > 0 => invalid!("requires zero regions, but has {count}"),
        Regions::Exactly(1) if count != 1 => invalid!("requires one region, but has {count}"),
        Regions::Exactly(wanted) if count != wanted => invalid!("requires {wanted} regions, but has {count}"),
        Regions::AtLeastOne if count == 0 => invalid!("expect at least one branch"),
        Regions::Any => return Ok(()),
        _ => {}
    }
    for (index, region) in op.data.regions.iter().enumerate() {
        let blocks = op.module().region(*region).blocks.len();
        if blocks != 1 {
            invalid!("region #{index} must have exactly one block, but has {blocks}");
        }
    }
    Ok(())
}

/// Checks values against slots, of which the variadic ones share what is left equally.
fn slots<'m>(
    op: Op<'_>,
    what: &str,
    slots: &[Slot],
    count: usize,
    facts: impl Fn(usize) -> &'m Facts,
) -> Check {
    let variadic = slots.iter().filter(|slot| slot.variadic).count();
    let fixed = slots.len() - variadic;
    if variadic == 0 && count != fixed {
        invalid!("expected {fixed} {what}s, but found {count}");
    }
    if count < fixed {
        invalid!("expected {fixed} or more {what}s, but found {count}");
    }
    let shared = (count - fixed).checked_div(variadic).unwrap_or(0);
    if variadic > 0 && fixed + shared * variadic != count {
        invalid!("{what} groups must be of the same size, but {count} {what}s were found");
    }
    let mut index = 0;
    for slot in slots {
        for _ in 0..if slot.variadic { shared } else { 1 } {
            if !slot.admits(facts(index)) {
                let value = if what == "operand" { op.operand(index) } else { op.result(index) };
                invalid!("{what} #{index} must be {}, but got {value}", slot.describe());
            }
            index += 1;
        }
    }
    Ok(())
}
