//! Bodies of reductions and the like, run for many elements at once.
//!
//! A body computes scalars from scalars. If all it holds is elementwise
//! operations and constants, then running it on vectors computes the same for
//! many elements in one go, with the same operations in the same order for each.

use crate::chlo;
use crate::elementwise;
use crate::error::{Outcome, invalid};
use crate::machine::{Machine, Values};
use crate::shape::Shape;
use crate::site::Site;
use crate::tensor::Tensor;
use ckpt_ir::{BlockId, Category, Module, OpId, OpKind, ValueId};
use smallvec::SmallVec;

/// How a body is run.
pub(crate) enum Body {
    /// One operation on the two arguments, in this order.
    Binary(OpKind),
    /// Returns its second argument.
    Second,
    /// Elementwise operations: run on vectors.
    Lanes(Lanes),
    /// Anything else: run by the machine, element by element.
    Block(BlockId),
}

/// A straight line of elementwise operations.
pub(crate) struct Lanes {
    arguments: usize,
    steps: Vec<Step>,
    results: SmallVec<[usize; 2]>,
}

enum Step {
    Constant(Tensor),
    Op { op: OpId, kind: OpKind, operands: SmallVec<[usize; 3]> },
}

impl Body {
    /// Looks at a body.
    pub(crate) fn of(module: &Module, block: BlockId) -> Outcome<Self> {
        let body = module.block(block);
        let Some(lanes) = Lanes::of(module, block)? else { return Ok(Self::Block(block)) };
        let simple = match (&body.arguments[..], &body.ops[..]) {
            ([a, b], [op, end]) => {
                let (op, end) = (module.op(*op), module.op(*end));
                let in_order = op.operands[..] == [*a, *b] && end.operands[..] == op.results[..];
                // A comparison depends on its attributes as well.
                (in_order && op.kind != OpKind::Compare).then_some(Self::Binary(op.kind))
            }
            ([_, b], [end]) if module.op(*end).operands[..] == [*b] => Some(Self::Second),
            _ => None,
        };
        Ok(simple.unwrap_or(Self::Lanes(lanes)))
    }

    /// Runs the body on vectors of equal length, one for each argument.
    pub(crate) fn run(&self, machine: &mut Machine<'_>, arguments: &[Tensor]) -> Outcome<Vec<Tensor>> {
        match (self, arguments) {
            (Self::Second, [_, second]) => Ok(vec![second.clone()]),
            (Self::Binary(kind), [first, second]) => {
                let missing = || invalid("the body of this operation holds an operation of another arity");
                Ok(vec![elementwise::binary(*kind, first, second).unwrap_or_else(missing)?])
            }
            (Self::Lanes(lanes), _) => lanes.run(machine.module, arguments),
            (Self::Block(block), _) => run_each(machine, *block, arguments),
            _ => invalid("the body of this operation has another number of arguments"),
        }
    }
}

/// Runs a block once for each element.
fn run_each(machine: &mut Machine<'_>, block: BlockId, arguments: &[Tensor]) -> Outcome<Vec<Tensor>> {
    let lanes = arguments.first().map_or(0, Tensor::len);
    let mut results: Vec<Tensor> = Vec::new();
    for lane in 0..lanes {
        let scalars: Values = arguments.iter().map(|argument| argument.at(lane).into()).collect();
        let values = machine.invoke(block, scalars)?;
        for (index, value) in values.iter().enumerate() {
            let value = value.tensor()?;
            if value.len() != 1 {
                return invalid("the body of this operation does not return scalars");
            }
            if lane == 0 {
                results.push(value.splat(&[lanes][..]));
            }
            results[index].set(lane, value);
        }
    }
    Ok(results)
}

impl Lanes {
    /// The body as a straight line; none if it holds more than elementwise
    /// operations on its own scalars.
    fn of(module: &Module, block: BlockId) -> Outcome<Option<Self>> {
        let body = module.block(block);
        let mut slots: Vec<ValueId> = body.arguments.clone();
        let mut lanes = Self { arguments: slots.len(), steps: Vec::new(), results: SmallVec::new() };
        for &op in &body.ops {
            let data = module.op(op);
            let slot_of = |value: &ValueId| slots.iter().position(|slot| slot == value);
            let operands: Option<SmallVec<[usize; 3]>> = data.operands.iter().map(slot_of).collect();
            let Some(operands) = operands else { return Ok(None) };
            if data.kind == OpKind::Return {
                lanes.results = operands.into_iter().collect();
                return Ok(Some(lanes));
            }
            let scalar = data.results.len() == 1
                && module.tensor_type(data.results[0]).is_some_and(|ty| ty.shape.is_empty());
            let step = match data.kind.category() {
                Category::Constant if data.kind == OpKind::Constant => {
                    Step::Constant(Site { module, op }.dense("value")?)
                }
                Category::Elementwise(_) => Step::Op { op, kind: data.kind, operands },
                _ => return Ok(None),
            };
            if !scalar {
                return Ok(None);
            }
            lanes.steps.push(step);
            slots.push(data.results[0]);
        }
        Ok(None)
    }

    fn run(&self, module: &Module, arguments: &[Tensor]) -> Outcome<Vec<Tensor>> {
        let count = arguments.first().map_or(0, Tensor::len);
        if arguments.len() != self.arguments {
            return invalid("the body of this operation has another number of arguments");
        }
        let shape: Shape = SmallVec::from_slice(&[count]);
        let mut slots: Vec<Tensor> = arguments.iter().map(|a| a.clone().reshaped(shape.clone())).collect();
        for step in &self.steps {
            let result = match step {
                Step::Constant(scalar) => scalar.splat(shape.clone()),
                Step::Op { op, kind, operands } => {
                    let operands: SmallVec<[Tensor; 3]> =
                        operands.iter().map(|o| slots[*o].clone()).collect();
                    let site = Site { module, op: *op };
                    elementwise::evaluate(site, *kind, &operands)
                        .or_else(|| chlo::evaluate(site, *kind, &operands))
                        .unwrap_or_else(|| invalid("an operation has another number of operands"))?
                }
            };
            slots.push(result);
        }
        Ok(self.results.iter().map(|slot| slots[*slot].clone()).collect())
    }
}
