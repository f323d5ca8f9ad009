// Where the memory goes: the moment of the peak, what is held then, and why
// each value that crosses into the backward pass is kept or made again.
// RUN: ckpt-opt explain %S/../remat/Inputs/mlp.mlir --remat=none -o %t.none
// RUN: FileCheck %s --check-prefix=NONE < %t.none
//      NONE: peak 82.50 KiB (without remat 82.50 KiB)
//      NONE: memory model kernels, device a100, {{[0-9]+}} kernels, arguments 18.00 KiB, plan {{[0-9a-f]+}}
//      NONE: peak at %d1 (stablehlo.multiply), backward pass, holding
// NONE-NEXT: 18.00 KiB argument
// NONE-NEXT: 32.00 KiB saved (2 buffers)
// NONE-NEXT: 516 B result (2 buffers)
// NONE-NEXT: 32.00 KiB temporary (2 buffers)
//      NONE: 16.00 KiB saved %a0 stablehlo.tanh {{.*}}mlp.mlir:7:5
//      NONE: kept for the backward pass: 3 values, 40.00 KiB
//      NONE: recomputed: 0 values

// RUN: ckpt-opt explain %S/../remat/Inputs/mlp.mlir --remat=activations:80% -o %t.some
// RUN: FileCheck %s --check-prefix=SOME < %t.some
//      SOME: kept for the backward pass: 2 values, 24.00 KiB
//      SOME: recomputed: 1 values, 16.00 KiB
// SOME-NEXT: 16.00 KiB recomputed 1x %a0 stablehlo.tanh making it again takes {{.*}} us {{.*}}mlp.mlir:7:5
