//! Other values of an attribute, other operations of a signature.

use ckpt_ir::{Attr, Module, OpKind};

/// Operations that can stand for each other without a change of types.
const EXCHANGEABLE: [&[OpKind]; 6] = [
    &[OpKind::Add, OpKind::Subtract, OpKind::Multiply, OpKind::Maximum, OpKind::Minimum],
    &[OpKind::Divide, OpKind::Power, OpKind::Remainder, OpKind::Atan2],
    &[OpKind::Tanh, OpKind::Exponential, OpKind::Logistic, OpKind::Sqrt, OpKind::Rsqrt],
    &[OpKind::Negate, OpKind::Abs, OpKind::Sign],
    &[OpKind::And, OpKind::Or, OpKind::Xor],
    &[OpKind::ShiftLeft, OpKind::ShiftRightLogical, OpKind::ShiftRightArithmetic],
];

/// Enumeration values with another of the same enumeration.
const ENUMERATIONS: [(&str, &str); 12] = [
    ("EQ", "NE"),
    ("NE", "EQ"),
    ("LT", "LE"),
    ("LE", "LT"),
    ("GT", "GE"),
    ("GE", "GT"),
    ("FLOAT", "TOTALORDER"),
    ("SIGNED", "UNSIGNED"),
    ("UNSIGNED", "SIGNED"),
    ("DEFAULT", "HIGHEST"),
    ("HIGHEST", "DEFAULT"),
    ("THREE_FRY", "PHILOX"),
];

/// Another operation that `kind` can be exchanged with.
pub(super) fn other_kind(kind: OpKind) -> Option<OpKind> {
    let group = EXCHANGEABLE.iter().find(|group| group.contains(&kind))?;
    let at = group.iter().position(|other| *other == kind)?;
    group.get((at + 1) % group.len()).copied()
}

/// Other values of an attribute, none of them equal to it. May intern parts.
pub(super) fn variations(module: &mut Module, attr: &Attr) -> Vec<Attr> {
    let mut found = structured(attr);
    match attr {
        Attr::Enum(kind, value) => {
            let text = module.names.get(*value).to_owned();
            let other = ENUMERATIONS.iter().find(|(name, _)| *name == text);
            let other = other.map_or_else(|| format!("{text}_X"), |(_, o)| (*o).to_owned());
            found.push(Attr::Enum(*kind, module.names.intern(&other)));
        }
        Attr::Array(parts) => {
            if let Some((&first, rest)) = parts.split_first() {
                let part = module.attrs.get(first).clone();
                for varied in variations_of_part(module, &part) {
                    let varied = module.attrs.intern(varied);
                    found.push(Attr::Array([&[varied], rest].concat()));
                }
                found.push(Attr::Array(rest.to_vec()));
            }
        }
        Attr::Opaque(text) => {
            let other = format!("{}_x", module.names.get(*text));
            found.push(Attr::Opaque(module.names.intern(&other)));
        }
        Attr::SymbolRef(_) => {
            let names: Vec<String> = module
                .functions()
                .filter_map(|f| module.string_attr(f, "sym_name").map(str::to_owned))
                .collect();
            let symbols = names.iter().map(|name| Attr::SymbolRef(vec![module.names.intern(name)]));
            found.extend(symbols);
        }
        _ => {}
    }
    found.retain(|other| other != attr);
    found
}

/// Variations of an array's element, one level deep.
fn variations_of_part(module: &mut Module, part: &Attr) -> Vec<Attr> {
    match part {
        Attr::Array(_) | Attr::SymbolRef(_) => Vec::new(),
        _ => variations(module, part),
    }
}

/// Variations that need no interning.
fn structured(attr: &Attr) -> Vec<Attr> {
    match attr {
        Attr::Unit => vec![Attr::Bool(false)],
        Attr::Bool(value) => vec![Attr::Bool(!value)],
        Attr::Int { value, ty } => [value + 1, value - 1].map(|value| Attr::Int { value, ty: *ty }).to_vec(),
        Attr::Float { bits, ty } => vec![Attr::Float { bits: bits ^ 1, ty: *ty }],
        Attr::String(bytes) => vec![Attr::String([bytes, &b"x"[..]].concat().into())],
        Attr::DenseIntArray { element, values } => {
            let mut rotated = values.clone();
            rotated.rotate_left(usize::from(!values.is_empty()));
            let bumped = values.iter().enumerate().map(|(at, _)| {
                let mut bumped = values.clone();
                bumped[at] ^= 1;
                bumped
            });
            let all = bumped.chain([rotated]);
            all.map(|values| Attr::DenseIntArray { element: *element, values }).collect()
        }
        Attr::Dense(dense) => {
            let flips = [0, dense.bytes.len().saturating_sub(1)].into_iter().filter_map(|at| {
                let mut bytes = dense.bytes.to_vec();
                *bytes.get_mut(at)? ^= 1;
                Some(Attr::Dense(ckpt_ir::DenseElements { bytes: bytes.into(), ..dense.clone() }))
            });
            flips.collect()
        }
        Attr::Dictionary(entries) => (0..entries.len())
            .map(|skip| {
                let mut fewer = entries.clone();
                fewer.remove(skip);
                Attr::Dictionary(fewer)
            })
            .collect(),
        _ => dimension_numbers(attr),
    }
}

/// Variations of StableHLO's dimension numbers.
fn dimension_numbers(attr: &Attr) -> Vec<Attr> {
    let mut attr = attr.clone();
    match &mut attr {
        Attr::DotDims(dims) => match &mut dims.lhs_contracting[..] {
            [first, ..] => *first ^= 1,
            [] => dims.lhs_contracting.push(0),
        },
        Attr::GatherDims(dims) => dims.index_vector_dim += 1,
        Attr::ScatterDims(dims) => dims.index_vector_dim += 1,
        Attr::ConvDims(dims) => {
            std::mem::swap(&mut dims.output_batch, &mut dims.output_feature);
        }
        Attr::ChannelHandle { handle, .. } => *handle += 1,
        _ => return Vec::new(),
    }
    vec![attr]
}
