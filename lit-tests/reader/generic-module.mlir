// Every program is the same in generic form, and its module is the top one.
// RUN: ckpt-opt %s --mlir-print-op-generic -o %t
// RUN: FileCheck %s --check-prefix=GENERIC < %t
// RUN: ckpt-opt %t | FileCheck %s
// GENERIC: "builtin.module"() <{sym_name = "step"}> ({
// CHECK: module @step attributes {mhlo.num_partitions = 1 : i32} {
// CHECK-NEXT: func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
module @step attributes {mhlo.num_partitions = 1 : i32} {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}
