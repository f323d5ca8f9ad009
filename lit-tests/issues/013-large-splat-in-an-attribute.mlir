// A splat in an attribute stands for as many elements as its type says; nothing
// that reads or prints the program may make them all.
// RUN: ckpt-opt %s | FileCheck %s
// RUN: not --exit 4 ckpt-opt run %s 2>&1 | FileCheck %s --check-prefix=EVALUATED
// CHECK: "stablehlo.all_to_all"
// CHECK-SAME: dense<0> : tensor<4294967295x4xi64>
// CHECK: padding = dense<1> : tensor<4294967295x2xi64>
// EVALUATED: error:
func.func @main(%arg0: tensor<4x16xf32>) -> tensor<16x4xf32> {
  %0 = "stablehlo.all_to_all"(%arg0) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<0> : tensor<4294967295x4xi64>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  "test.op"() {padding = dense<1> : tensor<4294967295x2xi64>} : () -> ()
  return %0 : tensor<16x4xf32>
}
