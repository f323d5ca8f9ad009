//! Constraints on quantised types that several operations share.

use super::facts::{Element, Tensor};
use super::quant::Quant;
use super::view::{Check, Op, invalid};

/// Whether a quantised type takes part.
pub(super) fn any(tensors: &[&Tensor]) -> bool {
    tensors.iter().any(|tensor| tensor.element.quant().is_some())
}

/// `uniform_quantize`: the result expresses the operand's type.
pub(super) fn quantize(op: Op<'_>) -> Check {
    let operand = &op.operand(0).tensor()?.element;
    let expressed = operand.quant().map_or_else(|| operand.clone(), |quant| Element::Plain(quant.expressed));
    let Some(result) = op.result(0).tensor()?.element.quant() else { return Ok(()) };
    if expressed != Element::Plain(result.expressed) {
        invalid!(
            "Expressed type of result expected to be {}, but got '{}'",
            op.quoted_element(&expressed),
            result.expressed
        );
    }
    Ok(())
}

/// `uniform_dequantize`: the result has the expressed type.
pub(super) fn dequantize(op: Op<'_>) -> Check {
    let operand = op.operand(0).tensor()?;
    let Some(quant) = operand.element.quant() else { return Ok(()) };
    op.infers(0, &Tensor { element: Element::Plain(quant.expressed), ..operand.clone() })
}

/// `add` of quantised tensors (specification, `add_c2` to `add_c7`).
pub(super) fn binary(op: Op<'_>) -> Check {
    let [lhs, rhs, result] = [op.operand(0).tensor()?, op.operand(1).tensor()?, op.result(0).tensor()?];
    let quants = [lhs, rhs, result].map(|tensor| tensor.element.quant());
    let [Some(lhs), Some(rhs), Some(result)] = quants else {
        invalid!("expects all operands and results to be either quantized or non-quantized")
    };
    if lhs.storage != rhs.storage || lhs.storage != result.storage {
        invalid!("mismatched operands and result quantization storage types");
    }
    if lhs.expressed != rhs.expressed || lhs.expressed != result.expressed {
        invalid!("mismatched operands and result quantization expressed types");
    }
    if result.axis.is_some() && lhs.axis.is_none() && rhs.axis.is_none() {
        invalid!("result per_axis quantized but none from rhs and lhs are per_axis quantized");
    }
    for (name, operand) in [("lhs", lhs), ("rhs", rhs)] {
        if operand.axis.is_none() {
            continue;
        }
        if result.axis.is_none() {
            invalid!("result is not per_axis quantized but lhs or rhs are");
        }
        if operand.axis != result.axis {
            let (operand, result) = (&operand.text, &result.text);
            invalid!("quantization_dimension of {name} and result are not same {operand} vs {result}");
        }
    }
    Ok(())
}

/// Operand and result are quantised alike if both are so per tensor.
pub(super) fn same_per_tensor(op: Op<'_>) -> Check {
    let (operand, result) = (op.operand(0), op.result(0));
    let (Some(a), Some(b)) = (operand.tensor()?.element.quant(), result.tensor()?.element.quant()) else {
        return Ok(());
    };
    let per_tensor = a.axis.is_none() && b.axis.is_none();
    if per_tensor && (a.steps != b.steps || !a.compatible(b)) {
        invalid!("expect same quantization scale and zero_point but got {operand} vs {result}");
    }
    Ok(())
}

/// Operand and result are quantised alike, per tensor or per axis.
pub(super) fn same_steps(op: Op<'_>) -> Check {
    same_per_tensor(op)?;
    let (operand, result) = (op.operand(0), op.result(0));
    let (Some(a), Some(b)) = (operand.tensor()?.element.quant(), result.tensor()?.element.quant()) else {
        return Ok(());
    };
    if a.axis.is_some() && b.axis.is_some() && a.steps != b.steps {
        invalid!("expect same quantization scales and zero_points but got {operand} vs {result}");
    }
    Ok(())
}

/// `reshape` and `dynamic_reshape`.
pub(super) fn reshape(op: Op<'_>) -> Check {
    same_steps(op)?;
    let (operand, result) = (op.operand(0).tensor()?, op.result(0).tensor()?);
    let axis = |tensor: &Tensor| tensor.element.quant().and_then(|quant| usize::try_from(quant.axis?).ok());
    let (Some(from), Some(to)) = (axis(operand), axis(result)) else { return Ok(()) };
    let (Some(a), Some(b)) = (operand.shape.get(from), result.shape.get(to)) else { return Ok(()) };
    if !super::facts::dims_compatible(*a, *b) {
        invalid!(
            "expect same quantization dimension size for operand and result {} and {}",
            op.operand(0),
            op.result(0)
        );
    }
    if operand.is_static() && result.is_static() {
        let product = |shape: &[i64]| shape.iter().fold(1i64, |product, size| product.saturating_mul(*size));
        let (before, after) = (product(&operand.shape[..from]), product(&result.shape[..to]));
        if before != after {
            invalid!(
                "product of dimensions before quantization dimension must match between operand and result, \
                 but got {before} and {after}"
            );
        }
    }
    Ok(())
}

/// `transpose`: the quantised dimension is permuted.
pub(super) fn transpose(op: Op<'_>, permutation: &[i64]) -> Check {
    same_steps(op)?;
    let axis = |tensor: &Tensor| tensor.element.quant().and_then(|quant| quant.axis);
    let (Some(from), Some(to)) = (axis(op.operand(0).tensor()?), axis(op.result(0).tensor()?)) else {
        return Ok(());
    };
    let source = usize::try_from(to).ok().and_then(|to| permutation.get(to));
    match source {
        Some(source) if *source != from => {
            invalid!("operand quantization_dimension {from} is not same as permutation[{to}] = {source}")
        }
        _ => Ok(()),
    }
}

/// `broadcast_in_dim` and `dynamic_broadcast_in_dim` per axis.
pub(super) fn broadcast(op: Op<'_>, dimensions: &[i64]) -> Check {
    let (operand, result) = (op.operand(0).tensor()?, op.result(0).tensor()?);
    let (Some(from), Some(to)) = (operand.element.quant(), result.element.quant()) else { return Ok(()) };
    let (Some(from_axis), Some(to_axis)) = (from.axis, to.axis) else { return Ok(()) };
    let index = usize::try_from(from_axis).unwrap_or(usize::MAX);
    if let Some(target) = dimensions.get(index).filter(|target| **target != to_axis) {
        invalid!(
            "result quantization_dimension {to_axis} not same as broadcast_dimensions[{from_axis}] = {target}"
        );
    }
    if operand.shape.get(index) != Some(&1) {
        return Ok(());
    }
    let Some(first) = from.steps.first() else { return Ok(()) };
    for (slice, step) in to.steps.iter().enumerate() {
        if step.0 != first.0 {
            invalid!("mismatch result scale {slice} ({}) and operand scale 0 ({})", step.0, first.0);
        }
        if step.1 != first.1 {
            invalid!(
                "mismatch result zero_point {slice} ({}) and operand zero_point 0 ({})",
                step.1,
                first.1
            );
        }
    }
    Ok(())
}

/// `convolution` and `dot_general`: what they have in common.
pub(super) fn product(op: Op<'_>) -> Check {
    let elements = [op.operand(0).tensor()?, op.operand(1).tensor()?, op.result(0).tensor()?];
    let [lhs, rhs, result] = elements.map(|tensor| &tensor.element);
    let Some(weights) = rhs.quant().filter(|_| lhs.quant().is_some() == result.quant().is_some()) else {
        invalid!(
            "rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) should hold"
        )
    };
    let (Some(left), Some(out)) = (lhs.quant(), result.quant()) else {
        let expressed = Element::Plain(weights.expressed);
        if lhs != &expressed || lhs != result {
            invalid!("mismatched rhs quantization expressed type and lhs and result element type");
        }
        return Ok(());
    };
    if left.storage != weights.storage {
        invalid!("mismatched lhs and rhs quantization storage types");
    }
    if left.expressed != weights.expressed || left.expressed != out.expressed {
        invalid!("mismatched lhs, rhs and result quantization expressed types");
    }
    if weights.axis.is_none() && out.axis.is_some() {
        invalid!("mismatched rhs and result quantization granularity");
    }
    Ok(())
}

/// The quantised dimension of a tensor's elements.
pub(super) fn axis(tensor: &Tensor) -> Option<i64> {
    tensor.element.quant().and_then(|quant: &Quant| quant.axis)
}
