// Locations are read and, when asked for, printed; an explanation names them.
// RUN: ckpt-opt %s | FileCheck %s --check-prefix=PLAIN
// RUN: ckpt-opt %s --mlir-print-debuginfo -o %t.1
// RUN: FileCheck %s --check-prefix=DEBUG < %t.1
// RUN: ckpt-opt %t.1 --mlir-print-debuginfo | cmp - %t.1
// RUN: ckpt-opt explain %s --remat=none | FileCheck %s --check-prefix=EXPLAIN

// PLAIN: stablehlo.tanh %arg0 : tensor<256xf32>{{$}}
// PLAIN-NOT: loc(
// DEBUG: stablehlo.tanh %arg0 : tensor<256xf32> loc(
// DEBUG: "jit(step)/tanh"
// DEBUG-SAME: "model.py":7:11
// EXPLAIN: stablehlo.tanh {{.*}}model.py:7 (jit(step)/tanh)
func.func @main(%arg0: tensor<256xf32>) -> tensor<256xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<256xf32> loc("jit(step)/tanh"("model.py":7:11))
  return %0 : tensor<256xf32>
}
