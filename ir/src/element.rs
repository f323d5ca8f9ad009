//! Element types of tensors.

use std::fmt;

/// The element type of a tensor (StableHLO specification, "Types"). Index and
/// quantised types are read and printed; only the others are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementType {
    /// `i1`, a boolean, stored as one byte.
    Bool,
    /// `i2` to `i64`; StableHLO's signless integers are signed.
    Int(u8),
    /// `ui2` to `ui64`.
    Uint(u8),
    /// `f4E2M1FN`.
    F4E2M1FN,
    /// `f6E2M3FN`.
    F6E2M3FN,
    /// `f6E3M2FN`.
    F6E3M2FN,
    /// `f8E3M4`.
    F8E3M4,
    /// `f8E4M3`.
    F8E4M3,
    /// `f8E4M3FN`.
    F8E4M3FN,
    /// `f8E4M3FNUZ`.
    F8E4M3FNUZ,
    /// `f8E4M3B11FNUZ`.
    F8E4M3B11FNUZ,
    /// `f8E5M2`.
    F8E5M2,
    /// `f8E5M2FNUZ`.
    F8E5M2FNUZ,
    /// `f8E8M0FNU`.
    F8E8M0FNU,
    /// `bf16`.
    Bf16,
    /// `f16`.
    F16,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `tf32`, read and printed only.
    Tf32,
    /// `complex<f32>`.
    Complex64,
    /// `complex<f64>`.
    Complex128,
    /// `index`.
    Index,
}

impl ElementType {
    /// Bits of one element as the type defines them (a boolean has one).
    #[must_use]
    pub fn bit_width(self) -> u32 {
        use ElementType as E;
        match self {
            E::Bool => 1,
            E::Int(bits) | E::Uint(bits) => u32::from(bits),
            E::F4E2M1FN => 4,
            E::F6E2M3FN | E::F6E3M2FN => 6,
            E::F8E3M4
            | E::F8E4M3
            | E::F8E4M3FN
            | E::F8E4M3FNUZ
            | E::F8E4M3B11FNUZ
            | E::F8E5M2
            | E::F8E5M2FNUZ
            | E::F8E8M0FNU => 8,
            E::Bf16 | E::F16 => 16,
            E::Tf32 => 19,
            E::F32 => 32,
            E::F64 | E::Complex64 | E::Index => 64,
            E::Complex128 => 128,
        }
    }

    /// Bytes of one element in memory: at least one, a power of two.
    #[must_use]
    pub fn byte_width(self) -> u64 {
        u64::from(self.bit_width().div_ceil(8).next_power_of_two())
    }

    /// A floating-point type (complex types are not).
    #[must_use]
    pub fn is_float(self) -> bool {
        !matches!(
            self,
            Self::Bool | Self::Int(_) | Self::Uint(_) | Self::Complex64 | Self::Complex128 | Self::Index
        )
    }

    /// A signed or unsigned integer type; neither boolean nor index.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_))
    }

    /// A complex type.
    #[must_use]
    pub fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }

    /// The type of a complex type's parts; any other type itself.
    #[must_use]
    pub fn part(self) -> Self {
        match self {
            Self::Complex64 => Self::F32,
            Self::Complex128 => Self::F64,
            other => other,
        }
    }

    /// Reads a name as MLIR writes it. `complex<…>` is not a name but a
    /// composite and is left to the reader.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "i1" {
            return Some(Self::Bool);
        }
        if let Some((_, element)) = NAMES.iter().find(|(n, _)| *n == name) {
            return Some(*element);
        }
        let bits = |digits: &str| digits.parse::<u8>().ok().filter(|b| (1..=64).contains(b));
        if let Some(digits) = name.strip_prefix("ui") {
            return bits(digits).map(Self::Uint);
        }
        let digits = name.strip_prefix("si").or_else(|| name.strip_prefix('i'))?;
        bits(digits).map(Self::Int)
    }
}

/// Types whose name is a fixed word.
const NAMES: [(&str, ElementType); 17] = [
    ("f4E2M1FN", ElementType::F4E2M1FN),
    ("f6E2M3FN", ElementType::F6E2M3FN),
    ("f6E3M2FN", ElementType::F6E3M2FN),
    ("f8E3M4", ElementType::F8E3M4),
    ("f8E4M3", ElementType::F8E4M3),
    ("f8E4M3FN", ElementType::F8E4M3FN),
    ("f8E4M3FNUZ", ElementType::F8E4M3FNUZ),
    ("f8E4M3B11FNUZ", ElementType::F8E4M3B11FNUZ),
    ("f8E5M2", ElementType::F8E5M2),
    ("f8E5M2FNUZ", ElementType::F8E5M2FNUZ),
    ("f8E8M0FNU", ElementType::F8E8M0FNU),
    ("bf16", ElementType::Bf16),
    ("f16", ElementType::F16),
    ("f32", ElementType::F32),
    ("f64", ElementType::F64),
    ("tf32", ElementType::Tf32),
    ("index", ElementType::Index),
];

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("i1"),
            Self::Int(bits) => write!(f, "i{bits}"),
            Self::Uint(bits) => write!(f, "ui{bits}"),
            Self::Complex64 => f.write_str("complex<f32>"),
            Self::Complex128 => f.write_str("complex<f64>"),
            other => {
                let name = NAMES.iter().find(|(_, element)| element == other);
                f.write_str(name.map_or("?", |(name, _)| name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_printed() {
        for element in NAMES.iter().map(|(_, e)| *e).chain([ElementType::Bool, ElementType::Uint(4)]) {
            assert_eq!(ElementType::from_name(&element.to_string()), Some(element));
        }
        assert_eq!(ElementType::from_name("i0"), None);
        assert_eq!(ElementType::from_name("i65"), None);
    }

    #[test]
    fn widths_in_memory() {
        assert_eq!(ElementType::Bool.byte_width(), 1);
        assert_eq!(ElementType::Int(4).byte_width(), 1);
        assert_eq!(ElementType::Complex128.byte_width(), 16);
    }
}
