//! Adding the nodes of a rule's right-hand side.

use crate::egraph::language::{Facts, Signature, TensorGraph, TensorNode};
use ckpt_ir::{Attr, AttrId, ElementType, OpKind, TypeId};
use egg::Id;
use smallvec::smallvec;

/// Adds nodes to the e-graph.
pub(super) struct Maker<'g> {
    pub(super) graph: &'g mut TensorGraph,
}

impl Maker<'_> {
    pub(super) fn facts(&mut self) -> &mut Facts {
        &mut self.graph.analysis
    }

    pub(super) fn op(
        &mut self,
        kind: OpKind,
        properties: &[(&str, AttrId)],
        ty: TypeId,
        operands: &[Id],
    ) -> Id {
        let signature = self.facts().op(kind, properties, ty);
        self.graph.add(TensorNode { signature, operands: operands.into() })
    }

    /// A tensor of the type, computed element by element from tensors of its shape.
    pub(super) fn elementwise(
        &mut self,
        kind: OpKind,
        shape: &[u64],
        element: ElementType,
        operands: &[Id],
    ) -> Id {
        let ty = self.facts().intern_tensor(shape, element);
        self.op(kind, &[], ty, operands)
    }

    pub(super) fn iota(&mut self, shape: &[u64], element: ElementType, axis: usize) -> Id {
        let ty = self.facts().intern_tensor(shape, element);
        let int = self.facts().types.intern(ckpt_ir::Type::Scalar(ElementType::Int(64)));
        let dimension = self.facts().intern_attr(Attr::Int { value: axis as i128, ty: int });
        self.op(OpKind::Iota, &[("iota_dimension", dimension)], ty, &[])
    }

    pub(super) fn broadcast(&mut self, value: Id, dims: &[i64], shape: &[u64], element: ElementType) -> Id {
        let ty = self.facts().intern_tensor(shape, element);
        let dims = self.facts().int_array(dims);
        self.op(OpKind::BroadcastInDim, &[("broadcast_dimensions", dims)], ty, &[value])
    }

    pub(super) fn equal(&mut self, a: Id, b: Id, shape: &[u64], element: ElementType) -> Id {
        let facts = self.facts();
        let ty = facts.intern_tensor(shape, ElementType::Bool);
        let unsigned = matches!(element, ElementType::Uint(_));
        let enumerated = |facts: &mut Facts, kind: &str, value: &str| {
            let attr = Attr::Enum(facts.names.intern(kind), facts.names.intern(value));
            facts.intern_attr(attr)
        };
        let direction = enumerated(facts, "comparison_direction", "EQ");
        let how = enumerated(facts, "comparison_type", if unsigned { "UNSIGNED" } else { "SIGNED" });
        self.op(OpKind::Compare, &[("comparison_direction", direction), ("compare_type", how)], ty, &[a, b])
    }

    /// A scalar of the bytes.
    pub(super) fn scalar(&mut self, element: ElementType, bytes: &[u8]) -> Id {
        let ty = self.facts().intern_tensor(&[], element);
        let dense = ckpt_ir::DenseElements { ty, bytes: bytes.into(), splat: true };
        let value = self.facts().intern_attr(Attr::Dense(dense));
        self.op(OpKind::Constant, &[("value", value)], ty, &[])
    }

    pub(super) fn zero(&mut self, element: ElementType) -> Id {
        self.scalar(element, &vec![0u8; element.byte_width() as usize])
    }

    pub(super) fn fill(&mut self, scalar: Id, shape: &[u64], element: ElementType) -> Id {
        self.broadcast(scalar, &[], shape, element)
    }

    /// A reduction of `value` over `dims` by a binary operation, from a scalar.
    pub(super) fn fold(&mut self, body: OpKind, value: Id, initial: Id, dims: &[i64], ty: TypeId) -> Id {
        let dimensions = self.facts().int_array(dims);
        let name = self.facts().names.intern("dimensions");
        let signature = Signature::Fold { body, properties: smallvec![(name, dimensions)], ty };
        let signature = self.facts().intern(signature);
        self.graph.add(TensorNode { signature, operands: smallvec![value, initial] })
    }
}
