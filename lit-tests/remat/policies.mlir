// Every policy gives the same results, bit for bit, and its verdict.
// RUN: ckpt-opt run %S/Inputs/mlp.mlir --seed=3 --outputs=%t.npz
// RUN: for policy in none min sqrt full activations:80% budget:90% activations:60000 budget:75KiB; do \
// RUN:   ckpt-opt %S/Inputs/mlp.mlir --remat=$policy -o %t.mlir 2>> %t.verdicts; \
// RUN:   ckpt-opt run %t.mlir --seed=3 --outputs=%t.again.npz; cmp %t.npz %t.again.npz; \
// RUN:   ckpt-opt run %S/Inputs/mlp.mlir --remat=$policy --seed=3 --outputs=%t.direct.npz; cmp %t.npz %t.direct.npz; done
// RUN: FileCheck %s < %t.verdicts

// none: the program's own peak, arguments 18 KiB included.
//      CHECK: peak 82.50 KiB (without remat 82.50 KiB) · overhead 0.00 %
// CHECK-SAME: 3 kept, 0 recomputed
// min: three activations of 16 KiB and the gradients made so far.
// CHECK-NEXT: peak 66.50 KiB (without remat 82.50 KiB)
// CHECK-SAME: 0 kept, 3 recomputed
// sqrt and full ask for no size.
// CHECK-NEXT: peak {{.*}} 2 kept, 1 recomputed
// CHECK-NEXT: peak {{.*}} 0 kept, 3 recomputed
// activations: a part of the 64.50 KiB, besides the arguments.
// CHECK-NEXT: budget 69.60 KiB · peak
// budget: a part of the 82.50 KiB.
// CHECK-NEXT: budget 74.25 KiB · peak
// Sizes in bytes and units: 60000 B and 18 KiB of arguments; 75 KiB in all.
// CHECK-NEXT: budget 76.59 KiB · peak
// CHECK-NEXT: budget 75.00 KiB · peak
