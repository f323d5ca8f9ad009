//! A program with its memory: what embedders use.

use crate::arena::{Arena, Counter};
use crate::evaluate::Evaluator;
use crate::library::Library;
use crate::machine::{Clock, Machine, Prepared};
use crate::program::{Argument, Buffer, BufferId, EvaluateStep, Program, Step, Work};
use crate::{ProgramError, RunError};
use ckpt_entity::EntityId as _;

/// Threads of one instance at most: more than the cores of any machine that it
/// is for, and few enough that starting them does not bring a machine down.
pub const MAX_THREADS: usize = 1024;

/// How a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Threads, at most [`MAX_THREADS`]; 0, the default, is as many as the machine
    /// has. Results do not depend on it.
    pub threads: usize,
    /// Take the time of each step. Default: no.
    pub profile: bool,
}

/// Time of one step over all runs so far.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTime {
    /// The step.
    pub name: String,
    /// The operation that it is there for.
    pub kind: String,
    /// What runs it: `kernel`, `matmul`, `convolution`, `copy`,
    /// `update` or `evaluate`.
    pub how: &'static str,
    /// How often it ran.
    pub runs: u64,
    /// Seconds, of all runs together.
    pub seconds: f64,
}

/// A program that is ready to run, with its arena.
///
/// Arguments lie in the arena: write them once through
/// [`argument_mut`](Self::argument_mut) or [`set_argument`](Self::set_argument);
/// those that are not donated stay from run to run.
pub struct Instance {
    program: Program,
    // Before the library, whose code it refers to.
    prepared: Vec<Vec<Prepared>>,
    _library: Option<Library>,
    arena: Arena,
    counter: Counter,
    pool: rayon::ThreadPool,
    clocks: Vec<Vec<Clock>>,
    given: Vec<bool>,
}

impl Instance {
    /// Loads the kernels and takes the arena, in one allocation of
    /// [`Program::arena_bytes`].
    ///
    /// # Errors
    /// A program that is not consistent, kernels that cannot be loaded, no memory.
    pub fn new(program: Program, options: Options) -> Result<Self, ProgramError> {
        program.validate()?;
        let library = if program.library.is_empty() { None } else { Some(Library::load(&program.library)?) };
        let prepare = |step: &Step| prepare(&program, step, library.as_ref());
        let prepared = program
            .blocks
            .iter()
            .map(|block| block.iter().map(prepare).collect())
            .collect::<Result<_, _>>()?;
        let mut counter = Counter::default();
        let arena = Arena::new(program.arena_bytes, &mut counter)
            .ok_or(ProgramError::OutOfMemory { bytes: program.arena_bytes })?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.min(MAX_THREADS)).build();
        let pool = pool.map_err(|error| ProgramError::Threads(error.to_string()))?;
        let clocks = if options.profile {
            program.blocks.iter().map(|block| vec![Clock::default(); block.len()]).collect()
        } else {
            Vec::new()
        };
        let given = program.arguments.iter().map(|argument| argument.buffer.is_none()).collect();
        Ok(Self { program, prepared, _library: library, arena, counter, pool, clocks, given })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// An argument's bytes, to be written in place; it counts as given.
    ///
    /// # Errors
    /// There is no such argument, or it is a token.
    pub fn argument_mut(&mut self, index: usize) -> Result<&mut [u8], RunError> {
        let buffer = self.program.arguments.get(index).and_then(|argument| argument.buffer);
        let buffer = buffer.ok_or(RunError::NoSuch { what: "argument", index })?;
        self.given[index] = true;
        Ok(self.arena.bytes_mut(self.program.buffer(buffer)))
    }

    /// Copies an argument into its place.
    ///
    /// # Errors
    /// There is no such argument, or it has another size.
    pub fn set_argument(&mut self, index: usize, bytes: &[u8]) -> Result<(), RunError> {
        let target = self.argument_mut(index)?;
        if target.len() != bytes.len() {
            let (expected, found) = (target.len() as u64, bytes.len() as u64);
            self.given[index] = false;
            return Err(RunError::Length { what: "argument", index, expected, found });
        }
        target.copy_from_slice(bytes);
        Ok(())
    }

    /// A result's bytes, valid after a run until the next.
    ///
    /// # Errors
    /// There is no such result, or it is a token.
    pub fn result(&self, index: usize) -> Result<&[u8], RunError> {
        let buffer = self.program.results.get(index).and_then(|result| result.buffer);
        let buffer = buffer.ok_or(RunError::NoSuch { what: "result", index })?;
        Ok(self.arena.bytes(self.program.buffer(buffer)))
    }

    /// Makes a result of the last run the value of an argument of the next:
    /// how a training step's parameters go round.
    ///
    /// # Errors
    /// There is no such argument or result, or they differ in size.
    pub fn feed_back(&mut self, result: usize, argument: usize) -> Result<(), RunError> {
        // The result may lie where the argument does, or overlap it.
        let bytes = self.result(result)?.to_vec();
        self.set_argument(argument, &bytes)
    }

    /// Runs the program once.
    ///
    /// # Errors
    /// An argument is missing, or a step that the reference evaluator runs fails.
    pub fn run(&mut self) -> Result<(), RunError> {
        if let Some(index) = self.given.iter().position(|given| !given) {
            return Err(RunError::Missing { index });
        }
        let mut machine = Machine {
            program: &self.program,
            prepared: &self.prepared,
            arena: &mut self.arena,
            clocks: &mut self.clocks,
        };
        let outcome = self.pool.install(|| machine.run());
        for (given, argument) in self.given.iter_mut().zip(&self.program.arguments) {
            let Argument { buffer, donated, .. } = argument;
            *given &= buffer.is_none() || !donated;
        }
        outcome
    }

    /// The most bytes ever held for values: what was really allocated.
    #[must_use]
    pub fn measured_peak_bytes(&self) -> u64 {
        self.counter.peak()
    }

    /// Time of each step that ran, in the program's order; empty without
    /// [`Options::profile`].
    #[must_use]
    pub fn step_times(&self) -> Vec<StepTime> {
        let steps = self.program.blocks.iter().zip(&self.clocks);
        let pairs = steps.flat_map(|(block, clocks)| block.iter().zip(clocks));
        let time = |(step, clock): (&Step, &Clock)| StepTime {
            name: step.name.clone(),
            kind: step.kind.clone(),
            how: how(&step.work),
            runs: clock.runs,
            seconds: clock.time.as_secs_f64(),
        };
        pairs.filter(|(_, clock)| clock.runs > 0).map(time).collect()
    }
}

fn how(work: &Work) -> &'static str {
    match work {
        Work::Kernel(_) => "kernel",
        Work::MatMul(_) => "matmul",
        Work::Convolution(_) => "convolution",
        Work::Copy(_) => "copy",
        Work::Update(_) => "update",
        Work::Evaluate(_) => "evaluate",
        Work::While(_) | Work::Case(_) => "control",
    }
}

fn prepare(program: &Program, step: &Step, library: Option<&Library>) -> Result<Prepared, ProgramError> {
    match &step.work {
        Work::Kernel(work) => match library {
            Some(library) => Ok(Prepared::Kernel(library.kernel(&work.symbol)?)),
            None => Err(ProgramError::Library("the program has none".into())),
        },
        Work::Evaluate(work) => {
            let evaluator = Evaluator::new(step, work)?;
            if fits(program, work, &evaluator) {
                Ok(Prepared::Evaluator(Box::new(evaluator)))
            } else {
                let what = format!("step '{}': its text does not fit its buffers", step.name);
                Err(ProgramError::Inconsistent(what))
            }
        }
        _ => Ok(Prepared::Plain),
    }
}

fn fits(program: &Program, work: &EvaluateStep, evaluator: &Evaluator) -> bool {
    let buffer = |id: &BufferId| program.buffers.get(id.index()).map(|buffer: &Buffer| buffer.bytes);
    work.inputs.iter().chain(&work.outputs).map(buffer).eq(evaluator.sizes())
}
