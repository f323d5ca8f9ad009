// A donated argument's buffer is free after its last use, so the peak counts
// it no longer.
// RUN: ckpt-opt %s --remat=none --json=%t -o /dev/null
// RUN: FileCheck %s < %t
// Held at the end: %kept, the two results. At the first product: %w, %x,
// %kept, %0 and nothing more; at the second %x is gone.
// CHECK: "argument_bytes": 192,
// CHECK: "baseline_peak_bytes": 256,
// CHECK: "peak_bytes": 256,
func.func public @main(%w: tensor<4x4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<4x4xf32> {jax.buffer_donor = true}, %kept: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %kept, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
