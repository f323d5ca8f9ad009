//! The program's own checks: the `check` dialect and the custom calls of the
//! same names.

use crate::elementwise::float;
use crate::error::{Fault, Outcome, invalid};
use crate::shape::index_of;
use crate::site::Site;
use crate::tensor::{Data, Tensor};
use ckpt_ir::{ElementType, OpKind};

/// How far apart two values may be.
#[derive(Clone, Copy, Debug)]
enum Closeness {
    /// The same bits, or both NaN.
    Equal,
    /// At most this far apart.
    Within(f64),
    /// At least and at most this many representable numbers apart.
    Ulps(u64, u64),
}

/// Tolerance of `check.expect_almost_eq` where none is given (StableHLO, CheckOps.td).
const DEFAULT_TOLERANCE: f64 = 0.001;

/// Tolerance of `check.expect_almost_eq_const` where none is given.
const DEFAULT_CONST_TOLERANCE: f64 = 0.0001;

/// Distance allowed by `check.expect_close` where none is given.
const DEFAULT_ULPS: u64 = 3;

/// Evaluates a check; none if the operation is no check.
pub(crate) fn evaluate(site: Site<'_>, operands: &[Tensor]) -> Option<Outcome<()>> {
    use OpKind as K;
    let against_constant =
        matches!(site.kind(), K::CheckExpectEqConst | K::CheckExpectAlmostEqConst | K::CheckExpectCloseConst);
    let closeness = match site.kind() {
        K::CheckExpectEq | K::CheckExpectEqConst => Closeness::Equal,
        K::CheckExpectAlmostEq => Closeness::Within(DEFAULT_TOLERANCE),
        K::CheckExpectAlmostEqConst => Closeness::Within(DEFAULT_CONST_TOLERANCE),
        K::CheckExpectClose | K::CheckExpectCloseConst => Closeness::Ulps(0, DEFAULT_ULPS),
        K::CustomCall => match site.module.string_attr(site.op, "call_target_name") {
            Some("check.expect_eq") => Closeness::Equal,
            Some("check.expect_almost_eq") => Closeness::Within(DEFAULT_TOLERANCE),
            Some("check.expect_close") => Closeness::Ulps(0, DEFAULT_ULPS),
            _ => return None,
        },
        _ => return None,
    };
    let closeness = as_the_attributes_say(site, closeness);
    Some(match operands {
        [got] if against_constant => {
            site.listed("value").and_then(|expected| check(got, &expected, closeness))
        }
        [got, expected] if !against_constant => check(got, expected, closeness),
        _ => invalid("a check has another number of operands"),
    })
}

fn as_the_attributes_say(site: Site<'_>, closeness: Closeness) -> Closeness {
    match closeness {
        Closeness::Equal => closeness,
        Closeness::Within(default) => Closeness::Within(site.float_attr("tolerance").unwrap_or(default)),
        Closeness::Ulps(min, max) => {
            let bound =
                |name, default| site.int_attr(name).and_then(|x| u64::try_from(x).ok()).unwrap_or(default);
            Closeness::Ulps(bound("min_ulp_difference", min), bound("max_ulp_difference", max))
        }
    }
}

/// Compares two tensors exactly; the first difference is the fault.
pub(crate) fn equal(got: &Tensor, expected: &Tensor) -> Outcome<()> {
    check(got, expected, Closeness::Equal)
}

fn check(got: &Tensor, expected: &Tensor, closeness: Closeness) -> Outcome<()> {
    if got.element != expected.element || got.shape != expected.shape {
        return invalid("the operands of a check differ in type or shape");
    }
    let differs = if got.element.is_float() || got.element.is_complex() {
        first_float_difference(got, expected, closeness)?
    } else {
        let pairs = got.to_i64s()?.into_iter().zip(expected.to_i64s()?);
        pairs.into_iter().position(|(a, b)| a != b)
    };
    match differs {
        None => Ok(()),
        Some(at) => Err(Fault::CheckFailed {
            index: index_of(at, &got.shape).to_vec(),
            got: show(got, at)?,
            expected: show(expected, at)?,
        }),
    }
}

fn show(tensor: &Tensor, at: usize) -> Outcome<String> {
    let scalar = tensor.at(at);
    Ok(if tensor.element.is_complex() {
        let z = float::unpack_complex(&scalar)?[0];
        format!("({:?}, {:?})", z.re, z.im)
    } else if tensor.element.is_float() {
        format!("{:?}", float::unpack(&scalar)?[0])
    } else if matches!(tensor.element, ElementType::Uint(_)) {
        (scalar.to_i64()? as u64).to_string()
    } else {
        scalar.to_i64()?.to_string()
    })
}

fn first_float_difference(got: &Tensor, expected: &Tensor, closeness: Closeness) -> Outcome<Option<usize>> {
    let (got_bits, expected_bits) = (part_bits(got)?, part_bits(expected)?);
    let (got_values, expected_values) = (part_values(got)?, part_values(expected)?);
    let sign = 1u64 << (got.element.part().bit_width() - 1);
    let near = |at: usize| {
        let (a, b) = (got_values[at], expected_values[at]);
        if got_bits[at] == expected_bits[at] || a.is_nan() && b.is_nan() {
            return !matches!(closeness, Closeness::Ulps(1.., _));
        }
        match closeness {
            Closeness::Equal => false,
            Closeness::Within(tolerance) => a == b || (a - b).abs() <= tolerance,
            Closeness::Ulps(min, max) => {
                let distance = ulps(got_bits[at], expected_bits[at], sign);
                a.is_finite() && b.is_finite() && (min..=max).contains(&distance)
            }
        }
    };
    let parts = if got.element.is_complex() { 2 } else { 1 };
    Ok((0..got_bits.len()).find(|at| !near(*at)).map(|at| at / parts))
}

/// Representable numbers between two finite ones.
fn ulps(a: u64, b: u64, sign: u64) -> u64 {
    let (magnitude_a, magnitude_b) = (a & !sign, b & !sign);
    if (a ^ b) & sign == 0 {
        magnitude_a.abs_diff(magnitude_b)
    } else {
        magnitude_a.saturating_add(magnitude_b)
    }
}

/// The bits of each number; real and imaginary parts alternate.
fn part_bits(tensor: &Tensor) -> Outcome<Vec<u64>> {
    Ok(match &tensor.data {
        Data::U8(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Data::U16(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Data::F32(v) => v.iter().map(|x| u64::from(x.to_bits())).collect(),
        Data::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
        Data::C64(v) => v.iter().flat_map(|z| [z.re, z.im]).map(|x| u64::from(x.to_bits())).collect(),
        Data::C128(v) => v.iter().flat_map(|z| [z.re, z.im]).map(f64::to_bits).collect(),
        _ => return invalid("floating-point numbers are needed here"),
    })
}

fn part_values(tensor: &Tensor) -> Outcome<Vec<f64>> {
    if tensor.element.is_complex() {
        return Ok(float::unpack_complex(tensor)?.iter().flat_map(|z| [z.re, z.im]).collect());
    }
    float::unpack(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closeness_is_counted_in_representable_numbers() {
        let one = |x: f32| Tensor::new(ElementType::F32, &[][..], vec![x]);
        let next = |x: f32, steps: u32| f32::from_bits(x.to_bits() + steps);
        assert!(check(&one(next(1.0, 3)), &one(1.0), Closeness::Ulps(0, 3)).is_ok());
        assert!(check(&one(next(1.0, 4)), &one(1.0), Closeness::Ulps(0, 3)).is_err());
        assert!(check(&one(-0.0), &one(f32::from_bits(3)), Closeness::Ulps(0, 3)).is_ok());
        assert!(check(&one(f32::NAN), &one(-f32::NAN), Closeness::Equal).is_ok());
        assert!(check(&one(-0.0), &one(0.0), Closeness::Equal).is_err());
        assert!(check(&one(f32::INFINITY), &one(f32::MAX), Closeness::Ulps(0, 3)).is_err());
    }
}
