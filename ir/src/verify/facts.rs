//! What the verifier knows of each type: computed once per type, looked up per use.

use super::quant::{self, Quant};
use crate::{Attr, Dim, ElementType, Module, TensorType, Type, TypeId};
use smallvec::SmallVec;

/// A dimension whose size is not known, and a bound that is not given.
pub(super) const DYNAMIC: i64 = i64::MIN;

/// Sizes of a shape.
pub(super) type Shape = SmallVec<[i64; 6]>;

/// Sets of kinds of types: of elements below `TOKEN`, of whole values from it on.
pub(super) mod class {
    /// `i1`.
    pub(in super::super) const PRED: u32 = 1;
    /// Signless integers of the widths that StableHLO has.
    pub(in super::super) const SINT: u32 = 1 << 1;
    /// Unsigned integers of the widths that StableHLO has.
    pub(in super::super) const UINT: u32 = 1 << 2;
    /// Floating-point types.
    pub(in super::super) const FLOAT: u32 = 1 << 3;
    /// Complex types.
    pub(in super::super) const COMPLEX: u32 = 1 << 4;
    /// Quantised per tensor.
    pub(in super::super) const QUANT: u32 = 1 << 5;
    /// Quantised per axis.
    pub(in super::super) const QUANT_AXIS: u32 = 1 << 6;
    /// `index`.
    pub(in super::super) const INDEX: u32 = 1 << 7;
    /// Integers of other widths.
    pub(in super::super) const ODD_INT: u32 = 1 << 8;
    /// Elements that StableHLO has nowhere: `tf32`, a bad quantised type.
    pub(in super::super) const BAD: u32 = 1 << 9;
    /// `!stablehlo.token`.
    pub(in super::super) const TOKEN: u32 = 1 << 10;
    /// `tuple<…>`.
    pub(in super::super) const TUPLE: u32 = 1 << 11;
    /// `memref<…>`.
    pub(in super::super) const BUFFER: u32 = 1 << 12;
    /// `!stablehlo.future<…>`.
    pub(in super::super) const FUTURE: u32 = 1 << 13;
    /// A type that is no value of StableHLO: scalars, functions, foreign types.
    pub(in super::super) const FOREIGN: u32 = 1 << 14;
    /// A tensor of no known rank.
    pub(in super::super) const UNRANKED: u32 = 1 << 15;
    /// Cannot be told; passes every check.
    pub(in super::super) const UNKNOWN: u32 = 1 << 31;
}

/// The element type of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Element {
    /// A type of the data model.
    Plain(ElementType),
    /// A quantised type.
    Quant(Box<Quant>),
}

impl Element {
    /// The set that it is in, alone.
    pub(super) fn class(&self) -> u32 {
        use ElementType as E;
        match self {
            Self::Plain(E::Bool) => class::PRED,
            Self::Plain(E::Int(2 | 4 | 8 | 16 | 32 | 64)) => class::SINT,
            Self::Plain(E::Uint(2 | 4 | 8 | 16 | 32 | 64)) => class::UINT,
            Self::Plain(E::Int(_) | E::Uint(_)) => class::ODD_INT,
            Self::Plain(E::Complex64 | E::Complex128) => class::COMPLEX,
            Self::Plain(E::Index) => class::INDEX,
            Self::Plain(E::Tf32) => class::BAD,
            Self::Plain(_) => class::FLOAT,
            Self::Quant(quant) if !quant.is_sound() => class::BAD,
            Self::Quant(quant) if quant.axis.is_some() => class::QUANT_AXIS,
            Self::Quant(_) => class::QUANT,
        }
    }

    /// Whether it is a floating-point type.
    pub(super) fn is_float(&self) -> bool {
        matches!(self, Self::Plain(element) if element.is_float())
    }

    /// The quantised type that it is.
    pub(super) fn quant(&self) -> Option<&Quant> {
        match self {
            Self::Quant(quant) => Some(quant),
            _ => None,
        }
    }

    /// Bits of storage.
    pub(super) fn bits(&self) -> u32 {
        match self {
            Self::Plain(element) => element.bit_width(),
            Self::Quant(quant) => quant.storage.bit_width(),
        }
    }

    /// Compatible for type inference: quantised types may differ in scales and
    /// zero points, not in storage, expressed type and granularity.
    pub(super) fn compatible(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Quant(a), Self::Quant(b)) => a.compatible(b),
            _ => self == other,
        }
    }
}

/// A ranked tensor or buffer type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    /// Sizes, [`DYNAMIC`] where not known.
    pub(super) shape: Shape,
    /// Bounds of the dynamic dimensions, [`DYNAMIC`] where there is none; empty without bounds.
    pub(super) bounds: SmallVec<[i64; 2]>,
    /// The element type.
    pub(super) element: Element,
}

impl Tensor {
    /// A scalar of an element type.
    pub(super) fn scalar(element: Element) -> Self {
        Self { shape: Shape::new(), bounds: SmallVec::new(), element }
    }

    /// Number of dimensions.
    pub(super) fn rank(&self) -> i64 {
        self.shape.len() as i64
    }

    /// Whether all sizes are known.
    pub(super) fn is_static(&self) -> bool {
        !self.shape.contains(&DYNAMIC)
    }

    /// Number of elements, if all sizes are known and the product fits.
    pub(super) fn count(&self) -> Option<i64> {
        self.shape.iter().try_fold(1i64, |count, size| match *size {
            DYNAMIC => None,
            size => count.checked_mul(size),
        })
    }

    /// One dynamic dimension, which is bounded, and no other.
    pub(super) fn is_single_bounded(&self) -> bool {
        let dynamic = self.shape.iter().filter(|size| **size == DYNAMIC).count();
        let bounded = self.bounds.iter().filter(|bound| **bound != DYNAMIC).count();
        dynamic == 1 && bounded == 1
    }

    /// The bound of a dimension, [`DYNAMIC`] without one.
    pub(super) fn bound(&self, dim: usize) -> i64 {
        self.bounds.get(dim).copied().unwrap_or(DYNAMIC)
    }

    /// Takes over what `other` knows of the shape; the first dimension in which
    /// they disagree, the rank for different ranks. Dimension `except` may differ.
    pub(super) fn join(&mut self, other: &Self, except: Option<usize>) -> Result<(), usize> {
        if self.shape.len() != other.shape.len() {
            return Err(self.shape.len());
        }
        if self.bounds.is_empty() && !other.bounds.is_empty() {
            self.bounds = SmallVec::from_elem(DYNAMIC, self.shape.len());
        }
        for dim in (0..self.shape.len()).filter(|dim| Some(*dim) != except) {
            if !dims_compatible(self.shape[dim], other.shape[dim]) {
                return Err(dim);
            }
            if self.shape[dim] == DYNAMIC {
                self.shape[dim] = other.shape[dim];
            }
            let (bound, known) = (other.bound(dim), self.bound(dim));
            if bound != DYNAMIC && (known == DYNAMIC || bound < known) {
                self.bounds[dim] = bound;
            }
            if self.bound(dim) != DYNAMIC && self.shape[dim] > self.bound(dim) {
                return Err(dim);
            }
        }
        Ok(())
    }

    /// Compatible shapes and bounds.
    pub(super) fn shape_compatible(&self, other: &Self) -> bool {
        let fits = |shape: &[i64], bounds: &[i64]| {
            shape.iter().zip(bounds).all(|(size, bound)| *bound == DYNAMIC || size <= bound)
        };
        shapes_compatible(&self.shape, &other.shape)
            && fits(&self.shape, &other.bounds)
            && fits(&other.shape, &self.bounds)
    }
}

/// Equal sizes, or one of them not known.
pub(super) fn dims_compatible(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

/// Equal ranks and compatible sizes.
pub(super) fn shapes_compatible(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| dims_compatible(*a, *b))
}

/// What is known of a type.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The set that it, or its elements, are in.
    pub(super) class: u32,
    /// The tensor or buffer that it is, if ranked.
    pub(super) tensor: Option<Tensor>,
    /// The types of a tuple.
    pub(super) parts: Vec<TypeId>,
    /// The tensors of a future.
    pub(super) held: Vec<Tensor>,
    /// Why the type itself is not valid.
    pub(super) defect: Option<String>,
}

impl Facts {
    fn of_class(class: u32) -> Self {
        Self { class, tensor: None, parts: Vec::new(), held: Vec::new(), defect: None }
    }

    fn of_tensor(mut tensor: Tensor) -> Self {
        let bad_axis = tensor.element.quant().is_some_and(|quant| !quant.fits(&tensor.shape));
        let class = if bad_axis { class::BAD } else { tensor.element.class() };
        let defect = bounds_defect(&tensor);
        if defect.is_some() {
            tensor.bounds.clear();
        }
        Self { class, tensor: Some(tensor), parts: Vec::new(), held: Vec::new(), defect }
    }
}

/// Why the bounds do not suit the shape.
fn bounds_defect(tensor: &Tensor) -> Option<String> {
    let (bounds, shape) = (&tensor.bounds, &tensor.shape);
    if bounds.is_empty() {
        return None;
    }
    if bounds.len() != shape.len() {
        let (given, rank) = (bounds.len(), shape.len());
        return Some(format!("has {given} bounds, expected to be equal to the rank ({rank}) of the tensor"));
    }
    let wrong = shape.iter().zip(bounds).position(|(size, bound)| *size != DYNAMIC && *bound != DYNAMIC);
    wrong.map(|dim| format!("has a bound for the static dimension {dim}"))
}

/// The facts of every type of a module, by the type's index.
pub(super) fn all(module: &Module) -> Vec<Facts> {
    module.types.iter().map(|ty| of(module, ty)).collect()
}

fn of(module: &Module, ty: &Type) -> Facts {
    match ty {
        Type::Tensor(tensor) => Facts::of_tensor(plain(module, tensor)),
        Type::UnrankedTensor(_) => Facts::of_class(class::UNRANKED),
        Type::Token => Facts::of_class(class::TOKEN),
        Type::Tuple(parts) => Facts { parts: parts.clone(), ..Facts::of_class(class::TUPLE) },
        Type::Scalar(_) | Type::Function { .. } | Type::None => Facts::of_class(class::FOREIGN),
        Type::Opaque(text) => opaque(module.names.get(*text)),
    }
}

fn plain(module: &Module, tensor: &TensorType) -> Tensor {
    let size = |dim: &Dim| match dim {
        Dim::Static(size) => i64::try_from(*size).unwrap_or(DYNAMIC),
        Dim::Dynamic => DYNAMIC,
    };
    let bounds = match tensor.encoding.map(|encoding| module.attrs.get(encoding)) {
        Some(Attr::Bounds(bounds)) => bounds.iter().map(|bound| bound.unwrap_or(DYNAMIC)).collect(),
        Some(Attr::Opaque(text)) => older_bounds(module.names.get(*text)),
        _ => SmallVec::new(),
    };
    let shape = tensor.shape.iter().map(size).collect();
    Tensor { shape, bounds, element: Element::Plain(tensor.element) }
}

/// `#stablehlo.type_extensions<bounds = [3, ?]>`, the older spelling of bounds.
fn older_bounds(text: &str) -> SmallVec<[i64; 2]> {
    let inside = text.strip_prefix("#stablehlo.type_extensions<").and_then(|rest| rest.split_once('['));
    let list = inside.and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    let bounds = list.split(',').map(str::trim).filter(|bound| !bound.is_empty());
    bounds.map(|bound| bound.parse().ok().filter(|bound| *bound >= 0).unwrap_or(DYNAMIC)).collect()
}

/// A type that the data model keeps as text.
fn opaque(text: &str) -> Facts {
    let inside = |prefix: &str| text.strip_prefix(prefix)?.strip_suffix('>');
    if let Some(inside) = inside("tensor<") {
        return match quant::shaped(inside) {
            Some((shape, Some(element))) => {
                Facts::of_tensor(Tensor { shape, bounds: SmallVec::new(), element })
            }
            _ => Facts::of_class(class::UNKNOWN),
        };
    }
    if let Some(inside) = inside("memref<") {
        let tensor = quant::shaped(inside);
        let tensor = tensor.and_then(|(shape, element)| {
            element.map(|element| Tensor { shape, bounds: SmallVec::new(), element })
        });
        return Facts { tensor, ..Facts::of_class(class::BUFFER) };
    }
    if let Some(inside) = inside("!stablehlo.future<") {
        return future(inside);
    }
    Facts::of_class(class::FOREIGN)
}

fn future(inside: &str) -> Facts {
    let mut facts = Facts::of_class(class::FUTURE);
    for part in quant::split(inside) {
        let shaped = part.strip_prefix("tensor<").and_then(|part| part.strip_suffix('>'));
        match shaped.map(quant::shaped) {
            Some(Some((shape, Some(element)))) => {
                facts.held.push(Tensor { shape, bounds: SmallVec::new(), element });
            }
            Some(_) if !part.starts_with("tensor<*") => facts.class |= class::UNKNOWN,
            _ => {
                facts.defect = Some(format!("future element type must be a ranked tensor, but got '{part}'"))
            }
        }
    }
    facts
}
