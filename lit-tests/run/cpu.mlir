// One arena holds all that a run holds, and the plan says how much: the
// argument, its square and the result at one moment.
// RUN: ckpt-opt run %s --device=cpu --seed=1 --outputs=%t.cpu.npz --json=%t.json
// RUN: FileCheck %s < %t.json
// CHECK-DAG: "device": "cpu"
// CHECK-DAG: "liveness_peak_bytes": 48,
// CHECK-DAG: "measured_peak_bytes": 48,
// CHECK-DAG: "peak_bytes": 48,
// CHECK-DAG: "planned_arena_bytes": 48,

// Threads and policies change no bit.
// RUN: ckpt-opt run %s --device=cpu --seed=1 --threads=1 --remat=min --outputs=%t.min.npz 2>%t.err
// RUN: cmp %t.cpu.npz %t.min.npz

// An artefact is the same for the same program.
// RUN: ckpt-opt build %s --target=cpu -o %t.1.bin 2>%t.err
// RUN: ckpt-opt build %s --target=cpu -o %t.2.bin 2>%t.err
// RUN: cmp %t.1.bin %t.2.bin
func.func @main(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [0] x [1] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
