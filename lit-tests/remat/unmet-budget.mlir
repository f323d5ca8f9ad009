// RUN: ckpt-opt %s --remat=activations:1KiB -o %t 2> %t.err; test $? = 5
// RUN: test ! -e %t
// RUN: FileCheck %s < %t.err
// CHECK: budget {{.*}} cannot be met
// CHECK-SAME: smallest
func.func public @main(%arg0: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
