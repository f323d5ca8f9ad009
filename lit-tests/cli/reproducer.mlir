// A reproducer holds the command line and the text, and runs alike.
// RUN: echo '// ckpt-opt elsewhere.mlir --pass-pipeline=dce' > %t
// RUN: cat %s >> %t
// RUN: ckpt-opt --run-reproducer %t | FileCheck %s
// RUN: ckpt-opt --run-reproducer=%t | FileCheck %s
// CHECK-NOT: stablehlo.tanh
// CHECK: return %arg0
// RUN: not --exit 1 ckpt-opt --run-reproducer %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: is no reproducer
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %arg0 : tensor<4xf32>
}
