//! Loops and reductions.

use crate::text::cursor::Read;
use crate::text::form::is_commutative;
use crate::text::operations::{Parts, Reader, ValueUse};
use crate::{Diagnostic, OpId, OpKind, TypeId};

impl<'t> Reader<'t> {
    /// `(%iterArg = %c, …) : types attributes {…} cond {…} do {…}`.
    pub(super) fn while_loop(&mut self) -> Read<OpId> {
        let mut names: Vec<(&'t str, usize)> = Vec::new();
        let mut uses: Vec<ValueUse<'t>> = Vec::new();
        self.cursor.expect("(")?;
        if !self.cursor.eat(")") {
            self.list(")", |reader| {
                let offset = reader.cursor.here();
                let name = reader
                    .cursor
                    .sigil_name(b'%')
                    .ok_or_else(|| reader.cursor.expected("a loop argument"))?;
                reader.cursor.expect("=")?;
                uses.push(reader.value_use()?);
                names.push((name, offset));
                Ok(())
            })?;
        }
        let mut types: Vec<TypeId> = Vec::new();
        let at = self.cursor.here();
        if self.cursor.eat(":") {
            loop {
                types.push(self.ty()?);
                if !self.cursor.eat(",") {
                    break;
                }
            }
        }
        let operands = self.resolve_typed(&uses, &types, at)?;
        let mut parts = Parts { operands, results: types.clone(), ..Parts::default() };
        if self.cursor.eat_word("attributes") {
            parts.attributes = self.dictionary()?;
        }
        let arguments: Vec<_> = names.iter().zip(&types).map(|((name, at), ty)| (*name, *ty, *at)).collect();
        self.cursor.expect_word("cond")?;
        parts.regions.push(self.region(&arguments, false)?);
        self.cursor.expect_word("do")?;
        parts.regions.push(self.region(&arguments, false)?);
        self.create(OpKind::While, OpKind::While.name(), parts)
    }

    /// `(%a init: %i), (%b init: %j)`, then either
    /// `applies stablehlo.add across dimensions = [..] : types` or
    /// `across dimensions = [..] : types reducer(%x: t, %y: t) (…) {…}`.
    pub(super) fn reduce(&mut self) -> Read<OpId> {
        let (mut inputs, mut inits) = (Vec::new(), Vec::new());
        loop {
            self.cursor.expect("(")?;
            inputs.push(self.value_use()?);
            self.cursor.expect_word("init")?;
            self.cursor.expect(":")?;
            inits.push(self.value_use()?);
            self.cursor.expect(")")?;
            if !self.cursor.eat(",") {
                break;
            }
        }
        let count = inputs.len();
        let uses: Vec<ValueUse<'t>> = inputs.into_iter().chain(inits).collect();
        let applied_at = self.cursor.here();
        let applied = if self.cursor.eat_word("applies") {
            let name = self.cursor.identifier().ok_or_else(|| self.cursor.expected("an operation"))?;
            Some(OpKind::from_name(name))
        } else {
            None
        };
        self.cursor.expect_word("across")?;
        self.cursor.expect_word("dimensions")?;
        self.cursor.expect("=")?;
        let mut parts = Parts::default();
        let dimensions = self.integers()?;
        let dimensions = self.int_array(dimensions);
        self.property(&mut parts, "dimensions", dimensions);
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        let region = match applied {
            Some(kind) => self.applied_region(kind, &parts, count, applied_at)?,
            None => self.reducer_region()?,
        };
        parts.regions.push(region);
        self.create(OpKind::Reduce, OpKind::Reduce.name(), parts)
    }

    /// The region of `applies op`: the operation on the two arguments.
    fn applied_region(
        &mut self,
        kind: OpKind,
        parts: &Parts,
        count: usize,
        at: usize,
    ) -> Read<crate::RegionId> {
        if count != 1 || parts.operands.len() != 2 || !is_commutative(kind) {
            return Err(Diagnostic::invalid(at, "'applies' takes a commutative operation, on one input"));
        }
        let ty = self.module.value_type(parts.operands[1]);
        let region = self.module.create_detached_region();
        let block = self.module.create_block(region);
        let arguments = [self.module.add_argument(block, ty), self.module.add_argument(block, ty)];
        let inner = Parts { operands: arguments.to_vec(), results: vec![ty], ..Parts::default() };
        let op = self.create(kind, kind.name(), inner)?;
        self.module.append(block, op);
        let results = self.module.op(op).results.to_vec();
        let yielded = Parts { operands: results, ..Parts::default() };
        let end = self.create(OpKind::Return, OpKind::Return.name(), yielded)?;
        self.module.append(block, end);
        Ok(region)
    }

    /// `reducer(%x: t, %y: t) (%u: t, %v: t) {…}`: pairs by input; the block
    /// takes the first of each pair, then the second.
    fn reducer_region(&mut self) -> Read<crate::RegionId> {
        self.cursor.expect_word("reducer")?;
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        while self.cursor.eat("(") {
            let first = self.typed_argument()?;
            self.cursor.expect(",")?;
            let second = self.typed_argument()?;
            self.cursor.expect(")")?;
            firsts.push(first);
            seconds.push(second);
        }
        firsts.extend(seconds);
        self.region(&firsts, false)
    }

    pub(super) fn typed_argument(&mut self) -> Read<(&'t str, TypeId, usize)> {
        let offset = self.cursor.here();
        let name = self.cursor.sigil_name(b'%').ok_or_else(|| self.cursor.expected("an argument"))?;
        self.cursor.expect(":")?;
        let ty = self.ty()?;
        self.optional_location()?;
        Ok((name, ty, offset))
    }
}
