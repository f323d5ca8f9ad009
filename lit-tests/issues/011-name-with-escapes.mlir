// The name of an unknown operation is printed as it was written, escapes included.
// RUN: ckpt-opt %s | FileCheck %s
// RUN: ckpt-opt %s | ckpt-opt | FileCheck %s
// CHECK: "my.\0Aop"() : () -> ()
func.func @main() {
  "my.\nop"() : () -> ()
  return
}
