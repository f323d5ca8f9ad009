//! Functions, calls and inner modules.

use crate::text::cursor::Read;
use crate::text::operations::{Parts, Reader};
use crate::{Attr, AttrId, Diagnostic, LocId, OpId, OpKind, Type, TypeId};

impl<'t> Reader<'t> {
    /// `public @name(%a: type {…} loc(…), …) -> (type {…}, …) attributes {…} {…}`.
    pub(super) fn function(&mut self) -> Read<OpId> {
        let mut parts = Parts::default();
        for visibility in ["public", "private", "nested"] {
            if self.cursor.eat_word(visibility) {
                let attr = self.module.attrs.intern(Attr::String(visibility.as_bytes().into()));
                self.property(&mut parts, "sym_visibility", attr);
            }
        }
        let name = self.cursor.symbol_name()?;
        let name = self.module.attrs.intern(Attr::String(name.into_bytes().into()));
        self.property(&mut parts, "sym_name", name);
        let arguments = self.parameters()?;
        let results = if self.cursor.eat("->") { self.function_results()? } else { Vec::new() };
        let inputs: Vec<TypeId> = arguments.iter().map(|a| a.ty).collect();
        let outputs: Vec<TypeId> = results.iter().map(|(ty, _)| *ty).collect();
        let ty = self.module.types.intern(Type::Function { inputs, results: outputs });
        let ty = self.module.attrs.intern(Attr::Type(ty));
        self.property(&mut parts, "function_type", ty);
        let attrs: Vec<AttrId> = arguments.iter().map(|a| a.attrs).collect();
        self.argument_attributes(&mut parts, "arg_attrs", attrs);
        let attrs: Vec<AttrId> = results.iter().map(|(_, attrs)| *attrs).collect();
        self.argument_attributes(&mut parts, "res_attrs", attrs);
        if self.cursor.eat_word("attributes") {
            parts.attributes = self.dictionary()?;
        }
        if self.cursor.peek() == Some(b'{') {
            let named: Option<Vec<_>> =
                arguments.iter().map(|a| a.name.map(|name| (name, a.ty, a.offset))).collect();
            let Some(named) = named else {
                return Err(self.cursor.expected("named arguments for a function with a body"));
            };
            let region = self.region(&named, true)?;
            let block = self.module.region(region).blocks[0];
            if arguments.iter().any(|a| a.loc != LocId::unknown()) {
                self.module.block_mut(block).argument_locs = arguments.iter().map(|a| a.loc).collect();
            }
            parts.regions.push(region);
        }
        self.create(OpKind::Func, OpKind::Func.name(), parts)
    }

    /// Sets `arg_attrs` or `res_attrs` unless all are empty.
    fn argument_attributes(&mut self, parts: &mut Parts, name: &str, attrs: Vec<AttrId>) {
        let empty = self.module.attrs.intern(Attr::Dictionary(Vec::new()));
        if attrs.iter().any(|attr| *attr != empty) {
            let attr = self.module.attrs.intern(Attr::Array(attrs));
            self.property(parts, name, attr);
        }
    }

    fn parameters(&mut self) -> Read<Vec<Parameter<'t>>> {
        let mut parameters = Vec::new();
        self.cursor.expect("(")?;
        if self.cursor.eat(")") {
            return Ok(parameters);
        }
        self.list(")", |reader| {
            let offset = reader.cursor.here();
            let name = reader.cursor.sigil_name(b'%');
            if name.is_some() {
                reader.cursor.expect(":")?;
            }
            let ty = reader.ty()?;
            let attrs = reader.optional_dictionary()?;
            let attrs = reader.module.attrs.intern(Attr::Dictionary(attrs));
            let loc = reader.optional_location()?;
            parameters.push(Parameter { name, ty, attrs, loc, offset });
            Ok(())
        })?;
        Ok(parameters)
    }

    fn function_results(&mut self) -> Read<Vec<(TypeId, AttrId)>> {
        let empty = self.module.attrs.intern(Attr::Dictionary(Vec::new()));
        if self.cursor.peek() != Some(b'(') {
            return Ok(vec![(self.ty()?, empty)]);
        }
        let mut results = Vec::new();
        self.cursor.expect("(")?;
        if self.cursor.eat(")") {
            return Ok(results);
        }
        self.list(")", |reader| {
            let ty = reader.ty()?;
            let attrs = reader.optional_dictionary()?;
            results.push((ty, reader.module.attrs.intern(Attr::Dictionary(attrs))));
            Ok(())
        })?;
        Ok(results)
    }

    /// A module inside the module.
    pub(super) fn inner_module(&mut self) -> Read<OpId> {
        let mut parts = Parts::default();
        if self.cursor.peek() == Some(b'@') {
            let name = self.cursor.symbol_name()?;
            let name = self.module.attrs.intern(Attr::String(name.into_bytes().into()));
            self.property(&mut parts, "sym_name", name);
        }
        if self.cursor.eat_word("attributes") {
            parts.attributes = self.dictionary()?;
        }
        parts.regions.push(self.region(&[], true)?);
        self.create(OpKind::Module, OpKind::Module.name(), parts)
    }

    /// `@f(%a) {…} : (types) -> types`.
    pub(super) fn call(&mut self) -> Read<OpId> {
        let mut parts = Parts::default();
        let path = self.symbol_path()?;
        let callee = self.module.attrs.intern(Attr::SymbolRef(path));
        self.property(&mut parts, "callee", callee);
        self.cursor.expect("(")?;
        let uses = self.value_uses()?;
        self.cursor.expect(")")?;
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::FuncCall, OpKind::FuncCall.name(), parts)
    }

    /// `@target(%a) {…} : (types) -> types`.
    pub(super) fn custom_call(&mut self) -> Read<OpId> {
        let mut parts = Parts::default();
        let target = self.cursor.symbol_name()?;
        let target = self.module.attrs.intern(Attr::String(target.into_bytes().into()));
        self.property(&mut parts, "call_target_name", target);
        self.cursor.expect("(")?;
        let uses = self.value_uses()?;
        self.cursor.expect(")")?;
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::CustomCall, OpKind::CustomCall.name(), parts)
    }

    /// `"name" %a, %b {…} : (types) -> types`.
    pub(super) fn composite(&mut self) -> Read<OpId> {
        let mut parts = Parts::default();
        if self.cursor.peek() != Some(b'"') {
            let at = self.cursor.here();
            return Err(Diagnostic::invalid(at, "expected the composite's name"));
        }
        let name = self.cursor.string()?.into();
        let name = self.module.attrs.intern(Attr::String(name));
        self.property(&mut parts, "name", name);
        let uses = self.value_uses()?;
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::Composite, OpKind::Composite.name(), parts)
    }
}

/// A parameter of a function.
struct Parameter<'t> {
    name: Option<&'t str>,
    ty: TypeId,
    attrs: AttrId,
    loc: LocId,
    offset: usize,
}
