//! Reading pretty forms.

mod check;
mod contraction;
mod control;
mod foreign;
mod function;
mod sdy;
mod shape;

use super::cursor::Read;
use super::form::{self, Clause, ClauseValue, Form};
use super::operations::{Parts, Reader, ValueUse};
use crate::{Attr, AttrId, Diagnostic, OpId, OpKind, Type, TypeId};

impl<'t> Reader<'t> {
    /// An operation whose form is a row of the table.
    pub(super) fn tabled_form(&mut self, kind: OpKind, form: Form, at: usize) -> Read<OpId> {
        let mut parts = Parts::default();
        match form {
            Form::SameType => {
                let uses = self.value_uses()?;
                parts.attributes = self.optional_dictionary()?;
                self.same_type_signature(&uses, &mut parts)?;
            }
            Form::SameTypeClauses(clauses) => {
                let uses = self.value_uses()?;
                self.clauses(clauses, &mut parts)?;
                parts.attributes = self.optional_dictionary()?;
                self.same_type_signature(&uses, &mut parts)?;
            }
            Form::Functional(clauses) => {
                let uses = self.value_uses()?;
                self.clauses(clauses, &mut parts)?;
                parts.attributes = self.optional_dictionary()?;
                self.function_signature(&uses, &mut parts)?;
            }
            Form::OperandTypes => {
                let uses = self.value_uses()?;
                parts.attributes = self.optional_dictionary()?;
                self.operand_types(kind, &uses, &mut parts)?;
            }
            Form::Arrow => {
                let uses = self.value_uses()?;
                parts.attributes = self.optional_dictionary()?;
                self.arrow_signature(&uses, &mut parts)?;
            }
            Form::ParenArrow(clauses) => {
                self.cursor.expect("(")?;
                let uses = self.value_uses()?;
                self.clauses(clauses, &mut parts)?;
                self.cursor.expect(")")?;
                parts.attributes = self.optional_dictionary()?;
                self.arrow_signature(&uses, &mut parts)?;
            }
            Form::ResultType(clauses) => {
                self.leading_clauses(clauses, &mut parts)?;
                parts.attributes = self.optional_dictionary()?;
                self.cursor.expect(":")?;
                parts.results = vec![self.ty()?];
            }
            Form::Generic | Form::Special => {
                return Err(Diagnostic::unsupported(at, "this operation has no pretty form"));
            }
        }
        self.create(kind, kind.name(), parts)
    }

    /// `: type` for all operands and the result, or the function type.
    pub(super) fn same_type_signature(&mut self, uses: &[ValueUse<'t>], parts: &mut Parts) -> Read<()> {
        self.cursor.expect(":")?;
        let at = self.cursor.here();
        if self.cursor.peek() == Some(b'(') {
            return self.function_signature_after_colon(uses, parts);
        }
        let ty = self.ty()?;
        parts.operands = self.resolve_typed(uses, &vec![ty; uses.len()], at)?;
        parts.results = vec![ty];
        Ok(())
    }

    /// `: (types) -> types`.
    pub(super) fn function_signature(&mut self, uses: &[ValueUse<'t>], parts: &mut Parts) -> Read<()> {
        self.cursor.expect(":")?;
        self.function_signature_after_colon(uses, parts)
    }

    fn function_signature_after_colon(&mut self, uses: &[ValueUse<'t>], parts: &mut Parts) -> Read<()> {
        let at = self.cursor.here();
        let inputs = self.type_list_in_parens()?;
        self.cursor.expect("->")?;
        parts.results = self.result_types()?;
        parts.operands = self.resolve_typed(uses, &inputs, at)?;
        Ok(())
    }

    /// `: type, type` of the operands; none for no operands.
    pub(super) fn operand_types(
        &mut self,
        kind: OpKind,
        uses: &[ValueUse<'t>],
        parts: &mut Parts,
    ) -> Read<()> {
        let at = self.cursor.here();
        let mut types = Vec::new();
        if self.cursor.eat(":") {
            if self.cursor.peek() == Some(b'(') {
                return self.function_signature_after_colon(uses, parts);
            }
            loop {
                types.push(self.ty()?);
                if !self.cursor.eat(",") {
                    break;
                }
            }
        }
        parts.operands = self.resolve_typed(uses, &types, at)?;
        if kind == OpKind::OptimizationBarrier {
            parts.results = types;
        }
        Ok(())
    }

    /// `: type, type -> type, type` with or without parentheses.
    fn arrow_signature(&mut self, uses: &[ValueUse<'t>], parts: &mut Parts) -> Read<()> {
        self.cursor.expect(":")?;
        let at = self.cursor.here();
        if self.cursor.peek() == Some(b'(') {
            return self.function_signature_after_colon(uses, parts);
        }
        let mut inputs = vec![self.ty()?];
        while self.cursor.eat(",") {
            inputs.push(self.ty()?);
        }
        self.cursor.expect("->")?;
        parts.results = self.result_types()?;
        parts.operands = self.resolve_typed(uses, &inputs, at)?;
        Ok(())
    }

    /// `, keyword = value` for each clause that is there.
    pub(super) fn clauses(&mut self, clauses: &[Clause], parts: &mut Parts) -> Read<()> {
        while self.cursor.eat(",") {
            self.one_clause(clauses, parts)?;
        }
        Ok(())
    }

    /// The same without operands before: no leading comma.
    fn leading_clauses(&mut self, clauses: &[Clause], parts: &mut Parts) -> Read<()> {
        if clauses.is_empty() || matches!(self.cursor.peek(), Some(b':' | b'{')) {
            return Ok(());
        }
        self.one_clause(clauses, parts)?;
        self.clauses(clauses, parts)
    }

    fn one_clause(&mut self, clauses: &[Clause], parts: &mut Parts) -> Read<()> {
        let at = self.cursor.here();
        let keyword = self.cursor.identifier().ok_or_else(|| self.cursor.expected("a clause"))?;
        let Some(clause) = clauses.iter().find(|clause| clause.keyword == keyword) else {
            return Err(Diagnostic::invalid(at, format!("unknown clause '{keyword}'")));
        };
        self.cursor.expect("=")?;
        let attr = match clause.value {
            ClauseValue::Integers => {
                let values = self.integers()?;
                self.int_array(values)
            }
            ClauseValue::Integer => {
                let value = self.cursor.integer()?;
                self.int64(value)
            }
            ClauseValue::Bool => {
                let value = self.cursor.eat_word("true");
                if !value {
                    self.cursor.expect_word("false")?;
                }
                self.module.attrs.intern(Attr::Bool(value))
            }
            ClauseValue::Enum(kind) => {
                let value = self.cursor.identifier().ok_or_else(|| self.cursor.expected("a value"))?;
                self.enumerated(kind, value)
            }
        };
        let name = self.module.names.intern(clause.attribute);
        parts.properties.push((name, attr));
        Ok(())
    }

    /// `array<i64: …>`.
    pub(super) fn int_array(&mut self, values: Vec<i64>) -> AttrId {
        let element = self.scalar(crate::ElementType::Int(64));
        self.module.attrs.intern(Attr::DenseIntArray { element, values })
    }

    /// `value : i64`.
    pub(super) fn int64(&mut self, value: i64) -> AttrId {
        let ty = self.scalar(crate::ElementType::Int(64));
        self.module.attrs.intern(Attr::Int { value: i128::from(value), ty })
    }

    pub(super) fn enumerated(&mut self, kind: &str, value: &str) -> AttrId {
        let attr = Attr::Enum(self.module.names.intern(kind), self.module.names.intern(value));
        self.module.attrs.intern(attr)
    }

    pub(super) fn property(&mut self, parts: &mut Parts, name: &str, attr: AttrId) {
        let symbol = self.module.names.intern(name);
        parts.properties.push((symbol, attr));
    }

    /// An operation with a form of its own, after its name.
    pub(super) fn special_form(&mut self, kind: OpKind, at: usize) -> Read<OpId> {
        match kind {
            OpKind::Complex => self.complex_op(),
            OpKind::Constant => self.constant(),
            OpKind::Compare => self.compare(),
            OpKind::Select => self.select(),
            OpKind::Slice => self.slice(),
            OpKind::ReducePrecision => self.reduce_precision(),
            OpKind::Tuple => self.tuple(),
            OpKind::GetTupleElement => self.get_tuple_element(),
            OpKind::Dot => self.dot(),
            OpKind::DotGeneral => self.dot_general(),
            OpKind::Convolution => self.convolution(),
            OpKind::Reduce => self.reduce(),
            OpKind::While => self.while_loop(),
            OpKind::Func => self.function(),
            OpKind::Module => self.inner_module(),
            OpKind::FuncCall => self.call(),
            OpKind::CustomCall => self.custom_call(),
            OpKind::Composite => self.composite(),
            kind if form::is_test_op(kind) => self.test_op(kind),
            _ => Err(Diagnostic::unsupported(at, "this operation has no pretty form")),
        }
    }

    /// The type of a tuple's parts.
    fn tuple_of(&mut self, parts: Vec<TypeId>) -> TypeId {
        self.module.types.intern(Type::Tuple(parts))
    }
}
