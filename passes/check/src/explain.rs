//! What differs, once it is known that something does. Runs on refusal only.

use crate::number::{Common, Numbering};
use crate::refusal::{Difference, Place, Refusal};
use crate::term::{OpTerm, Sym, Term};
use ckpt_ir::{Attr, AttrId, NamedAttr, OpId, Type, TypeId, ValueId};

/// Longest rendering of an attribute or type in a message, in characters.
const MAX_RENDERED: usize = 80;

/// Why `op` of the output, whose term `sym` the input does not have, is refused.
pub(crate) fn unknown_op(
    common: &Common,
    input: &Numbering<'_>,
    output: &Numbering<'_>,
    op: OpId,
    sym: Sym,
) -> Refusal {
    let place = Place::of(output.module, op);
    let Some(term) = common.terms.op(sym) else {
        let difference = Box::new(Difference::Unmatched);
        return Refusal::UnknownValue { output: place, input: None, difference };
    };
    let same_state = term.state.and_then(|state| find_op(common, input, Some(state)));
    let nearest = same_state.or_else(|| most_similar(common, input, output, op, term));
    let difference = nearest.map_or(Difference::Unmatched, |near| {
        difference(common, (input, near), (output, op)).unwrap_or(Difference::Unmatched)
    });
    let near = nearest.map(|near| Place::of(input.module, near));
    let is_terminator = output.module.op(op).kind.is_terminator();
    if let Difference::Operand { index, input: expected, output: value, .. } = difference
        && is_terminator
    {
        return Refusal::Results { output: place, input: near, index, value, expected };
    }
    let difference = Box::new(difference);
    if term.state.is_some() {
        Refusal::Effect { output: place, input: near, difference }
    } else {
        Refusal::UnknownValue { output: place, input: near, difference }
    }
}

/// Why the function `output_op`, all of whose operations the input has, is not
/// the input's.
pub(crate) fn function(
    common: &Common,
    (input, input_op): (&Numbering<'_>, OpId),
    (output, output_op): (&Numbering<'_>, OpId),
) -> Refusal {
    let place = Place::of(output.module, output_op);
    let near = Some(Place::of(input.module, input_op));
    let own = difference(common, (input, input_op), (output, output_op));
    if let Some(Difference::Region { .. }) = own {
        let end_of = |numbering: &Numbering<'_>, op| {
            numbering.module.function_body(op).and_then(|body| numbering.module.terminator(body))
        };
        if let (Some(a), Some(b)) = (end_of(input, input_op), end_of(output, output_op)) {
            let end = difference(common, (input, a), (output, b));
            if let Some(Difference::Operand { index, input: expected, output: value, .. }) = end {
                let (near, place) = (Place::of(input.module, a), Place::of(output.module, b));
                let input = Some(near);
                return Refusal::Results { output: place, input, index, value, expected };
            }
        }
        let missing =
            last_state(common, output, output_op).and_then(|state| find_op(common, input, Some(state)));
        if let Some(missing) = missing {
            let input = Some(Place::of(input.module, missing));
            return Refusal::MissingEffect { output: place, input };
        }
    }
    let difference = Box::new(own.unwrap_or(Difference::Unmatched));
    Refusal::Interface { output: place, input: near, difference }
}

/// The state at the end of a function's body.
fn last_state(common: &Common, numbering: &Numbering<'_>, function: OpId) -> Option<Sym> {
    let term = common.terms.op(numbering.ops[function]?)?;
    let Term::Region(blocks) = common.terms.get(*term.regions.first()?) else { return None };
    match common.terms.get(*blocks.first()?) {
        Term::Block { state, .. } => Some(*state),
        _ => None,
    }
}

/// The input's operation that runs in `state`.
fn find_op(common: &Common, numbering: &Numbering<'_>, state: Option<Sym>) -> Option<OpId> {
    let mut ops = numbering.ops.iter();
    ops.find(|(_, sym)| sym.and_then(|sym| common.terms.op(sym)).is_some_and(|term| term.state == state))
        .map(|(op, _)| op)
}

/// The operation of the input that has the most in common with one of the
/// output: name, place, attributes, operands.
fn most_similar(
    common: &Common,
    input: &Numbering<'_>,
    output: &Numbering<'_>,
    op: OpId,
    term: &OpTerm,
) -> Option<OpId> {
    let wanted = Place::of(output.module, op);
    let mut best: Option<(usize, OpId)> = None;
    for (candidate, sym) in input.ops.iter() {
        let Some(other) = sym.and_then(|sym| common.terms.op(sym)) else { continue };
        let operands = term.operands.iter().zip(&other.operands).filter(|(a, b)| a == b).count();
        if other.name != term.name && (operands == 0 || other.results != term.results) {
            continue;
        }
        let place = Place::of(input.module, candidate);
        let near = !wanted.location.is_empty() && place.location == wanted.location;
        let score = operands
            + 8 * usize::from(other.name == term.name)
            + 4 * usize::from(place.name == wanted.name)
            + 2 * usize::from(near)
            + 2 * usize::from(other.properties == term.properties)
            + usize::from(other.results == term.results);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, op)| op)
}

/// The first thing in which two operations differ.
pub(crate) fn difference(
    common: &Common,
    (input, input_op): (&Numbering<'_>, OpId),
    (output, output_op): (&Numbering<'_>, OpId),
) -> Option<Difference> {
    let a = common.terms.op(input.ops[input_op]?)?;
    let b = common.terms.op(output.ops[output_op]?)?;
    if a.name != b.name {
        let text = |term: &OpTerm| common.canonical.names.get(term.name).to_owned();
        return Some(Difference::Name { input: text(a), output: text(b) });
    }
    attributes(common, &a.properties, &b.properties)
        .or_else(|| attributes(common, &a.attributes, &b.attributes))
        .or_else(|| operands((input, input_op), (output, output_op), (a, b)))
        .or_else(|| types(common, "result", &a.results, &b.results))
        .or_else(|| regions(common, a, b))
        .or_else(|| (a.callee != b.callee).then_some(Difference::Callee))
        .or_else(|| (a.state != b.state).then_some(Difference::State))
}

fn attributes(common: &Common, a: &[NamedAttr], b: &[NamedAttr]) -> Option<Difference> {
    let find = |list: &[NamedAttr], name| list.iter().find(|(n, _)| *n == name).map(|(_, id)| *id);
    let names = a.iter().chain(b).map(|(name, _)| *name);
    let differs = names.map(|name| (name, find(a, name), find(b, name))).find(|(_, x, y)| x != y);
    differs.map(|(name, input, output)| Difference::Attribute {
        name: common.canonical.names.get(name).to_owned(),
        input: input.map(|id| attr_text(common, id)),
        output: output.map(|id| attr_text(common, id)),
    })
}

fn count(what: &'static str, input: usize, output: usize) -> Option<Difference> {
    (input != output).then_some(Difference::Count { what, input, output })
}

fn operands(
    (input, input_op): (&Numbering<'_>, OpId),
    (output, output_op): (&Numbering<'_>, OpId),
    (a, b): (&OpTerm, &OpTerm),
) -> Option<Difference> {
    if let Some(difference) = count("operands", a.operands.len(), b.operands.len()) {
        return Some(difference);
    }
    let index = a.operands.iter().zip(&b.operands).position(|(x, y)| x != y)?;
    let value = |numbering: &Numbering<'_>, op| -> Option<ValueId> {
        numbering.module.op(op).operands.get(index).copied()
    };
    Some(Difference::Operand {
        index,
        input: value(input, input_op)?,
        output: value(output, output_op)?,
        equals: input.values.iter().find(|(_, sym)| **sym == Some(b.operands[index])).map(|v| v.0),
    })
}

fn types(common: &Common, what: &'static str, a: &[TypeId], b: &[TypeId]) -> Option<Difference> {
    if a.len() != b.len() {
        return count(what, a.len(), b.len());
    }
    let index = a.iter().zip(b).position(|(x, y)| x != y)?;
    let (input, output) = (type_text(common, a[index]), type_text(common, b[index]));
    Some(Difference::Type { what, index, input, output })
}

fn regions(common: &Common, a: &OpTerm, b: &OpTerm) -> Option<Difference> {
    if let Some(difference) = count("regions", a.regions.len(), b.regions.len()) {
        return Some(difference);
    }
    let index = a.regions.iter().zip(&b.regions).position(|(x, y)| x != y)?;
    let blocks = |region| match common.terms.get(region) {
        Term::Region(blocks) => &blocks[..],
        _ => &[],
    };
    let (a, b) = (blocks(a.regions[index]), blocks(b.regions[index]));
    if let Some(difference) = count("blocks", a.len(), b.len()) {
        return Some(difference);
    }
    let arguments = a.iter().zip(b).find_map(|(x, y)| match (common.terms.get(*x), common.terms.get(*y)) {
        (Term::Block { arguments: x, .. }, Term::Block { arguments: y, .. }) => {
            types(common, "block argument", x, y)
        }
        _ => None,
    });
    Some(arguments.unwrap_or(Difference::Region { index }))
}

fn type_text(common: &Common, id: TypeId) -> String {
    match common.canonical.types.get(id) {
        Type::Tensor(tensor) => match tensor.static_shape() {
            Some(shape) => {
                let dims: String = shape.iter().map(|dim| format!("{dim}x")).collect();
                format!("tensor<{dims}{}>", tensor.element)
            }
            None => shortened(format!("{tensor:?}")),
        },
        other => shortened(format!("{other:?}")),
    }
}

fn attr_text(common: &Common, id: AttrId) -> String {
    let names = &common.canonical.names;
    let text = match common.canonical.attrs.get(id) {
        Attr::Unit => "unit".to_owned(),
        Attr::Bool(value) => value.to_string(),
        Attr::Int { value, .. } => value.to_string(),
        Attr::String(bytes) => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        Attr::Enum(_, value) => names.get(*value).to_owned(),
        Attr::DenseIntArray { values, .. } => format!("{values:?}"),
        Attr::Type(ty) => type_text(common, *ty),
        Attr::SymbolRef(path) => {
            path.iter().map(|name| format!("@{}", names.get(*name))).collect::<Vec<_>>().join("::")
        }
        Attr::Dense(dense) => {
            let shown = &dense.bytes[..dense.bytes.len().min(MAX_RENDERED / 4)];
            format!("dense {} of bytes {shown:02x?}", type_text(common, dense.ty))
        }
        other => format!("{other:?} ({id})"),
    };
    shortened(text)
}

fn shortened(text: String) -> String {
    if text.chars().count() <= MAX_RENDERED {
        return text;
    }
    text.chars().take(MAX_RENDERED).chain(['…']).collect()
}
