//! An operation as the checks see it: values with their facts, attributes by name.

use super::facts::{DYNAMIC, Element, Facts, Tensor};
use crate::{Attr, BlockId, Module, OpId, OpKind, Type, TypeId, ValueId};
use std::fmt;

/// Why a check ends early.
pub(super) enum Stop {
    /// A constraint does not hold.
    Invalid(String),
    /// What the check needs is not known (an unranked tensor, an attribute
    /// kept as text); the program gets the benefit of the doubt.
    CannotTell,
}

/// The outcome of a check.
pub(super) type Check = Result<(), Stop>;

/// Ends a check with a message.
macro_rules! invalid {
    ($($message:tt)*) => {
        return Err($crate::verify::view::Stop::Invalid(format!($($message)*)))
    };
}
pub(super) use invalid;

/// A module with the facts of its types.
pub(super) struct Context<'m> {
    pub(super) module: &'m Module,
    /// By type.
    pub(super) facts: Vec<Facts>,
}

/// A type with its facts, printed in quotes.
#[derive(Clone, Copy)]
pub(super) struct Value<'m> {
    pub(super) ty: TypeId,
    pub(super) facts: &'m Facts,
    module: &'m Module,
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", crate::text::type_text(self.module, self.ty))
    }
}

impl<'m> Value<'m> {
    /// The ranked tensor that it is.
    pub(super) fn tensor(self) -> Result<&'m Tensor, Stop> {
        self.facts.tensor.as_ref().ok_or(Stop::CannotTell)
    }

    /// Whether it is a tensor of any kind, as far as is known.
    pub(super) fn is_tensor(self) -> bool {
        use super::facts::class;
        let others = class::TOKEN | class::TUPLE | class::BUFFER | class::FUTURE | class::FOREIGN;
        self.facts.class & others == 0
    }
}

/// An operation.
#[derive(Clone, Copy)]
pub(super) struct Op<'m> {
    pub(super) context: &'m Context<'m>,
    pub(super) id: OpId,
    pub(super) data: &'m crate::Op,
}

impl<'m> Context<'m> {
    /// A type with its facts.
    pub(super) fn of_type(&'m self, ty: TypeId) -> Value<'m> {
        use crate::EntityId;
        Value { ty, facts: &self.facts[ty.index()], module: self.module }
    }

    /// A value's type with its facts.
    pub(super) fn of_value(&'m self, value: ValueId) -> Value<'m> {
        self.of_type(self.module.value_type(value))
    }

    /// An operation.
    pub(super) fn op(&'m self, id: OpId) -> Op<'m> {
        Op { context: self, id, data: self.module.op(id) }
    }

    /// The operands of a block's last operation; empty without one.
    pub(super) fn yielded(&'m self, block: BlockId) -> Vec<Value<'m>> {
        let last = self.module.block(block).ops.last();
        last.map_or_else(Vec::new, |last| self.op(*last).operands().collect())
    }

    /// The types of a block's arguments.
    pub(super) fn arguments(&'m self, block: BlockId) -> Vec<Value<'m>> {
        self.module.block(block).arguments.iter().map(|value| self.of_value(*value)).collect()
    }
}

impl<'m> Op<'m> {
    pub(super) fn module(self) -> &'m Module {
        self.context.module
    }

    pub(super) fn kind(self) -> OpKind {
        self.data.kind
    }

    pub(super) fn operand_count(self) -> usize {
        self.data.operands.len()
    }

    pub(super) fn result_count(self) -> usize {
        self.data.results.len()
    }

    /// An operand, which the signature says is there.
    pub(super) fn operand(self, index: usize) -> Value<'m> {
        self.context.of_value(self.data.operands[index])
    }

    /// A result, which the signature says is there.
    pub(super) fn result(self, index: usize) -> Value<'m> {
        self.context.of_value(self.data.results[index])
    }

    pub(super) fn operands(self) -> impl DoubleEndedIterator<Item = Value<'m>> + ExactSizeIterator {
        self.data.operands.iter().map(move |value| self.context.of_value(*value))
    }

    pub(super) fn results(self) -> impl DoubleEndedIterator<Item = Value<'m>> + ExactSizeIterator {
        self.data.results.iter().map(move |value| self.context.of_value(*value))
    }

    /// A range of operands that must be ranked tensors.
    pub(super) fn tensors(self, range: std::ops::Range<usize>) -> Result<Vec<&'m Tensor>, Stop> {
        range.map(|index| self.operand(index).tensor()).collect()
    }

    /// The only block of a region.
    pub(super) fn block(self, region: usize) -> Result<BlockId, Stop> {
        let region = self.data.regions.get(region).ok_or(Stop::CannotTell)?;
        self.module().region(*region).blocks.first().copied().ok_or(Stop::CannotTell)
    }

    /// The integers of a constant operand, if it is one.
    pub(super) fn constant_operand(self, index: usize) -> Option<Vec<i64>> {
        let constant = self.module().defining_op(self.data.operands[index])?;
        if self.module().op(constant).kind != OpKind::Constant {
            return None;
        }
        match self.module().attr(constant, "value")? {
            // A literal of another type is refused at the constant.
            Attr::Dense(dense) if dense.ty == self.operand(index).ty => {
                super::attributes::integers(self.module(), dense)
            }
            _ => None,
        }
    }

    /// A type's text in quotes.
    pub(super) fn quoted(self, tensor: &Tensor) -> String {
        format!("'{}'", tensor_text(tensor))
    }

    /// An element type's text in quotes.
    pub(super) fn quoted_element(self, element: &Element) -> String {
        format!("'{}'", element_text(element))
    }

    /// Result `index` must be compatible with what the operands imply.
    pub(super) fn infers(self, index: usize, inferred: &Tensor) -> Check {
        let result = self.result(index);
        let given = result.tensor()?;
        if !given.shape_compatible(inferred) || !given.element.compatible(&inferred.element) {
            invalid!(
                "inferred type(s) {} are incompatible with return type(s) of operation {result}",
                self.quoted(inferred)
            );
        }
        Ok(())
    }

    /// The same for a result whose element type is free.
    pub(super) fn infers_shape(self, index: usize, shape: &[i64]) -> Check {
        let result = self.result(index);
        if !super::facts::shapes_compatible(&result.tensor()?.shape, shape) {
            let shape = sizes(shape);
            invalid!("inferred shape '[{shape}]' is incompatible with return type of operation {result}");
        }
        Ok(())
    }
}

/// `tensor<2x?xf32>`.
fn tensor_text(tensor: &Tensor) -> String {
    let mut text = "tensor<".to_owned();
    for size in &tensor.shape {
        text.push_str(&size_text(*size));
        text.push('x');
    }
    text.push_str(&element_text(&tensor.element));
    if tensor.bounds.iter().any(|bound| *bound != DYNAMIC) {
        text.push_str(&format!(", #stablehlo.bounds<{}>", sizes(&tensor.bounds)));
    }
    text + ">"
}

fn element_text(element: &Element) -> String {
    match element {
        Element::Plain(element) => element.to_string(),
        Element::Quant(quant) => quant.text.to_string(),
    }
}

fn size_text(size: i64) -> String {
    if size == DYNAMIC { "?".to_owned() } else { size.to_string() }
}

/// `2, ?, 3`.
pub(super) fn sizes(sizes: &[i64]) -> String {
    sizes.iter().map(|size| size_text(*size)).collect::<Vec<_>>().join(", ")
}

/// Whether a type is a scalar outside tensors of the given element type.
pub(super) fn is_scalar(module: &Module, ty: TypeId, element: crate::ElementType) -> bool {
    *module.types.get(ty) == Type::Scalar(element)
}
