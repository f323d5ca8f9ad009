//! An operation under evaluation: its attributes, typed.

use crate::error::{Fault, Outcome, invalid, unsupported};
use crate::quantized::QuantType;
use crate::shape::{Shape, checked_count};
use crate::tensor::Tensor;
use ckpt_ir::{Attr, BlockId, Dim, ElementType, Module, Op, OpId, OpKind, TensorType};

/// An operation of a module.
#[derive(Clone, Copy)]
pub(crate) struct Site<'m> {
    /// The module.
    pub(crate) module: &'m Module,
    /// The operation.
    pub(crate) op: OpId,
}

impl<'m> Site<'m> {
    /// The operation's data.
    pub(crate) fn data(self) -> &'m Op {
        self.module.op(self.op)
    }

    /// What it is.
    pub(crate) fn kind(self) -> OpKind {
        self.data().kind
    }

    /// An attribute.
    pub(crate) fn attr(self, name: &str) -> Option<&'m Attr> {
        self.module.attr(self.op, name)
    }

    /// An integer attribute, or a boolean one as 0 and 1.
    pub(crate) fn int_attr(self, name: &str) -> Option<i64> {
        match self.attr(name)? {
            Attr::Int { value, .. } => i64::try_from(*value).ok(),
            Attr::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// An integer attribute that must be there.
    pub(crate) fn int(self, name: &str) -> Outcome<i64> {
        self.int_attr(name).map_or_else(|| invalid("an integer attribute is missing"), Ok)
    }

    /// A size or position attribute that must be there.
    pub(crate) fn size(self, name: &str) -> Outcome<usize> {
        size(self.int(name)?)
    }

    /// Whether a boolean or unit attribute is set.
    pub(crate) fn flag(self, name: &str) -> bool {
        matches!(self.attr(name), Some(Attr::Bool(true) | Attr::Unit))
    }

    /// The value of an enumeration, or of a string that names one.
    pub(crate) fn enum_attr(self, name: &str) -> Option<&'m str> {
        match self.attr(name)? {
            Attr::Enum(_, value) => Some(self.module.names.get(*value)),
            Attr::String(bytes) => std::str::from_utf8(bytes).ok(),
            Attr::Opaque(text) => {
                let text = self.module.names.get(*text);
                text.rsplit([' ', '<']).next().map(|last| last.trim_end_matches('>'))
            }
            _ => None,
        }
    }

    /// A floating-point attribute.
    pub(crate) fn float_attr(self, name: &str) -> Option<f64> {
        match self.attr(name)? {
            Attr::Float { bits, ty } => match self.module.types.get(*ty) {
                ckpt_ir::Type::Scalar(ElementType::F32) => Some(f64::from(f32::from_bits(*bits as u32))),
                ckpt_ir::Type::Scalar(ElementType::F64) => Some(f64::from_bits(*bits)),
                ckpt_ir::Type::Scalar(element) => {
                    crate::format::Format::of(*element).map(|format| format.decode(*bits as u16))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A list of integers: an array, or a dense literal of any rank.
    pub(crate) fn ints_attr(self, name: &str) -> Option<Vec<i64>> {
        match self.attr(name)? {
            Attr::DenseIntArray { values, .. } => Some(values.clone()),
            Attr::Dense(_) => self.listed(name).ok()?.to_i64s().ok(),
            Attr::Array(items) if items.is_empty() => Some(Vec::new()),
            _ => None,
        }
    }

    /// A list of integers that must be there.
    pub(crate) fn ints(self, name: &str) -> Outcome<Vec<i64>> {
        self.ints_attr(name).map_or_else(|| invalid("a list of integers is missing"), Ok)
    }

    /// A list of sizes or positions that must be there.
    pub(crate) fn sizes(self, name: &str) -> Outcome<Vec<usize>> {
        self.ints(name)?.into_iter().map(size).collect()
    }

    /// A list of sizes, `default` for each of `rank` dimensions if it is left out.
    pub(crate) fn sizes_or(self, name: &str, rank: usize, default: usize) -> Outcome<Vec<usize>> {
        match self.ints_attr(name) {
            Some(values) if values.len() == rank => values.into_iter().map(size).collect(),
            Some(_) => invalid("an attribute has another length than the operand has dimensions"),
            None => Ok(vec![default; rank]),
        }
    }

    /// Low and high padding of each of `rank` dimensions, zero if left out.
    pub(crate) fn padding(self, name: &str, rank: usize) -> Outcome<Vec<(i64, i64)>> {
        match self.ints_attr(name) {
            None => Ok(vec![(0, 0); rank]),
            Some(values) if values.len() == 2 * rank => {
                Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
            }
            Some(_) => invalid("padding needs two numbers for each dimension"),
        }
    }

    /// A dense literal that is a list, not data.
    pub(crate) fn listed(self, name: &str) -> Outcome<Tensor> {
        let ty = match self.attr(name) {
            Some(Attr::Dense(dense)) => self.module.types.as_tensor(dense.ty),
            _ => None,
        };
        match ty.and_then(TensorType::element_count) {
            Some(count) if count > MAX_LISTED => {
                Err(Fault::LimitExceeded("a list in an attribute is too long"))
            }
            _ => self.dense(name),
        }
    }

    /// A dense literal as a tensor.
    pub(crate) fn dense(self, name: &str) -> Outcome<Tensor> {
        let Some(Attr::Dense(dense)) = self.attr(name) else {
            return invalid("a literal is missing, or of a type that is not evaluated");
        };
        let Some(ty) = self.module.types.as_tensor(dense.ty) else {
            return unsupported("a literal of this type");
        };
        let Some(shape) = static_shape(ty) else { return invalid("a literal of unknown size") };
        checked_count(&shape)?;
        Tensor::from_bytes(ty.element, &shape, &dense.bytes)
            .map_or_else(|| unsupported("a literal of this type"), Ok)
    }

    /// The type of a result.
    pub(crate) fn result_type(self, index: usize) -> Outcome<&'m TensorType> {
        let value = self.data().results.get(index).copied();
        match value.and_then(|value| self.module.tensor_type(value)) {
            Some(ty) => Ok(ty),
            None => unsupported("a result of this type"),
        }
    }

    /// The element type of the first result; of a quantised type, what it expresses.
    pub(crate) fn result_element(self) -> Outcome<ElementType> {
        match self.quantized_result() {
            Some(ty) => Ok(ty.expressed),
            None => Ok(self.result_type(0)?.element),
        }
    }

    /// The shape of the first result, if its type says it.
    pub(crate) fn result_shape(self) -> Option<Shape> {
        match self.result_type(0) {
            Ok(ty) => static_shape(ty),
            Err(_) => self.quantized_result().map(|ty| ty.shape),
        }
    }

    /// The type of the first result, if it is quantised.
    fn quantized_result(self) -> Option<QuantType> {
        QuantType::of(self.module, self.module.value_type(*self.data().results.first()?))
    }

    /// The entry block of a region.
    pub(crate) fn block(self, region: usize) -> Outcome<BlockId> {
        let region = self.data().regions.get(region);
        let block = region.and_then(|region| self.module.region(*region).blocks.first());
        block.copied().map_or_else(|| invalid("a region is missing"), Ok)
    }
}

/// Elements of a dense literal that is a list of integers, at most.
const MAX_LISTED: u64 = 1 << 24;

/// The sizes of a type whose sizes are all known.
pub(crate) fn static_shape(ty: &TensorType) -> Option<Shape> {
    let size = |dim: &Dim| match dim {
        Dim::Static(size) => usize::try_from(*size).ok(),
        Dim::Dynamic => None,
    };
    ty.shape.iter().map(size).collect()
}

/// A size out of an integer, which must not be negative.
pub(crate) fn size(value: i64) -> Outcome<usize> {
    usize::try_from(value).map_or_else(|_| invalid("a size or position is negative"), Ok)
}
