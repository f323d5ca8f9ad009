// Streams that cannot be written, and paths that are no text.
// RUN: ckpt-opt %s --remat=min -o %t 2>/dev/full
// RUN: FileCheck %s < %t
// RUN: ckpt-opt %s 2>%t.err | true
// RUN: not --exit 2 ckpt-opt $'\377.mlir' 2>&1 | FileCheck %s --check-prefix=PATH
// PATH: arguments must be UTF-8
// CHECK: func.func @main
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
