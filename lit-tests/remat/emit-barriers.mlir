// Barriers can be left out for engines that run operations in the order of the
// text; the program computes the same.
// RUN: ckpt-opt %S/Inputs/mlp.mlir --remat=activations:80% --emit-barriers=none -o %t.mlir 2> %t.err
// RUN: FileCheck %s --implicit-check-not=optimization_barrier < %t.mlir
// CHECK: stablehlo.dot_general %x, %w0
// CHECK: %[[Z:z0_remat_[0-9]+]] = stablehlo.dot_general %x, %w0
// CHECK: = stablehlo.tanh %[[Z]]
// RUN: ckpt-opt run %t.mlir --seed=5 --outputs=%t.1.npz
// RUN: ckpt-opt run %S/Inputs/mlp.mlir --seed=5 --outputs=%t.2.npz
// RUN: cmp %t.1.npz %t.2.npz
// RUN: not --exit 2 ckpt-opt %S/Inputs/mlp.mlir --emit-barriers=some 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: write stablehlo or none
