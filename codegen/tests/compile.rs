//! What compiling a list of kernels gives, and the text of each stage.

#![allow(clippy::unwrap_used)]

mod common;
use ckpt_codegen::kernels::{KernelSource, NoPath, Stage, compile, emit};
use ckpt_ir::OpKind;

const TEXT: &str = "func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>, %e: tensor<0xf32>) -> tensor<64xf32> {
  %0 = stablehlo.add %a, %b : tensor<64xf32>
  %1 = stablehlo.add %0, %a : tensor<64xf32>
  %2 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
  %3 = stablehlo.negate %e : tensor<0xf32>
  return %1 : tensor<64xf32>
}";

#[test]
fn equal_kernels_are_compiled_once_and_others_say_why_not() {
    let module = common::parse(TEXT);
    let block = module.function_body(module.functions().next().unwrap()).unwrap();
    let ops = &module.block(block).ops;
    let single = |at: usize| KernelSource {
        name: String::new(),
        ops: vec![ops[at]],
        inputs: module.op(ops[at]).operands.to_vec(),
        outputs: module.op(ops[at]).results.to_vec(),
    };
    let kernels = [single(0), single(1), single(2), single(3)];
    let object = compile(&module, &kernels).unwrap();
    assert_eq!(object.functions, 1);
    assert_eq!(object.kernels[0], object.kernels[1]);
    assert_eq!(object.kernels[0].as_ref().unwrap().extent, 64);
    assert_eq!(object.no_path, [(2, NoPath::Operation(OpKind::DotGeneral)), (3, NoPath::Shape)]);
    assert!(object.shared_library.starts_with(b"\x7fELF"));
    let stages = [
        (Stage::Linalg, "scf.for"),
        (Stage::LlvmMlir, "llvm.func"),
        (Stage::LlvmIr, "define"),
        (Stage::Asm, "kernel_0:"),
    ];
    for (stage, mark) in stages {
        assert!(emit(&module, &kernels, stage).unwrap().contains(mark), "{stage:?}");
    }
}

#[test]
fn without_kernels_there_is_no_library() {
    let module = common::parse(TEXT);
    let object = compile(&module, &[]).unwrap();
    assert!(object.shared_library.is_empty() && object.kernels.is_empty());
}
