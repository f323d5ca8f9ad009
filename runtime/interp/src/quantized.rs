//! Quantised tensors: stored integers that stand for `(q − zero point)·scale`.
//!
//! Operations on them are evaluated on the numbers that they stand for, and the
//! results are quantised again, which is how the specification words them.

use crate::elementwise::convert::{bitcast, convert};
use crate::elementwise::{float, integer};
use crate::error::{Outcome, invalid, unsupported};
use crate::shape::{Shape, strides};
use crate::site::Site;
use crate::tensor::{Tensor, Value};
use ckpt_ir::{ElementType, Module, OpKind, Type, TypeId};

/// A quantised tensor type, read from the text that the project keeps of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantType {
    /// The sizes.
    pub(crate) shape: Shape,
    /// The type of the numbers that are stood for.
    pub(crate) expressed: ElementType,
    storage: ElementType,
    range: (i64, i64),
    axis: Option<usize>,
    /// Scale and zero point, one or one for each index of the axis.
    parameters: Vec<(f64, i64)>,
}

impl QuantType {
    /// The quantised tensor type of an id; none for other types.
    pub(crate) fn of(module: &Module, ty: TypeId) -> Option<Self> {
        match module.types.get(ty) {
            Type::Opaque(text) => Self::parse(module.names.get(*text)),
            _ => None,
        }
    }

    /// Reads `tensor<2x!quant.uniform<i8<-127:127>:f32:0, {0.1:-30, 0.5}>>`.
    fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (dims, quant) = text.strip_prefix("tensor<")?.split_once("!quant.uniform<")?;
        let shape = dims.split_terminator('x').map(|size| size.parse().ok()).collect::<Option<Shape>>()?;
        let (types, scales) = quant.split_once(',')?;
        let (storage, range, rest) = storage_type(types)?;
        let (expressed, axis) = match rest.split_once(':') {
            Some((expressed, axis)) => (expressed, Some(axis.parse().ok()?)),
            None => (rest, None),
        };
        let expressed = ElementType::from_name(expressed)?;
        let list = scales.trim_end_matches('>').trim_start_matches('{').trim_end_matches('}');
        let parameter = |text: &str| match text.split_once(':') {
            Some((scale, zero)) => Some((scale.parse().ok()?, zero.parse().ok()?)),
            None => Some((text.parse().ok()?, 0)),
        };
        let parameters = list.split(',').map(parameter).collect::<Option<Vec<(f64, i64)>>>()?;
        Some(Self { shape, expressed, storage, range, axis, parameters })
    }

    /// The parameters of each element in order.
    fn parameter(&self, shape: &[usize], at: usize) -> (f64, i64) {
        let index = match self.axis {
            Some(axis) if axis < shape.len() => at / strides(shape)[axis] % shape[axis],
            _ => 0,
        };
        self.parameters.get(index).or(self.parameters.first()).copied().unwrap_or((1.0, 0))
    }

    /// The stored integers of numbers.
    fn quantize(&self, operand: &Tensor) -> Outcome<Tensor> {
        let values = float::unpack(&convert(operand, self.expressed)?)?;
        let single = self.expressed != ElementType::F64;
        let stored = values.into_iter().enumerate().map(|(at, x)| {
            let (scale, zero) = self.parameter(&operand.shape, at);
            // The quotient is rounded to the expressed type first, as the specification divides in it.
            let quotient = if single { f64::from((x / f64::from(scale as f32)) as f32) } else { x / scale };
            let rounded = quotient.round_ties_even() as i128 + i128::from(zero);
            rounded.clamp(self.range.0.into(), self.range.1.into()) as i64
        });
        let data = integer::pack(self.storage, stored)?;
        Ok(Tensor { element: self.storage, shape: operand.shape.clone(), data })
    }

    /// The numbers that stored integers stand for.
    fn dequantize(&self, stored: &Tensor) -> Outcome<Tensor> {
        let numbers = stored.to_i64s()?;
        let single = self.expressed != ElementType::F64;
        let values = numbers.into_iter().enumerate().map(|(at, q)| {
            let (scale, zero) = self.parameter(&stored.shape, at);
            let scale = if single { f64::from(scale as f32) } else { scale };
            (q - zero) as f64 * scale
        });
        let data = float::pack(self.expressed, values)?;
        Ok(Tensor { element: self.expressed, shape: stored.shape.clone(), data })
    }
}

/// `i8` or `u8<0:200>` and what stands behind the colon after it.
fn storage_type(text: &str) -> Option<(ElementType, (i64, i64), &str)> {
    let (name, range, rest) = match text.split_once('<') {
        Some((name, rest)) => {
            let (range, rest) = rest.split_once(">:")?;
            (name, Some(range.split_once(':')?), rest)
        }
        None => {
            let (name, rest) = text.split_once(':')?;
            (name, None, rest)
        }
    };
    let storage = match name.strip_prefix('u') {
        Some(bits) if !bits.starts_with('i') => ElementType::Uint(bits.parse().ok()?),
        _ => ElementType::from_name(name)?,
    };
    let width = integer::Width::of(storage)?;
    let limits = match range {
        Some((low, high)) => (low.parse().ok()?, high.parse().ok()?),
        None => (width.min() as i64, i64::try_from(width.max()).ok()?),
    };
    Some((storage, limits, rest))
}

/// Whether an operation has an operand or result of a quantised type.
pub(crate) fn is_quantized(site: Site<'_>) -> bool {
    let data = site.data();
    data.operands.iter().chain(&data.results).any(|value| {
        let ty = site.module.value_type(*value);
        matches!(site.module.types.get(ty), Type::Opaque(_)) && QuantType::of(site.module, ty).is_some()
    })
}

/// The operands as the numbers that they stand for.
pub(crate) fn dequantize_operands(site: Site<'_>, operands: &mut [Value]) -> Outcome<()> {
    for (id, operand) in site.data().operands.iter().zip(operands) {
        if let Some(ty) = QuantType::of(site.module, site.module.value_type(*id)) {
            *operand = ty.dequantize(operand.tensor()?)?.into();
        }
    }
    Ok(())
}

/// The results as their types store them.
pub(crate) fn quantize_results(site: Site<'_>, results: &mut [Value]) -> Outcome<()> {
    for (id, result) in site.data().results.iter().zip(results) {
        if let Some(ty) = QuantType::of(site.module, site.module.value_type(*id)) {
            *result = ty.quantize(result.tensor()?)?.into();
        }
    }
    Ok(())
}

/// Operations that look at the stored integers themselves, or only change how
/// they are stored; none if the operation is another.
pub(crate) fn evaluate(site: Site<'_>, operands: &[Value]) -> Option<Outcome<Tensor>> {
    let operand = operands.first()?;
    let of = |id: Option<&ckpt_ir::ValueId>| {
        id.and_then(|id| QuantType::of(site.module, site.module.value_type(*id)))
    };
    let (from, to) = (of(site.data().operands.first()), of(site.data().results.first()));
    let tensor = match operand.tensor() {
        Ok(tensor) => tensor,
        Err(fault) => return Some(Err(fault)),
    };
    Some(match (site.kind(), from, to) {
        (OpKind::UniformDequantize, Some(from), _) => from.dequantize(tensor),
        (OpKind::UniformQuantize, Some(from), Some(to)) => {
            from.dequantize(tensor).and_then(|numbers| to.quantize(&numbers))
        }
        (OpKind::UniformQuantize, None, Some(to)) => to.quantize(tensor),
        (OpKind::BitcastConvert, _, Some(to)) => bitcast(tensor, to.storage, to.shape.clone()),
        (OpKind::BitcastConvert, Some(_), None) => match (site.result_element(), site.result_shape()) {
            (Ok(element), Some(shape)) => bitcast(tensor, element, shape),
            _ => unsupported("a result of unknown size"),
        },
        (OpKind::UniformQuantize | OpKind::UniformDequantize, _, _) => {
            invalid("uniform_quantize and uniform_dequantize need a quantised type")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_with_all_their_parts() {
        let ty =
            QuantType::parse("tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.1:-30, 5.0e-1}>>").unwrap();
        assert_eq!(ty.shape.as_slice(), [2, 3]);
        assert_eq!((ty.storage, ty.expressed), (ElementType::Int(8), ElementType::F32));
        assert_eq!((ty.range, ty.axis), ((-127, 127), Some(1)));
        assert_eq!(ty.parameters, [(0.1, -30), (0.5, 0)]);
        let scalar = QuantType::parse("tensor<!quant.uniform<u8:f32, 2.0:128>>").unwrap();
        assert_eq!((scalar.range, scalar.shape.len()), ((0, 255), 0));
    }

    #[test]
    fn numbers_are_rounded_to_even_and_clamped() {
        let ty = QuantType::parse("tensor<4x!quant.uniform<i8:f32, 2.0:1>>").unwrap();
        let numbers = Tensor::new(ElementType::F32, &[4][..], vec![1f32, 3.0, 1e9, -1e9]);
        let stored = ty.quantize(&numbers).unwrap();
        assert_eq!(stored.to_i64s().unwrap(), [1, 3, 127, -128]);
        assert_eq!(ty.dequantize(&stored).unwrap().elements::<f32>().unwrap()[1], 4.0);
    }
}
