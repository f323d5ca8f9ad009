//! Rates of typical kernels on one core, beside a copy of the same bytes:
//! `cargo test --release -p ckpt-codegen --test speed -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;
use ckpt_codegen::kernels::compile;
use common::{Loaded, Random, models, parse, random, shape_of, whole};
use std::time::Instant;

/// Smallest time of several runs, in milliseconds.
fn fastest(mut run: impl FnMut()) -> f64 {
    let time = |()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e3
    };
    [(); 7].map(time).into_iter().fold(f64::MAX, f64::min)
}

fn measure(what: &str, text: &str) {
    let module = parse(text);
    let source = whole(&module, module.functions().next().unwrap());
    let object = compile(&module, std::slice::from_ref(&source)).unwrap();
    let info = object.kernels[0].clone().unwrap_or_else(|| panic!("{what}: {:?}", object.no_path));
    let loaded = Loaded::new(&object);
    let mut numbers = Random(3);
    let mut memory: Vec<Vec<u8>> = source
        .inputs
        .iter()
        .map(|v| {
            let element = module.tensor_type(*v).unwrap().element;
            let pattern = random(element, &[4096], &mut numbers).to_bytes();
            let bytes = module.types.bytes(module.value_type(*v)).unwrap().0 as usize;
            let _ = shape_of(&module, *v);
            pattern.iter().copied().cycle().take(bytes).collect()
        })
        .collect();
    let outputs = source.outputs.iter().map(|v| module.types.bytes(module.value_type(*v)).unwrap().0);
    memory.extend(outputs.map(|bytes| vec![0u8; bytes as usize]));
    let total: usize = memory.iter().map(Vec::len).sum();
    let buffers: Vec<*mut std::ffi::c_void> = memory.iter_mut().map(|m| m.as_mut_ptr().cast()).collect();
    let kernel = fastest(|| loaded.call(&info, &buffers, 1));
    let (from, mut to) = (vec![1u8; total / 2], vec![0u8; total / 2]);
    let copy = fastest(|| {
        to.copy_from_slice(&from);
        std::hint::black_box(&mut to);
    });
    eprintln!("{what:28} {:8} KiB  {kernel:8.3} ms, a copy {copy:8.3} ms", total >> 10);
}

#[test]
#[ignore = "a measurement"]
fn rates() {
    let unary = |kind: &str, ty: &str| {
        format!(
            "func.func @main(%a: tensor<{ty}>) -> tensor<{ty}> {{ %0 = {kind} %a : tensor<{ty}>\n return %0 : tensor<{ty}> }}"
        )
    };
    for kind in ["negate", "exponential", "tanh", "logistic", "log", "log_plus_one", "sine", "sqrt"] {
        measure(kind, &unary(&format!("stablehlo.{kind}"), "16x1024x1024xf32"));
    }
    measure("tanh bf16", &unary("stablehlo.tanh", "16x1024x1024xbf16"));
    measure("negate bf16", &unary("stablehlo.negate", "16x1024x1024xbf16"));
    measure("negate f16", &unary("stablehlo.negate", "16x1024x1024xf16"));
    let reduce = |kind: &str, of: &str, dims: &str, to: &str, element: &str| {
        format!(
            "func.func @main(%a: tensor<{of}x{element}>) -> tensor<{to}x{element}> {{
               %i = stablehlo.constant dense<0.0> : tensor<{element}>
               %0 = stablehlo.reduce(%a init: %i) applies stablehlo.{kind} across dimensions = [{dims}] : (tensor<{of}x{element}>, tensor<{element}>) -> tensor<{to}x{element}>
               return %0 : tensor<{to}x{element}> }}"
        )
    };
    for kind in ["add", "maximum"] {
        measure(&format!("rows {kind}"), &reduce(kind, "8192x1024", "1", "8192", "f32"));
        measure(&format!("short rows {kind}"), &reduce(kind, "262144x64", "1", "262144", "f32"));
        measure(&format!("columns {kind}"), &reduce(kind, "8192x1024", "0", "1024", "f32"));
    }
    measure("rows add bf16", &reduce("add", "8192x1024", "1", "8192", "bf16"));
    measure("middle add", &reduce("add", "64x128x1024", "1", "64x1024", "f32"));
    let transpose = |of: &str, to: &str, dims: &str| {
        format!(
            "func.func @main(%a: tensor<{of}xf32>) -> tensor<{to}xf32> {{ %0 = stablehlo.transpose %a, dims = [{dims}] : (tensor<{of}xf32>) -> tensor<{to}xf32>\n return %0 : tensor<{to}xf32> }}"
        )
    };
    measure("transpose", &transpose("4096x2048", "2048x4096", "1, 0"));
    measure("transpose heads", &transpose("16x512x12x64", "16x12x512x64", "0, 2, 1, 3"));
    measure("transpose keys", &transpose("16x512x12x64", "16x12x64x512", "0, 2, 3, 1"));
    measure(
        "softmax of masked scores",
        "func.func @main(%a: tensor<16x12x256x256xf32>, %m: tensor<16x12x256xf32>, %s: tensor<16x12x256xf32>) -> tensor<16x12x256x256xf32> {
           %0 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<16x12x256xf32>) -> tensor<16x12x256x256xf32>
           %1 = stablehlo.subtract %a, %0 : tensor<16x12x256x256xf32>
           %2 = stablehlo.exponential %1 : tensor<16x12x256x256xf32>
           %3 = stablehlo.broadcast_in_dim %s, dims = [0, 1, 2] : (tensor<16x12x256xf32>) -> tensor<16x12x256x256xf32>
           %4 = stablehlo.divide %2, %3 : tensor<16x12x256x256xf32>
           return %4 : tensor<16x12x256x256xf32> }",
    );
    measure(
        "concatenate inner",
        "func.func @main(%a: tensor<8192x512xf32>, %b: tensor<8192x512xf32>) -> tensor<8192x1024xf32> {
           %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<8192x512xf32>, tensor<8192x512xf32>) -> tensor<8192x1024xf32>
           return %0 : tensor<8192x1024xf32> }",
    );
    measure(
        "pad rows",
        "func.func @main(%a: tensor<64x30x30x64xf32>) -> tensor<64x32x32x64xf32> {
           %z = stablehlo.constant dense<0.0> : tensor<f32>
           %0 = stablehlo.pad %a, %z, low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<64x30x30x64xf32>, tensor<f32>) -> tensor<64x32x32x64xf32>
           return %0 : tensor<64x32x32x64xf32> }",
    );
}

/// The kernels of the benchmarks that take longest over a copy of their bytes.
#[test]
#[ignore = "a measurement"]
fn slowest_kernels_of_models() {
    /// Bytes per millisecond that one core copies.
    const RATE: f64 = 20e6;
    for name in ["bench_gpt.mlir", "bench_mlp.mlir", "bench_lstm.mlir", "bench_cnn.mlir"] {
        let Some((module, kernels, object)) = models::compiled(name, ckpt_passes::Policy::None) else {
            continue;
        };
        let loaded = Loaded::new(&object);
        let mut rows = Vec::new();
        for (kernel, info) in kernels.iter().zip(&object.kernels) {
            let Some(info) = info else { continue };
            let values = kernel.inputs.iter().chain(&kernel.outputs);
            let sizes = values.map(|v| module.types.bytes(module.value_type(*v)).unwrap().0 as usize);
            let mut memory: Vec<Vec<u8>> = sizes.map(|size| vec![0; size]).collect();
            let bytes: usize = memory.iter().map(Vec::len).sum();
            let buffers: Vec<*mut std::ffi::c_void> =
                memory.iter_mut().map(|m| m.as_mut_ptr().cast()).collect();
            let time = fastest(|| loaded.call(info, &buffers, 1));
            let root = module.op_name(*kernel.ops.last().unwrap()).to_owned();
            let ty = module
                .tensor_type(kernel.outputs[0])
                .map(|ty| format!("{:?}", ty.static_shape().unwrap_or_default()));
            rows.push((
                time - bytes as f64 / RATE,
                time,
                bytes,
                kernel.name.clone(),
                root,
                kernel.ops.len(),
                ty,
                info.symbol.clone(),
            ));
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total: f64 = rows.iter().map(|row| row.1).sum();
        eprintln!("{name}: {total:.1} ms in all kernels");
        for (over, time, bytes, name, root, ops, ty, symbol) in rows.into_iter().take(14) {
            eprintln!(
                "  {over:7.2} {time:7.2} ms {:7} KiB {symbol} {name} {root} {ops} ops {ty:?}",
                bytes >> 10
            );
        }
    }
}

/// Compile times and coverage of the largest models.
#[test]
#[ignore = "a measurement"]
fn large_models() {
    for name in [
        "gpt2_small.mlir",
        "gpt2_small_scan.mlir",
        "gpt_nano_dropout.mlir",
        "keras_resnet50.mlir",
        "unet.mlir",
        "lstm.mlir",
    ] {
        let _ = models::compiled(name, ckpt_passes::Policy::None);
    }
}
