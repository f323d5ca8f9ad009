// What stands at the top is the module if it is one, in whatever form; else a
// module is put around it.
// RUN: ckpt-opt %s | FileCheck %s
// RUN: echo '"builtin.module"() ({ func.func private @f() }) : () -> ()' > %t.mlir
// RUN: ckpt-opt %t.mlir | FileCheck %s --check-prefix=GENERIC
// CHECK: module {
// CHECK-NEXT: module @a {
// CHECK: module @b {
// GENERIC: module {
// GENERIC-NEXT: func.func private @f()
module @a {
  func.func private @f()
}
module @b {
  func.func private @f()
}
