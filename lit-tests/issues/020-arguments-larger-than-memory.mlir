// Arguments that no machine holds are refused before they are drawn.
// RUN: not --exit 4 ckpt-opt run %s --seed=3 2>&1 | FileCheck %s
// RUN: not --exit 4 ckpt-opt run %s --seed=3 --device=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// CHECK: :[[#]]:1: error: argument 0 has more than 68719476736 bytes
// CPU: error:
func.func @main(%a: tensor<4000000000x4000000000xf32>) -> tensor<4000000000x4000000000xf32> {
  %0 = stablehlo.sine %a : tensor<4000000000x4000000000xf32>
  return %0 : tensor<4000000000x4000000000xf32>
}
