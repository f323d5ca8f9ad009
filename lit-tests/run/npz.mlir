// What one run writes another reads: the arguments of a file give the results
// of the seed that drew them, and another seed gives others.
// RUN: ckpt-opt run %s --seed=1 --outputs=%t.1.npz
// RUN: ckpt-opt run %s --inputs=%t.1.npz --outputs=%t.2.npz
// RUN: cmp %t.1.npz %t.2.npz
// RUN: ckpt-opt run %s --seed=2 --outputs=%t.3.npz
// RUN: not cmp -s %t.1.npz %t.3.npz

// Another program's file does not fit, and the message says how.
// RUN: sed 's/3x2x/2x3x/g' %s > %t.other.mlir
// RUN: not --exit 1 ckpt-opt run %t.other.mlir --inputs=%t.1.npz 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: {{.*}}t.1.npz: arg0: has shape [3, 2] and type '<u2', the program needs [2, 3]

// Each run but the first is timed.
// RUN: ckpt-opt run %s --repeat=3 --json=%t.json
// RUN: FileCheck %s --check-prefix=JSON < %t.json
//      JSON: "device": "interp",
// JSON-NEXT: "format": "ckpt-report/1",
// JSON-NEXT: "step_seconds": [
// JSON-NEXT: {{[0-9.e-]+}},
// JSON-NEXT: {{[0-9.e-]+$}}
// JSON-NEXT: ]
func.func @main(%arg0: tensor<3x2xbf16>, %arg1: tensor<3x2xi32>, %arg2: tensor<3x2xi1>) -> (tensor<3x2xbf16>, tensor<3x2xi1>) {
  %0 = stablehlo.convert %arg1 : (tensor<3x2xi32>) -> tensor<3x2xbf16>
  %1 = stablehlo.add %arg0, %0 : tensor<3x2xbf16>
  %2 = stablehlo.not %arg2 : tensor<3x2xi1>
  return %1, %2 : tensor<3x2xbf16>, tensor<3x2xi1>
}
