//! Values: tensors, tuples and tokens.

use crate::error::{Outcome, invalid, unsupported};
use crate::shape::{Shape, count};
use ckpt_ir::ElementType;
use num_complex::Complex;
use std::sync::Arc;

/// The elements of a tensor, row-major, shared until written to. Booleans,
/// integers and floats narrower than 32 bits lie as their bits; signed integers
/// narrower than a byte lie sign-extended.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Data {
    U8(Arc<Vec<u8>>),
    U16(Arc<Vec<u16>>),
    U32(Arc<Vec<u32>>),
    U64(Arc<Vec<u64>>),
    F32(Arc<Vec<f32>>),
    F64(Arc<Vec<f64>>),
    C64(Arc<Vec<Complex<f32>>>),
    C128(Arc<Vec<Complex<f64>>>),
}

/// Runs one expression for whichever storage a `Data` has.
macro_rules! with_data {
    ($data:expr, $elements:ident => $body:expr) => {
        match $data {
            $crate::tensor::Data::U8($elements) => $body,
            $crate::tensor::Data::U16($elements) => $body,
            $crate::tensor::Data::U32($elements) => $body,
            $crate::tensor::Data::U64($elements) => $body,
            $crate::tensor::Data::F32($elements) => $body,
            $crate::tensor::Data::F64($elements) => $body,
            $crate::tensor::Data::C64($elements) => $body,
            $crate::tensor::Data::C128($elements) => $body,
        }
    };
}
pub(crate) use with_data;

/// A storage unit.
pub(crate) trait Storage: Copy + Default + PartialEq + 'static {
    /// Wraps elements.
    fn wrap(elements: Vec<Self>) -> Data;
    /// The elements, if the storage is this one.
    fn peek(data: &Data) -> Option<&Vec<Self>>;
    /// The elements to write to, copied if shared.
    fn peek_mut(data: &mut Data) -> Option<&mut Vec<Self>>;
}

macro_rules! storage {
    ($($ty:ty => $variant:ident),*) => {$(
        impl Storage for $ty {
            fn wrap(elements: Vec<Self>) -> Data {
                Data::$variant(Arc::new(elements))
            }
            fn peek(data: &Data) -> Option<&Vec<Self>> {
                match data {
                    Data::$variant(elements) => Some(elements),
                    _ => None,
                }
            }
            fn peek_mut(data: &mut Data) -> Option<&mut Vec<Self>> {
                match data {
                    Data::$variant(elements) => Some(Arc::make_mut(elements)),
                    _ => None,
                }
            }
        }
    )*};
}
storage!(u8 => U8, u16 => U16, u32 => U32, u64 => U64, f32 => F32, f64 => F64,
         Complex<f32> => C64, Complex<f64> => C128);

/// A tensor: element type, shape and elements.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The element type.
    pub element: ElementType,
    /// The sizes, outermost first.
    pub shape: Shape,
    /// The elements.
    pub data: Data,
}

/// A value of a program.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A tuple.
    Tuple(Arc<Vec<Value>>),
    /// A token.
    Token,
}

/// Bytes of one tensor that are evaluated at most.
pub const MAX_TENSOR_BYTES: u64 = 1 << 36;

impl Tensor {
    /// A tensor of typed elements, whose storage must be that of `element`.
    pub(crate) fn new<S: Storage>(element: ElementType, shape: impl Into<Shape>, elements: Vec<S>) -> Self {
        let shape = shape.into();
        debug_assert_eq!(count(&shape), elements.len());
        Self { element, shape, data: S::wrap(elements) }
    }

    /// A tensor out of its bytes: little-endian, row-major,
    /// [`byte_width`](ElementType::byte_width) each; one element alone stands for all.
    /// None if the number of bytes is another or the type is not evaluated.
    #[must_use]
    pub fn from_bytes(element: ElementType, shape: &[usize], bytes: &[u8]) -> Option<Self> {
        let width = element.byte_width() as usize;
        let total = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d))?;
        let splat = bytes.len() == width && total != 1;
        if !splat && Some(bytes.len()) != total.checked_mul(width) {
            return None;
        }
        fn unpack<S: Storage, const N: usize>(
            bytes: &[u8],
            splat: Option<usize>,
            read: impl Fn([u8; N]) -> S,
        ) -> Data {
            let mut units = bytes.chunks_exact(N).filter_map(|c| c.try_into().ok().map(&read));
            S::wrap(match splat {
                Some(total) => vec![units.next().unwrap_or_default(); total],
                None => units.collect(),
            })
        }
        let splat = splat.then_some(total);
        let data = match storage_of(element)? {
            StorageKind::U8 => unpack(bytes, splat, u8::from_le_bytes),
            StorageKind::U16 => unpack(bytes, splat, u16::from_le_bytes),
            StorageKind::U32 => unpack(bytes, splat, u32::from_le_bytes),
            StorageKind::U64 => unpack(bytes, splat, u64::from_le_bytes),
            StorageKind::F32 => unpack(bytes, splat, f32::from_le_bytes),
            StorageKind::F64 => unpack(bytes, splat, f64::from_le_bytes),
            StorageKind::C64 => unpack(bytes, splat, |b: [u8; 8]| {
                let bits = u64::from_le_bytes(b);
                Complex::new(f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32))
            }),
            StorageKind::C128 => unpack(bytes, splat, |b: [u8; 16]| {
                let bits = u128::from_le_bytes(b);
                Complex::new(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64))
            }),
        };
        Some(Self { element, shape: shape.into(), data })
    }

    /// A tensor of numbers converted to a type: floats rounded, integers
    /// truncated; two numbers for each complex element. None if the number of
    /// values is another or the type is not evaluated.
    #[must_use]
    pub fn from_f64s(element: ElementType, shape: &[usize], values: &[f64]) -> Option<Self> {
        use crate::elementwise::{convert::convert, float};
        let shape: Shape = shape.into();
        let data = if element.is_complex() {
            let pairs = values.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1]));
            float::pack_complex(element, pairs).ok()?
        } else {
            let wide =
                Self { element: ElementType::F64, shape: shape.clone(), data: f64::wrap(values.to_vec()) };
            convert(&wide, element).ok()?.data
        };
        let tensor = Self { element, shape, data };
        (tensor.len() == count(&tensor.shape)).then_some(tensor)
    }

    /// The bytes of the elements, as [`Tensor::from_bytes`] reads them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.data {
            Data::U8(v) => v.to_vec(),
            Data::U16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::U32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::U64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::C64(v) => {
                v.iter().flat_map(|x| [x.re.to_le_bytes(), x.im.to_le_bytes()]).flatten().collect()
            }
            Data::C128(v) => {
                v.iter().flat_map(|x| [x.re.to_le_bytes(), x.im.to_le_bytes()]).flatten().collect()
            }
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        with_data!(&self.data, v => v.len())
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same elements under another shape of the same count.
    pub(crate) fn reshaped(self, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        debug_assert_eq!(count(&shape), self.len());
        Self { shape, ..self }
    }

    /// The elements in their storage.
    pub(crate) fn elements<S: Storage>(&self) -> Outcome<&[S]> {
        match S::peek(&self.data) {
            Some(elements) => Ok(elements),
            None => invalid("an operand has another element type than the operation needs"),
        }
    }

    /// The scalar at a position, as a tensor without dimensions.
    pub(crate) fn at(&self, offset: usize) -> Self {
        let data = with_data!(&self.data, v => Storage::wrap(vec![v[offset]]));
        Self { element: self.element, shape: Shape::new(), data }
    }

    /// Copies the scalar of `source` (of the same type) to a position.
    pub(crate) fn set(&mut self, offset: usize, source: &Self) {
        fn put<S: Storage>(target: &mut Data, offset: usize, source: &[S]) {
            if let Some(elements) = S::peek_mut(target) {
                elements[offset] = source[0];
            }
        }
        with_data!(&source.data, v => put(&mut self.data, offset, v));
    }

    /// One scalar repeated.
    pub(crate) fn splat(&self, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        let total = count(&shape);
        let data = with_data!(&self.data, v => Storage::wrap(vec![v[0]; total]));
        Self { element: self.element, shape, data }
    }

    /// Elements picked by position.
    pub(crate) fn pick(&self, shape: impl Into<Shape>, positions: &[usize]) -> Self {
        let data = with_data!(&self.data, v => Storage::wrap(positions.iter().map(|p| v[*p]).collect()));
        Self { element: self.element, shape: shape.into(), data }
    }

    /// Integer elements as signed numbers; booleans as 0 and 1.
    pub(crate) fn to_i64s(&self) -> Outcome<Vec<i64>> {
        use crate::elementwise::integer::{Width, load};
        let Some(width) = Width::of(self.element) else {
            return invalid("integers are needed here");
        };
        Ok(match &self.data {
            Data::U8(v) => v.iter().map(|x| load(u64::from(*x), width)).collect(),
            Data::U16(v) => v.iter().map(|x| load(u64::from(*x), width)).collect(),
            Data::U32(v) => v.iter().map(|x| load(u64::from(*x), width)).collect(),
            Data::U64(v) => v.iter().map(|x| *x as i64).collect(),
            _ => return invalid("integers are needed here"),
        })
    }

    /// The one integer of a tensor that holds just one.
    pub(crate) fn to_i64(&self) -> Outcome<i64> {
        match self.to_i64s()?[..] {
            [value] => Ok(value),
            _ => invalid("a scalar is needed here"),
        }
    }

    /// The one boolean of a tensor that holds just one.
    pub(crate) fn to_bool(&self) -> Outcome<bool> {
        match self.elements::<u8>()? {
            [value] => Ok(*value != 0),
            _ => invalid("a scalar is needed here"),
        }
    }
}

impl Value {
    /// The tensor.
    pub(crate) fn tensor(&self) -> Outcome<&Tensor> {
        match self {
            Self::Tensor(tensor) => Ok(tensor),
            _ => unsupported("a tuple or token where a tensor is needed"),
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

/// Which storage holds an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageKind {
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    C64,
    C128,
}

/// The storage of an element type; none for types that are not evaluated.
pub(crate) fn storage_of(element: ElementType) -> Option<StorageKind> {
    use ElementType as E;
    Some(match element {
        E::F32 => StorageKind::F32,
        E::F64 => StorageKind::F64,
        E::Complex64 => StorageKind::C64,
        E::Complex128 => StorageKind::C128,
        E::Tf32 => return None,
        other => match other.byte_width() {
            1 => StorageKind::U8,
            2 => StorageKind::U16,
            4 => StorageKind::U32,
            _ => StorageKind::U64,
        },
    })
}
