//! Operations of Shardy's dialect that JAX prints. The project knows none of
//! them but `sharding_constraint`; they are carried through with their
//! attributes as text.

use crate::text::cursor::Read;
use crate::text::operations::{Parts, Reader};
use crate::{Attr, AttrId, Diagnostic, OpId, OpKind};

impl Reader<'_> {
    /// An operation of the dialect, after its name.
    pub(in crate::text) fn sdy_op(&mut self, name: &str, at: usize) -> Read<OpId> {
        let mut parts = Parts::default();
        match name {
            "sdy.mesh" => self.sdy_mesh(&mut parts)?,
            "sdy.sharding_constraint" | "sdy.reshard" => self.sdy_constraint(&mut parts)?,
            "sdy.manual_computation" => self.sdy_manual_computation(&mut parts)?,
            "sdy.return" => {
                let uses = self.value_uses()?;
                self.operand_types(OpKind::Return, &uses, &mut parts)?;
            }
            _ => {
                let message = format!("operation '{name}' has no pretty form here; write it in generic form");
                return Err(Diagnostic::unsupported(at, message));
            }
        }
        self.create(OpKind::from_name(name), name, parts)
    }

    /// `@mesh = <["d"=4]> {…}`.
    fn sdy_mesh(&mut self, parts: &mut Parts) -> Read<()> {
        let name = self.cursor.symbol_name()?;
        let name = self.module.attrs.intern(Attr::String(name.into_bytes().into()));
        self.property(parts, "sym_name", name);
        self.cursor.expect("=")?;
        let mesh = self.bracketed_text("<")?;
        let mesh = self.opaque(format!("#sdy.mesh<{mesh}"));
        self.property(parts, "mesh", mesh);
        parts.attributes = self.optional_dictionary()?;
        Ok(())
    }

    /// `%0 <@mesh, [{"d"}, {}]> {…} : type`.
    fn sdy_constraint(&mut self, parts: &mut Parts) -> Read<()> {
        let uses = [self.value_use()?];
        let sharding = self.bracketed_text("<")?;
        let sharding = self.opaque(format!("#sdy.sharding<{sharding}"));
        self.property(parts, "sharding", sharding);
        parts.attributes = self.optional_dictionary()?;
        self.same_type_signature(&uses, parts)
    }

    /// `(%a) in_shardings=[…] out_shardings=[…] manual_axes={…} (%b: type) {…} : (type) -> type`.
    fn sdy_manual_computation(&mut self, parts: &mut Parts) -> Read<()> {
        self.cursor.expect("(")?;
        let uses = self.value_uses()?;
        self.cursor.expect(")")?;
        for key in ["in_shardings", "out_shardings"] {
            self.cursor.expect_word(key)?;
            self.cursor.expect("=")?;
            let shardings = self.bracketed_text("[")?;
            let shardings = self.opaque(format!("#sdy.sharding_per_value<[{shardings}>"));
            self.property(parts, key, shardings);
        }
        self.cursor.expect_word("manual_axes")?;
        self.cursor.expect("=")?;
        let axes = self.bracketed_text("{")?;
        let axes = self.opaque(format!("#sdy<manual_axes{{{axes}>"));
        self.property(parts, "manual_axes", axes);
        self.cursor.expect("(")?;
        let mut arguments = Vec::new();
        if !self.cursor.eat(")") {
            self.list(")", |reader| {
                arguments.push(reader.typed_argument()?);
                Ok(())
            })?;
        }
        parts.regions.push(self.region(&arguments, false)?);
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, parts)
    }

    /// What stands behind an opening bracket, with the closing one.
    fn bracketed_text(&mut self, open: &'static str) -> Read<String> {
        self.cursor.expect(open)?;
        Ok(self.cursor.balanced(open.as_bytes()[0])?.to_owned())
    }

    fn opaque(&mut self, text: String) -> AttrId {
        let text = self.module.names.intern(&text);
        self.module.attrs.intern(Attr::Opaque(text))
    }
}
