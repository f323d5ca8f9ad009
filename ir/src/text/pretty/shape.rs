//! Constants, comparisons, selections, slices and tuples.

use crate::text::cursor::Read;
use crate::text::operations::{Parts, Reader};
use crate::{Attr, Diagnostic, OpId, OpKind, Type};

impl Reader<'_> {
    /// `{…} dense<…> : type`.
    pub(super) fn constant(&mut self) -> Read<OpId> {
        if self.cursor.eat("(") {
            return self.stored_constant();
        }
        let mut parts = Parts { attributes: self.optional_dictionary()?, ..Parts::default() };
        let at = self.cursor.here();
        let value = self.attribute()?;
        let ty = match self.module.attrs.get(value) {
            Attr::Dense(dense) => dense.ty,
            _ => {
                let text = &self.cursor.text[at..self.cursor.at];
                let Some(colon) = text.rfind(" : ") else {
                    return Err(Diagnostic::invalid(at, "expected a dense literal"));
                };
                let end = self.cursor;
                self.cursor.at = at + colon + " : ".len();
                let ty = self.ty()?;
                self.cursor = end;
                ty
            }
        };
        self.property(&mut parts, "value", value);
        parts.results = vec![ty];
        self.create(OpKind::Constant, OpKind::Constant.name(), parts)
    }

    /// After `(`: `) <{value = dense<…>}> : () -> type`, the form of a constant
    /// whose literal has the type that stores the result.
    fn stored_constant(&mut self) -> Read<OpId> {
        self.cursor.expect(")")?;
        let mut parts = Parts::default();
        if self.cursor.eat("<") {
            parts.properties = self.dictionary()?;
            self.cursor.expect(">")?;
        }
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&[], &mut parts)?;
        self.create(OpKind::Constant, OpKind::Constant.name(), parts)
    }

    /// `%re, %im : type of the result`.
    pub(super) fn complex_op(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts { attributes: self.optional_dictionary()?, ..Parts::default() };
        self.cursor.expect(":")?;
        let at = self.cursor.here();
        if self.cursor.peek() == Some(b'(') {
            let inputs = self.type_list_in_parens()?;
            self.cursor.expect("->")?;
            parts.results = self.result_types()?;
            parts.operands = self.resolve_typed(&uses, &inputs, at)?;
        } else {
            let result = self.ty()?;
            let Some(tensor) = self.module.types.as_tensor(result).cloned() else {
                return Err(Diagnostic::invalid(at, "expected a tensor of complex numbers"));
            };
            let part = crate::TensorType { element: tensor.element.part(), ..tensor };
            let part = self.module.types.intern(Type::Tensor(part));
            parts.operands = self.resolve_typed(&uses, &vec![part; uses.len()], at)?;
            parts.results = vec![result];
        }
        self.create(OpKind::Complex, OpKind::Complex.name(), parts)
    }

    /// `LT, %a, %b, SIGNED : (types) -> type`.
    pub(super) fn compare(&mut self) -> Read<OpId> {
        let mut parts = Parts::default();
        let direction = self.cursor.identifier().ok_or_else(|| self.cursor.expected("a direction"))?;
        let direction = self.enumerated("comparison_direction", direction);
        self.property(&mut parts, "comparison_direction", direction);
        self.cursor.expect(",")?;
        let uses = self.value_uses()?;
        if self.cursor.eat(",") {
            let how = self.cursor.identifier().ok_or_else(|| self.cursor.expected("a comparison type"))?;
            let how = self.enumerated("comparison_type", how);
            self.property(&mut parts, "compare_type", how);
        }
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::Compare, OpKind::Compare.name(), parts)
    }

    /// `%p, %a, %b : type of p, type of the others`.
    pub(super) fn select(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts { attributes: self.optional_dictionary()?, ..Parts::default() };
        self.cursor.expect(":")?;
        let at = self.cursor.here();
        if self.cursor.peek() == Some(b'(') {
            let inputs = self.type_list_in_parens()?;
            self.cursor.expect("->")?;
            parts.results = self.result_types()?;
            parts.operands = self.resolve_typed(&uses, &inputs, at)?;
        } else {
            let predicate = self.ty()?;
            self.cursor.expect(",")?;
            let value = self.ty()?;
            parts.operands = self.resolve_typed(&uses, &[predicate, value, value], at)?;
            parts.results = vec![value];
        }
        self.create(OpKind::Select, OpKind::Select.name(), parts)
    }

    /// `%a [0:1, 2:8:2] : (type) -> type`.
    pub(super) fn slice(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts::default();
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        self.cursor.expect("[")?;
        if !self.cursor.eat("]") {
            self.list("]", |reader| {
                starts.push(reader.cursor.integer()?);
                reader.cursor.expect(":")?;
                limits.push(reader.cursor.integer()?);
                strides.push(if reader.cursor.eat(":") { reader.cursor.integer()? } else { 1 });
                Ok(())
            })?;
        }
        for (name, values) in [("start_indices", starts), ("limit_indices", limits), ("strides", strides)] {
            let attr = self.int_array(values);
            self.property(&mut parts, name, attr);
        }
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::Slice, OpKind::Slice.name(), parts)
    }

    /// `%a, format = e5m10 : type`.
    pub(super) fn reduce_precision(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts::default();
        self.cursor.expect(",")?;
        self.cursor.expect_word("format")?;
        self.cursor.expect("=")?;
        let at = self.cursor.here();
        let format = self.cursor.identifier().unwrap_or_default();
        let bits = format.strip_prefix('e').and_then(|rest| rest.split_once('m'));
        let bits = bits.and_then(|(e, m)| Some((e.parse::<i32>().ok()?, m.parse::<i32>().ok()?)));
        let Some((exponent, mantissa)) = bits else {
            return Err(Diagnostic::invalid(at, "expected a format such as e5m10"));
        };
        let ty = self.scalar(crate::ElementType::Int(32));
        for (name, value) in [("exponent_bits", exponent), ("mantissa_bits", mantissa)] {
            let attr = self.module.attrs.intern(Attr::Int { value: i128::from(value), ty });
            self.property(&mut parts, name, attr);
        }
        parts.attributes = self.optional_dictionary()?;
        self.same_type_signature(&uses, &mut parts)?;
        self.create(OpKind::ReducePrecision, OpKind::ReducePrecision.name(), parts)
    }

    /// `%a, %b : tuple<…>`.
    pub(super) fn tuple(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts { attributes: self.optional_dictionary()?, ..Parts::default() };
        self.cursor.expect(":")?;
        let at = self.cursor.here();
        if self.cursor.peek() == Some(b'(') {
            let inputs = self.type_list_in_parens()?;
            self.cursor.expect("->")?;
            parts.results = self.result_types()?;
            parts.operands = self.resolve_typed(&uses, &inputs, at)?;
        } else {
            let ty = self.ty()?;
            let Type::Tuple(types) = self.module.types.get(ty).clone() else {
                return Err(Diagnostic::invalid(at, "expected a tuple type"));
            };
            parts.operands = self.resolve_typed(&uses, &types, at)?;
            parts.results = vec![self.tuple_of(types)];
        }
        self.create(OpKind::Tuple, OpKind::Tuple.name(), parts)
    }

    /// `%a[0] : (tuple) -> type`.
    pub(super) fn get_tuple_element(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts::default();
        self.cursor.expect("[")?;
        let index = self.cursor.integer()?;
        self.cursor.expect("]")?;
        let ty = self.scalar(crate::ElementType::Int(32));
        let index = self.module.attrs.intern(Attr::Int { value: i128::from(index), ty });
        self.property(&mut parts, "index", index);
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::GetTupleElement, OpKind::GetTupleElement.name(), parts)
    }
}
