//! Which pretty form each operation has: the table that reader and printer share.

use crate::OpKind;

/// The pretty form of an operation, after its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `"name"(operands) <{…}> ({regions}) {…} : (types) -> types`.
    Generic,
    /// `operands {…} : type` where operands and results have one type, else the function type.
    SameType,
    /// `operands, clauses {…} : (types) -> types`.
    Functional(&'static [Clause]),
    /// `operands, clauses {…} : types of the operands`, which are the results' too.
    OperandTypes,
    /// `operands {…} : type -> type` (CHLO), types of all operands, then the result.
    Arrow,
    /// The same with clauses after the operands, in parentheses: `(%0, k = 8)`.
    ParenArrow(&'static [Clause]),
    /// `clauses {…} : type` of the only result; no operands.
    ResultType(&'static [Clause]),
    /// `operands, clauses {…} : type` where operand and result have one type.
    SameTypeClauses(&'static [Clause]),
    /// A form of its own.
    Special,
}

/// A clause: `, keyword = value` for an inherent attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) keyword: &'static str,
    pub(super) attribute: &'static str,
    pub(super) value: ClauseValue,
}

/// How a clause's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClauseValue {
    /// `[1, 2]` for `array<i64: …>`.
    Integers,
    /// `3` for `3 : i64`.
    Integer,
    /// `true` for a boolean attribute.
    Bool,
    /// `UNIFORM` for an enumeration of the named kind.
    Enum(&'static str),
}

const fn clause(keyword: &'static str, attribute: &'static str, value: ClauseValue) -> Clause {
    Clause { keyword, attribute, value }
}

/// Operations of StableHLO's own test dialects, which are read in pretty form
/// and printed in generic form.
pub(super) fn is_test_op(kind: OpKind) -> bool {
    use OpKind as K;
    matches!(
        kind,
        K::CheckExpectEq
            | K::CheckExpectEqConst
            | K::CheckExpectAlmostEq
            | K::CheckExpectAlmostEqConst
            | K::CheckExpectClose
            | K::CheckExpectCloseConst
            | K::CheckExpectSerializedEq
            | K::InterpreterPrint
            | K::InterpreterProbe
    )
}

/// Operations of two operands that `applies` may name: the commutative ones.
pub(super) fn is_commutative(kind: OpKind) -> bool {
    use OpKind as K;
    matches!(kind, K::Add | K::And | K::Maximum | K::Minimum | K::Multiply | K::Or | K::Xor)
}

/// The pretty form of a kind.
pub(super) fn form_of(kind: OpKind) -> Form {
    use ClauseValue::{Bool, Enum, Integer, Integers};
    use OpKind as K;
    match kind {
        K::Abs
        | K::Add
        | K::And
        | K::Atan2
        | K::Cbrt
        | K::Ceil
        | K::Convert
        | K::Cosine
        | K::CountLeadingZeros
        | K::Divide
        | K::Exponential
        | K::ExponentialMinusOne
        | K::Floor
        | K::Imag
        | K::IsFinite
        | K::Log
        | K::LogPlusOne
        | K::Logistic
        | K::Maximum
        | K::Minimum
        | K::Multiply
        | K::Negate
        | K::Not
        | K::Or
        | K::Popcnt
        | K::Power
        | K::Real
        | K::Remainder
        | K::RoundNearestAfz
        | K::RoundNearestEven
        | K::Rsqrt
        | K::ShiftLeft
        | K::ShiftRightArithmetic
        | K::ShiftRightLogical
        | K::Sign
        | K::Sine
        | K::Sqrt
        | K::Subtract
        | K::Tan
        | K::Tanh
        | K::UniformDequantize
        | K::UniformQuantize
        | K::Xor
        | K::AfterAll => Form::SameType,
        K::Clamp => Form::SameType,
        K::BitcastConvert
        | K::Reshape
        | K::DynamicReshape
        | K::DynamicUpdateSlice
        | K::DynamicPad
        | K::RealDynamicSlice
        | K::ChloBroadcastAdd
        | K::ChloBroadcastAnd
        | K::ChloBroadcastAtan2
        | K::ChloBroadcastCompare
        | K::ChloBroadcastComplex
        | K::ChloBroadcastDivide
        | K::ChloBroadcastMaximum
        | K::ChloBroadcastMinimum
        | K::ChloBroadcastMultiply
        | K::ChloBroadcastNextAfter
        | K::ChloBroadcastOr
        | K::ChloBroadcastPolygamma
        | K::ChloBroadcastPower
        | K::ChloBroadcastRemainder
        | K::ChloBroadcastSelect
        | K::ChloBroadcastShiftLeft
        | K::ChloBroadcastShiftRightArithmetic
        | K::ChloBroadcastShiftRightLogical
        | K::ChloBroadcastSubtract
        | K::ChloBroadcastXor
        | K::ChloBroadcastZeta => Form::Functional(&[]),
        K::BroadcastInDim => Form::Functional(const { &[clause("dims", "broadcast_dimensions", Integers)] }),
        K::Broadcast => Form::Functional(const { &[clause("sizes", "broadcast_sizes", Integers)] }),
        K::DynamicBroadcastInDim => {
            Form::Functional(const { &[clause("dims", "broadcast_dimensions", Integers)] })
        }
        K::Transpose => Form::Functional(const { &[clause("dims", "permutation", Integers)] }),
        K::Concatenate => Form::Functional(const { &[clause("dim", "dimension", Integer)] }),
        K::Pad => Form::Functional(
            const {
                &[
                    clause("low", "edge_padding_low", Integers),
                    clause("high", "edge_padding_high", Integers),
                    clause("interior", "interior_padding", Integers),
                ]
            },
        ),
        K::DynamicSlice => Form::Functional(const { &[clause("sizes", "slice_sizes", Integers)] }),
        K::GetDimensionSize | K::SetDimensionSize => {
            Form::Functional(const { &[clause("dim", "dimension", Integer)] })
        }
        K::Rng => Form::Functional(
            const { &[clause("distribution", "rng_distribution", Enum("rng_distribution"))] },
        ),
        K::RngBitGenerator => {
            Form::Functional(const { &[clause("algorithm", "rng_algorithm", Enum("rng_algorithm"))] })
        }
        K::Fft => Form::Functional(
            const { &[clause("type", "fft_type", Enum("fft_type")), clause("length", "fft_length", Integers)] },
        ),
        K::Reverse => Form::SameTypeClauses(const { &[clause("dims", "dimensions", Integers)] }),
        K::Cholesky => Form::SameTypeClauses(const { &[clause("lower", "lower", Bool)] }),
        K::Iota => Form::ResultType(const { &[clause("dim", "iota_dimension", Integer)] }),
        K::CreateToken | K::PartitionId | K::ReplicaId => Form::ResultType(&[]),
        K::DynamicIota => Form::Functional(const { &[clause("dim", "iota_dimension", Integer)] }),
        K::OptimizationBarrier => Form::OperandTypes,
        K::Return | K::FuncReturn => Form::OperandTypes,
        K::ChloAcos
        | K::ChloAcosh
        | K::ChloAsin
        | K::ChloAsinh
        | K::ChloAtan
        | K::ChloAtanh
        | K::ChloBesselI1e
        | K::ChloConj
        | K::ChloCosh
        | K::ChloDigamma
        | K::ChloErf
        | K::ChloErfInv
        | K::ChloErfc
        | K::ChloIsInf
        | K::ChloIsNegInf
        | K::ChloIsPosInf
        | K::ChloLgamma
        | K::ChloMulhi
        | K::ChloNextAfter
        | K::ChloPolygamma
        | K::ChloSinh
        | K::ChloSquare
        | K::ChloTan
        | K::ChloZeta => Form::Arrow,
        K::ChloTopK => Form::ParenArrow(const { &[clause("k", "k", Integer)] }),
        K::Complex
        | K::Constant
        | K::Compare
        | K::Select
        | K::Slice
        | K::DotGeneral
        | K::Dot
        | K::Convolution
        | K::Reduce
        | K::While
        | K::FuncCall
        | K::Func
        | K::Module
        | K::CustomCall
        | K::Composite
        | K::ReducePrecision
        | K::Tuple
        | K::GetTupleElement => Form::Special,
        kind if is_test_op(kind) => Form::Special,
        _ => Form::Generic,
    }
}
