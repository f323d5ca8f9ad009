// The barriers of jax.checkpoint go when the planner decides anew, and stay
// when nothing is to be transformed.
// RUN: ckpt-opt %s --remat=min 2> %t.err | FileCheck %s --check-prefix=MIN
// RUN: ckpt-opt %s | FileCheck %s --check-prefix=NONE
// MIN-NOT: optimization_barrier
// MIN: stablehlo.tanh %arg0
// NONE: optimization_barrier
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
