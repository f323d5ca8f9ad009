//! What can end a pass.

use ckpt_ir::{OpId, ValueId};

/// Why a pass refused a module. Each variant names the operation at fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PassError {
    /// A function calls itself, directly or through others.
    #[error("recursive calls cannot be inlined")]
    RecursiveCall {
        /// The function.
        op: OpId,
    },
    /// Inlining would grow the module beyond the limit.
    #[error("the program has more than {limit} operations after inlining")]
    TooManyOps {
        /// The function.
        op: OpId,
        /// The limit.
        limit: usize,
    },
    /// A value whose size is dynamic, not known or does not fit 64 bits.
    #[error("the size of a value is not known, so its memory cannot be planned")]
    UnknownSize {
        /// The value.
        value: ValueId,
    },
    /// The sizes of all values together do not fit 63 bits.
    #[error("the sizes of all values together exceed 2^63 bytes")]
    TooManyBytes,
    /// The program as a planner problem breaks one of its invariants.
    #[error("the program is no planning problem: {0}")]
    Problem(ckpt_planner::ProblemError),
    /// There is no function to optimise.
    #[error("the module has no function @main with a body, and not exactly one public function")]
    NoEntry,
    /// A function whose body does not end with a return.
    #[error("the function ends with an operation that is not known to return")]
    NoReturn {
        /// The function.
        op: OpId,
    },
    /// A plan that its own replay refuses: a defect of the planner.
    #[error("internal error: the plan is not legal: {0}")]
    Replay(ckpt_planner::ReplayError),
    /// The peak in the memory model `ops` cannot be computed.
    #[error("the peak without fusion cannot be computed: {0}")]
    UnfusedPeak(ckpt_check::PeakError),
    /// No plan within the budget was found.
    #[error("the budget of {} bytes cannot be met; the smallest peak found is {} bytes", _0.budget.0, _0.smallest.0)]
    Unmet(Box<crate::pipeline::Unmet>),
    /// A module that breaks a rule of the language.
    #[error("{}", _0.message)]
    Invalid(Box<ckpt_ir::Diagnostic>),
    /// The checker refused the result: a defect of the passes.
    #[error("internal error: the checker refuses the result: {0}")]
    Refused(Box<ckpt_check::Refusal>),
}
