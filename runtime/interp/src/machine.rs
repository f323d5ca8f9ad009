//! The machine: a table of values and an explicit stack of running blocks.
//!
//! Calls, conditionals and loops push a block and go on; only the bodies of
//! reductions and the like, which run inside one operation's evaluation, nest
//! in the evaluator itself. A machine can stop at a collective and go on when
//! its partners have arrived: it is a process of the simulated grid.

use crate::control::{self, Entered};
use crate::dispatch;
use crate::error::{Fault, Outcome, invalid};
use crate::limits::Limits;
use crate::liveness::LastUses;
use crate::parallel::{Post, Process};
use crate::site::Site;
use crate::tensor::{Tensor, Value};
use ckpt_ir::{BlockId, EntityVec, Module, OpId, OpKind, ValueId};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Results of an operation, or operands.
pub(crate) type Values = SmallVec<[Value; 2]>;

/// Blocks that may run inside one another: calls, branches and loops.
pub const MAX_RUNNING_BLOCKS: usize = 10_000;

/// Evaluations that may run inside one another: bodies of reductions, sorts
/// and scatters within bodies. The bound keeps the evaluator's own stack small.
pub const MAX_NESTED_BODIES: usize = 64;

/// What happens when a block returns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resume {
    /// Its values are what was asked for.
    Answer,
    /// Its values are the results of an operation.
    Results(OpId),
    /// Its value says whether a loop goes on.
    Condition(OpId),
    /// Its values are the loop's next arguments.
    Iteration(OpId),
}

/// A running block.
#[derive(Debug)]
struct Frame {
    block: BlockId,
    next: usize,
    resume: Resume,
}

/// How a run ended.
pub(crate) enum Pause {
    /// With these values.
    Done(Values),
    /// At an operation that waits for other processes.
    Waiting(Post),
}

/// An evaluation in progress.
pub(crate) struct Machine<'m> {
    /// The program.
    pub(crate) module: &'m Module,
    /// Who this is among the processes.
    pub(crate) process: Process,
    /// How many numbers `rng` has drawn.
    pub(crate) drawn: u64,
    /// What `interpreter.probe` has seen, by its name.
    pub(crate) probes: BTreeMap<String, Vec<Tensor>>,
    /// What is left of what it may do.
    pub(crate) limits: Limits,
    last_uses: &'m LastUses,
    values: EntityVec<ValueId, Option<Value>>,
    frames: Vec<Frame>,
    nested: usize,
    /// Arguments of the loops that are testing their condition, innermost last.
    loop_arguments: Vec<Values>,
    /// The innermost operation at which the evaluation failed.
    failed_at: Option<OpId>,
}

impl<'m> Machine<'m> {
    /// A machine with nothing to do yet.
    pub(crate) fn new(module: &'m Module, last_uses: &'m LastUses, process: Process, limits: Limits) -> Self {
        Self {
            module,
            process,
            drawn: 0,
            probes: BTreeMap::new(),
            limits,
            last_uses,
            values: EntityVec::filled(None, module.value_count()),
            frames: Vec::new(),
            nested: 0,
            loop_arguments: Vec::new(),
            failed_at: None,
        }
    }

    /// The operation at which the evaluation failed.
    pub(crate) fn failed_at(&self) -> Option<OpId> {
        self.failed_at
    }

    /// Says at which operation the evaluation failed, unless that is known.
    pub(crate) fn blame(&mut self, op: Option<OpId>) {
        self.failed_at = self.failed_at.or(op);
    }

    /// The side table that further machines of the same module share.
    pub(crate) fn last_uses(&self) -> &'m LastUses {
        self.last_uses
    }

    /// Starts a block.
    pub(crate) fn enter(&mut self, block: BlockId, arguments: Values, resume: Resume) -> Outcome<()> {
        if self.frames.len() >= MAX_RUNNING_BLOCKS {
            return Err(Fault::LimitExceeded("calls, branches and loops inside one another"));
        }
        let parameters = &self.module.block(block).arguments;
        if parameters.len() != arguments.len() {
            return invalid("a block or function is given another number of arguments than it has");
        }
        for (parameter, argument) in parameters.iter().zip(arguments) {
            self.values[*parameter] = Some(argument);
        }
        self.frames.push(Frame { block, next: 0, resume });
        Ok(())
    }

    /// Runs a block inside the evaluation of an operation.
    pub(crate) fn invoke(&mut self, block: BlockId, arguments: Values) -> Outcome<Values> {
        if self.nested >= MAX_NESTED_BODIES {
            return Err(Fault::LimitExceeded("bodies of operations inside one another"));
        }
        self.nested += 1;
        self.enter(block, arguments, Resume::Answer)?;
        let paused = self.run();
        self.nested -= 1;
        match paused? {
            Pause::Done(values) => Ok(values),
            Pause::Waiting(post) => {
                self.failed_at = Some(post.op);
                Err(Fault::Unsupported("communication inside the body of an operation"))
            }
        }
    }

    /// Goes on after a wait with the results of the operation that waited.
    pub(crate) fn resume(&mut self, op: OpId, results: Values) -> Outcome<Pause> {
        self.bind(op, results)?;
        self.run()
    }

    /// Runs until the innermost block whose values were asked for returns.
    pub(crate) fn run(&mut self) -> Outcome<Pause> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return invalid("a block returns to nowhere");
            };
            let Some(&op) = self.module.block(frame.block).ops.get(frame.next) else {
                return invalid("a block ends without a terminator");
            };
            frame.next += 1;
            match self.step(op) {
                Ok(None) => {}
                Ok(Some(pause)) => return Ok(pause),
                Err(fault) => {
                    self.failed_at.get_or_insert(op);
                    return Err(fault);
                }
            }
        }
    }

    fn step(&mut self, op: OpId) -> Outcome<Option<Pause>> {
        let site = Site { module: self.module, op };
        self.limits.spend(site)?;
        let operands = self.take_operands(op)?;
        match site.kind() {
            OpKind::Return | OpKind::FuncReturn => return self.leave(operands),
            OpKind::While => {
                self.start_condition(op, operands)?;
                return Ok(None);
            }
            kind if Post::waits(kind) => {
                return Ok(Some(Pause::Waiting(Post { op, operands })));
            }
            _ => {}
        }
        match control::enter(site, &operands)? {
            Entered::Block(block, arguments) => self.enter(block, arguments, Resume::Results(op))?,
            Entered::No => {
                let results = dispatch::evaluate(self, site, operands)?;
                self.bind(op, results)?;
            }
        }
        Ok(None)
    }

    /// Ends the innermost block.
    fn leave(&mut self, values: Values) -> Outcome<Option<Pause>> {
        let Some(frame) = self.frames.pop() else { return invalid("a block returns to nowhere") };
        match frame.resume {
            Resume::Answer => return Ok(Some(Pause::Done(values))),
            Resume::Results(op) => self.bind(op, values)?,
            Resume::Iteration(op) => self.start_condition(op, values)?,
            Resume::Condition(op) => {
                let goes_on = match values.first() {
                    Some(value) => value.tensor()?.to_bool()?,
                    None => return invalid("the condition of a loop returns nothing"),
                };
                let arguments = self.loop_arguments.pop().unwrap_or_default();
                if goes_on {
                    let body = Site { module: self.module, op }.block(1)?;
                    self.enter(body, arguments, Resume::Iteration(op))?;
                } else {
                    self.bind(op, arguments)?;
                }
            }
        }
        Ok(None)
    }

    fn start_condition(&mut self, op: OpId, arguments: Values) -> Outcome<()> {
        self.loop_arguments.push(arguments.clone());
        let condition = Site { module: self.module, op }.block(0)?;
        self.enter(condition, arguments, Resume::Condition(op))
    }

    /// The operands of an operation; those that nobody needs any more are
    /// moved out, so that what holds them alone may change them in place.
    fn take_operands(&mut self, op: OpId) -> Outcome<Values> {
        let operands = &self.module.op(op).operands;
        let mut taken = Values::new();
        for value in operands {
            match &self.values[*value] {
                Some(value) => taken.push(value.clone()),
                None => return invalid("an operand is used before it is defined"),
            }
        }
        // Operations with regions may still read captured values below.
        if self.module.op(op).regions.is_empty() {
            for value in self.last_uses.after(op) {
                self.values[*value] = None;
            }
        }
        Ok(taken)
    }

    /// Gives an operation its results, and frees what it used last.
    fn bind(&mut self, op: OpId, results: Values) -> Outcome<()> {
        let ids = &self.module.op(op).results;
        if ids.len() != results.len() {
            return invalid("an operation yields another number of results than it has");
        }
        for (id, value) in ids.iter().zip(results) {
            self.values[*id] = Some(value);
        }
        for value in self.last_uses.after(op) {
            self.values[*value] = None;
        }
        Ok(())
    }
}
