//! The reader: modules, functions, blocks and the generic form.

use super::attributes::Entry;
use super::cursor::{Cursor, Read};
use super::form::form_of;
use super::{MAX_DIAGNOSTICS, form};
use crate::{
    Attr, AttrId, BlockId, Diagnostic, LocId, Module, NamedAttr, OpId, OpKind, RegionId, Type, TypeId,
    ValueId,
};
use ckpt_entity::EntityId as _;
use smallvec::SmallVec;
use std::collections::HashMap;

/// What a name stands for: values with consecutive ids.
#[derive(Clone, Copy, Debug)]
struct Binding {
    first: ValueId,
    count: u32,
    offset: usize,
}

/// A use of a name, before its type is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueUse<'t> {
    name: &'t str,
    index: Option<u32>,
    pub(super) offset: usize,
}

/// The results that stand before `=`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultGroup<'t> {
    name: &'t str,
    count: u32,
    offset: usize,
}

/// An operation read so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) operands: Vec<ValueId>,
    pub(super) results: Vec<TypeId>,
    pub(super) attributes: Vec<Entry>,
    pub(super) properties: Vec<Entry>,
    /// Regions that were read before the operation was made.
    pub(super) regions: Vec<RegionId>,
}

/// Reads one text into one module.
pub(super) struct Reader<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) module: Module,
    pub(super) depth: usize,
    pub(super) type_aliases: HashMap<&'t str, TypeId>,
    pub(super) attr_aliases: HashMap<&'t str, AttrId>,
    pub(super) loc_aliases: HashMap<&'t str, LocId>,
    /// Offsets of `#name = ` and `!name = ` at the start of a line, for aliases used before.
    alias_offsets: HashMap<&'t str, usize>,
    pending_aliases: Vec<&'t str>,
    scopes: Vec<HashMap<&'t str, Binding>>,
    errors: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            cursor: Cursor::new(text),
            module: Module::new(),
            depth: 0,
            type_aliases: HashMap::new(),
            attr_aliases: HashMap::new(),
            loc_aliases: HashMap::new(),
            alias_offsets: alias_offsets(text),
            pending_aliases: Vec::new(),
            scopes: vec![HashMap::new()],
            errors: Vec::new(),
        }
    }

    /// The whole text.
    pub(super) fn module(mut self) -> Result<Module, Vec<Diagnostic>> {
        if let Err(error) = self.top_level() {
            self.errors.push(error);
        }
        if self.errors.is_empty() { Ok(self.module) } else { Err(self.errors) }
    }

    fn top_level(&mut self) -> Read<()> {
        let mut explicit = false;
        loop {
            if self.cursor.peek().is_none() {
                break;
            }
            if self.alias_definition()? {
                continue;
            }
            let start = self.cursor.here();
            let before = self.cursor;
            let is_module = self.cursor.eat_word("module") || self.cursor.eat_word("builtin.module");
            if is_module && !explicit && self.module.block(self.module.body()).ops.is_empty() {
                explicit = true;
                self.module_header()?;
                let body = self.module.body();
                self.cursor.expect("{")?;
                self.operations_until_brace(body)?;
                let loc = self.optional_location()?;
                let top = self.module.top();
                self.module.op_mut(top).loc = loc;
                self.module.op_mut(top).offset = offset_of(start);
                continue;
            }
            if std::mem::take(&mut explicit) {
                // Several operations stand at the top: the module read so far is one of them.
                self.module.wrap_top();
            }
            self.cursor = before;
            let body = self.module.body();
            self.operation_or_skip(body)?;
        }
        if !explicit {
            self.module.unwrap_top();
        }
        Ok(())
    }

    fn module_header(&mut self) -> Read<()> {
        let top = self.module.top();
        if self.cursor.peek() == Some(b'@') {
            let name = self.cursor.symbol_name()?;
            let attr = self.module.attrs.intern(Attr::String(name.into_bytes().into()));
            let symbol = self.module.names.intern("sym_name");
            self.module.op_mut(top).properties.push((symbol, attr));
        }
        if self.cursor.eat_word("attributes") {
            let entries = self.dictionary()?;
            self.module.op_mut(top).attributes = entries.into_iter().collect();
        }
        Ok(())
    }

    /// `#name = …` or `!name = …`.
    fn alias_definition(&mut self) -> Read<bool> {
        let before = self.cursor;
        let sigil = match self.cursor.peek() {
            Some(sigil @ (b'#' | b'!')) => sigil,
            _ => return Ok(false),
        };
        let Some(name) = self.cursor.sigil_name(sigil) else { return Ok(false) };
        if !self.cursor.eat("=") {
            self.cursor = before;
            return Ok(false);
        }
        if sigil == b'!' {
            let ty = self.ty()?;
            self.type_aliases.insert(name, ty);
        } else if self.cursor.looking_at("loc(") {
            let loc = self.location()?;
            self.loc_aliases.insert(name, loc);
        } else {
            let attr = self.attribute()?;
            self.attr_aliases.insert(name, attr);
        }
        Ok(true)
    }

    /// A location alias that is defined further on: reads its definition there.
    pub(super) fn forward_location(&mut self, name: &'t str, at: usize) -> Read<LocId> {
        let undefined = || Diagnostic::invalid(at, format!("undefined location alias '#{name}'"));
        let Some(&offset) = self.alias_offsets.get(name) else { return Err(undefined()) };
        if self.pending_aliases.contains(&name) {
            return Err(Diagnostic::invalid(at, format!("location alias '#{name}' is defined by itself")));
        }
        let before = self.cursor;
        self.cursor.at = offset;
        self.pending_aliases.push(name);
        let loc = self.nested(|reader| reader.location());
        self.pending_aliases.pop();
        self.cursor = before;
        let loc = loc?;
        self.loc_aliases.insert(name, loc);
        Ok(loc)
    }

    /// Operations of a block that ends with the `}` of its region.
    fn operations_until_brace(&mut self, block: BlockId) -> Read<()> {
        while !self.cursor.eat("}") {
            if self.cursor.peek().is_none() {
                return Err(self.cursor.expected("'}'"));
            }
            self.operation_or_skip(block)?;
        }
        Ok(())
    }

    /// One operation; after an error, reading goes on at the next line that
    /// starts an operation, so that one run reports several errors.
    fn operation_or_skip(&mut self, block: BlockId) -> Read<()> {
        let scopes = self.scopes.len();
        let depth = self.depth;
        let error = match self.operation(block) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let fatal = error.kind == crate::DiagnosticKind::Limit || self.errors.len() + 1 >= MAX_DIAGNOSTICS;
        if fatal || !self.skip_to_next_function() {
            return Err(error);
        }
        self.errors.push(error);
        self.scopes.truncate(scopes.max(1));
        self.depth = depth;
        Ok(())
    }

    /// Goes to the next `func.func` at the start of a line, if there is one.
    fn skip_to_next_function(&mut self) -> bool {
        let rest = &self.cursor.text[self.cursor.at.min(self.cursor.text.len())..];
        let found = rest.match_indices("func.func").find(|(at, _)| {
            let line = rest[..*at].rfind('\n').map(|newline| &rest[newline + 1..*at]);
            line.is_some_and(|line| line.trim().is_empty())
        });
        let in_function = self.depth == 0;
        match found {
            Some((at, _)) if in_function => {
                self.cursor.at += at;
                true
            }
            _ => false,
        }
    }

    /// One operation with its results and location, at the end of `block`.
    pub(super) fn operation(&mut self, block: BlockId) -> Read<()> {
        let offset = self.cursor.here();
        let groups = self.result_groups()?;
        let name_at = self.cursor.here();
        let op = if self.cursor.peek() == Some(b'"') {
            let name = String::from_utf8_lossy(&self.cursor.string()?).into_owned();
            self.generic_operation(&name, name_at)?
        } else {
            let Some(name) = self.cursor.identifier() else {
                return Err(self.cursor.expected("an operation"));
            };
            self.pretty_operation(name, name_at)?
        };
        self.module.op_mut(op).offset = offset_of(offset);
        let loc = self.optional_location()?;
        self.module.op_mut(op).loc = loc;
        self.unique_attributes(op, name_at)?;
        self.bind_results(op, &groups, offset)?;
        self.module.append(block, op);
        Ok(())
    }

    /// An attribute may stand in one place only: a clause, the properties or the dictionary.
    fn unique_attributes(&self, op: OpId, at: usize) -> Read<()> {
        let data = self.module.op(op);
        let twice =
            |attributes: &[NamedAttr]| attributes.windows(2).find(|w| w[0].0 == w[1].0).map(|w| w[0].0);
        match twice(&data.properties).or_else(|| twice(&data.attributes)) {
            None => Ok(()),
            Some(name) => {
                let name = self.module.names.get(name);
                Err(Diagnostic::invalid(at, format!("attribute '{name}' occurs twice")))
            }
        }
    }

    /// `%a, %b:2 =`.
    fn result_groups(&mut self) -> Read<Vec<ResultGroup<'t>>> {
        let mut groups = Vec::new();
        if self.cursor.peek() != Some(b'%') {
            return Ok(groups);
        }
        loop {
            let offset = self.cursor.here();
            let name = self.cursor.sigil_name(b'%').ok_or_else(|| self.cursor.expected("a result name"))?;
            let count = if self.cursor.eat(":") {
                let at = self.cursor.here();
                let count = self.cursor.integer()?;
                u32::try_from(count)
                    .ok()
                    .filter(|count| *count > 0)
                    .ok_or_else(|| Diagnostic::invalid(at, "expected a positive number of results"))?
            } else {
                1
            };
            groups.push(ResultGroup { name, count, offset });
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect("=")?;
        Ok(groups)
    }

    fn bind_results(&mut self, op: OpId, groups: &[ResultGroup<'t>], offset: usize) -> Read<()> {
        let results = self.module.op(op).results.clone();
        if groups.is_empty() {
            return Ok(());
        }
        let named: u64 = groups.iter().map(|g| u64::from(g.count)).sum();
        if named != results.len() as u64 {
            let message = format!("{named} results are named, the operation has {}", results.len());
            return Err(Diagnostic::invalid(offset, message));
        }
        let mut next = 0;
        for group in groups {
            self.bind(group.name, results[next], group.count, group.offset)?;
            self.module.set_value_name(results[next], group.name);
            next += group.count as usize;
        }
        Ok(())
    }

    pub(super) fn bind(&mut self, name: &'t str, first: ValueId, count: u32, offset: usize) -> Read<()> {
        if let Some(known) = self.lookup(name) {
            let error = Diagnostic::invalid(offset, format!("value %{name} is defined twice"));
            return Err(error.with_note(known.offset, "it was first defined here"));
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Binding { first, count, offset });
        }
        Ok(())
    }

    fn lookup(&self, name: &str) -> Option<Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// `%name` or `%name#2`.
    pub(super) fn value_use(&mut self) -> Read<ValueUse<'t>> {
        let offset = self.cursor.here();
        let name = self.cursor.sigil_name(b'%').ok_or_else(|| self.cursor.expected("a value '%…'"))?;
        let has_index = self.cursor.text[self.cursor.at..].starts_with('#');
        let index = if has_index {
            self.cursor.at += 1;
            let at = self.cursor.here();
            let index = u32::try_from(self.cursor.integer()?);
            Some(index.map_err(|_| Diagnostic::invalid(at, "expected a result number"))?)
        } else {
            None
        };
        Ok(ValueUse { name, index, offset })
    }

    /// The value that a use stands for.
    pub(super) fn resolve(&mut self, used: ValueUse<'t>) -> Read<ValueId> {
        let Some(binding) = self.lookup(used.name) else {
            return Err(Diagnostic::invalid(used.offset, format!("value %{} is not defined", used.name)));
        };
        let index = match used.index {
            // A group's name alone stands for its first value.
            None => 0,
            Some(index) if index < binding.count => index,
            Some(index) => {
                let message = format!("%{} has {} values, there is no #{index}", used.name, binding.count);
                return Err(Diagnostic::invalid(used.offset, message));
            }
        };
        Ok(ValueId::from_index(binding.first.index() + index as usize))
    }

    /// Resolves uses and compares their types with those that the text gives.
    pub(super) fn resolve_typed(
        &mut self,
        uses: &[ValueUse<'t>],
        types: &[TypeId],
        at: usize,
    ) -> Read<Vec<ValueId>> {
        if uses.len() != types.len() {
            let message = format!("{} operands, but {} operand types", uses.len(), types.len());
            return Err(Diagnostic::invalid(at, message));
        }
        let mut values = Vec::with_capacity(uses.len());
        for (used, &ty) in uses.iter().zip(types) {
            let value = self.resolve(*used)?;
            let known = self.module.value_type(value);
            if known != ty {
                let message = format!(
                    "%{} is used as {}, but it is defined as {}",
                    used.name,
                    super::printer::type_text(&self.module, ty),
                    super::printer::type_text(&self.module, known)
                );
                return Err(Diagnostic::invalid(used.offset, message));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// `%a, %b` up to what is no value.
    pub(super) fn value_uses(&mut self) -> Read<Vec<ValueUse<'t>>> {
        let mut uses = Vec::new();
        if self.cursor.peek() != Some(b'%') {
            return Ok(uses);
        }
        loop {
            uses.push(self.value_use()?);
            let before = self.cursor;
            if !self.cursor.eat(",") {
                return Ok(uses);
            }
            if self.cursor.peek() != Some(b'%') {
                self.cursor = before;
                return Ok(uses);
            }
        }
    }

    /// After the quoted name.
    fn generic_operation(&mut self, name: &str, at: usize) -> Read<OpId> {
        let kind = OpKind::from_name(name);
        self.cursor.expect("(")?;
        let uses = self.value_uses()?;
        self.cursor.expect(")")?;
        if self.cursor.eat("[") {
            return Err(Diagnostic::unsupported(at, "operations with successors are not supported"));
        }
        let mut parts = Parts::default();
        if self.cursor.eat("<") {
            parts.properties = self.dictionary()?;
            self.cursor.expect(">")?;
        }
        if self.cursor.peek() == Some(b'(') {
            self.cursor.expect("(")?;
            let isolated = matches!(kind, OpKind::Func | OpKind::Module);
            loop {
                let region = self.region(&[], isolated)?;
                parts.regions.push(region);
                if !self.cursor.eat(",") {
                    break;
                }
            }
            self.cursor.expect(")")?;
        }
        parts.attributes = self.optional_dictionary()?;
        self.cursor.expect(":")?;
        let types_at = self.cursor.here();
        let inputs = self.type_list_in_parens()?;
        self.cursor.expect("->")?;
        parts.results = self.result_types()?;
        parts.operands = self.resolve_typed(&uses, &inputs, types_at)?;
        self.create(kind, name, parts)
    }

    /// Makes the operation of its parts: inherent attributes become properties,
    /// detached regions move in.
    pub(super) fn create(&mut self, kind: OpKind, name: &str, parts: Parts) -> Read<OpId> {
        let op = self.module.create_unknown_op(name, &parts.operands, &parts.results, LocId::unknown());
        let mut properties: Vec<NamedAttr> = parts.properties;
        let mut attributes: SmallVec<[NamedAttr; 0]> = SmallVec::new();
        let inherent = kind.info().inherent;
        for (symbol, attr) in parts.attributes {
            if inherent.contains(&self.module.names.get(symbol)) {
                properties.push((symbol, attr));
            } else {
                attributes.push((symbol, attr));
            }
        }
        let names = &self.module.names;
        properties.sort_by(|a, b| names.get(a.0).cmp(names.get(b.0)));
        attributes.sort_by(|a, b| names.get(a.0).cmp(names.get(b.0)));
        let data = self.module.op_mut(op);
        data.properties = properties.into_iter().collect();
        data.attributes = attributes;
        for region in parts.regions {
            self.module.adopt_region(op, region);
        }
        Ok(op)
    }

    /// `{ … }` of a region; `arguments` are those of the entry block where the
    /// pretty form names them elsewhere.
    pub(super) fn region(
        &mut self,
        arguments: &[(&'t str, TypeId, usize)],
        isolated: bool,
    ) -> Read<RegionId> {
        self.nested(|reader| reader.region_inside(arguments, isolated))
    }

    fn region_inside(&mut self, arguments: &[(&'t str, TypeId, usize)], isolated: bool) -> Read<RegionId> {
        self.cursor.expect("{")?;
        let region = self.module.create_detached_region();
        let saved = isolated.then(|| std::mem::take(&mut self.scopes));
        self.scopes.push(HashMap::new());
        let block = self.module.create_block(region);
        for &(name, ty, offset) in arguments {
            let value = self.module.add_argument(block, ty);
            self.module.set_value_name(value, name);
            self.bind(name, value, 1, offset)?;
        }
        let mut current = block;
        let mut first = true;
        loop {
            if self.cursor.peek() == Some(b'^') {
                if !first || !self.module.block(current).ops.is_empty() || !arguments.is_empty() {
                    let at = self.cursor.here();
                    return Err(Diagnostic::unsupported(at, "regions of several blocks are not supported"));
                }
                current = block;
                self.block_header(block)?;
                first = false;
                continue;
            }
            if self.cursor.eat("}") {
                break;
            }
            if self.cursor.peek().is_none() {
                return Err(self.cursor.expected("'}'"));
            }
            self.operation(current)?;
            first = false;
        }
        self.scopes.pop();
        if let Some(saved) = saved {
            self.scopes = saved;
        }
        Ok(region)
    }

    /// `^bb0(%a: type, …):`.
    fn block_header(&mut self, block: BlockId) -> Read<()> {
        self.cursor.sigil_name(b'^').ok_or_else(|| self.cursor.expected("a block label"))?;
        if self.cursor.eat("(") && !self.cursor.eat(")") {
            self.list(")", |reader| {
                let offset = reader.cursor.here();
                let name = reader
                    .cursor
                    .sigil_name(b'%')
                    .ok_or_else(|| reader.cursor.expected("a block argument"))?;
                reader.cursor.expect(":")?;
                let ty = reader.ty()?;
                let loc = reader.optional_location()?;
                let value = reader.module.add_argument(block, ty);
                reader.module.set_value_name(value, name);
                reader.module.block_mut(block).argument_locs.push(loc);
                reader.bind(name, value, 1, offset)
            })?;
        }
        self.cursor.expect(":")
    }

    /// Names of operations that print without their dialect.
    pub(super) fn kind_of_pretty(name: &str) -> OpKind {
        match name {
            "call" => OpKind::FuncCall,
            "return" => OpKind::FuncReturn,
            "module" => OpKind::Module,
            name => OpKind::from_name(name),
        }
    }

    /// After the name of an operation in pretty form.
    fn pretty_operation(&mut self, name: &'t str, at: usize) -> Read<OpId> {
        let kind = Self::kind_of_pretty(name);
        if name.starts_with("sdy.") {
            return self.sdy_op(name, at);
        }
        if matches!(kind, OpKind::Unknown | OpKind::ChloScan) {
            if let Some(op) = self.foreign_op(name)? {
                return Ok(op);
            }
            let message = format!("operation '{name}' is not known in pretty form; write it in generic form");
            return Err(Diagnostic::unsupported(at, message));
        }
        match form_of(kind) {
            form::Form::Generic => {
                let message = format!("operation '{name}' has no pretty form; write it in generic form");
                Err(Diagnostic::unsupported(at, message))
            }
            form::Form::Special => self.special_form(kind, at),
            form => self.tabled_form(kind, form, at),
        }
    }

    /// The id of a scalar type.
    pub(super) fn scalar(&mut self, element: crate::ElementType) -> TypeId {
        self.module.types.intern(Type::Scalar(element))
    }
}

/// Offsets are kept in 32 bits; what lies beyond has none.
fn offset_of(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// Where each `#name = loc(` that starts a line stands.
fn alias_offsets(text: &str) -> HashMap<&str, usize> {
    let mut offsets = HashMap::new();
    // Location aliases stand at the end, so lines are read backwards until one is something else.
    let mut end = text.len();
    loop {
        let start = text[..end].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &text[start..end];
        if let Some((name, _)) = line.strip_prefix('#').and_then(|rest| rest.split_once(" = loc(")) {
            offsets.insert(name, start + 1 + name.len() + " = ".len());
        } else if !line.trim().is_empty() && !line.starts_with(['#', '!', '/']) {
            return offsets;
        }
        if start == 0 {
            return offsets;
        }
        end = start - 1;
    }
}
