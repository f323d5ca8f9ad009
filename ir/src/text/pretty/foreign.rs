//! Operations of MLIR's other dialects that stand in programs beside StableHLO.
//! They are read in pretty form and printed in generic form.

use crate::text::cursor::Read;
use crate::text::operations::{Parts, Reader, ValueUse};
use crate::{Attr, AttrId, ElementType, OpId, OpKind, Type, TypeId};

/// The form of an operation after its name.
#[derive(Clone, Copy)]
enum Foreign {
    /// `{…} value`, whose type is the result's.
    Constant,
    /// `@symbol : type`.
    SymbolConstant,
    /// `%a {…} : type to type`.
    Cast,
    /// `%a, %b {…} : type`.
    SameType,
    /// `(%inputs) inits (%inits) dimension = 0 attributes {…} {region} : (types) -> types`.
    Scan,
}

const FOREIGN: &[(&str, Foreign)] = &[
    ("arith.addf", Foreign::SameType),
    ("arith.addi", Foreign::SameType),
    ("arith.constant", Foreign::Constant),
    ("arith.divf", Foreign::SameType),
    ("arith.extf", Foreign::Cast),
    ("arith.index_cast", Foreign::Cast),
    ("arith.mulf", Foreign::SameType),
    ("arith.muli", Foreign::SameType),
    ("arith.sitofp", Foreign::Cast),
    ("arith.subf", Foreign::SameType),
    ("arith.subi", Foreign::SameType),
    ("arith.truncf", Foreign::Cast),
    ("builtin.unrealized_conversion_cast", Foreign::Cast),
    ("chlo.scan", Foreign::Scan),
    ("func.constant", Foreign::SymbolConstant),
    ("tensor.cast", Foreign::Cast),
];

impl<'t> Reader<'t> {
    /// An operation of the table, after its name; none if it is not in the table.
    pub(in crate::text) fn foreign_op(&mut self, name: &str) -> Read<Option<OpId>> {
        let Some((_, form)) = FOREIGN.iter().find(|(known, _)| *known == name) else { return Ok(None) };
        let mut parts = Parts::default();
        match form {
            Foreign::Constant => {
                parts.attributes = self.optional_dictionary()?;
                let value = self.attribute()?;
                let ty = self.type_of(value);
                parts.results.push(ty.ok_or_else(|| self.cursor.expected("a value with a type"))?);
                self.property(&mut parts, "value", value);
            }
            Foreign::SymbolConstant => {
                let path = self.symbol_path()?;
                let value = self.module.attrs.intern(Attr::SymbolRef(path));
                self.property(&mut parts, "value", value);
                self.cursor.expect(":")?;
                parts.results.push(self.ty()?);
            }
            Foreign::Cast => {
                let uses = self.value_uses()?;
                parts.attributes = self.optional_dictionary()?;
                self.cursor.expect(":")?;
                let at = self.cursor.here();
                let inputs = self.types_until(&uses)?;
                parts.operands = self.resolve_typed(&uses, &inputs, at)?;
                self.cursor.expect_word("to")?;
                parts.results.push(self.ty()?);
            }
            Foreign::SameType => {
                let uses = self.value_uses()?;
                parts.attributes = self.optional_dictionary()?;
                self.same_type_signature(&uses, &mut parts)?;
            }
            Foreign::Scan => self.scan(&mut parts)?,
        }
        self.create(OpKind::from_name(name), name, parts).map(Some)
    }

    /// One type for each use, with commas between.
    fn types_until(&mut self, uses: &[ValueUse<'t>]) -> Read<Vec<TypeId>> {
        let mut types = Vec::new();
        for index in 0..uses.len() {
            if index > 0 {
                self.cursor.expect(",")?;
            }
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// The type that an attribute carries.
    fn type_of(&mut self, attr: AttrId) -> Option<TypeId> {
        match self.module.attrs.get(attr) {
            Attr::Dense(dense) => Some(dense.ty),
            Attr::Int { ty, .. } | Attr::Float { ty, .. } => Some(*ty),
            Attr::Bool(_) => Some(self.module.types.intern(Type::Scalar(ElementType::Bool))),
            _ => None,
        }
    }

    /// `chlo.scan`: how many operands are inputs, and how many results are
    /// outputs, the generic form says in attributes.
    fn scan(&mut self, parts: &mut Parts) -> Read<()> {
        let inputs = self.uses_in_parens()?;
        self.cursor.expect_word("inits")?;
        let inits = self.uses_in_parens()?;
        self.cursor.expect_word("dimension")?;
        self.cursor.expect("=")?;
        let dimension = self.cursor.integer()?;
        let dimension = self.int64(dimension);
        self.property(parts, "dimension", dimension);
        if self.cursor.eat_word("attributes") {
            parts.properties.extend(self.dictionary()?);
        }
        parts.regions.push(self.region(&[], true)?);
        let uses: Vec<ValueUse<'t>> = inputs.iter().chain(&inits).copied().collect();
        self.function_signature(&uses, parts)?;
        let outputs = parts.results.len().saturating_sub(inits.len());
        self.segments(parts, "operandSegmentSizes", [inputs.len(), inits.len()]);
        self.segments(parts, "resultSegmentSizes", [outputs, inits.len()]);
        Ok(())
    }

    fn uses_in_parens(&mut self) -> Read<Vec<ValueUse<'t>>> {
        self.cursor.expect("(")?;
        let uses = self.value_uses()?;
        self.cursor.expect(")")?;
        Ok(uses)
    }

    fn segments(&mut self, parts: &mut Parts, name: &str, sizes: [usize; 2]) {
        let element = self.scalar(ElementType::Int(32));
        let values = sizes.iter().map(|size| *size as i64).collect();
        let attr = self.module.attrs.intern(Attr::DenseIntArray { element, values });
        self.property(parts, name, attr);
    }
}
