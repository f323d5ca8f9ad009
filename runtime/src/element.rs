//! Element types of matrix products and convolutions.

use half::f16;
use serde::{Deserialize, Serialize};

/// An element type with a fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Element {
    F32,
    F64,
    Bf16,
    F16,
}

impl Element {
    /// Bytes of one element.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::Bf16 | Self::F16 => 2,
        }
    }
}

/// Storage that is read into `f32` and written from it.
pub(crate) trait Narrow: Copy + Send + Sync + 'static {
    /// Whether this is `f32` itself.
    const IS_F32: bool = false;
    fn load(self) -> f32;
    fn store(value: f32) -> Self;
}

impl Narrow for f32 {
    const IS_F32: bool = true;

    fn load(self) -> f32 {
        self
    }

    fn store(value: f32) -> Self {
        value
    }
}

/// A `bf16` as its bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Bf16(u16);

impl Narrow for Bf16 {
    #[inline]
    fn load(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// To nearest, ties to even, without a branch so that loops vectorise.
    #[inline]
    fn store(value: f32) -> Self {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        // A NaN must not round to infinity: keep it quiet.
        Self(if value.is_nan() { (bits >> 16 | 0x40) as u16 } else { rounded as u16 })
    }
}

/// An `f16` as its bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct F16(u16);

impl Narrow for F16 {
    #[inline]
    fn load(self) -> f32 {
        f16::from_bits(self.0).to_f32()
    }

    #[inline]
    fn store(value: f32) -> Self {
        Self(f16::from_f32(value).to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_rounds_to_nearest_even_and_keeps_nan() {
        for value in [1.0f32, 1.003_906_3, 1.011_718_8, -3.4e38, f32::INFINITY, f32::NAN, 1e-40] {
            assert_eq!(Bf16::store(value).0, half::bf16::from_f32(value).to_bits(), "{value}");
        }
    }
}
