// The report on a program as it stands counted a barrier's results as buffers
// of their own, and the checker, for which they are the operands, refused.
// RUN: ckpt-opt %s --remat=none -o %t 2>&1 | FileCheck %s --check-prefix=VERDICT
// RUN: FileCheck %s < %t
// VERDICT: peak 32 B (without remat 32 B)
// CHECK: stablehlo.optimization_barrier %a
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
