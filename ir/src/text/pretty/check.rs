//! StableHLO's test dialects: checks, probes and prints.

use crate::text::cursor::Read;
use crate::text::literal::{float_bits, integer_bits};
use crate::text::operations::{Parts, Reader};
use crate::{Attr, ElementType, OpId, OpKind};

impl Reader<'_> {
    /// `%got, dense<…> : type {…}`, `%got, %expected, clauses : types`, or one
    /// operand with a probe.
    pub(super) fn test_op(&mut self, kind: OpKind) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts { attributes: self.optional_dictionary()?, ..Parts::default() };
        let mut value_type = None;
        while self.cursor.eat(",") {
            if self.cursor.looking_at("dense") {
                let value = self.attribute()?;
                if let Attr::Dense(dense) = self.module.attrs.get(value) {
                    value_type = Some(dense.ty);
                }
                self.property(&mut parts, "value", value);
            } else {
                self.test_clause(&mut parts)?;
            }
        }
        parts.attributes.extend(self.optional_dictionary()?);
        let at = self.cursor.here();
        let mut types = Vec::from_iter(value_type);
        if self.cursor.eat(":") {
            types = vec![self.ty()?];
            while self.cursor.eat(",") {
                types.push(self.ty()?);
            }
        }
        if let ([ty], true) = (&types[..], uses.len() > 1) {
            types = vec![*ty; uses.len()];
        }
        parts.operands = self.resolve_typed(&uses, &types, at)?;
        if kind == OpKind::InterpreterProbe {
            parts.results = types;
        }
        parts.attributes.extend(self.optional_dictionary()?);
        self.create(kind, kind.name(), parts)
    }

    /// `keyword = value`.
    fn test_clause(&mut self, parts: &mut Parts) -> Read<()> {
        let keyword = self.cursor.identifier().ok_or_else(|| self.cursor.expected("a clause"))?;
        self.cursor.expect("=")?;
        let (name, attr) = match keyword {
            "tolerance" => {
                let text = self.cursor.number().ok_or_else(|| self.cursor.expected("a number"))?;
                let bits =
                    float_bits(text, ElementType::F64).map_err(|_| self.cursor.expected("a number"))?;
                let ty = self.scalar(ElementType::F64);
                (keyword, self.module.attrs.intern(Attr::Float { bits, ty }))
            }
            "probe_id" => {
                let text = self.cursor.string()?;
                (keyword, self.module.attrs.intern(Attr::String(text.into())))
            }
            "iter" => {
                let value = self.cursor.integer()?;
                ("iteration", self.int64(value))
            }
            "max_ulp_difference" | "min_ulp_difference" => {
                let text = self.cursor.number().ok_or_else(|| self.cursor.expected("a number"))?;
                let value = integer_bits(text, ElementType::Uint(64));
                let value = i128::from(value.map_err(|_| self.cursor.expected("an unsigned number"))?);
                let ty = self.scalar(ElementType::Uint(64));
                (keyword, self.module.attrs.intern(Attr::Int { value, ty }))
            }
            _ => return Err(self.cursor.expected("tolerance, probe_id, iter or a ULP difference")),
        };
        self.property(parts, name, attr);
        Ok(())
    }
}
