//! Blocks to lists of steps.

use crate::cone::{Cone, captured};
use crate::control::Exit;
use crate::text::Texts;
use crate::values::Values;
use crate::{Compiler, LowerError, Source};
use ckpt_entity::{EntityId as _, EntitySet};
use ckpt_ir::schedule::KernelPartition;
use ckpt_ir::{BlockId, Module, OpId, OpKind, Type, Uses, ValueId};
use ckpt_passes::remat::problem::donated_arguments;
use ckpt_runtime::{
    Argument, BlockId as StepsId, BufferId, CopyStep, EvaluateStep, KernelStep, Output, Step, TensorSpec,
    Work,
};
use std::collections::{HashMap, VecDeque};

/// A step before kernels are compiled.
#[derive(Clone, Debug)]
pub(crate) enum Draft {
    /// It is what it will be.
    Done(Work),
    /// A kernel of the list of sources, with its inputs and outputs.
    Kernel { source: usize, inputs: Vec<BufferId>, outputs: Vec<BufferId> },
}

/// A step before kernels are compiled, with what people call it.
#[derive(Clone, Debug)]
pub(crate) struct DraftStep {
    name: String,
    kind: String,
    place: Option<u32>,
    work: Draft,
}

/// A function as steps on buffers, before kernels are compiled and buffers placed.
pub struct DraftProgram {
    name: String,
    sizes: Vec<u64>,
    arguments: Vec<Argument>,
    results: Vec<Output>,
    blocks: Vec<Vec<DraftStep>>,
    sources: Vec<Source>,
    /// Sources that write where they read: compiled kernels do not.
    in_place: Vec<usize>,
}

/// A program whose buffers have no offsets yet.
pub(crate) struct Unplaced {
    pub(crate) program: ckpt_runtime::Program,
    pub(crate) sizes: Vec<u64>,
}

/// A block that waits to be lowered.
pub(crate) struct Pending {
    pub(crate) block: BlockId,
    pub(crate) steps: StepsId,
    pub(crate) exit: Exit,
}

/// The lowering in progress.
pub(crate) struct Lowering<'m> {
    pub(crate) module: &'m Module,
    pub(crate) values: Values<'m>,
    schedules: HashMap<BlockId, &'m KernelPartition>,
    pub(crate) blocks: Vec<Vec<DraftStep>>,
    pub(crate) pending: VecDeque<Pending>,
    sources: Vec<Source>,
    in_place: Vec<usize>,
    pub(crate) uses: Uses,
    /// Operations that run as kernels, rather than inside those that read them.
    pub(crate) runs: EntitySet<OpId>,
}

/// Turns the blocks of a function into steps. Linear in the function.
///
/// # Errors
/// See [`LowerError`].
pub fn lower_blocks(
    module: &Module,
    function: OpId,
    partition: &KernelPartition,
) -> Result<DraftProgram, LowerError> {
    let body = module.function_body(function).ok_or(LowerError::NoBody)?;
    let mut lowering = Lowering {
        module,
        values: Values::new(module),
        schedules: schedules(partition),
        blocks: vec![Vec::new()],
        pending: VecDeque::new(),
        sources: Vec::new(),
        in_place: Vec::new(),
        uses: Uses::below(module, function),
        runs: EntitySet::new(),
    };
    let kernels = lowering.schedules.values().flat_map(|schedule| &schedule.kernels);
    lowering.runs = kernels.flat_map(|kernel| kernel.ops.iter().copied()).collect();
    let arguments = lowering.arguments(function, body)?;
    lowering.pending.push_back(Pending { block: body, steps: StepsId::from_index(0), exit: Exit::Function });
    let mut results = Vec::new();
    while let Some(pending) = lowering.pending.pop_front() {
        let is_function = matches!(pending.exit, Exit::Function);
        lowering.block(&pending)?;
        if is_function {
            results = lowering.results(&pending)?;
        }
    }
    let Lowering { values, blocks, sources, in_place, .. } = lowering;
    let name = module.string_attr(function, "sym_name").unwrap_or("main").to_owned();
    Ok(DraftProgram { name, sizes: values.into_sizes(), arguments, results, blocks, sources, in_place })
}

/// All schedules of a partition, by block.
fn schedules(partition: &KernelPartition) -> HashMap<BlockId, &KernelPartition> {
    let mut all = HashMap::new();
    let mut stack = vec![partition];
    while let Some(schedule) = stack.pop() {
        all.insert(schedule.block, schedule);
        stack.extend(schedule.nested.values());
    }
    all
}

impl Lowering<'_> {
    fn arguments(&mut self, function: OpId, body: BlockId) -> Result<Vec<Argument>, LowerError> {
        let donated = donated_arguments(self.module, function);
        let mut arguments = Vec::new();
        for (index, &value) in self.module.block(body).arguments.iter().enumerate() {
            if self.is_token(value) {
                arguments.push(Argument { buffer: None, tensor: no_tensor(), donated: false });
                continue;
            }
            let buffer = self.values.make(value, function)?;
            let donated = donated.get(index).copied().unwrap_or(false);
            arguments.push(Argument {
                buffer: Some(buffer),
                tensor: self.values.spec(value, function)?,
                donated,
            });
        }
        Ok(arguments)
    }

    /// The function's results; views and virtual values get what they need.
    fn results(&mut self, pending: &Pending) -> Result<Vec<Output>, LowerError> {
        let Some(terminator) = self.module.terminator(pending.block) else { return Ok(Vec::new()) };
        let mut results = Vec::new();
        for value in self.module.op(terminator).operands.clone() {
            if self.is_token(value) {
                results.push(Output { buffer: None, tensor: no_tensor() });
                continue;
            }
            let buffer = self.in_buffer(pending.steps, value, terminator)?;
            results.push(Output { buffer: Some(buffer), tensor: self.values.spec(value, terminator)? });
        }
        Ok(results)
    }

    pub(crate) fn is_token(&self, value: ValueId) -> bool {
        *self.module.types.get(self.module.value_type(value)) == Type::Token
    }

    fn block(&mut self, pending: &Pending) -> Result<(), LowerError> {
        self.choose_outputs(pending);
        let per_op;
        let schedule = match self.schedules.get(&pending.block) {
            Some(schedule) => *schedule,
            None => {
                per_op = KernelPartition::per_op(self.module, pending.block);
                &per_op
            }
        };
        for op in schedule.kernels.iter().flat_map(|kernel| &kernel.ops) {
            self.kernel(pending.steps, *op, schedule.in_place.contains(op))?;
        }
        self.leave(pending)
    }

    /// One kernel of the schedule.
    fn kernel(&mut self, steps: StepsId, op: OpId, in_place: bool) -> Result<(), LowerError> {
        let data = self.module.op(op);
        match data.kind {
            OpKind::Reshape | OpKind::OptimizationBarrier => return self.view(steps, op),
            OpKind::While => return self.lower_while(steps, op),
            OpKind::If | OpKind::Case => return self.lower_case(steps, op),
            OpKind::CreateToken | OpKind::AfterAll => return Ok(()),
            _ => {}
        }
        if self.fast(steps, op, in_place)? {
            return Ok(());
        }
        if in_place && let (Some(&target), Some(&result)) = (data.operands.first(), data.results.first()) {
            let buffer = self.in_buffer(steps, target, op)?;
            self.values.choose(result, buffer);
            self.in_place.push(self.sources.len());
        }
        self.general(steps, op)
    }

    /// Pushes the step of an operation that the runtime has code for; says whether it has.
    fn fast(&mut self, steps: StepsId, op: OpId, in_place: bool) -> Result<bool, LowerError> {
        let work = match self.module.op(op).kind {
            OpKind::DynamicUpdateSlice => return self.update(steps, op, in_place),
            OpKind::Dot | OpKind::DotGeneral => self.dot(op)?.map(Work::MatMul),
            OpKind::Convolution => self.convolution(op)?,
            _ => None,
        };
        let found = work.is_some();
        if let Some(work) = work {
            self.push(steps, op, Draft::Done(work));
        }
        Ok(found)
    }

    /// A view that the schedule lists: its results lie where its operands do.
    fn view(&mut self, steps: StepsId, op: OpId) -> Result<(), LowerError> {
        let data = self.module.op(op);
        for (operand, result) in data.operands.iter().zip(&data.results) {
            if !self.is_token(*operand) {
                let buffer = self.in_buffer(steps, *operand, op)?;
                self.values.put(*result, buffer);
            }
        }
        Ok(())
    }

    /// The buffer of a value; one that has none is computed into a new one.
    pub(crate) fn in_buffer(
        &mut self,
        steps: StepsId,
        value: ValueId,
        op: OpId,
    ) -> Result<BufferId, LowerError> {
        if let Some(buffer) = self.values.find(value) {
            return Ok(buffer);
        }
        let bytes = self.values.bytes(value, op)?;
        let buffer = self.values.buffer(bytes);
        self.compute(steps, value, buffer, op)?;
        Ok(buffer)
    }

    /// Computes a value that has no buffer of its own into `buffer`. It stays
    /// without one: who reads it later may run before this step does.
    pub(crate) fn compute(
        &mut self,
        steps: StepsId,
        value: ValueId,
        buffer: BufferId,
        op: OpId,
    ) -> Result<(), LowerError> {
        let cone = Cone::of(&self.values, &[value]);
        let cone = cone.ok_or(LowerError::Malformed { op, what: "a value is neither kept nor computed" })?;
        let maker = self.module.defining_op(value).unwrap_or(op);
        self.push_kernel(steps, maker, cone, &[value], vec![buffer])
    }

    /// A kernel that nothing special is known of.
    fn general(&mut self, steps: StepsId, op: OpId) -> Result<(), LowerError> {
        let data = self.module.op(op);
        let mut wanted: Vec<ValueId> = data.operands.to_vec();
        wanted.extend(captured(self.module, op));
        wanted.retain(|value| !self.is_token(*value));
        let mut results: Vec<ValueId> = data.results.to_vec();
        results.retain(|value| !self.is_token(*value));
        let cone = Cone::of(&self.values, &wanted);
        let mut cone = cone.ok_or(LowerError::Malformed { op, what: "an operand is not kept" })?;
        cone.ops.push(op);
        let outputs = results.iter().map(|v| self.values.make(*v, op)).collect::<Result<Vec<_>, _>>()?;
        self.push_kernel(steps, op, cone, &results, outputs)
    }

    fn push_kernel(
        &mut self,
        steps: StepsId,
        op: OpId,
        cone: Cone,
        results: &[ValueId],
        outputs: Vec<BufferId>,
    ) -> Result<(), LowerError> {
        let missing = LowerError::Malformed { op, what: "an input has no buffer" };
        let inputs: Option<Vec<BufferId>> = cone.inputs.iter().map(|v| self.values.find(*v)).collect();
        let inputs = inputs.ok_or(missing)?;
        for value in cone.inputs.iter().chain(results) {
            self.values.spec(*value, op)?;
        }
        let source = self.sources.len();
        let name = format!("kernel_{source}");
        self.sources.push(Source { name, ops: cone.ops, inputs: cone.inputs, outputs: results.to_vec() });
        self.push(steps, op, Draft::Kernel { source, inputs, outputs });
        Ok(())
    }

    pub(crate) fn push(&mut self, steps: StepsId, op: OpId, work: Draft) {
        let data = self.module.op(op);
        let place = (data.offset != u32::MAX).then_some(data.offset);
        let (name, kind) = (self.module.value_name_or_op(op), self.module.op_name(op).to_owned());
        self.blocks[steps.index()].push(DraftStep { name, kind, place, work });
    }

    /// Copies that happen at once; those to where the value lies already are left out.
    pub(crate) fn push_copies(&mut self, steps: StepsId, op: OpId, pairs: Vec<(BufferId, BufferId)>) {
        let pairs: Vec<_> = pairs.into_iter().filter(|(from, to)| from != to).collect();
        if !pairs.is_empty() {
            self.push(steps, op, Draft::Done(Work::Copy(CopyStep { pairs })));
        }
    }
}

fn no_tensor() -> TensorSpec {
    TensorSpec { element: "i1".to_owned(), shape: vec![0] }
}

impl DraftProgram {
    /// How many kernels there are to compile.
    #[must_use]
    pub fn kernels(&self) -> usize {
        self.sources.len()
    }

    /// Compiles the kernels; those without fast code become text for the evaluator.
    pub(crate) fn compile(
        self,
        module: &Module,
        compiler: &mut dyn Compiler,
    ) -> Result<Unplaced, LowerError> {
        let Self { name, sizes, arguments, results, blocks, sources, in_place } = self;
        let mut compiled = compiler.compile(module, &sources).map_err(LowerError::Compiler)?;
        for source in in_place {
            if let Some(kernel) = compiled.kernels.get_mut(source) {
                *kernel = None;
            }
        }
        let mut texts = Texts::new(module);
        let mut finish = |step: DraftStep| {
            let work = match step.work {
                Draft::Done(work) => work,
                Draft::Kernel { source, inputs, outputs } => {
                    match compiled.kernels.get(source).cloned().flatten() {
                        Some(kernel) => {
                            let buffers = [inputs, outputs].concat();
                            Work::Kernel(KernelStep { symbol: kernel.symbol, buffers, extent: kernel.extent })
                        }
                        None => {
                            let text = texts.of(&sources[source]);
                            Work::Evaluate(EvaluateStep { text, inputs, outputs })
                        }
                    }
                }
            };
            Step { name: step.name, kind: step.kind, place: step.place, work }
        };
        let blocks = blocks.into_iter().map(|steps| steps.into_iter().map(&mut finish).collect()).collect();
        let library = compiled.library;
        let program = ckpt_runtime::Program {
            name,
            arguments,
            results,
            blocks,
            library,
            ..ckpt_runtime::Program::default()
        };
        Ok(Unplaced { program, sizes })
    }
}
