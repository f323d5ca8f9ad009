//! `compare`, and the equality that the program's own checks use.

use super::{complex, float, integer};
use crate::error::{Outcome, invalid};
use crate::tensor::Tensor;
use ckpt_ir::ElementType;

/// Which comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Eq,
    Ne,
    Ge,
    Gt,
    Le,
    Lt,
}

impl Direction {
    /// Reads the name that the attribute has.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "EQ" => Self::Eq,
            "NE" => Self::Ne,
            "GE" => Self::Ge,
            "GT" => Self::Gt,
            "LE" => Self::Le,
            "LT" => Self::Lt,
            _ => return None,
        })
    }

    #[inline]
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Ge => a >= b,
            Self::Gt => a > b,
            Self::Le => a <= b,
            Self::Lt => a < b,
        }
    }
}

/// Compares elementwise; with `total`, floats by the total order of IEEE 754.
pub(crate) fn compare(lhs: &Tensor, rhs: &Tensor, direction: Direction, total: bool) -> Outcome<Tensor> {
    let bits = if lhs.element.is_complex() {
        compare_complex(lhs, rhs, direction)?
    } else if lhs.element.is_float() {
        if total {
            float::test(lhs, rhs, |a, b| direction.holds(float::total_order(a), float::total_order(b)))?
        } else {
            // One loop per direction, so that each can be vectorised.
            match direction {
                Direction::Eq => float::test(lhs, rhs, |a, b| a == b)?,
                Direction::Ne => float::test(lhs, rhs, |a, b| a != b)?,
                Direction::Ge => float::test(lhs, rhs, |a, b| a >= b)?,
                Direction::Gt => float::test(lhs, rhs, |a, b| a > b)?,
                Direction::Le => float::test(lhs, rhs, |a, b| a <= b)?,
                Direction::Lt => float::test(lhs, rhs, |a, b| a < b)?,
            }
        }
    } else if integer::width_of(lhs)?.signed {
        integer::test(lhs, rhs, |a, b| direction.holds(a, b))?
    } else {
        integer::test(lhs, rhs, |a, b| direction.holds(a as u64, b as u64))?
    };
    Ok(Tensor::new(ElementType::Bool, lhs.shape.clone(), bits))
}

fn compare_complex(lhs: &Tensor, rhs: &Tensor, direction: Direction) -> Outcome<Vec<u8>> {
    let (a, b) = (float::unpack_complex(lhs)?, float::unpack_complex(rhs)?);
    let test: fn(complex::C, complex::C) -> bool = match direction {
        Direction::Eq => |a, b| a == b,
        Direction::Ne => |a, b| a != b,
        _ => return invalid("complex numbers are only compared for equality"),
    };
    Ok(a.iter().zip(&b).map(|(a, b)| u8::from(test(*a, *b))).collect())
}
