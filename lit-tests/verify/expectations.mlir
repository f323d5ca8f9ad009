// Comments say which errors a text gives, piece by piece.
// RUN: ckpt-opt %s --verify-diagnostics --split-input-file
// RUN: sed 's/is not defined/is blue/' %s > %t.mlir
// RUN: not --exit 1 ckpt-opt %t.mlir --verify-diagnostics --split-input-file 2>&1 | FileCheck %s
// CHECK: t.mlir:[[#]]:1: error: expected error "value %1 is blue" was not produced
// CHECK: error: unexpected error: value %1 is not defined
func.func @first(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{value %1 is not defined}}
  return %1 : tensor<4xf32>
}

// -----

func.func @second(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
