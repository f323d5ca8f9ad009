// Pieces between separator lines are programs of their own, and so are the
// outputs; places count lines of the whole file.
// RUN: ckpt-opt %s --split-input-file -o %t.1
// RUN: FileCheck %s < %t.1
// RUN: ckpt-opt %t.1 --split-input-file | cmp - %t.1
// RUN: sed 's/negate/negatee/' %s | not ckpt-opt --split-input-file 2>&1 | FileCheck %s --check-prefix=ERR

// CHECK: stablehlo.abs
// CHECK: // -----
// CHECK: stablehlo.negate
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %arg0 : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  // ERR: <stdin>:[[# @LINE + 1]]:{{[0-9]+}}: error:
  %0 = stablehlo.negate %arg0 : tensor<2xf32>
  return %0 : tensor<2xf32>
}
