//! An operation with its types at hand, and the checks that many operations share.

use super::{Verdict, Violation};
use crate::{Attr, Dim, ElementType, Module, Op, OpId, OpKind, RegionId, TensorType, Type, TypeId, ValueId};

/// No tensor has more dimensions: longer lists of sizes are not looked at.
const MAX_RANK: usize = 1 << 10;

/// One operation under verification.
pub(super) struct Site<'m> {
    pub(super) module: &'m Module,
    pub(super) op: &'m Op,
    id: OpId,
}

impl<'m> Site<'m> {
    pub(super) fn new(module: &'m Module, id: OpId) -> Self {
        Self { module, op: module.op(id), id }
    }

    pub(super) fn kind(&self) -> OpKind {
        self.op.kind
    }

    /// The tensor type of an operand; `None` for anything else.
    pub(super) fn operand(&self, index: usize) -> Option<&'m TensorType> {
        self.module.tensor_type(*self.op.operands.get(index)?)
    }

    /// The tensor type of a result; `None` for anything else.
    pub(super) fn result(&self, index: usize) -> Option<&'m TensorType> {
        self.module.tensor_type(*self.op.results.get(index)?)
    }

    pub(super) fn type_of(&self, value: ValueId) -> TypeId {
        self.module.value_type(value)
    }

    pub(super) fn attr(&self, name: &str) -> Option<&'m Attr> {
        self.module.attr(self.id, name)
    }

    /// An integer attribute.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.attr(name)? {
            Attr::Int { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The last word of an enumeration.
    pub(super) fn word(&self, name: &str) -> Option<&'m str> {
        match self.attr(name)? {
            Attr::Enum(_, value) => Some(self.module.names.get(*value)),
            _ => None,
        }
    }

    /// A list of integers: an array, or a dense literal of 64-bit integers.
    pub(super) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.attr(name)? {
            Attr::DenseIntArray { values, .. } => Some(values.clone()),
            Attr::Array(items) if items.is_empty() => Some(Vec::new()),
            Attr::Dense(dense) => {
                let ty = self.module.types.as_tensor(dense.ty)?;
                if ty.element.byte_width() != 8 {
                    return None;
                }
                let read = |chunk: &[u8]| Some(i64::from_le_bytes(chunk.try_into().ok()?));
                let values: Vec<i64> = dense.bytes.chunks_exact(8).filter_map(read).collect();
                match (dense.splat, ty.element_count()) {
                    (true, Some(count)) => Some(vec![*values.first()?; usize::try_from(count).ok()?]),
                    _ => Some(values),
                }
            }
            _ => None,
        }
    }

    /// The values of an operand that is a constant vector of integers.
    pub(super) fn constant_ints(&self, index: usize) -> Option<Vec<i64>> {
        let maker = self.module.defining_op(*self.op.operands.get(index)?)?;
        let Attr::Dense(dense) = self.module.attr(maker, "value")? else { return None };
        let ty = self.module.types.as_tensor(dense.ty)?;
        let width = usize::try_from(ty.element.byte_width()).ok()?;
        if !ty.element.is_integer() || ty.rank() != 1 {
            return None;
        }
        let read = |chunk: &[u8]| {
            let sign = if chunk.last().is_some_and(|b| *b >= 0x80) { 0xff } else { 0 };
            let mut bytes = [sign; 8];
            bytes.get_mut(..chunk.len())?.copy_from_slice(chunk);
            Some(i64::from_le_bytes(bytes))
        };
        let values: Vec<i64> = dense.bytes.chunks_exact(width).filter_map(read).collect();
        let count = usize::try_from(ty.element_count()?).ok()?;
        Some(if dense.splat { vec![*values.first()?; count.min(MAX_RANK)] } else { values })
    }

    /// A list of one number per dimension, `default` where it is left out.
    pub(super) fn ints_or(&self, name: &str, rank: usize, default: i64) -> Result<Vec<i64>, Violation> {
        match self.ints(name) {
            None => Ok(vec![default; rank]),
            Some(values) if values.len() == rank => Ok(values),
            Some(values) => {
                Err(format!("{name} has {} numbers, where there are {rank} dimensions", values.len()))
            }
        }
    }

    /// Low and high padding per dimension.
    pub(super) fn padding(&self, rank: usize) -> Result<Vec<(i64, i64)>, Violation> {
        match self.ints("padding") {
            None => Ok(vec![(0, 0); rank]),
            Some(values) if values.len() == 2 * rank => {
                Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
            }
            Some(values) => {
                Err(format!("padding has {} numbers, where {rank} dimensions need two each", values.len()))
            }
        }
    }

    /// A type as the text writes it.
    pub(super) fn show(&self, ty: &TensorType) -> String {
        let sizes: Vec<String> = ty
            .shape
            .iter()
            .map(|dim| match dim {
                Dim::Static(size) => format!("{size}x"),
                Dim::Dynamic => "?x".to_owned(),
            })
            .collect();
        format!("tensor<{}{}>", sizes.concat(), ty.element)
    }

    /// The result's type is compatible with what is inferred.
    pub(super) fn result_is(&self, index: usize, shape: &[Dim], element: ElementType) -> Verdict {
        let Some(ty) = self.result(index) else { return Ok(()) };
        let inferred = TensorType { shape: shape.to_vec(), element, encoding: None };
        require(compatible(&ty.shape, shape) && ty.element == element, || {
            format!(
                "infers the type {} for result #{index}, which is incompatible with {}",
                self.show(&inferred),
                self.show(ty)
            )
        })
    }

    /// The number of operands is in a range.
    pub(super) fn operand_count(&self, least: usize, most: usize) -> Verdict {
        let count = self.op.operands.len();
        require((least..=most).contains(&count), || format!("takes {least} operands, not {count}"))
    }

    /// The entry block's argument types of a region.
    pub(super) fn region_arguments(&self, region: RegionId) -> Option<&'m [ValueId]> {
        let block = *self.module.region(region).blocks.first()?;
        Some(&self.module.block(block).arguments)
    }

    /// What a region returns.
    pub(super) fn region_results(&self, region: RegionId) -> Option<&'m [ValueId]> {
        let block = *self.module.region(region).blocks.first()?;
        let end = self.module.op(self.module.terminator(block)?);
        matches!(end.kind, OpKind::Return | OpKind::FuncReturn).then_some(&end.operands[..])
    }

    /// Whether a value is anything but a tensor that is understood: checks on it are left out.
    pub(super) fn is_opaque(&self, value: ValueId) -> bool {
        !matches!(self.module.types.get(self.type_of(value)), Type::Tensor(_))
    }
}

/// The constraint, or what is violated.
pub(super) fn require(holds: bool, violation: impl FnOnce() -> Violation) -> Verdict {
    if holds { Ok(()) } else { Err(violation()) }
}

/// A region that joins an accumulator and an element for each of `inputs`.
pub(super) fn region_joins(arguments: &[ValueId], results: &[ValueId], inputs: usize) -> Verdict {
    require(arguments.len() == 2 * inputs, || {
        format!("the region must take {} parameters, but takes {}", 2 * inputs, arguments.len())
    })?;
    require(results.len() == inputs, || {
        format!("the region must return {inputs} tensors, but returns {}", results.len())
    })
}

/// Whether two sizes may be the same.
pub(super) fn same_size(a: Dim, b: Dim) -> bool {
    match (a, b) {
        (Dim::Static(a), Dim::Static(b)) => a == b,
        _ => true,
    }
}

/// Whether two shapes may be the same.
pub(super) fn compatible(a: &[Dim], b: &[Dim]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_size(*a, *b))
}

/// A dimension's number as an index, if it is one of `rank`.
pub(super) fn dimension(value: i64, rank: usize, name: &str) -> Result<usize, Violation> {
    let index = usize::try_from(value).ok().filter(|d| *d < rank);
    index.ok_or_else(|| format!("{name} is {value}, which is not a dimension of rank {rank}"))
}

/// Dimensions' numbers as indices, all of `rank` and distinct.
pub(super) fn dimensions(values: &[i64], rank: usize, name: &str) -> Result<Vec<usize>, Violation> {
    let found = values.iter().map(|v| dimension(*v, rank, name)).collect::<Result<Vec<_>, _>>()?;
    distinct(values, name)?;
    Ok(found)
}

/// No number occurs twice.
pub(super) fn distinct(values: &[i64], name: &str) -> Verdict {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    require(twice.is_none(), || format!("{name} has {} twice", twice.map_or(0, |pair| pair[0])))
}

/// Numbers rise, or stay.
pub(super) fn sorted(values: &[i64], name: &str) -> Verdict {
    require(values.is_sorted(), || format!("{name} must be sorted, but is {values:?}"))
}
