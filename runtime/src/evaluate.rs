//! Steps that the reference evaluator runs.

use crate::program::{EvaluateStep, Step};
use crate::{ProgramError, RunError, TensorSpec};
use ckpt_interp::{Tensor, Value, evaluate};
use ckpt_ir::{Module, OpId, SourceText};

/// A step's function, read.
pub(crate) struct Evaluator {
    module: Module,
    function: OpId,
    inputs: Vec<TensorSpec>,
    outputs: Vec<TensorSpec>,
}

impl Evaluator {
    /// Reads a step's text.
    pub(crate) fn new(step: &Step, work: &EvaluateStep) -> Result<Self, ProgramError> {
        let refuse = |message: String| ProgramError::Text { step: step.name.clone(), message };
        let source = SourceText::new(&step.name, &work.text);
        let module = ckpt_ir::text::parse(&source).map_err(|errors| {
            refuse(errors.first().map_or_else(String::new, |error| source.render(error)))
        })?;
        let main = module.function("main").and_then(|f| Some((f, module.function_body(f)?)));
        let Some((function, body)) = main else { return Err(refuse("there is no @main".into())) };
        let spec = |value: &ckpt_ir::ValueId| {
            let ty = module.tensor_type(*value)?;
            Some(TensorSpec::new(ty.element, &ty.static_shape()?))
        };
        let inputs: Option<Vec<_>> = module.block(body).arguments.iter().map(spec).collect();
        let returned = module.terminator(body).map(|t| module.op(t).operands.to_vec()).unwrap_or_default();
        let outputs: Option<Vec<_>> = returned.iter().map(spec).collect();
        match (inputs, outputs) {
            (Some(inputs), Some(outputs))
                if inputs.len() == work.inputs.len() && outputs.len() == work.outputs.len() =>
            {
                Ok(Self { module, function, inputs, outputs })
            }
            _ => Err(refuse("@main does not fit the step's buffers".into())),
        }
    }

    /// Sizes in bytes of arguments and results.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        self.inputs.iter().chain(&self.outputs).map(TensorSpec::bytes)
    }

    /// Evaluates on the bytes of the arguments; returns those of the results.
    pub(crate) fn run(&self, step: &Step, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, RunError> {
        let unplanned = || RunError::Yield { step: step.name.clone() };
        let tensor = |(spec, bytes): (&TensorSpec, &&[u8])| {
            let shape: Vec<usize> = spec.shape.iter().map(|size| *size as usize).collect();
            Tensor::from_bytes(spec.element_type()?, &shape, bytes).map(Value::Tensor)
        };
        let arguments: Option<Vec<Value>> = self.inputs.iter().zip(inputs).map(tensor).collect();
        let results = evaluate(&self.module, self.function, arguments.ok_or_else(unplanned)?);
        let results = results.map_err(|error| RunError::Evaluation {
            step: step.name.clone(),
            place: step.place,
            error,
        })?;
        let bytes = |(spec, value): (&TensorSpec, &Value)| match value {
            Value::Tensor(tensor) => Some(tensor.to_bytes()).filter(|b| Some(b.len() as u64) == spec.bytes()),
            _ => None,
        };
        self.outputs.iter().zip(&results).map(|pair| bytes(pair).ok_or_else(unplanned)).collect()
    }
}
