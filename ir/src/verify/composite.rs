//! Composites and their decompositions.

use super::Verdict;
use super::site::{Site, require};
use crate::{Attr, OpId, TypeId};

pub(super) fn check(site: &Site<'_>) -> Verdict {
    if let Some(Attr::String(name)) = site.attr("name") {
        require(is_namespaced(name), || {
            format!("needs a namespaced name like a.b, not {:?}", String::from_utf8_lossy(name))
        })?;
    }
    let Some(Attr::SymbolRef(path)) = site.attr("decomposition") else { return Ok(()) };
    let [name] = &path[..] else { return Ok(()) };
    let name = site.module.names.get(*name);
    let Some(function) = site.module.function(name) else {
        return Err(format!("'{name}' is not a function of the module"));
    };
    signature(site, function)
}

/// Letters, digits and underscores around dots, a letter first in each part.
fn is_namespaced(name: &[u8]) -> bool {
    let part = |part: &[u8]| {
        part.first().is_some_and(|c| c.is_ascii_alphabetic())
            && part.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$'))
    };
    name.contains(&b'.') && name.split(|c| *c == b'.').all(part)
}

fn signature(site: &Site<'_>, function: OpId) -> Verdict {
    let Some(body) = site.module.function_body(function) else { return Ok(()) };
    let arguments: Vec<TypeId> = site.module.block(body).arguments.iter().map(|v| site.type_of(*v)).collect();
    agree("operand", &site.op.operands.iter().map(|v| site.type_of(*v)).collect::<Vec<_>>(), &arguments)?;
    let Some(end) = site.module.terminator(body) else { return Ok(()) };
    let results: Vec<TypeId> = site.module.op(end).operands.iter().map(|v| site.type_of(*v)).collect();
    agree("result", &site.op.results.iter().map(|v| site.type_of(*v)).collect::<Vec<_>>(), &results)
}

fn agree(what: &str, own: &[TypeId], expected: &[TypeId]) -> Verdict {
    require(own.len() == expected.len(), || {
        format!("has {} {what}s, but the decomposition has {}", own.len(), expected.len())
    })?;
    let differs = own.iter().zip(expected).position(|(a, b)| a != b);
    require(differs.is_none(), || {
        format!("{what} #{} is of another type than in the decomposition", differs.unwrap_or(0))
    })
}
