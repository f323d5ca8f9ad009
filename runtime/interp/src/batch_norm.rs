//! `batch_norm_*`, as the specification decomposes them, each step in the
//! element type.

use crate::elementwise::{binary, unary};
use crate::error::{Outcome, invalid, unsupported};
use crate::lanes::Body;
use crate::machine::{Machine, Values};
use crate::movement::broadcast_in_dim;
use crate::reduction::reduce_with;
use crate::site::Site;
use crate::tensor::Tensor;
use ckpt_ir::OpKind;
use smallvec::smallvec;

/// What the three operations share: the operand's shape and the feature dimension.
struct Norm<'m> {
    site: Site<'m>,
    feature: usize,
}

impl<'m> Norm<'m> {
    fn of(site: Site<'m>, operand: &Tensor) -> Outcome<Self> {
        let feature = site.size("feature_index")?;
        if feature >= operand.shape.len() {
            return invalid("feature_index names no dimension");
        }
        Ok(Self { site, feature })
    }

    /// A vector over the features in the operand's shape.
    fn spread(&self, vector: &Tensor, operand: &Tensor) -> Outcome<Tensor> {
        broadcast_in_dim(vector, &operand.shape, &[self.feature])
    }

    fn constant(&self, value: f64, like: &Tensor) -> Outcome<Tensor> {
        match Tensor::from_f64s(like.element, &[], &[value]) {
            Some(scalar) => Ok(scalar.splat(like.shape.clone())),
            None => unsupported("batch normalisation of this element type"),
        }
    }

    fn epsilon(&self, like: &Tensor) -> Outcome<Tensor> {
        match self.site.float_attr("epsilon") {
            Some(epsilon) => self.constant(epsilon, like),
            None => invalid("batch normalisation needs an epsilon"),
        }
    }

    /// The sum over all dimensions but the features.
    fn sum(&self, machine: &mut Machine<'_>, operand: &Tensor) -> Outcome<Tensor> {
        let dimensions: Vec<usize> = (0..operand.shape.len()).filter(|dim| *dim != self.feature).collect();
        let Some(zero) = Tensor::from_f64s(operand.element, &[], &[0.0]) else {
            return unsupported("batch normalisation of this element type");
        };
        let body = Body::Binary(OpKind::Add);
        let mut sums = reduce_with(machine, &body, std::slice::from_ref(operand), &[zero], &dimensions)?;
        sums.pop().map_or_else(|| invalid("a reduction without a result"), Ok)
    }

    /// Elements for each feature.
    fn elements(&self, operand: &Tensor, like: &Tensor) -> Outcome<Tensor> {
        let features = operand.shape[self.feature].max(1);
        self.constant((operand.len() / features) as f64, like)
    }

    /// 1 ÷ √(variance + ε), in the operand's shape, as a divisor.
    fn deviation(&self, variance: &Tensor, operand: &Tensor) -> Outcome<Tensor> {
        let variance = self.spread(variance, operand)?;
        sqrt(&add(&variance, &self.epsilon(&variance)?)?)
    }
}

fn apply(kind: OpKind, lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    binary(kind, lhs, rhs).unwrap_or_else(|| unsupported("batch normalisation of this element type"))
}

fn add(lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    apply(OpKind::Add, lhs, rhs)
}

fn subtract(lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    apply(OpKind::Subtract, lhs, rhs)
}

fn multiply(lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    apply(OpKind::Multiply, lhs, rhs)
}

fn divide(lhs: &Tensor, rhs: &Tensor) -> Outcome<Tensor> {
    apply(OpKind::Divide, lhs, rhs)
}

fn sqrt(operand: &Tensor) -> Outcome<Tensor> {
    let missing = || unsupported("batch normalisation of this element type");
    unary(OpKind::Sqrt, operand).unwrap_or_else(missing)
}

/// Evaluates `batch_norm_inference`.
pub(crate) fn inference(site: Site<'_>, operands: &[Tensor]) -> Outcome<Tensor> {
    let [operand, scale, offset, mean, variance] = operands else {
        return invalid("batch_norm_inference needs five operands");
    };
    let norm = Norm::of(site, operand)?;
    let centred = subtract(operand, &norm.spread(mean, operand)?)?;
    let normalised = divide(&centred, &norm.deviation(variance, operand)?)?;
    add(&multiply(&norm.spread(scale, operand)?, &normalised)?, &norm.spread(offset, operand)?)
}

/// Evaluates `batch_norm_training`: the output, the mean and the variance.
pub(crate) fn training(machine: &mut Machine<'_>, site: Site<'_>, operands: &[Tensor]) -> Outcome<Values> {
    let [operand, scale, offset] = operands else {
        return invalid("batch_norm_training needs three operands");
    };
    let norm = Norm::of(site, operand)?;
    let sum = norm.sum(machine, operand)?;
    let elements = norm.elements(operand, &sum)?;
    let mean = divide(&sum, &elements)?;
    let centred = subtract(operand, &norm.spread(&mean, operand)?)?;
    let variance = divide(&norm.sum(machine, &multiply(&centred, &centred)?)?, &elements)?;
    let all = [operand.clone(), scale.clone(), offset.clone(), mean.clone(), variance.clone()];
    Ok(smallvec![inference(site, &all)?.into(), mean.into(), variance.into()])
}

/// Evaluates `batch_norm_grad`: the gradients of operand, scale and offset.
pub(crate) fn gradient(machine: &mut Machine<'_>, site: Site<'_>, operands: &[Tensor]) -> Outcome<Values> {
    let [operand, scale, mean, variance, grad_output] = operands else {
        return invalid("batch_norm_grad needs five operands");
    };
    let norm = Norm::of(site, operand)?;
    let (scale, mean) = (norm.spread(scale, operand)?, norm.spread(mean, operand)?);
    let centred = subtract(operand, &mean)?;
    let deviation = norm.deviation(variance, operand)?;
    let elements = norm.elements(operand, operand)?;
    // The names follow the specification's decomposition.
    let i1 = multiply(grad_output, &elements)?;
    let i2 = norm.spread(&norm.sum(machine, grad_output)?, operand)?;
    let i3 = norm.spread(&norm.sum(machine, &multiply(grad_output, &centred)?)?, operand)?;
    let i4 = multiply(&i3, &centred)?;
    let variance = norm.spread(variance, operand)?;
    let i5 = divide(&i4, &add(&variance, &norm.epsilon(&variance)?)?)?;
    let i6 = subtract(&subtract(&i1, &i2)?, &i5)?;
    let outer = divide(&divide(&scale, &deviation)?, &elements)?;
    let grad_operand = multiply(&outer, &i6)?;
    let normalised = divide(&centred, &deviation)?;
    let grad_scale = norm.sum(machine, &multiply(grad_output, &normalised)?)?;
    let grad_offset = norm.sum(machine, grad_output)?;
    Ok(smallvec![grad_operand.into(), grad_scale.into(), grad_offset.into()])
}
