//! Runs functions both ways: as one compiled kernel, and operation by operation.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    unsafe_code,
    dead_code,
    unreachable_pub,
    missing_docs
)]

pub mod models;

use ckpt_codegen::kernels::{KernelInfo, KernelSource, Object, compile};
use ckpt_interp::{Tensor, Value, evaluate};
use ckpt_ir::{ElementType, Module, OpId, ValueId};
use std::ffi::c_void;

/// A loaded library of kernels.
pub struct Loaded {
    library: libloading::Library,
    _file: tempfile::TempDir,
}

impl Loaded {
    pub fn new(object: &Object) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernels.so");
        std::fs::write(&path, &object.shared_library).unwrap();
        // SAFETY: the library was just linked from kernels, which have no constructors.
        let library = unsafe { libloading::Library::new(&path).unwrap() };
        Self { library, _file: folder }
    }

    /// Calls a kernel for the parts of its range.
    pub fn call(&self, info: &KernelInfo, buffers: &[*mut c_void], parts: u64) {
        type Kernel = unsafe extern "C" fn(*const *mut c_void, u64, u64);
        // SAFETY: the symbol has this signature, and the buffers the sizes of its operands.
        unsafe {
            let kernel: libloading::Symbol<'_, Kernel> = self.library.get(info.symbol.as_bytes()).unwrap();
            for part in 0..parts {
                kernel(buffers.as_ptr(), info.extent * part / parts, info.extent * (part + 1) / parts);
            }
        }
    }
}

/// A deterministic stream of numbers.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ self.0 >> 33;
        x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ x >> 29
    }

    /// About standard normal.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| (self.next() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
    }
}

/// Random elements of a type.
pub fn random(element: ElementType, shape: &[usize], random: &mut Random) -> Tensor {
    let count = shape.iter().product::<usize>();
    let count = if element.is_complex() { 2 * count } else { count };
    let values: Vec<f64> = (0..count)
        .map(|_| match element {
            ElementType::Bool => (random.next() & 1) as f64,
            ElementType::Int(bits) => ((random.next() as i64) >> (64 - bits.min(40))) as f64,
            ElementType::Uint(bits) => (random.next() >> (64 - bits.min(40))) as f64,
            _ => 2.0 * random.normal(),
        })
        .collect();
    Tensor::from_f64s(element, shape, &values).unwrap()
}

pub fn shape_of(module: &Module, value: ValueId) -> Vec<usize> {
    let shape = module.tensor_type(value).unwrap().static_shape().unwrap();
    shape.into_iter().map(|size| size as usize).collect()
}

/// A function as one kernel.
pub fn whole(module: &Module, function: OpId) -> KernelSource {
    let block = module.function_body(function).unwrap();
    let terminator = module.terminator(block).unwrap();
    KernelSource {
        name: "main".to_owned(),
        ops: module.block(block).ops.iter().copied().filter(|op| *op != terminator).collect(),
        inputs: module.block(block).arguments.clone(),
        outputs: module.op(terminator).operands.to_vec(),
    }
}

/// Parses a module.
pub fn parse(text: &str) -> Module {
    ckpt_ir::text::parse(&ckpt_ir::SourceText::new("test.mlir", text))
        .unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// Compiles the main function as one kernel, runs it on `inputs`, and returns
/// its outputs beside those of the evaluator. Splits of the range must agree.
pub fn both(module: &Module, inputs: &[Tensor]) -> Vec<(Tensor, Tensor)> {
    let function = module.functions().next().unwrap();
    let source = whole(module, function);
    let object = compile(module, std::slice::from_ref(&source)).unwrap();
    let Some(info) = &object.kernels[0] else { panic!("no fast path: {:?}", object.no_path) };
    let loaded = Loaded::new(&object);
    let arguments = inputs.iter().cloned().map(Value::Tensor).collect();
    let expected = evaluate(module, function, arguments).unwrap();
    let run = |parts: u64| {
        let mut memory: Vec<Vec<u8>> = inputs.iter().map(Tensor::to_bytes).collect();
        let outputs = source.outputs.iter().map(|v| module.types.bytes(module.value_type(*v)).unwrap());
        memory.extend(outputs.map(|bytes| vec![0xa5; bytes.0 as usize]));
        let buffers: Vec<*mut c_void> = memory.iter_mut().map(|m| m.as_mut_ptr().cast()).collect();
        loaded.call(info, &buffers, parts);
        memory.split_off(inputs.len())
    };
    let outputs = run(1);
    assert_eq!(outputs, run(3), "three parts give other bits");
    assert_eq!(outputs, run(info.extent.min(100)), "many parts give other bits");
    let results = source.outputs.iter().zip(outputs).zip(expected).map(|((value, bytes), expected)| {
        let Value::Tensor(expected) = expected else { panic!("no tensor") };
        let shape = shape_of(module, *value);
        (Tensor::from_bytes(expected.element, &shape, &bytes).unwrap(), expected)
    });
    results.collect()
}

/// As numbers, parts of complex elements apart.
pub fn numbers(tensor: &Tensor) -> Vec<f64> {
    let bytes = tensor.to_bytes();
    let f32s = |b: &[u8]| f64::from(f32::from_le_bytes(b.try_into().unwrap()));
    match tensor.element {
        ElementType::F32 | ElementType::Complex64 => bytes.chunks(4).map(f32s).collect(),
        ElementType::F64 | ElementType::Complex128 => {
            bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
        }
        ElementType::Bf16 => bytes
            .chunks(2)
            .map(|b| f64::from(f32::from_bits(u32::from(u16::from_le_bytes(b.try_into().unwrap())) << 16)))
            .collect(),
        ElementType::F16 => bytes
            .chunks(2)
            .map(|b| {
                let bits = u16::from_le_bytes(b.try_into().unwrap());
                let (sign, e, m) = (bits >> 15, bits >> 10 & 31, f64::from(bits & 1023));
                let magnitude = match e {
                    0 => m * 2f64.powi(-24),
                    31 if m == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1024.0 + m) * 2f64.powi(i32::from(e) - 25),
                };
                if sign == 1 { -magnitude } else { magnitude }
            })
            .collect(),
        element => {
            let width = element.byte_width() as usize;
            let mut wide = |b: &[u8]| {
                let mut all = [0; 8];
                all[..width].copy_from_slice(b);
                i64::from_le_bytes(all) as f64
            };
            bytes.chunks(width).map(&mut wide).collect()
        }
    }
}

/// Fails unless two tensors are equal, any NaN for any, up to a relative error.
pub fn assert_close(got: &Tensor, expected: &Tensor, relative: f64, what: &str) {
    let (got, expected) = (numbers(got), numbers(expected));
    for (at, (g, e)) in got.iter().zip(&expected).enumerate() {
        let same = g.is_nan() && e.is_nan() || g == e && (g.is_sign_negative() == e.is_sign_negative());
        let scale = e.abs().max(f64::from(f32::MIN_POSITIVE));
        assert!(same || (g - e).abs() <= relative * scale, "{what}: element {at} is {g:e}, not {e:e}");
    }
}

/// Parses, runs both ways on random inputs, and compares.
pub fn check(text: &str, relative: f64) {
    let module = parse(text);
    let function = module.functions().next().unwrap();
    let mut numbers = Random(7);
    let block = module.function_body(function).unwrap();
    let arguments = module.block(block).arguments.iter();
    let inputs: Vec<Tensor> = arguments
        .map(|v| random(module.tensor_type(*v).unwrap().element, &shape_of(&module, *v), &mut numbers))
        .collect();
    for (got, expected) in both(&module, &inputs) {
        assert_close(&got, &expected, relative, text);
    }
}
