//! Whether an operation's pretty form can say what the operation is. Where it
//! cannot, the generic form is printed.

use super::Printer;
use crate::text::form::{Clause, ClauseValue, Form, form_of, is_test_op};
use crate::{Attr, ElementType, OpId, OpKind, Type, TypeId};

/// Pairs of a padding that are printed in pretty form at most: more than any rank.
const MAX_PADDED: u64 = 64;

impl Printer<'_> {
    /// The form in which an operation is printed.
    pub(super) fn form(&self, op: OpId, kind: OpKind) -> Form {
        let form = form_of(kind);
        // Inherent attributes without a clause are printed in the dictionary, as
        // MLIR does; a clause without its attribute cannot be printed.
        let sayable = match form {
            Form::Special => self.special_is_sayable(op),
            Form::OperandTypes => {
                kind != OpKind::OptimizationBarrier || !self.module.op(op).results.is_empty()
            }
            Form::Functional(clauses)
            | Form::SameTypeClauses(clauses)
            | Form::ParenArrow(clauses)
            | Form::ResultType(clauses) => clauses.iter().all(|clause| self.clause_is_sayable(op, clause)),
            Form::Generic | Form::SameType | Form::Arrow => true,
        };
        let regions = self.module.op(op).regions.len();
        let (least, most) = regions_said(kind);
        if sayable && (least..=most).contains(&regions) { form } else { Form::Generic }
    }

    /// Whether a clause's attribute is there and what the clause reads.
    fn clause_is_sayable(&self, op: OpId, clause: &Clause) -> bool {
        match clause.value {
            ClauseValue::Integers => self.is_int_array(op, clause.attribute),
            ClauseValue::Integer => self.is_int(op, clause.attribute, 64),
            ClauseValue::Bool => matches!(self.module.attr(op, clause.attribute), Some(Attr::Bool(_))),
            ClauseValue::Enum(kind) => self.is_enum(op, clause.attribute, kind),
        }
    }

    /// Whether the pretty form of an operation can say what it is.
    fn special_is_sayable(&self, op: OpId) -> bool {
        let module = self.module;
        let is_string = |name: &str| module.string_attr(op, name).is_some();
        let absent = |name: &str| module.attr(op, name).is_none();
        match module.op(op).kind {
            OpKind::Constant => match module.attr(op, "value") {
                Some(Attr::Dense(dense)) => self.result_type_list(op) == [dense.ty],
                // Kept as text, with a type that the project does not know.
                Some(Attr::Opaque(text)) => {
                    let ty = module.names.get(*text).rsplit_once(" : ").map(|(_, ty)| ty);
                    let types = self.result_type_list(op);
                    types.len() == 1 && ty == Some(&crate::text::type_text(module, types[0]))
                }
                _ => false,
            },
            OpKind::Compare => {
                self.is_enum(op, "comparison_direction", "comparison_direction")
                    && (absent("compare_type") || self.is_enum(op, "compare_type", "comparison_type"))
            }
            OpKind::Select => {
                let types = self.operand_types(op);
                types.len() == 3 && types[1] == types[2] && self.result_type_list(op) == types[1..2]
            }
            OpKind::Slice => {
                ["start_indices", "limit_indices", "strides"].iter().all(|name| self.is_int_array(op, name))
                    && self.slice_is_even(op)
            }
            OpKind::DotGeneral => {
                matches!(module.attr(op, "dot_dimension_numbers"), Some(Attr::DotDims(_)))
                    && self.precisions_are_sayable(op)
                    && (absent("algorithm")
                        || matches!(module.attr(op, "algorithm"), Some(Attr::DotAlgorithm(_))))
            }
            OpKind::Dot => self.precisions_are_sayable(op),
            OpKind::Convolution => {
                matches!(module.attr(op, "dimension_numbers"), Some(Attr::ConvDims(_)))
                    && self.window_is_sayable(op)
            }
            OpKind::Reduce => self.reduce_is_sayable(op),
            OpKind::While => true,
            OpKind::Func => {
                let ty = match module.attr(op, "function_type") {
                    Some(Attr::Type(ty)) => matches!(module.types.get(*ty), Type::Function { .. }),
                    _ => false,
                };
                is_string("sym_name") && ty
            }
            OpKind::FuncCall => matches!(module.attr(op, "callee"), Some(Attr::SymbolRef(_))),
            OpKind::CustomCall => is_string("call_target_name"),
            OpKind::Composite => is_string("name"),
            OpKind::ReducePrecision => {
                self.is_int(op, "exponent_bits", 32) && self.is_int(op, "mantissa_bits", 32)
            }
            OpKind::GetTupleElement => self.is_int(op, "index", 32),
            kind if is_test_op(kind) => false,
            _ => true,
        }
    }

    /// Whether a scalar type is this one.
    fn is_scalar(&self, ty: TypeId, element: ElementType) -> bool {
        *self.module.types.get(ty) == Type::Scalar(element)
    }

    fn is_int_array(&self, op: OpId, name: &str) -> bool {
        match self.module.attr(op, name) {
            Some(Attr::DenseIntArray { element, .. }) => self.is_scalar(*element, ElementType::Int(64)),
            _ => false,
        }
    }

    fn is_int(&self, op: OpId, name: &str, bits: u8) -> bool {
        match self.module.attr(op, name) {
            Some(Attr::Int { ty, .. }) => self.is_scalar(*ty, ElementType::Int(bits)),
            _ => false,
        }
    }

    fn is_enum(&self, op: OpId, name: &str, kind: &str) -> bool {
        match self.module.attr(op, name) {
            Some(Attr::Enum(known, _)) => self.module.names.get(*known) == kind,
            _ => false,
        }
    }

    /// A slice's three lists are printed as one.
    fn slice_is_even(&self, op: OpId) -> bool {
        let length = |name: &str| match self.module.attr(op, name) {
            Some(Attr::DenseIntArray { values, .. }) => values.len(),
            _ => 0,
        };
        let starts = length("start_indices");
        starts == length("limit_indices") && starts == length("strides")
    }

    /// Absent, or a list of precisions and nothing else.
    fn precisions_are_sayable(&self, op: OpId) -> bool {
        let is_precision = |attr: &Attr| match attr {
            Attr::Enum(kind, _) => self.module.names.get(*kind) == "precision",
            _ => false,
        };
        match self.module.attr(op, "precision_config") {
            None => true,
            Some(Attr::Array(items)) => {
                !items.is_empty() && items.iter().all(|item| is_precision(self.module.attrs.get(*item)))
            }
            Some(_) => false,
        }
    }

    /// Whether the fields of a convolution's window that are there can be printed.
    fn window_is_sayable(&self, op: OpId) -> bool {
        let module = self.module;
        let numbers = ["window_strides", "lhs_dilation", "rhs_dilation"];
        let padding = match module.attr(op, "padding") {
            None => true,
            Some(Attr::Dense(dense)) => module.types.as_tensor(dense.ty).is_some_and(|ty| {
                let shape = ty.static_shape().unwrap_or_default();
                ty.element == ElementType::Int(64)
                    && matches!(shape[..], [pairs, 2] if pairs <= MAX_PADDED)
                    && ty.encoding.is_none()
            }),
            Some(_) => false,
        };
        let reversal = match module.attr(op, "window_reversal") {
            None => true,
            Some(Attr::DenseIntArray { element, .. }) => self.is_scalar(*element, ElementType::Bool),
            Some(_) => false,
        };
        let is_sayable = |name: &&str| module.attr(op, name).is_none() || self.is_int_array(op, name);
        padding && reversal && numbers.iter().all(is_sayable)
    }

    fn reduce_is_sayable(&self, op: OpId) -> bool {
        let count = self.module.op(op).operands.len() / 2;
        count > 0 && self.module.op(op).operands.len() == 2 * count && self.is_int_array(op, "dimensions")
    }
}

/// How many regions, at least and at most, the pretty form of a kind says.
fn regions_said(kind: OpKind) -> (usize, usize) {
    match kind {
        OpKind::Func => (0, 1),
        OpKind::Reduce => (1, 1),
        OpKind::While => (2, 2),
        _ => (0, 0),
    }
}
