//! The value of any element of a fused operation, from the buffers that a
//! kernel reads.
//!
//! An element is a pair of a value of the program and an index. To compute one,
//! its operation says which elements of its operands it needs; those that are
//! missing go on a stack, and the operation is asked again when they are there.
//! Each pair is computed once per loop level.

use super::attrs::shape_of;
use super::element::{Elem, memory, pack, part_count, part_position, scaled, unpack};
use super::{Body, Emitted, NoPath, Ssa, Ty, convert, scalar};
use crate::index::{Affine, Atom, AtomId, Indices, Range, strides};
use ckpt_ir::{Attr, DenseElements, ElementType, Module, OpId, OpKind, ValueDef, ValueId};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Elements that one loop body computes at most. Chains of shifted sums need
/// exponentially many; the largest kernel of the project's corpus needs about 600.
pub(crate) const MAX_ELEMENTS: usize = 4096;

/// Literal data of a module's kernels: each distinct string of bytes once.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    ids: HashMap<Vec<u8>, usize>,
}

impl Literals {
    /// The symbol of some bytes.
    fn symbol(&mut self, bytes: &[u8]) -> String {
        let next = self.ids.len();
        let id = *self.ids.entry(bytes.to_vec()).or_insert(next);
        format!("@literal_{id}")
    }

    /// The definitions, in order of their symbols.
    pub(crate) fn definitions(&self) -> String {
        let mut entries: Vec<_> = self.ids.iter().collect();
        entries.sort_by_key(|(_, id)| **id);
        let define = |(bytes, id): (&Vec<u8>, &usize)| {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            let count = bytes.len();
            format!(
                "llvm.mlir.global internal constant @literal_{id}(dense<\"0x{digits}\"> : tensor<{count}xi8>) \
                 {{addr_space = 0 : i32, alignment = 64 : i64}} : !llvm.array<{count} x i8>\n"
            )
        };
        entries.into_iter().map(define).collect()
    }
}

/// What emits a kernel's elements.
pub(crate) struct Cone<'a> {
    pub(crate) module: &'a Module,
    pub(crate) body: Body,
    pub(crate) indices: Indices,
    /// Operations that the kernel computes.
    ops: &'a HashSet<OpId>,
    /// Buffers that it reads.
    pointers: HashMap<ValueId, Ssa>,
    literals: &'a mut Literals,
    atoms: HashMap<Ssa, Affine>,
    known: HashMap<(ValueId, Vec<Affine>), Elem>,
    wanted: Vec<(ValueId, Vec<Affine>)>,
    /// Positions read from buffers, with the bytes of an element.
    pub(super) accesses: Vec<(Affine, i64)>,
    /// Indices that were clamped to `0..=last`, with `last`.
    pub(super) edges: Vec<(Affine, i64)>,
}

impl<'a> Cone<'a> {
    /// A cone that computes `ops` from buffers.
    pub(crate) fn new(
        module: &'a Module,
        ops: &'a HashSet<OpId>,
        body: Body,
        pointers: HashMap<ValueId, Ssa>,
        literals: &'a mut Literals,
    ) -> Self {
        Self {
            module,
            body,
            indices: Indices::default(),
            ops,
            pointers,
            literals,
            atoms: HashMap::new(),
            known: HashMap::new(),
            wanted: Vec::new(),
            accesses: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// The element type of a value.
    pub(crate) fn element_type(&self, value: ValueId) -> Emitted<ElementType> {
        scalar::element_of(self.module, value).ok_or(NoPath::Shape)
    }

    /// The shape of a value.
    pub(crate) fn shape(&self, value: ValueId) -> Emitted<Vec<i64>> {
        shape_of(self.module, value).ok_or(NoPath::Shape)
    }

    /// An index that is known when the kernel runs, with its range.
    pub(crate) fn variable(&mut self, value: Ssa, range: Range) -> Affine {
        if let Some(known) = self.atoms.get(&value) {
            return known.clone();
        }
        let variable = self.indices.variable(value, range);
        self.atoms.insert(value, variable.clone());
        variable
    }

    /// Opens a loop whose variable has a range.
    pub(crate) fn open_loop(&mut self, from: Ssa, to: Ssa, step: i64, range: Range) -> Affine {
        let variable = self.body.open_loop(from, to, step);
        self.variable(variable, range)
    }

    /// Closes the innermost loop and forgets what it computed.
    pub(crate) fn close_loop(&mut self) {
        self.body.close_loop();
        let level = self.body.level();
        self.known.retain(|_, elem| elem.level() <= level);
    }

    /// The element of `value` at `index`.
    ///
    /// # Errors
    /// What has no fast path.
    pub(crate) fn element(&mut self, value: ValueId, index: &[Affine]) -> Emitted<Elem> {
        let mut stack = vec![(value, index.to_vec())];
        while let Some(top) = stack.pop() {
            if self.known.contains_key(&top) {
                continue;
            }
            if self.known.len() + stack.len() > MAX_ELEMENTS {
                return Err(NoPath::TooLarge);
            }
            self.wanted.clear();
            if let Some(elem) = self.step(top.0, &top.1)? {
                self.known.insert(top, elem);
            } else {
                stack.push(top);
                stack.append(&mut self.wanted);
            }
        }
        self.known.get(&(value, index.to_vec())).copied().ok_or(NoPath::TooLarge)
    }

    /// An element if it has been computed; asks for it otherwise.
    pub(super) fn want(&mut self, value: ValueId, index: Vec<Affine>) -> Option<Elem> {
        let key = (value, index);
        let elem = self.known.get(&key).copied();
        if elem.is_none() {
            self.wanted.push(key);
        }
        elem
    }

    /// Computes an element from elements that are known; none if some are missing.
    fn step(&mut self, value: ValueId, index: &[Affine]) -> Emitted<Option<Elem>> {
        if let Some(pointer) = self.pointers.get(&value).copied() {
            return self.load(value, pointer, index).map(Some);
        }
        let ValueDef::Result { op, index: result } = self.module.value_def(value) else {
            return Err(NoPath::Shape);
        };
        let data = self.module.op(op);
        match data.kind {
            OpKind::OptimizationBarrier => Ok(self.want(data.operands[result as usize], index.to_vec())),
            OpKind::Constant | OpKind::ChloConstant => self.constant(op, index).map(Some),
            kind if !self.ops.contains(&op) => Err(NoPath::Operation(kind)),
            OpKind::Iota => self.iota(op, index).map(Some),
            _ if super::movement::moves(data.kind) => self.movement(op, index),
            _ => self.elementwise(op, index),
        }
    }

    fn elementwise(&mut self, op: OpId, index: &[Affine]) -> Emitted<Option<Elem>> {
        let data = self.module.op(op);
        if !scalar::is_elementwise(data.kind) {
            return Err(NoPath::Operation(data.kind));
        }
        let mut operands = Vec::with_capacity(data.operands.len());
        for &operand in &data.operands {
            // Predicates and bounds may be scalars.
            let rank = self.module.tensor_type(operand).map_or(0, ckpt_ir::TensorType::rank);
            let at = if rank == index.len() { index.to_vec() } else { Vec::new() };
            if rank != at.len() {
                return Err(NoPath::Form(data.kind));
            }
            operands.push(self.want(operand, at));
        }
        let Some(operands) = operands.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let result = scalar::elementwise(&mut self.body, self.module, op, &operands);
        result.map(Some).ok_or(NoPath::Type(data.kind))
    }

    fn iota(&mut self, op: OpId, index: &[Affine]) -> Emitted<Elem> {
        let form = NoPath::Form(OpKind::Iota);
        let element = self.element_type(self.module.op(op).results[0])?;
        let dimension = super::attrs::int(self.module, op, "iota_dimension").ok_or(form)?;
        let dimension = usize::try_from(dimension).map_err(|_| form)?;
        let at = self.position(index.get(dimension).ok_or(form)?);
        convert::convert(&mut self.body, ElementType::Int(64), element, Elem::real(at))
            .ok_or(NoPath::Type(OpKind::Iota))
    }

    /// An element of a constant.
    pub(super) fn constant(&mut self, op: OpId, index: &[Affine]) -> Emitted<Elem> {
        let value = self.module.op(op).results[0];
        let element = self.element_type(value)?;
        let Some(Attr::Dense(dense)) = self.module.attr(op, "value") else {
            return Err(NoPath::Form(OpKind::Constant));
        };
        let DenseElements { bytes, splat, .. } = dense.clone();
        let ty = memory(element).ok_or(NoPath::Type(OpKind::Constant))?;
        if splat || bytes.len() as u64 == element.byte_width() {
            let width = ty.bits() as usize / 8;
            let mut parts = Vec::new();
            for part in bytes.chunks(width) {
                let mut bits = [0; 8];
                bits[..part.len()].copy_from_slice(part);
                parts.push(self.literal(element, ty, u64::from_le_bytes(bits)));
            }
            let re = *parts.first().ok_or(NoPath::Shape)?;
            return Ok(Elem { re, im: parts.get(1).copied() });
        }
        let text = format!("llvm.mlir.addressof {} : !llvm.ptr", self.literals.symbol(&bytes));
        let pointer = self.body.pure(Ty::Ptr, &[], text);
        self.load(value, pointer, index)
    }

    /// A part of a constant from its bits in memory.
    fn literal(&mut self, element: ElementType, ty: Ty, bits: u64) -> Ssa {
        match element {
            ElementType::Bool => self.body.int(Ty::I1, i64::from(bits != 0)),
            ElementType::Bf16 => self.body.float_bits(Ty::F32, bits << 16),
            ElementType::F16 => {
                let half = self.body.float_bits(Ty::F16, bits);
                self.body.cast("arith.extf", half, Ty::F32)
            }
            _ if matches!(ty, Ty::F32 | Ty::F64) => self.body.float_bits(ty, bits),
            _ => self.body.int(ty, bits as i64),
        }
    }

    /// Reads an element of a buffer that the kernel does not write.
    fn load(&mut self, value: ValueId, pointer: Ssa, index: &[Affine]) -> Emitted<Elem> {
        let element = self.element_type(value)?;
        let ty = memory(element).ok_or(NoPath::Type(OpKind::Constant))?;
        let position = Affine::flatten(index, &strides(&self.shape(value)?));
        let mut parts = Vec::new();
        for part in 0..part_count(element) {
            let offset = self.position(&part_position(element, &position, part));
            let address = self.body.address(pointer, offset, ty);
            let raw = self.body.load_constant(address, ty);
            parts.push(unpack(&mut self.body, element, raw));
        }
        self.accesses.push((position, element.byte_width() as i64));
        Ok(Elem { re: parts[0], im: parts.get(1).copied() })
    }

    /// Reads an element that the kernel has written, here and now.
    pub(super) fn read_back(
        &mut self,
        element: ElementType,
        pointer: Ssa,
        position: &Affine,
    ) -> Emitted<Elem> {
        let ty = memory(element).ok_or(NoPath::Shape)?;
        let mut parts = Vec::new();
        for part in 0..part_count(element) {
            let offset = self.position(&part_position(element, position, part));
            let address = self.body.address(pointer, offset, ty);
            let raw = self.body.load(address, ty);
            parts.push(unpack(&mut self.body, element, raw));
        }
        Ok(Elem { re: parts[0], im: parts.get(1).copied() })
    }

    /// Writes an element to a position of a buffer.
    pub(crate) fn store(&mut self, element: ElementType, pointer: Ssa, position: &Affine, value: Elem) {
        for (part, value) in (0..).zip(value.parts()) {
            let offset = self.position(&part_position(element, position, part));
            let raw = pack(&mut self.body, element, value);
            let address = self.body.address(pointer, offset, raw.ty);
            self.body.store(raw, address);
        }
    }

    /// An index as a value. Terms of outer loops are added first, so that
    /// partial sums leave the inner ones.
    pub(crate) fn position(&mut self, affine: &Affine) -> Ssa {
        // A quotient's dividend has only atoms that are older than it.
        let mut needed: BTreeSet<AtomId> = BTreeSet::new();
        let mut stack: Vec<AtomId> = affine.terms.iter().map(|(atom, _)| *atom).collect();
        while let Some(atom) = stack.pop() {
            if needed.insert(atom)
                && let Atom::Quotient(dividend, _) = self.indices.atom(atom)
            {
                stack.extend(dividend.terms.iter().map(|(atom, _)| *atom));
            }
        }
        let mut values = HashMap::new();
        for atom in needed {
            let value = match self.indices.atom(atom).clone() {
                Atom::Value(value) => value,
                Atom::Quotient(dividend, divisor) => self.quotient(&dividend, divisor, &values),
            };
            values.insert(atom, value);
        }
        self.sum(affine, &values)
    }

    /// ⌊dividend ÷ divisor⌋, by an unsigned division of what is never negative.
    fn quotient(&mut self, dividend: &Affine, divisor: i64, values: &HashMap<AtomId, Ssa>) -> Ssa {
        let (low, _) = self.indices.range(dividend);
        let lift = if low < 0 { -low.div_euclid(divisor) } else { 0 };
        let lifted = self.sum(&dividend.offset(lift * divisor), values);
        let by = self.body.int(Ty::I64, divisor);
        let quotient = self.body.binary("arith.divui", lifted, by);
        if lift == 0 {
            return quotient;
        }
        let lift = self.body.int(Ty::I64, lift);
        self.body.binary("arith.subi", quotient, lift)
    }

    fn sum(&mut self, affine: &Affine, values: &HashMap<AtomId, Ssa>) -> Ssa {
        let mut terms: Vec<(Ssa, i64)> =
            affine.terms.iter().filter_map(|(atom, factor)| Some((*values.get(atom)?, *factor))).collect();
        terms.sort_by_key(|(value, _)| (value.level, value.id));
        let mut sum = None;
        if affine.constant != 0 || terms.is_empty() {
            sum = Some(self.body.int(Ty::I64, affine.constant));
        }
        for (value, factor) in terms {
            let term = scaled(&mut self.body, value, factor);
            sum = Some(sum.map_or(term, |sum| self.body.binary("arith.addi", sum, term)));
        }
        sum.unwrap_or_else(|| self.body.int(Ty::I64, 0))
    }
}
