//! A handful of programs with all that the checker must tell apart.

use super::build::Build;
use ckpt_ir::{Attr, ElementType, Module, OpKind, ValueId};

/// All programs by name.
pub fn all() -> Vec<(&'static str, Module)> {
    vec![
        ("mlp", mlp()),
        ("effects", effects()),
        ("control", control()),
        ("calls", calls()),
        ("movement", movement()),
    ]
}

fn dot(b: &mut Build, x: ValueId, y: ValueId, shape: &[u64], contracting: (i64, i64)) -> ValueId {
    let dims = ckpt_ir::DotDims {
        lhs_contracting: vec![contracting.0],
        rhs_contracting: vec![contracting.1],
        ..Default::default()
    };
    let dims = b.attr(Attr::DotDims(dims));
    let precision = b.enumeration("precision", "DEFAULT");
    let precision = b.attr(Attr::Array(vec![precision, precision]));
    let ty = b.f32(shape);
    let properties = [("dot_dimension_numbers", dims), ("precision_config", precision)];
    b.op(OpKind::DotGeneral, &[x, y], ty, &properties)
}

/// Two layers forward and backward, donated parameters.
pub fn mlp() -> Module {
    let mut b = Build::new();
    let (x, w) = (b.f32(&[8, 16]), b.f32(&[16, 16]));
    let main = b.function("main", &[x, w, w], &[x, w, w]);
    let (input, w1, w2) = (b.argument(0), b.argument(1), b.argument(2));
    let h1 = dot(&mut b, input, w1, &[8, 16], (1, 0));
    let a1 = b.same(OpKind::Tanh, &[h1]);
    let h2 = dot(&mut b, a1, w2, &[8, 16], (1, 0));
    let a2 = b.same(OpKind::Tanh, &[h2]);
    let loss = b.same(OpKind::Subtract, &[a2, input]);
    let one = b.constant(x, &1f32.to_le_bytes(), true);
    let square = b.same(OpKind::Multiply, &[a2, a2]);
    let slope = b.same(OpKind::Subtract, &[one, square]);
    let d2 = b.same(OpKind::Multiply, &[loss, slope]);
    let g2 = dot(&mut b, a1, d2, &[16, 16], (0, 0));
    let da1 = dot(&mut b, d2, w2, &[8, 16], (1, 1));
    let square = b.same(OpKind::Multiply, &[a1, a1]);
    let slope = b.same(OpKind::Subtract, &[one, square]);
    let d1 = b.same(OpKind::Multiply, &[da1, slope]);
    let g1 = dot(&mut b, input, d1, &[16, 16], (0, 0));
    let n1 = b.same(OpKind::Subtract, &[w1, g1]);
    let n2 = b.same(OpKind::Subtract, &[w2, g2]);
    b.ret(&[loss, n1, n2]);
    donate(&mut b, main, &[1, 2]);
    b.module
}

pub fn donate(b: &mut Build, function: ckpt_ir::OpId, arguments: &[usize]) {
    let block = b.module.function_body(function).unwrap();
    let count = b.module.block(block).arguments.len();
    let name = b.module.names.intern("tf.aliasing_output");
    let attrs = (0..count).map(|index| {
        let entries =
            if arguments.contains(&index) { vec![(name, b.int(index as i128))] } else { Vec::new() };
        b.attr(Attr::Dictionary(entries))
    });
    let attrs: Vec<_> = attrs.collect();
    let attrs = b.attr(Attr::Array(attrs));
    let symbol = b.module.names.intern("arg_attrs");
    b.module.op_mut(function).properties.insert(0, (symbol, attrs));
}

/// Random numbers, custom calls with and without effects, a collective, an
/// operation without a row, a barrier of the user's.
pub fn effects() -> Module {
    let mut b = Build::new();
    let x = b.f32(&[4, 4]);
    let scalar = b.f32(&[]);
    b.function("main", &[x, scalar, scalar], &[x, x, x]);
    let (input, low, high) = (b.argument(0), b.argument(1), b.argument(2));
    let i64x2 = b.tensor(&[2], ElementType::Int(64));
    let shape = b.constant(i64x2, &[4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0], false);
    let rng = |b: &mut Build| {
        let uniform = b.enumeration("rng_distribution", "UNIFORM");
        b.op(OpKind::Rng, &[low, high, shape], x, &[("rng_distribution", uniform)])
    };
    let custom = |b: &mut Build, target: &str, effect: bool, operand: ValueId| {
        let target = b.string(target);
        let effect = b.attr(Attr::Bool(effect));
        let properties = [("call_target_name", target), ("has_side_effect", effect)];
        b.op(OpKind::CustomCall, &[operand], x, &properties)
    };
    let noise = rng(&mut b);
    let first = b.same(OpKind::Multiply, &[input, noise]);
    let second_noise = rng(&mut b);
    let second = b.same(OpKind::Subtract, &[first, second_noise]);
    let seen = custom(&mut b, "log", true, second);
    custom(&mut b, "log", true, first);
    let pure = custom(&mut b, "gelu", false, first);
    let handle = b.attr(Attr::ChannelHandle { handle: 1, ty: 1 });
    let sum = b.add(OpKind::AllReduce, &[pure], &[x], &[("channel_handle", handle)]);
    let outer = b.block;
    b.enter(sum, &[scalar, scalar]);
    let (p, q) = (b.argument(0), b.argument(1));
    let total = b.same(OpKind::Add, &[p, q]);
    b.yield_(&[total]);
    b.block = outer;
    let sum = b.module.op(sum).results[0];
    let strange = b.unknown("vendor.thing", &[sum, seen], &[x, x]);
    let strange = b.results(strange);
    let tied = b.add(OpKind::OptimizationBarrier, &[strange[0], second], &[x, x], &[]);
    let tied = b.results(tied);
    let last = b.same(OpKind::Divide, &[tied[0], tied[1]]);
    b.ret(&[last, strange[1], noise]);
    b.module
}

/// A loop with recomputable work and an effect in its body, a sort, branches.
pub fn control() -> Module {
    let mut b = Build::new();
    let (x, int, bool_) =
        (b.f32(&[8]), b.tensor(&[], ElementType::Int(32)), b.tensor(&[], ElementType::Bool));
    let scalar = b.f32(&[]);
    b.function("main", &[x, x, int], &[x, x, x]);
    let (input, weight, count) = (b.argument(0), b.argument(1), b.argument(2));
    let zero = b.constant(int, &0i32.to_le_bytes(), true);
    let main = b.block;
    let while_ = b.add(OpKind::While, &[zero, input, weight], &[int, x, x], &[]);
    b.enter(while_, &[int, x, x]);
    let less = b.enumeration("comparison_direction", "LT");
    let i = b.argument(0);
    let more = b.op(OpKind::Compare, &[i, count], bool_, &[("comparison_direction", less)]);
    b.yield_(&[more]);
    b.enter(while_, &[int, x, x]);
    let (i, u, v) = (b.argument(0), b.argument(1), b.argument(2));
    let one = b.constant(int, &1i32.to_le_bytes(), true);
    let next = b.same(OpKind::Add, &[i, one]);
    let t = b.same(OpKind::Tanh, &[u]);
    let s = b.same(OpKind::Subtract, &[t, weight]);
    let target = b.string("trace");
    let effect = b.attr(Attr::Bool(true));
    let properties = [("call_target_name", target), ("has_side_effect", effect)];
    b.add(OpKind::CustomCall, &[s], &[], &properties);
    let p = b.same(OpKind::Power, &[t, v]);
    b.yield_(&[next, s, p]);
    b.block = main;
    let looped = b.results(while_);

    let dimension = b.int(0);
    let stable = b.attr(Attr::Bool(true));
    let properties = [("dimension", dimension), ("is_stable", stable)];
    let sort = b.add(OpKind::Sort, &[looped[1], looped[2]], &[x, x], &properties);
    b.enter(sort, &[scalar, scalar, scalar, scalar]);
    let (p, q) = (b.argument(0), b.argument(1));
    let order = b.op(OpKind::Compare, &[p, q], bool_, &[("comparison_direction", less)]);
    b.yield_(&[order]);
    b.block = main;
    let sorted = b.results(sort);

    let case = b.add(OpKind::Case, &[looped[0]], &[x, x], &[]);
    b.enter(case, &[]);
    let d = b.same(OpKind::Divide, &[sorted[0], weight]);
    b.yield_(&[d, sorted[1]]);
    b.enter(case, &[]);
    let e = b.same(OpKind::Exponential, &[sorted[0]]);
    let e = b.same(OpKind::Subtract, &[e, input]);
    b.yield_(&[e, weight]);
    b.block = main;
    let branch = b.results(case);
    let zero = b.constant(scalar, &0f32.to_le_bytes(), true);
    let total = b.reduce(OpKind::Add, branch[0], zero, 0, scalar);
    let dims = b.ints(&[]);
    let spread = b.op(OpKind::BroadcastInDim, &[total], x, &[("broadcast_dimensions", dims)]);
    b.ret(&[branch[0], branch[1], spread]);
    b.module
}

/// A pure function called twice, one with effects, a composite.
pub fn calls() -> Module {
    let mut b = Build::new();
    let x = b.f32(&[4]);
    b.function("main", &[x, x], &[x, x]);
    let (p, q) = (b.argument(0), b.argument(1));
    let call = |b: &mut Build, callee: &str, operands: &[ValueId]| {
        let symbol = b.module.names.intern(callee);
        let callee = b.attr(Attr::SymbolRef(vec![symbol]));
        b.op(OpKind::FuncCall, operands, x, &[("callee", callee)])
    };
    let first = call(&mut b, "pure", &[p, q]);
    let noisy = call(&mut b, "noisy", &[first]);
    let again = call(&mut b, "noisy", &[noisy]);
    let second = call(&mut b, "pure", &[again, p]);
    let name = b.string("vendor.square");
    let symbol = b.module.names.intern("square");
    let decomposition = b.attr(Attr::SymbolRef(vec![symbol]));
    let properties = [("decomposition", decomposition), ("name", name)];
    let square = b.op(OpKind::Composite, &[second], x, &properties);
    b.ret(&[square, noisy]);
    b.function("pure", &[x, x], &[x]);
    let (p, q) = (b.argument(0), b.argument(1));
    let t = b.same(OpKind::Tanh, &[p]);
    let d = b.same(OpKind::Divide, &[t, q]);
    b.ret(&[d]);
    b.function("noisy", &[x], &[x]);
    let p = b.argument(0);
    let op = b.unknown("vendor.noise", &[p], &[x]);
    let noise = b.results(op)[0];
    let s = b.same(OpKind::Subtract, &[p, noise]);
    b.ret(&[s]);
    b.function("square", &[x], &[x]);
    let p = b.argument(0);
    let s = b.same(OpKind::Multiply, &[p, p]);
    b.ret(&[s]);
    b.module
}

/// Literals, index arithmetic, gather, selection.
pub fn movement() -> Module {
    let mut b = Build::new();
    let (x, half, flat) = (b.f32(&[4, 4]), b.f32(&[4, 2]), b.f32(&[16]));
    let (index, mask) = (b.tensor(&[4, 1], ElementType::Int(32)), b.tensor(&[4, 4], ElementType::Bool));
    b.function("main", &[x, x, index], &[x, flat]);
    let (p, q, at) = (b.argument(0), b.argument(1), b.argument(2));
    let slice = |b: &mut Build, start: i64| {
        let (starts, limits, strides) = (b.ints(&[0, start]), b.ints(&[4, start + 2]), b.ints(&[1, 1]));
        let properties = [("start_indices", starts), ("limit_indices", limits), ("strides", strides)];
        b.op(OpKind::Slice, &[p], half, &properties)
    };
    let (left, right) = (slice(&mut b, 0), slice(&mut b, 2));
    let dimension = b.int(1);
    let turned = b.op(OpKind::Concatenate, &[right, left], x, &[("dimension", dimension)]);
    let order = b.ints(&[1, 0]);
    let across = b.op(OpKind::Transpose, &[turned], x, &[("permutation", order)]);
    let greater = b.enumeration("comparison_direction", "GT");
    let float = b.enumeration("comparison_type", "FLOAT");
    let properties = [("comparison_direction", greater), ("compare_type", float)];
    let bits = b.op(OpKind::Compare, &[across, q], mask, &properties);
    let literal: Vec<u8> = (0..16).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let table = b.constant(x, &literal, false);
    let chosen = b.op(OpKind::Select, &[bits, across, table], x, &[]);
    let dims = ckpt_ir::GatherDims {
        offset_dims: vec![1],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: 1,
        ..Default::default()
    };
    let (dims, sizes) = (b.attr(Attr::GatherDims(dims)), b.ints(&[1, 4]));
    let sorted = b.attr(Attr::Bool(false));
    let properties = [("dimension_numbers", dims), ("indices_are_sorted", sorted), ("slice_sizes", sizes)];
    let rows = b.op(OpKind::Gather, &[chosen, at], x, &properties);
    let tensor = b.same(OpKind::Atan2, &[rows, chosen]);
    let long = b.op(OpKind::Reshape, &[tensor], flat, &[]);
    let reversed = b.ints(&[0]);
    let long = b.op(OpKind::Reverse, &[long], flat, &[("dimensions", reversed)]);
    b.ret(&[rows, long]);
    b.module
}
