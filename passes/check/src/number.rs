//! Value numbering: the symbol of every value of a module.

use crate::canonical::{Canonical, Translator};
use crate::captures::Captures;
use crate::effects;
use crate::refusal::{Malformation, Place, Refusal, Side};
use crate::rules::Substitutions;
use crate::term::{OpTerm, Sym, Term, TermTable};
use ckpt_ir::{BlockId, EntityId, EntitySet, EntityVec, Module, NamedAttr, Op, OpId, OpKind, ValueId};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Attributes that the passes leave for each other and for readers; they change no value.
const BOOKKEEPING_PREFIX: &str = "ckpt.";

/// What both modules are interned into.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// Names, types, attributes.
    pub(crate) canonical: Canonical,
    /// Terms.
    pub(crate) terms: TermTable,
}

/// The code of a function.
#[derive(Clone, Copy, Debug)]
struct Code {
    sym: Sym,
    effects: bool,
}

/// The symbols of a module.
#[derive(Debug)]
pub(crate) struct Numbering<'m> {
    /// The module.
    pub(crate) module: &'m Module,
    /// The symbol of each value that the walk reached.
    pub(crate) values: EntityVec<ValueId, Option<Sym>>,
    /// The symbol of each operation that it reached, but for barriers.
    pub(crate) ops: EntityVec<OpId, Option<Sym>>,
    /// The functions by name, in the module's order.
    pub(crate) functions: Vec<(String, OpId)>,
    /// Operations with effects, those of callees and regions counted once.
    pub(crate) effects: usize,
    /// Operations reached.
    pub(crate) count: usize,
}

/// What the output is held to while it is numbered.
pub(crate) struct Reference<'a> {
    /// The input.
    pub(crate) input: &'a Numbering<'a>,
    /// Number of terms that the input has.
    pub(crate) known: usize,
    /// What the rules have rewritten.
    pub(crate) substitutions: &'a Substitutions<'a>,
}

/// A block in progress, with the operation whose region holds it.
struct Frame {
    op: OpId,
    /// The level that the operation's blocks bind.
    level: u32,
    region: usize,
    block_index: usize,
    block: BlockId,
    /// The next operation of the block.
    next: usize,
    entry: Sym,
    state: Sym,
    /// All operations of the block count, not only its terminator.
    exact: bool,
    /// A finished block changes the state.
    effects: bool,
    /// A rule has put the operation into the output, with all that is in it.
    admitted: bool,
    /// Codes of the region's finished blocks.
    blocks: SmallVec<[Sym; 1]>,
    /// Codes of the finished regions.
    regions: SmallVec<[Sym; 0]>,
}

/// Numbers a module. One pass; explicit stacks for nesting and for calls.
pub(crate) struct Numberer<'a, 'm> {
    common: &'a mut Common,
    translator: Translator<'m>,
    side: Side,
    reference: Option<Reference<'a>>,
    /// Values that an operation at this point of the walk may read.
    visible: EntitySet<ValueId>,
    visited: EntitySet<OpId>,
    captures: Captures,
    by_name: HashMap<String, OpId>,
    codes: HashMap<OpId, Code>,
    out: Numbering<'m>,
}

/// Numbers `module`: the input if there is no `reference`, else the output,
/// refusing the first operation that computes what the input does not.
/// Linear in the size of the module, up to hashing and a logarithm for captures.
pub(crate) fn number<'a, 'm>(
    common: &'a mut Common,
    module: &'m Module,
    reference: Option<Reference<'a>>,
) -> Result<Numbering<'m>, Refusal> {
    let numberer = Numberer {
        common,
        translator: Translator::new(module),
        side: if reference.is_some() { Side::Output } else { Side::Input },
        reference,
        visible: EntitySet::new(),
        visited: EntitySet::new(),
        captures: Captures::default(),
        by_name: HashMap::new(),
        codes: HashMap::new(),
        out: Numbering {
            module,
            values: EntityVec::filled(None, module.value_count()),
            ops: EntityVec::filled(None, module.op_count()),
            functions: Vec::new(),
            effects: 0,
            count: 0,
        },
    };
    numberer.run()
}

impl<'m> Numberer<'_, 'm> {
    fn run(mut self) -> Result<Numbering<'m>, Refusal> {
        let module = self.out.module;
        for function in module.functions() {
            let name = module.string_attr(function, "sym_name").unwrap_or_default().to_owned();
            if name.is_empty() || self.by_name.insert(name.clone(), function).is_some() {
                return Err(self.malformed(function, Malformation::FunctionName));
            }
            self.out.functions.push((name, function));
        }
        for function in self.callees_first() {
            self.number_root(function)?;
        }
        self.number_root(module.top())?;
        Ok(self.out)
    }

    fn malformed(&self, op: OpId, what: Malformation) -> Refusal {
        Refusal::Malformed { side: self.side, place: Place::of(self.out.module, op), what }
    }

    /// The function that an operation calls.
    fn callee(&self, op: OpId) -> Option<OpId> {
        effects::callee(self.out.module, op, &self.by_name)
    }

    /// All functions, each after those that it calls unless calls are cyclic.
    fn callees_first(&self) -> Vec<OpId> {
        let calls = |function: OpId| -> Vec<OpId> {
            self.out.module.walk(function).into_iter().filter_map(|op| self.callee(op)).collect()
        };
        let (mut order, mut seen) = (Vec::new(), EntitySet::new());
        for &(_, root) in &self.out.functions {
            if !seen.insert(root) {
                continue;
            }
            let mut stack = vec![(root, calls(root))];
            while let Some((function, pending)) = stack.last_mut() {
                let function = *function;
                match pending.pop() {
                    Some(callee) if seen.insert(callee) => stack.push((callee, calls(callee))),
                    Some(_) => {}
                    None => {
                        order.push(function);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// Numbers a function or the top-level module with all that it holds.
    fn number_root(&mut self, root: OpId) -> Result<(), Refusal> {
        if !self.visited.insert(root) {
            return Err(self.malformed(root, Malformation::Misplaced));
        }
        self.out.count += 1;
        self.captures = Captures::below(self.out.module, root);
        let mut stack = Vec::new();
        match self.enter(root, 1) {
            Ok(frame) => stack.push(frame),
            Err(regions) => self.finish_root(root, regions, true)?,
        }
        while let Some(frame) = stack.last_mut() {
            let block = self.out.module.block(frame.block);
            if let Some(&op) = block.ops.get(frame.next) {
                frame.next += 1;
                if frame.op == self.out.module.top() && self.codes.contains_key(&op) {
                    continue;
                }
                self.begin_op(op, frame)?;
                // One more than any level in what the regions read from outside.
                // A level may be bound again inside where nothing of the outer
                // one is read; since it depends on nothing else, a term does
                // not depend on how deep it is nested.
                let level = 1 + self.captures.highest_level(op);
                match self.enter(op, level) {
                    Ok(mut nested) => {
                        nested.admitted |= frame.admitted;
                        stack.push(nested);
                    }
                    Err(regions) => self.finish_op(op, regions, false, frame)?,
                }
                continue;
            }
            self.finish_block(frame);
            if self.next_block(frame) {
                continue;
            }
            let Some(done) = stack.pop() else { break };
            match stack.last_mut() {
                Some(parent) => self.finish_op(done.op, done.regions, done.effects, parent)?,
                None => self.finish_root(done.op, done.regions, done.effects)?,
            }
        }
        Ok(())
    }

    /// The frame of an operation's first block, or the codes of its regions if
    /// it has no block.
    fn enter(&mut self, op: OpId, level: u32) -> Result<Frame, SmallVec<[Sym; 0]>> {
        let exact = matches!(self.out.module.op(op).kind, OpKind::Unknown | OpKind::Module);
        let entry = self.common.terms.intern(Term::Entry { level, block: 0 });
        let mut frame = Frame {
            op,
            level,
            region: 0,
            block_index: 0,
            block: self.out.module.body(),
            next: 0,
            entry,
            state: entry,
            exact,
            effects: false,
            admitted: self.reference.as_ref().is_some_and(|r| r.substitutions.admits(op)),
            blocks: SmallVec::new(),
            regions: SmallVec::new(),
        };
        if self.open_block(&mut frame) { Ok(frame) } else { Err(frame.regions) }
    }

    /// Steps past a finished block; says whether there is another.
    fn next_block(&mut self, frame: &mut Frame) -> bool {
        frame.block_index += 1;
        self.open_block(frame)
    }

    /// Opens the block that the frame's indices name, or the first one after
    /// them, closing regions on the way.
    fn open_block(&mut self, frame: &mut Frame) -> bool {
        let module = self.out.module;
        while let Some(&region) = module.op(frame.op).regions.get(frame.region) {
            if let Some(&block) = module.region(region).blocks.get(frame.block_index) {
                let index = frame.block_index as u32;
                frame.block = block;
                frame.next = 0;
                frame.entry = self.common.terms.intern(Term::Entry { level: frame.level, block: index });
                frame.state = frame.entry;
                for (i, &argument) in module.block(block).arguments.iter().enumerate() {
                    let ty = self.translator.ty(&mut self.common.canonical, module.value_type(argument));
                    let term = Term::Argument { level: frame.level, block: index, index: i as u32, ty };
                    let sym = self.common.terms.intern(term);
                    self.define(argument, sym);
                }
                return true;
            }
            let blocks = std::mem::take(&mut frame.blocks);
            frame.regions.push(self.common.terms.intern(Term::Region(blocks)));
            frame.region += 1;
            frame.block_index = 0;
        }
        false
    }

    /// Closes a block: its values go out of sight, its code is added to the frame.
    fn finish_block(&mut self, frame: &mut Frame) {
        let module = self.out.module;
        let block = module.block(frame.block);
        let mut arguments = Vec::with_capacity(block.arguments.len());
        for &argument in &block.arguments {
            self.visible.remove(argument);
            let ty = self.translator.ty(&mut self.common.canonical, module.value_type(argument));
            arguments.push(ty);
        }
        for &op in &block.ops {
            for &result in &module.op(op).results {
                self.visible.remove(result);
            }
        }
        let terminator = module.terminator(frame.block);
        let ops = match terminator {
            Some(op) if !frame.exact => self.out.ops[op].into_iter().collect(),
            _ => block.ops.iter().filter_map(|op| self.out.ops[*op]).collect(),
        };
        let term = Term::Block { level: frame.level, arguments, ops, state: frame.state };
        frame.blocks.push(self.common.terms.intern(term));
        frame.effects |= frame.state != frame.entry;
    }

    /// Checks an operation's place and operands.
    fn begin_op(&mut self, op: OpId, frame: &Frame) -> Result<(), Refusal> {
        let module = self.out.module;
        let data = module.op(op);
        if !self.visited.insert(op) || data.parent != Some(frame.block) {
            return Err(self.malformed(op, Malformation::Misplaced));
        }
        self.out.count += 1;
        let last = module.block(frame.block).ops.len() == frame.next;
        if data.kind.is_terminator() && !last {
            let after = module.block(frame.block).ops[frame.next];
            return Err(self.malformed(after, Malformation::AfterTerminator));
        }
        for (operand, &value) in data.operands.iter().enumerate() {
            if !self.visible.contains(value) {
                return Err(self.malformed(op, Malformation::Undefined { operand, value }));
            }
        }
        Ok(())
    }

    /// The transfer function: the symbols of an operation's results, and the
    /// state after it.
    fn finish_op(
        &mut self,
        op: OpId,
        regions: SmallVec<[Sym; 0]>,
        region_effects: bool,
        frame: &mut Frame,
    ) -> Result<(), Refusal> {
        if self.out.module.op(op).kind == OpKind::OptimizationBarrier {
            return self.pass_through(op);
        }
        let callee = self.callee(op).and_then(|callee| self.codes.get(&callee)).copied();
        let effects = region_effects || effects::own(self.out.module, op, callee.map(|code| code.effects));
        let mut term = self.op_term(op);
        term.regions = regions;
        term.callee = callee.map(|code| code.sym);
        term.state = effects.then_some(frame.state);
        let sym = self.common.terms.intern(Term::Op(term));
        self.out.ops[op] = Some(sym);
        if effects || !frame.admitted {
            self.admit(op, sym, effects)?;
        }
        if effects {
            self.out.effects += 1;
            frame.state = self.common.terms.intern(Term::After { op: sym });
        }
        let results = &self.out.module.op(op).results;
        for (index, &result) in results.iter().enumerate() {
            let value = self.common.terms.intern(Term::Result { op: sym, index: index as u32 });
            let value = self.substituted(op, result, value)?;
            self.define(result, value);
        }
        Ok(())
    }

    /// Gives a value its symbol, and makes it visible.
    fn define(&mut self, value: ValueId, sym: Sym) {
        self.out.values[value] = Some(sym);
        self.visible.insert(value);
        self.captures.set_level(value, self.common.terms.free_level(sym));
    }

    /// A barrier's results are its operands.
    fn pass_through(&mut self, op: OpId) -> Result<(), Refusal> {
        let module = self.out.module;
        let data = module.op(op);
        let types = |values: &[ValueId]| -> SmallVec<[_; 4]> {
            values.iter().map(|value| module.value_type(*value)).collect()
        };
        let regular = data.regions.is_empty() && types(&data.operands) == types(&data.results);
        if !regular {
            return Err(self.malformed(op, Malformation::Barrier));
        }
        for (&operand, &result) in data.operands.iter().zip(&data.results) {
            if let Some(value) = self.out.values[operand] {
                self.define(result, value);
            }
        }
        Ok(())
    }

    /// Refuses an operation of the output that the input does not have.
    fn admit(&self, op: OpId, sym: Sym, effects: bool) -> Result<(), Refusal> {
        let Some(reference) = &self.reference else { return Ok(()) };
        let known = sym.index() < reference.known;
        if known || (!effects && reference.substitutions.admits(op)) {
            return Ok(());
        }
        Err(crate::explain::unknown_op(self.common, reference.input, &self.out, op, sym))
    }

    /// The value that a result stands for: its own term, or what a rule has
    /// proven it equal to.
    fn substituted(&self, op: OpId, result: ValueId, value: Sym) -> Result<Sym, Refusal> {
        let Some(reference) = &self.reference else { return Ok(value) };
        let justification = reference.substitutions.of(result);
        let Some(justification) = justification else { return Ok(value) };
        let target = reference.input.values[justification.input];
        let proven = target.ok_or("the input's value is not reached").and_then(|target| {
            crate::rules::verify(self.common, justification, value, target).map(|()| target)
        });
        proven.map_err(|reason| Refusal::Justification {
            output: Place::of(self.out.module, op),
            rule: justification.rule.clone(),
            reason,
        })
    }

    /// A function or the module as a term of its own, without state.
    fn finish_root(&mut self, root: OpId, regions: SmallVec<[Sym; 0]>, effects: bool) -> Result<(), Refusal> {
        let mut term = self.op_term(root);
        term.regions = regions;
        let sym = self.common.terms.intern(Term::Op(term));
        self.out.ops[root] = Some(sym);
        self.codes.insert(root, Code { sym, effects });
        Ok(())
    }

    /// Everything of an operation's term that is its own.
    fn op_term(&mut self, op: OpId) -> OpTerm {
        let module = self.out.module;
        let data: &Op = module.op(op);
        let canonical = &mut self.common.canonical;
        let results = data.results.iter();
        let results = results.map(|r| self.translator.ty(canonical, module.value_type(*r))).collect();
        let mut named = |list: &[NamedAttr]| -> SmallVec<[NamedAttr; 2]> {
            let relevant =
                list.iter().filter(|(name, _)| !module.names.get(*name).starts_with(BOOKKEEPING_PREFIX));
            let common = relevant.map(|(name, attr)| {
                (self.translator.name(canonical, *name), self.translator.attr(canonical, *attr))
            });
            common.collect()
        };
        let properties = named(&data.properties);
        let attributes = named(&data.attributes).into_iter().collect();
        let name = self.translator.name(canonical, data.name);
        let operands = data.operands.iter().filter_map(|v| self.out.values[*v]).collect();
        OpTerm {
            name,
            properties,
            attributes,
            operands,
            results,
            regions: SmallVec::new(),
            callee: None,
            state: None,
        }
    }
}
