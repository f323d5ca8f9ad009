// A two-layer training step whose activations are too large to keep.
// RUN: ckpt-opt %s --remat=activations:60% --json=%t.json -o %t.mlir 2>&1 | FileCheck %s --check-prefix=VERDICT
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: ckpt-opt run %s --seed=7 --outputs=%t.a.npz
// RUN: ckpt-opt run %t.mlir --seed=7 --outputs=%t.b.npz
// RUN: cmp %t.a.npz %t.b.npz

// VERDICT: budget {{.*}} peak {{.*}} overhead {{.*}} recomputed

// The backward pass waits for the gradient before it computes an activation again.
// CHECK: stablehlo.optimization_barrier
// CHECK: {{_remat_[0-9]+}} = stablehlo.{{dot_general|tanh}}

// JSON: "format": "ckpt-report/1"
// JSON-DAG: "memory_model": "kernels"
// JSON-DAG: "peak_bytes":
module {
  func.func public @main(%x: tensor<4096x16xf32>, %w0: tensor<16x16xf32>, %w1: tensor<16x16xf32>, %w2: tensor<16x16xf32>, %w3: tensor<16x16xf32>, %w4: tensor<16x16xf32>, %w5: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %z0 = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %a0 = stablehlo.tanh %z0 : tensor<4096x16xf32>
    %z1 = stablehlo.dot_general %a0, %w1, contracting_dims = [1] x [0] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %a1 = stablehlo.tanh %z1 : tensor<4096x16xf32>
    %z2 = stablehlo.dot_general %a1, %w2, contracting_dims = [1] x [0] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %a2 = stablehlo.tanh %z2 : tensor<4096x16xf32>
    %z3 = stablehlo.dot_general %a2, %w3, contracting_dims = [1] x [0] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %a3 = stablehlo.tanh %z3 : tensor<4096x16xf32>
    %z4 = stablehlo.dot_general %a3, %w4, contracting_dims = [1] x [0] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %a4 = stablehlo.tanh %z4 : tensor<4096x16xf32>
    %z5 = stablehlo.dot_general %a4, %w5, contracting_dims = [1] x [0] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %a5 = stablehlo.tanh %z5 : tensor<4096x16xf32>
    %q5 = stablehlo.multiply %a5, %a5 : tensor<4096x16xf32>
    %s5 = stablehlo.subtract %a5, %q5 : tensor<4096x16xf32>
    %dw5 = stablehlo.dot_general %a4, %s5, contracting_dims = [0] x [0] : (tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<16x16xf32>
    %g5 = stablehlo.dot_general %s5, %w5, contracting_dims = [1] x [1] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %q4 = stablehlo.multiply %a4, %a4 : tensor<4096x16xf32>
    %s4 = stablehlo.subtract %g5, %q4 : tensor<4096x16xf32>
    %dw4 = stablehlo.dot_general %a3, %s4, contracting_dims = [0] x [0] : (tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<16x16xf32>
    %g4 = stablehlo.dot_general %s4, %w4, contracting_dims = [1] x [1] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %q3 = stablehlo.multiply %a3, %a3 : tensor<4096x16xf32>
    %s3 = stablehlo.subtract %g4, %q3 : tensor<4096x16xf32>
    %dw3 = stablehlo.dot_general %a2, %s3, contracting_dims = [0] x [0] : (tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<16x16xf32>
    %g3 = stablehlo.dot_general %s3, %w3, contracting_dims = [1] x [1] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %q2 = stablehlo.multiply %a2, %a2 : tensor<4096x16xf32>
    %s2 = stablehlo.subtract %g3, %q2 : tensor<4096x16xf32>
    %dw2 = stablehlo.dot_general %a1, %s2, contracting_dims = [0] x [0] : (tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<16x16xf32>
    %g2 = stablehlo.dot_general %s2, %w2, contracting_dims = [1] x [1] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %q1 = stablehlo.multiply %a1, %a1 : tensor<4096x16xf32>
    %s1 = stablehlo.subtract %g2, %q1 : tensor<4096x16xf32>
    %dw1 = stablehlo.dot_general %a0, %s1, contracting_dims = [0] x [0] : (tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<16x16xf32>
    %g1 = stablehlo.dot_general %s1, %w1, contracting_dims = [1] x [1] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
    %q0 = stablehlo.multiply %a0, %a0 : tensor<4096x16xf32>
    %s0 = stablehlo.subtract %g1, %q0 : tensor<4096x16xf32>
    %dw0 = stablehlo.dot_general %x, %s0, contracting_dims = [0] x [0] : (tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<16x16xf32>
    return %dw0, %dw1, %dw2, %dw3, %dw4, %dw5 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
}
