//! What is known of each operation: one row per operation.
//!
//! Columns: the variant, the name, the [`Effect`], the [`Category`] (which the
//! cost model, the fusion analysis and the verifier go by), and the names of
//! its inherent attributes. Everything that asks "may this be recomputed, fused,
//! reordered" reads this table; nothing else lists operations by name.

use std::fmt;

/// What running an operation does besides yielding its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing; the results are a function of operands and attributes. May be
    /// removed, repeated and moved.
    Pure,
    /// The results come from hidden state (`stablehlo.rng`): may be removed,
    /// never repeated, and keeps its order relative to its kind.
    HiddenState,
    /// Talks to other partitions: never repeated, removed or reordered.
    Collective,
    /// Is seen from outside, or unknown: never repeated, removed or reordered.
    SideEffect,
    /// What its regions do.
    OfRegions,
    /// What its callee does.
    OfCallee,
    /// What its attributes say (`custom_call`).
    OfAttributes,
    /// Ends a block.
    Terminator,
    /// Defines a symbol; not a step of execution.
    Symbol,
}

/// What kind of work an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Elementwise with this many operations per element.
    Elementwise(u8),
    /// Yields a constant (`constant`, `iota`, `create_token`).
    Constant,
    /// The same elements under another shape: a view.
    View,
    /// Each result element is an operand element found by index arithmetic.
    Movement,
    /// Data-dependent indexing.
    Gather,
    /// Data-dependent update.
    Scatter,
    /// Matrix product.
    Dot,
    /// Convolution.
    Convolution,
    /// Reduction over dimensions or windows.
    Reduction,
    /// Sort.
    Sort,
    /// Fourier transform, factorisation, solve.
    LinearAlgebra,
    /// Random numbers.
    Random,
    /// `while`, `if`, `case`, `map`.
    Control,
    /// Call of a function or composite.
    Call,
    /// Communication.
    Collective,
    /// Tuples, tokens, barriers: no work.
    Structural,
    /// Module, function, terminators.
    Frame,
    /// Not known.
    Unknown,
}

/// A row of the operation table.
#[derive(Debug)]
pub struct OpInfo {
    /// The full name.
    pub name: &'static str,
    /// What running it does.
    pub effect: Effect,
    /// What work it is.
    pub category: Category,
    /// Inherent attributes, sorted.
    pub inherent: &'static [&'static str],
}

macro_rules! op_table {
    ($($variant:ident $name:literal $effect:ident $category:ident $(($flops:literal))? [$($attr:literal)*];)*) => {
        /// An operation that the project knows, or [`OpKind::Unknown`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum OpKind {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
            /// An operation without a row; its name is in [`Op::name`](crate::Op::name).
            Unknown,
        }

        static TABLE: &[(OpKind, OpInfo)] = &[$((
            OpKind::$variant,
            OpInfo {
                name: $name,
                effect: Effect::$effect,
                category: Category::$category $(($flops))?,
                inherent: &[$($attr),*],
            },
        )),*];
    };
}

static UNKNOWN: OpInfo =
    OpInfo { name: "", effect: Effect::SideEffect, category: Category::Unknown, inherent: &[] };

op_table! {
    // Frame.
    Module "builtin.module" Symbol Frame ["sym_name" "sym_visibility"];
    Func "func.func" Symbol Frame ["arg_attrs" "function_type" "no_inline" "res_attrs" "sym_name" "sym_visibility"];
    FuncReturn "func.return" Terminator Frame [];
    FuncCall "func.call" OfCallee Call ["arg_attrs" "callee" "no_inline" "res_attrs"];
    Return "stablehlo.return" Terminator Frame [];

    // Constants.
    Constant "stablehlo.constant" Pure Constant ["value"];
    Iota "stablehlo.iota" Pure Constant ["iota_dimension"];
    DynamicIota "stablehlo.dynamic_iota" Pure Constant ["iota_dimension"];
    CreateToken "stablehlo.create_token" Pure Structural [];

    // Elementwise, one operation per element.
    Abs "stablehlo.abs" Pure Elementwise(1) [];
    Add "stablehlo.add" Pure Elementwise(1) [];
    And "stablehlo.and" Pure Elementwise(1) [];
    Ceil "stablehlo.ceil" Pure Elementwise(1) [];
    Clamp "stablehlo.clamp" Pure Elementwise(2) [];
    Compare "stablehlo.compare" Pure Elementwise(1) ["compare_type" "comparison_direction"];
    Complex "stablehlo.complex" Pure Elementwise(1) [];
    Convert "stablehlo.convert" Pure Elementwise(1) [];
    BitcastConvert "stablehlo.bitcast_convert" Pure Elementwise(1) [];
    CountLeadingZeros "stablehlo.count_leading_zeros" Pure Elementwise(1) [];
    Floor "stablehlo.floor" Pure Elementwise(1) [];
    Imag "stablehlo.imag" Pure Elementwise(1) [];
    IsFinite "stablehlo.is_finite" Pure Elementwise(1) [];
    Maximum "stablehlo.maximum" Pure Elementwise(1) [];
    Minimum "stablehlo.minimum" Pure Elementwise(1) [];
    Multiply "stablehlo.multiply" Pure Elementwise(1) [];
    Negate "stablehlo.negate" Pure Elementwise(1) [];
    Not "stablehlo.not" Pure Elementwise(1) [];
    Or "stablehlo.or" Pure Elementwise(1) [];
    Popcnt "stablehlo.popcnt" Pure Elementwise(1) [];
    Real "stablehlo.real" Pure Elementwise(1) [];
    ReducePrecision "stablehlo.reduce_precision" Pure Elementwise(2) ["exponent_bits" "mantissa_bits"];
    RoundNearestAfz "stablehlo.round_nearest_afz" Pure Elementwise(1) [];
    RoundNearestEven "stablehlo.round_nearest_even" Pure Elementwise(1) [];
    Select "stablehlo.select" Pure Elementwise(1) [];
    ShiftLeft "stablehlo.shift_left" Pure Elementwise(1) [];
    ShiftRightArithmetic "stablehlo.shift_right_arithmetic" Pure Elementwise(1) [];
    ShiftRightLogical "stablehlo.shift_right_logical" Pure Elementwise(1) [];
    Sign "stablehlo.sign" Pure Elementwise(1) [];
    Subtract "stablehlo.subtract" Pure Elementwise(1) [];
    Xor "stablehlo.xor" Pure Elementwise(1) [];
    UniformQuantize "stablehlo.uniform_quantize" Pure Elementwise(2) [];
    UniformDequantize "stablehlo.uniform_dequantize" Pure Elementwise(2) [];

    // Elementwise, several operations per element: the length of the
    // polynomial or iteration that evaluates it in f32.
    Atan2 "stablehlo.atan2" Pure Elementwise(20) [];
    Cbrt "stablehlo.cbrt" Pure Elementwise(15) ["result_accuracy"];
    Cosine "stablehlo.cosine" Pure Elementwise(15) ["result_accuracy"];
    Divide "stablehlo.divide" Pure Elementwise(4) [];
    Exponential "stablehlo.exponential" Pure Elementwise(12) ["result_accuracy"];
    ExponentialMinusOne "stablehlo.exponential_minus_one" Pure Elementwise(16) ["result_accuracy"];
    Log "stablehlo.log" Pure Elementwise(14) ["result_accuracy"];
    LogPlusOne "stablehlo.log_plus_one" Pure Elementwise(16) ["result_accuracy"];
    Logistic "stablehlo.logistic" Pure Elementwise(16) ["result_accuracy"];
    Power "stablehlo.power" Pure Elementwise(30) [];
    Remainder "stablehlo.remainder" Pure Elementwise(8) [];
    Rsqrt "stablehlo.rsqrt" Pure Elementwise(5) ["result_accuracy"];
    Sine "stablehlo.sine" Pure Elementwise(15) ["result_accuracy"];
    Sqrt "stablehlo.sqrt" Pure Elementwise(4) ["result_accuracy"];
    Tan "stablehlo.tan" Pure Elementwise(20) ["result_accuracy"];
    Tanh "stablehlo.tanh" Pure Elementwise(16) ["result_accuracy"];

    // Shapes and movement.
    Reshape "stablehlo.reshape" Pure View [];
    DynamicReshape "stablehlo.dynamic_reshape" Pure Movement [];
    BroadcastInDim "stablehlo.broadcast_in_dim" Pure Movement ["broadcast_dimensions"];
    Broadcast "stablehlo.broadcast" Pure Movement ["broadcast_sizes"];
    DynamicBroadcastInDim "stablehlo.dynamic_broadcast_in_dim" Pure Movement
        ["broadcast_dimensions" "known_expanding_dimensions" "known_nonexpanding_dimensions"];
    Concatenate "stablehlo.concatenate" Pure Movement ["dimension"];
    Pad "stablehlo.pad" Pure Movement ["edge_padding_high" "edge_padding_low" "interior_padding"];
    DynamicPad "stablehlo.dynamic_pad" Pure Movement [];
    Reverse "stablehlo.reverse" Pure Movement ["dimensions"];
    Slice "stablehlo.slice" Pure Movement ["limit_indices" "start_indices" "strides"];
    RealDynamicSlice "stablehlo.real_dynamic_slice" Pure Movement [];
    Transpose "stablehlo.transpose" Pure Movement ["permutation"];
    GetDimensionSize "stablehlo.get_dimension_size" Pure Structural ["dimension"];
    SetDimensionSize "stablehlo.set_dimension_size" Pure Structural ["dimension"];
    DynamicSlice "stablehlo.dynamic_slice" Pure Gather ["slice_sizes"];
    DynamicUpdateSlice "stablehlo.dynamic_update_slice" Pure Scatter [];
    Gather "stablehlo.gather" Pure Gather ["dimension_numbers" "indices_are_sorted" "slice_sizes"];
    DynamicGather "stablehlo.dynamic_gather" Pure Gather ["dimension_numbers" "indices_are_sorted"];
    TorchIndexSelect "stablehlo.torch_index_select" Pure Gather ["batch_dims" "dim"];
    Scatter "stablehlo.scatter" OfRegions Scatter ["indices_are_sorted" "scatter_dimension_numbers" "unique_indices"];

    // Contractions, reductions, sort, linear algebra.
    Dot "stablehlo.dot" Pure Dot ["precision_config"];
    DotGeneral "stablehlo.dot_general" Pure Dot ["algorithm" "dot_dimension_numbers" "precision_config"];
    Einsum "stablehlo.einsum" Pure Dot ["einsum_config"];
    UnaryEinsum "stablehlo.unary_einsum" Pure Dot ["einsum_config"];
    Convolution "stablehlo.convolution" Pure Convolution
        ["batch_group_count" "dimension_numbers" "feature_group_count" "lhs_dilation" "padding" "precision_config"
         "rhs_dilation" "window_reversal" "window_strides"];
    DynamicConv "stablehlo.dynamic_conv" Pure Convolution
        ["batch_group_count" "dimension_numbers" "feature_group_count" "lhs_dilation" "padding" "precision_config"
         "rhs_dilation" "window_reversal" "window_strides"];
    Reduce "stablehlo.reduce" OfRegions Reduction ["dimensions"];
    ReduceWindow "stablehlo.reduce_window" OfRegions Reduction
        ["base_dilations" "padding" "window_dilations" "window_dimensions" "window_strides"];
    SelectAndScatter "stablehlo.select_and_scatter" OfRegions Scatter ["padding" "window_dimensions" "window_strides"];
    Sort "stablehlo.sort" OfRegions Sort ["dimension" "is_stable"];
    BatchNormTraining "stablehlo.batch_norm_training" Pure Reduction ["epsilon" "feature_index"];
    BatchNormInference "stablehlo.batch_norm_inference" Pure Elementwise(6) ["epsilon" "feature_index"];
    BatchNormGrad "stablehlo.batch_norm_grad" Pure Reduction ["epsilon" "feature_index"];
    Fft "stablehlo.fft" Pure LinearAlgebra ["fft_length" "fft_type"];
    Cholesky "stablehlo.cholesky" Pure LinearAlgebra ["lower"];
    TriangularSolve "stablehlo.triangular_solve" Pure LinearAlgebra
        ["left_side" "lower" "transpose_a" "unit_diagonal"];

    // Random numbers.
    Rng "stablehlo.rng" HiddenState Random ["rng_distribution"];
    RngBitGenerator "stablehlo.rng_bit_generator" Pure Random ["rng_algorithm"];

    // Control.
    While "stablehlo.while" OfRegions Control [];
    If "stablehlo.if" OfRegions Control [];
    Case "stablehlo.case" OfRegions Control [];
    Map "stablehlo.map" OfRegions Control ["dimensions"];
    Composite "stablehlo.composite" OfCallee Call
        ["composite_attributes" "composite_regions" "decomposition" "name" "version"];
    CustomCall "stablehlo.custom_call" OfAttributes Call
        ["api_version" "backend_config" "call_target_name" "called_computations" "has_side_effect" "operand_layouts"
         "output_operand_aliases" "result_layouts"];

    // Structure.
    OptimizationBarrier "stablehlo.optimization_barrier" Pure Structural [];
    AfterAll "stablehlo.after_all" Pure Structural [];
    Tuple "stablehlo.tuple" Pure Structural [];
    GetTupleElement "stablehlo.get_tuple_element" Pure Structural ["index"];

    // Seen from outside, or from other partitions.
    Infeed "stablehlo.infeed" SideEffect Structural ["infeed_config" "layout"];
    Outfeed "stablehlo.outfeed" SideEffect Structural ["outfeed_config"];
    Send "stablehlo.send" SideEffect Collective ["channel_handle" "is_host_transfer" "source_target_pairs"];
    Recv "stablehlo.recv" SideEffect Collective ["channel_handle" "is_host_transfer" "source_target_pairs"];
    PartitionId "stablehlo.partition_id" Pure Structural [];
    ReplicaId "stablehlo.replica_id" Pure Structural [];
    AllGather "stablehlo.all_gather" Collective Collective
        ["all_gather_dim" "channel_handle" "replica_groups" "use_global_device_ids"];
    AllReduce "stablehlo.all_reduce" Collective Collective
        ["channel_handle" "replica_groups" "use_global_device_ids"];
    AllToAll "stablehlo.all_to_all" Collective Collective
        ["channel_handle" "concat_dimension" "replica_groups" "split_count" "split_dimension"];
    CollectiveBroadcast "stablehlo.collective_broadcast" Collective Collective
        ["channel_handle" "has_dynamic_root" "replica_groups"];
    CollectivePermute "stablehlo.collective_permute" Collective Collective ["channel_handle" "source_target_pairs"];
    CollectiveReduce "stablehlo.collective_reduce" Collective Collective
        ["channel_handle" "has_dynamic_root" "replica_groups" "use_global_device_ids"];
    CrossReplicaSum "stablehlo.cross-replica-sum" Collective Collective ["replica_groups"];
    ReduceScatter "stablehlo.reduce_scatter" Collective Collective
        ["channel_handle" "replica_groups" "scatter_dimension" "use_global_device_ids"];
    AsyncStart "stablehlo.async_start" Collective Collective [];
    AsyncDone "stablehlo.async_done" Collective Collective [];

    // CHLO, as JAX prints it.
    ChloAcos "chlo.acos" Pure Elementwise(25) [];
    ChloAcosh "chlo.acosh" Pure Elementwise(25) [];
    ChloAsin "chlo.asin" Pure Elementwise(25) [];
    ChloAsinh "chlo.asinh" Pure Elementwise(25) [];
    ChloAtan "chlo.atan" Pure Elementwise(20) [];
    ChloAtanh "chlo.atanh" Pure Elementwise(20) [];
    ChloBesselI1e "chlo.bessel_i1e" Pure Elementwise(40) [];
    ChloConj "chlo.conj" Pure Elementwise(1) [];
    ChloCosh "chlo.cosh" Pure Elementwise(25) [];
    ChloDigamma "chlo.digamma" Pure Elementwise(60) [];
    ChloErf "chlo.erf" Pure Elementwise(20) [];
    ChloErfInv "chlo.erf_inv" Pure Elementwise(30) [];
    ChloErfc "chlo.erfc" Pure Elementwise(30) [];
    ChloIsInf "chlo.is_inf" Pure Elementwise(1) [];
    ChloIsNegInf "chlo.is_neg_inf" Pure Elementwise(1) [];
    ChloIsPosInf "chlo.is_pos_inf" Pure Elementwise(1) [];
    ChloLgamma "chlo.lgamma" Pure Elementwise(60) [];
    ChloMulhi "chlo.mulhi" Pure Elementwise(1) [];
    ChloNextAfter "chlo.next_after" Pure Elementwise(10) [];
    ChloPolygamma "chlo.polygamma" Pure Elementwise(200) [];
    ChloRaggedDot "chlo.ragged_dot" Pure Dot ["precision_config" "ragged_dot_dimension_numbers"];
    ChloScan "chlo.scan" OfRegions Control
        ["dimension" "is_associative" "is_reverse" "operandSegmentSizes" "resultSegmentSizes" "scan_dim_size"];
    ChloSinh "chlo.sinh" Pure Elementwise(25) [];
    ChloSquare "chlo.square" Pure Elementwise(1) [];
    ChloTan "chlo.tan" Pure Elementwise(20) [];
    ChloTopK "chlo.top_k" Pure Sort ["k"];
    ChloZeta "chlo.zeta" Pure Elementwise(200) [];
    ChloConstant "chlo.constant" Pure Constant ["value"];
    ChloConstantLike "chlo.constant_like" Pure Constant ["value"];
    ChloBroadcastAdd "chlo.broadcast_add" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastAnd "chlo.broadcast_and" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastAtan2 "chlo.broadcast_atan2" Pure Elementwise(20) ["broadcast_dimensions"];
    ChloBroadcastCompare "chlo.broadcast_compare" Pure Elementwise(1)
        ["broadcast_dimensions" "compare_type" "comparison_direction"];
    ChloBroadcastComplex "chlo.broadcast_complex" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastDivide "chlo.broadcast_divide" Pure Elementwise(4) ["broadcast_dimensions"];
    ChloBroadcastMaximum "chlo.broadcast_maximum" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastMinimum "chlo.broadcast_minimum" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastMultiply "chlo.broadcast_multiply" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastNextAfter "chlo.broadcast_next_after" Pure Elementwise(10) ["broadcast_dimensions"];
    ChloBroadcastOr "chlo.broadcast_or" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastPolygamma "chlo.broadcast_polygamma" Pure Elementwise(200) ["broadcast_dimensions"];
    ChloBroadcastPower "chlo.broadcast_power" Pure Elementwise(30) ["broadcast_dimensions"];
    ChloBroadcastRemainder "chlo.broadcast_remainder" Pure Elementwise(8) ["broadcast_dimensions"];
    ChloBroadcastSelect "chlo.broadcast_select" Pure Elementwise(1) [];
    ChloBroadcastShiftLeft "chlo.broadcast_shift_left" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastShiftRightArithmetic "chlo.broadcast_shift_right_arithmetic" Pure Elementwise(1)
        ["broadcast_dimensions"];
    ChloBroadcastShiftRightLogical "chlo.broadcast_shift_right_logical" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastSubtract "chlo.broadcast_subtract" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastXor "chlo.broadcast_xor" Pure Elementwise(1) ["broadcast_dimensions"];
    ChloBroadcastZeta "chlo.broadcast_zeta" Pure Elementwise(200) ["broadcast_dimensions"];

    // Shardy: where the parts of a value lie, not what it is.
    SdyShardingConstraint "sdy.sharding_constraint" Pure Elementwise(0) ["sharding"];

    // StableHLO's own test dialects.
    CheckExpectEq "check.expect_eq" SideEffect Unknown [];
    CheckExpectEqConst "check.expect_eq_const" SideEffect Unknown ["value"];
    CheckExpectAlmostEq "check.expect_almost_eq" SideEffect Unknown ["tolerance"];
    CheckExpectAlmostEqConst "check.expect_almost_eq_const" SideEffect Unknown ["tolerance" "value"];
    CheckExpectClose "check.expect_close" SideEffect Unknown ["max_ulp_difference" "min_ulp_difference"];
    CheckExpectCloseConst "check.expect_close_const" SideEffect Unknown
        ["max_ulp_difference" "min_ulp_difference" "value"];
    CheckExpectSerializedEq "check.expect_serialized_eq" SideEffect Unknown ["iteration" "probe_id"];
    InterpreterPrint "interpreter.print" SideEffect Unknown [];
    InterpreterProbe "interpreter.probe" SideEffect Unknown ["probe_id"];
    InterpreterRunParallel "interpreter.run_parallel" SideEffect Unknown ["infeed" "programs"];
}

impl OpKind {
    /// The kind of a full operation name (`stablehlo.add`).
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        use std::collections::HashMap;
        use std::sync::LazyLock;
        static INDEX: LazyLock<HashMap<&str, OpKind>> =
            LazyLock::new(|| TABLE.iter().map(|(kind, info)| (info.name, *kind)).collect());
        INDEX.get(name).copied().unwrap_or(Self::Unknown)
    }

    /// The table's row.
    #[must_use]
    pub fn info(self) -> &'static OpInfo {
        // The table is declared in the order of the variants, `Unknown` last.
        TABLE.get(self as usize).map_or(&UNKNOWN, |(_, info)| info)
    }

    /// The full name; empty for [`OpKind::Unknown`].
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// What running it does, as far as the kind alone tells.
    #[must_use]
    pub fn effect(self) -> Effect {
        self.info().effect
    }

    /// What work it is.
    #[must_use]
    pub fn category(self) -> Category {
        self.info().category
    }

    /// Whether it ends a block.
    #[must_use]
    pub fn is_terminator(self) -> bool {
        self.effect() == Effect::Terminator
    }
}

impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Unknown { "unknown" } else { self.name() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_variants() {
        for (index, (kind, info)) in TABLE.iter().enumerate() {
            assert_eq!(*kind as usize, index);
            assert_eq!(OpKind::from_name(info.name), *kind);
        }
    }

    #[test]
    fn inherent_attributes_are_sorted() {
        for (_, info) in TABLE {
            assert!(info.inherent.is_sorted(), "{}", info.name);
        }
    }
}
