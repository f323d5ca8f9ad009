//! What the runtime runs: a program as a value.

use crate::Element;
use ckpt_entity::EntityId;
use ckpt_ir::ElementType;
use serde::{Deserialize, Serialize};

macro_rules! file_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(u32);

        impl EntityId for $name {
            fn from_index(index: usize) -> Self {
                Self(index as u32)
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
file_id!(
    /// A buffer of a program.
    BufferId
);
file_id!(
    /// A list of steps of a program.
    BlockId
);

/// A place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// Distance from the arena's start, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// Element type and sizes of a tensor; it lies row-major without padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorSpec {
    /// The element type as MLIR writes it.
    pub element: String,
    /// Sizes, outermost first.
    pub shape: Vec<u64>,
}

impl TensorSpec {
    /// The specification of a type.
    #[must_use]
    pub fn new(element: ElementType, shape: &[u64]) -> Self {
        Self { element: element.to_string(), shape: shape.to_vec() }
    }

    /// The element type, if the name is one.
    #[must_use]
    pub fn element_type(&self) -> Option<ElementType> {
        match self.element.as_str() {
            "complex<f32>" => Some(ElementType::Complex64),
            "complex<f64>" => Some(ElementType::Complex128),
            name => ElementType::from_name(name),
        }
    }

    /// Bytes in memory; `None` for an unknown type or a product that does not fit.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let width = self.element_type()?.byte_width();
        self.shape.iter().try_fold(width, |bytes, size| bytes.checked_mul(*size))
    }
}

/// An argument of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Where it lies; none for a token.
    pub buffer: Option<BufferId>,
    /// Its type.
    pub tensor: TensorSpec,
    /// Whether the run may overwrite it.
    pub donated: bool,
}

/// A result of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Where it lies; none for a token.
    pub buffer: Option<BufferId>,
    /// Its type.
    pub tensor: TensorSpec,
}

/// A compiled kernel, called as `extern "C" fn(buffers: *const *mut u8, begin: u64, end: u64)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelStep {
    /// Its name in the shared object.
    pub symbol: String,
    /// Inputs, then outputs.
    pub buffers: Vec<BufferId>,
    /// `[0, extent)` may be split anywhere, and the parts run in any order.
    pub extent: u64,
}

/// A buffer read or written with strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StridedOperand {
    /// The buffer.
    pub buffer: BufferId,
    /// Its first element, in elements.
    pub offset: u64,
}

/// One dimension that both operands or one of them and the result have; strides in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct OuterLoop {
    pub size: u64,
    pub lhs: i64,
    pub rhs: i64,
    pub out: i64,
}

/// One summed dimension; strides in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct OuterSum {
    pub size: u64,
    pub lhs: i64,
    pub rhs: i64,
}

/// A batched matrix product of strided operands: for each combination of
/// `loops`, `out[m, n] = Σ lhs[m, k] · rhs[k, n]` over all of `sums`. Operands
/// narrower than 32 bits are summed in f32 and rounded once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatMulStep {
    /// Element type of the operands.
    pub element: Element,
    /// Element type of the result.
    pub result: Element,
    /// The left operand.
    pub lhs: StridedOperand,
    /// The right operand.
    pub rhs: StridedOperand,
    /// The result, which holds nothing yet.
    pub out: StridedOperand,
    /// Batch dimensions, and others that do not collapse into `m` and `n`.
    pub loops: Vec<OuterLoop>,
    /// Rows; `rhs` is 0.
    pub m: OuterLoop,
    /// Columns; `lhs` is 0.
    pub n: OuterLoop,
    /// Summed dimensions, outermost first, the innermost being `k`; one at least.
    pub sums: Vec<OuterSum>,
}

/// A dimension of a convolution that is not spatial; strides in elements, 0
/// where an operand lacks it.
pub type ConvAxis = OuterLoop;

/// A spatial dimension of a convolution: element `t` of the kernel meets, for
/// output `o`, the input at `(o · step + t · kernel_dilation − pad_low) /
/// input_dilation`, if that is whole and within the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ConvSpatial {
    pub input: u64,
    pub kernel: u64,
    pub output: u64,
    /// Strides of input, kernel and output in elements.
    pub lhs: i64,
    pub rhs: i64,
    pub out: i64,
    pub step: u64,
    pub pad_low: i64,
    pub input_dilation: u64,
    pub kernel_dilation: u64,
    /// The kernel runs backwards along this dimension.
    pub reversed: bool,
}

/// A convolution; sums as in [`MatMulStep`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvolutionStep {
    /// Element type of the operands.
    pub element: Element,
    /// Element type of the result.
    pub result: Element,
    /// The input.
    pub lhs: BufferId,
    /// The kernel.
    pub rhs: BufferId,
    /// The result.
    pub out: BufferId,
    /// Groups, of features or of the batch: how many, and the way from one to the next.
    pub groups: ConvAxis,
    /// Images of one group.
    pub batch: ConvAxis,
    /// Input features of one group.
    pub features: OuterSum,
    /// Output features of one group.
    pub outputs: ConvAxis,
    /// Spatial dimensions.
    pub spatial: Vec<ConvSpatial>,
}

/// Copies that happen at once: each source is read before any target is
/// written, so that a loop's carried values may trade places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyStep {
    /// Source and target, of one size each. Targets are disjoint; a source and
    /// a target are the same place or disjoint.
    pub pairs: Vec<(BufferId, BufferId)>,
}

/// An update of a part of a tensor in place, at a position that other steps compute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateStep {
    /// The tensor.
    pub target: BufferId,
    /// What is written into it.
    pub update: BufferId,
    /// The position, one integer for each dimension; it is moved so that the
    /// part fits.
    pub starts: Vec<BufferId>,
    /// Whether the integers are signed.
    pub signed: bool,
    /// Bytes of one element.
    pub element_bytes: u64,
    /// Sizes of the tensor.
    pub shape: Vec<u64>,
    /// Sizes of the part.
    pub slice: Vec<u64>,
}

/// Operations that the reference evaluator runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluateStep {
    /// StableHLO text whose `@main` is evaluated.
    pub text: String,
    /// Arguments of `@main`.
    pub inputs: Vec<BufferId>,
    /// Results of `@main`.
    pub outputs: Vec<BufferId>,
}

/// A loop: runs `condition`, and while `predicate` then holds, `body`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhileStep {
    /// Steps that make the predicate.
    pub condition: BlockId,
    /// One byte: whether to go on.
    pub predicate: BufferId,
    /// Steps of one iteration.
    pub body: BlockId,
}

/// A choice among blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseStep {
    /// Which: an `i32`, or one byte where `boolean`.
    pub index: BufferId,
    /// `index` is a predicate: the first branch where it holds, else the second.
    pub boolean: bool,
    /// The branches; an index out of range means the last one.
    pub branches: Vec<BlockId>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Work {
    Kernel(KernelStep),
    MatMul(MatMulStep),
    Convolution(ConvolutionStep),
    Copy(CopyStep),
    Update(UpdateStep),
    Evaluate(EvaluateStep),
    While(WhileStep),
    Case(CaseStep),
}

impl Work {
    /// The buffers that a step reads or writes; of control, what it decides by.
    #[must_use]
    pub fn buffers(&self) -> Vec<BufferId> {
        match self {
            Self::Kernel(step) => step.buffers.clone(),
            Self::MatMul(step) => vec![step.lhs.buffer, step.rhs.buffer, step.out.buffer],
            Self::Convolution(step) => vec![step.lhs, step.rhs, step.out],
            Self::Copy(step) => step.pairs.iter().flat_map(|(from, to)| [*from, *to]).collect(),
            Self::Update(step) => [&[step.target, step.update], &step.starts[..]].concat(),
            Self::Evaluate(step) => [&step.inputs[..], &step.outputs[..]].concat(),
            Self::While(step) => vec![step.predicate],
            Self::Case(step) => vec![step.index],
        }
    }
}

/// A step with what people call it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The value it makes, or the operation.
    pub name: String,
    /// The operation that it is there for.
    pub kind: String,
    /// Place of that operation in the text the program came from: a byte offset.
    pub place: Option<u32>,
    /// What it does.
    pub work: Work,
}

/// Steps that run one after the other.
pub type Block = Vec<Step>;

/// A planned program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The function's name.
    pub name: String,
    /// Size of the arena: all buffers, arguments and results among them.
    pub arena_bytes: u64,
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
    /// The results, in order.
    pub results: Vec<Output>,
    /// The blocks; the first one runs.
    pub blocks: Vec<Block>,
    /// An ELF shared object with the kernels; empty if there are none.
    pub library: Vec<u8>,
}

impl Program {
    /// A buffer. Ids of a validated program are in range.
    #[must_use]
    pub fn buffer(&self, id: BufferId) -> Buffer {
        self.buffers[id.index()]
    }

    /// All steps, in the order of their blocks.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.blocks.iter().flatten()
    }
}
