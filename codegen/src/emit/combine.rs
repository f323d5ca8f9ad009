//! Bodies of reductions: scalar operations on accumulators and elements.

use super::cone::Cone;
use super::element::{Elem, register};
use super::integer::Width;
use super::{Body, Emitted, NoPath, Ssa, Ty, scalar};
use ckpt_ir::{BlockId, ElementType, Module, OpId, OpKind, ValueId};
use std::collections::HashMap;

/// The body of a reduction, a scatter or a window operation.
#[derive(Clone, Debug)]
pub(super) struct Combiner {
    block: BlockId,
    /// Element types of the accumulators.
    pub(super) elements: Vec<ElementType>,
    /// The one operation that combines each accumulator with its own element,
    /// all of them associative and commutative up to rounding; none otherwise.
    pub(super) simple: Option<Vec<OpKind>>,
}

impl Combiner {
    /// The body in region `region` of `op`.
    pub(super) fn of(module: &Module, op: OpId, region: usize) -> Emitted<Self> {
        let form = NoPath::Form(module.op(op).kind);
        let region = *module.op(op).regions.get(region).ok_or(form)?;
        let block = *module.region(region).blocks.first().ok_or(form)?;
        let arguments = &module.block(block).arguments;
        let half = arguments.len() / 2;
        let elements: Option<Vec<_>> =
            arguments[..half].iter().map(|v| scalar::element_of(module, *v)).collect();
        let simple = simple_kinds(module, block);
        Ok(Self { block, elements: elements.ok_or(form)?, simple })
    }

    /// Runs the body: the block's arguments are accumulators, then elements.
    pub(super) fn apply(
        &self,
        cone: &mut Cone<'_>,
        accumulators: &[Elem],
        elements: &[Elem],
    ) -> Emitted<Vec<Elem>> {
        let module = cone.module;
        let block = module.block(self.block);
        let arguments = accumulators.iter().chain(elements).copied();
        let mut values: HashMap<ValueId, Elem> = block.arguments.iter().copied().zip(arguments).collect();
        for &op in &block.ops {
            let data = module.op(op);
            let mut operands = Vec::with_capacity(data.operands.len());
            for &operand in &data.operands {
                operands.push(match values.get(&operand) {
                    Some(value) => *value,
                    None => cone.element(operand, &[])?,
                });
            }
            if data.kind.is_terminator() {
                return Ok(operands);
            }
            let result = match data.kind {
                OpKind::Constant => cone.constant(op, &[])?,
                OpKind::Reshape | OpKind::BroadcastInDim => operands[0],
                kind => scalar::elementwise(&mut cone.body, module, op, &operands)
                    .ok_or(NoPath::Operation(kind))?,
            };
            values.insert(data.results[0], result);
        }
        Err(NoPath::Form(OpKind::Reduce))
    }

    /// What changes no element when combined with it; for simple bodies.
    pub(super) fn identities(&self, body: &mut Body) -> Option<Vec<Elem>> {
        let kinds = self.simple.as_ref()?;
        kinds.iter().zip(&self.elements).map(|(kind, element)| identity(body, *kind, *element)).collect()
    }
}

/// Kinds that [`identity`] knows.
const SIMPLE: [OpKind; 7] =
    [OpKind::Add, OpKind::Multiply, OpKind::Maximum, OpKind::Minimum, OpKind::And, OpKind::Or, OpKind::Xor];

fn simple_kinds(module: &Module, block: BlockId) -> Option<Vec<OpKind>> {
    let arguments = &module.block(block).arguments;
    let half = arguments.len() / 2;
    let results = &module.op(module.terminator(block)?).operands;
    if results.len() != half || module.block(block).ops.len() != half + 1 {
        return None;
    }
    let kind = |(at, result): (usize, &ValueId)| {
        let op = module.op(module.defining_op(*result)?);
        let (own, other) = (arguments[at], arguments[half + at]);
        let both = matches!(op.operands[..], [a, b] if (a, b) == (own, other) || (b, a) == (own, other));
        (both && SIMPLE.contains(&op.kind)).then_some(op.kind)
    };
    results.iter().enumerate().map(kind).collect()
}

fn identity(body: &mut Body, kind: OpKind, element: ElementType) -> Option<Elem> {
    use OpKind as K;
    let ty = register(element)?;
    if element.is_complex() {
        // −0 changes no sum, not even −0; products of complex numbers round.
        let zero = body.float(ty, -0.0);
        return (kind == K::Add).then_some(Elem { re: zero, im: Some(zero) });
    }
    if element.is_float() {
        let number = match kind {
            K::Add => -0.0,
            K::Multiply => 1.0,
            K::Maximum => f64::NEG_INFINITY,
            K::Minimum => f64::INFINITY,
            _ => return None,
        };
        return Some(Elem::real(body.float(ty, number)));
    }
    let width = Width::of(element);
    let number = match (kind, width) {
        (K::Add | K::Or | K::Xor, _) => 0,
        (K::Maximum, width) => width.map_or(0, Width::min),
        (K::Minimum, width) => width.map_or(1, Width::max),
        (K::And, Some(width)) if !width.signed => width.max(),
        (K::And, Some(_)) => -1,
        _ => 1,
    };
    Some(Elem::real(body.int(ty, number)))
}

/// Accumulators in an array on the stack, one per lane.
pub(super) struct Lanes {
    /// One array per part of each accumulator.
    arrays: Vec<Vec<Ssa>>,
}

impl Lanes {
    /// Arrays of `count` accumulators.
    pub(super) fn new(body: &mut Body, elements: &[ElementType], count: i64) -> Emitted<Self> {
        let mut arrays = Vec::new();
        for element in elements {
            let ty = register(*element).ok_or(NoPath::Type(OpKind::Reduce))?;
            let parts = if element.is_complex() { 2 } else { 1 };
            arrays.push((0..parts).map(|_| body.array(count, in_memory(ty))).collect());
        }
        Ok(Self { arrays })
    }

    /// The accumulators of a lane.
    pub(super) fn load(&self, body: &mut Body, elements: &[ElementType], lane: Ssa) -> Vec<Elem> {
        let mut result = Vec::new();
        for (parts, element) in self.arrays.iter().zip(elements) {
            // Types were checked when the arrays were made.
            let ty = register(*element).unwrap_or(Ty::I8);
            let mut values = parts.iter().map(|array| {
                let address = body.address(*array, lane, in_memory(ty));
                let value = body.load(address, in_memory(ty));
                body.cast("arith.trunci", value, if ty == Ty::I1 { Ty::I1 } else { value.ty })
            });
            if let Some(re) = values.next() {
                let im = values.next();
                result.push(Elem { re, im });
            }
        }
        result
    }

    /// Sets the accumulators of a lane.
    pub(super) fn store(&self, body: &mut Body, lane: Ssa, values: &[Elem]) {
        for (parts, value) in self.arrays.iter().zip(values) {
            for (array, part) in parts.iter().zip(value.parts()) {
                let ty = in_memory(part.ty);
                let part = if part.ty == Ty::I1 { body.cast("arith.extui", part, ty) } else { part };
                let address = body.address(*array, lane, ty);
                body.store(part, address);
            }
        }
    }
}

/// Booleans are bytes in arrays.
fn in_memory(ty: Ty) -> Ty {
    if ty == Ty::I1 { Ty::I8 } else { ty }
}
