//! Attributes: what a row asks of them, and typed access for the checks.

use super::view::{Check, Op, Stop, invalid, is_scalar};
use crate::{Attr, DenseElements, DotDims, ElementType, GatherDims, Module, ScatterDims, Type};
use crate::{ConvDims, text};

/// What an attribute must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttrKind {
    I64,
    I64NonNegative,
    I64Positive,
    I32,
    I32NonNegative,
    I32Positive,
    /// `array<i64: …>`.
    I64Array,
    /// `array<i1: …>`.
    BoolArray,
    /// `dense<…> : tensor<…xi64>`.
    I64Elements,
    Bool,
    Unit,
    F32,
    String,
    Array,
    Dictionary,
    Symbol,
    DotDims,
    GatherDims,
    ScatterDims,
    ConvDims,
    DotAlgorithm,
    Channel,
    /// Groups of devices: a literal, or axes of a mesh.
    ReplicaGroups,
    /// An enumeration of StableHLO: its kind and its values.
    Enum(&'static str, &'static [&'static str]),
    /// An array of such.
    EnumArray(&'static str, &'static [&'static str]),
    /// A literal of any type.
    Elements,
    Any,
}

/// What a row says of one attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttrRule {
    name: &'static str,
    kind: AttrKind,
    required: bool,
}

/// An attribute that must be there.
pub(super) const fn must(name: &'static str, kind: AttrKind) -> AttrRule {
    AttrRule { name, kind, required: true }
}

/// An attribute that may be there.
pub(super) const fn may(name: &'static str, kind: AttrKind) -> AttrRule {
    AttrRule { name, kind, required: false }
}

impl AttrRule {
    /// Presence and kind. Attributes of other dialects, kept as text, pass.
    pub(super) fn check(&self, op: Op<'_>) -> Check {
        let name = self.name;
        let Some(id) = op.module().attr_id(op.id, name) else {
            if self.required {
                invalid!("requires attribute '{name}'");
            }
            return Ok(());
        };
        let attr = op.module().attrs.get(id);
        let foreign = match attr {
            Attr::Opaque(text) => !op.module().names.get(*text).starts_with("#stablehlo."),
            _ => false,
        };
        if foreign || self.kind.admits(op.module(), attr) {
            return Ok(());
        }
        let given = text::attribute_text(op.module(), id);
        invalid!("attribute '{name}' failed to satisfy constraint: {}, but got {given}", self.kind.describe())
    }
}

impl AttrKind {
    fn admits(self, module: &Module, attr: &Attr) -> bool {
        use ElementType as E;
        let int = |bits: u8, least: i128| match attr {
            Attr::Int { value, ty } => is_scalar(module, *ty, E::Int(bits)) && *value >= least,
            _ => false,
        };
        let named = |attr: &Attr, kind: &str, values: &[&str]| match attr {
            Attr::Enum(k, value) => {
                module.names.get(*k) == kind && values.contains(&module.names.get(*value))
            }
            Attr::Opaque(_) => true,
            _ => false,
        };
        let array = |bits: E| matches!(attr, Attr::DenseIntArray { element, .. } if is_scalar(module, *element, bits));
        match self {
            Self::I64 => int(64, i128::MIN),
            Self::I64NonNegative => int(64, 0),
            Self::I64Positive => int(64, 1),
            Self::I32 => int(32, i128::MIN),
            Self::I32NonNegative => int(32, 0),
            Self::I32Positive => int(32, 1),
            Self::I64Array => array(E::Int(64)),
            Self::BoolArray => array(E::Bool),
            Self::I64Elements => match attr {
                Attr::Dense(dense) => {
                    module.types.as_tensor(dense.ty).is_some_and(|tensor| tensor.element == E::Int(64))
                }
                _ => false,
            },
            Self::ReplicaGroups => match attr {
                Attr::Opaque(text) => {
                    module.names.get(*text).starts_with("#stablehlo.replica_group_mesh_axes")
                }
                other => Self::I64Elements.admits(module, other),
            },
            Self::Bool => matches!(attr, Attr::Bool(_)),
            Self::Unit => matches!(attr, Attr::Unit),
            Self::F32 => matches!(attr, Attr::Float { ty, .. } if is_scalar(module, *ty, E::F32)),
            Self::String => matches!(attr, Attr::String(_) | Attr::TypedString(..)),
            Self::Array => matches!(attr, Attr::Array(_)),
            Self::Dictionary => matches!(attr, Attr::Dictionary(_)),
            Self::Symbol => matches!(attr, Attr::SymbolRef(path) if path.len() == 1),
            Self::DotDims => matches!(attr, Attr::DotDims(_)),
            Self::GatherDims => matches!(attr, Attr::GatherDims(_)),
            Self::ScatterDims => matches!(attr, Attr::ScatterDims(_)),
            Self::ConvDims => matches!(attr, Attr::ConvDims(_)),
            Self::DotAlgorithm => matches!(attr, Attr::DotAlgorithm(_)),
            Self::Channel => matches!(attr, Attr::ChannelHandle { .. }),
            Self::Enum(kind, values) => named(attr, kind, values),
            Self::EnumArray(kind, values) => match attr {
                Attr::Array(items) => items.iter().all(|item| named(module.attrs.get(*item), kind, values)),
                _ => false,
            },
            Self::Elements => matches!(attr, Attr::Dense(_)),
            Self::Any => true,
        }
    }

    fn describe(self) -> String {
        let fixed = match self {
            Self::I64 => "64-bit signless integer attribute",
            Self::I64NonNegative => "64-bit signless integer attribute whose value is non-negative",
            Self::I64Positive => "64-bit signless integer attribute whose value is positive",
            Self::I32 => "32-bit signless integer attribute",
            Self::I32NonNegative => "32-bit signless integer attribute whose value is non-negative",
            Self::I32Positive => "32-bit signless integer attribute whose value is positive",
            Self::I64Array => "i64 dense array attribute",
            Self::BoolArray => "i1 dense array attribute",
            Self::I64Elements => "64-bit signless integer elements attribute",
            Self::ReplicaGroups => "64-bit signless integer elements attribute, or mesh and axes",
            Self::Bool => "bool attribute",
            Self::Unit => "unit attribute",
            Self::F32 => "32-bit float attribute",
            Self::String => "string attribute",
            Self::Array => "array attribute",
            Self::Dictionary => "dictionary of named attribute values",
            Self::Symbol => "flat symbol reference attribute",
            Self::DotDims => "attribute that models the dimension information for dot",
            Self::GatherDims => "attribute that models the dimension information for gather",
            Self::ScatterDims => "attribute that models the dimension information for scatter",
            Self::ConvDims => "structure of dimension information for conv op",
            Self::DotAlgorithm => "attribute that models the algorithm constraints to use for computing dot",
            Self::Channel => "two 64-bit integers 'handle' and 'type'",
            Self::Enum(kind, values) => return format!("{kind}, one of {}", values.join(", ")),
            Self::EnumArray(kind, values) => {
                return format!("array of {kind}, each one of {}", values.join(", "));
            }
            Self::Elements => "constant vector/tensor attribute",
            Self::Any => "any attribute",
        };
        fixed.to_owned()
    }
}

/// A dense literal of integers: its shape and its values, splats expanded.
pub(super) struct Elements {
    pub(super) shape: Vec<u64>,
    pub(super) values: Vec<i64>,
}

/// Splats up to this many elements are expanded; larger ones are no index lists.
const MAX_EXPANDED: u64 = 1 << 16;

/// The values of an integer or boolean literal, splats expanded.
pub(super) fn integers(module: &Module, dense: &DenseElements) -> Option<Vec<i64>> {
    let tensor = module.types.as_tensor(dense.ty)?;
    let (width, signed) = match tensor.element {
        ElementType::Int(_) | ElementType::Index => (tensor.element.byte_width() as usize, true),
        ElementType::Uint(_) | ElementType::Bool => (tensor.element.byte_width() as usize, false),
        _ => return None,
    };
    let value = |bytes: &[u8]| {
        let negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = if negative { [0xff; 8] } else { [0; 8] };
        wide[..bytes.len()].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    let mut values: Vec<i64> = dense.bytes.chunks_exact(width).map(value).collect();
    if dense.splat {
        let count = tensor.element_count().filter(|count| *count <= MAX_EXPANDED)?;
        values.resize(count as usize, *values.first()?);
    }
    Some(values)
}

macro_rules! structured {
    ($($name:ident -> $variant:ident($ty:ty);)*) => {
        $(
            /// The attribute of this name as the structure that it is.
            pub(super) fn $name(self, name: &str) -> Result<&'m $ty, Stop> {
                match self.module().attr(self.id, name) {
                    Some(Attr::$variant(dims)) => Ok(dims),
                    _ => Err(Stop::CannotTell),
                }
            }
        )*
    };
}

impl<'m> Op<'m> {
    structured! {
        dot_dims -> DotDims(DotDims);
        gather_dims -> GatherDims(GatherDims);
        scatter_dims -> ScatterDims(ScatterDims);
        conv_dims -> ConvDims(ConvDims);
    }

    /// An attribute by name.
    pub(super) fn attr(self, name: &str) -> Option<&'m Attr> {
        self.module().attr(self.id, name)
    }

    /// The values of an integer array; none where the attribute is absent.
    pub(super) fn array(self, name: &str) -> Result<Option<&'m [i64]>, Stop> {
        match self.attr(name) {
            None => Ok(None),
            Some(Attr::DenseIntArray { values, .. }) => Ok(Some(values)),
            Some(_) => Err(Stop::CannotTell),
        }
    }

    /// The values of an integer array that the row requires.
    pub(super) fn ints(self, name: &str) -> Result<&'m [i64], Stop> {
        self.array(name)?.ok_or(Stop::CannotTell)
    }

    /// An integer that the row requires.
    pub(super) fn int(self, name: &str) -> Result<i64, Stop> {
        match self.attr(name) {
            Some(Attr::Int { value, .. }) => i64::try_from(*value).map_err(|_| Stop::CannotTell),
            _ => Err(Stop::CannotTell),
        }
    }

    /// A flag: `true`, or a unit attribute that is there.
    pub(super) fn flag(self, name: &str) -> bool {
        matches!(self.attr(name), Some(Attr::Bool(true) | Attr::Unit))
    }

    /// The value of an enumeration.
    pub(super) fn enumerated(self, name: &str) -> Result<&'m str, Stop> {
        match self.attr(name) {
            Some(Attr::Enum(_, value)) => Ok(self.module().names.get(*value)),
            _ => Err(Stop::CannotTell),
        }
    }

    /// A dense literal of integers; none where the attribute is absent.
    pub(super) fn elements(self, name: &str) -> Result<Option<Elements>, Stop> {
        let dense = match self.attr(name) {
            None => return Ok(None),
            Some(Attr::Dense(dense)) => dense,
            Some(_) => return Err(Stop::CannotTell),
        };
        let values = integers(self.module(), dense).ok_or(Stop::CannotTell)?;
        let shape = match self.module().types.get(dense.ty) {
            Type::Tensor(tensor) => tensor.static_shape().ok_or(Stop::CannotTell)?,
            _ => return Err(Stop::CannotTell),
        };
        Ok(Some(Elements { shape, values }))
    }
}
