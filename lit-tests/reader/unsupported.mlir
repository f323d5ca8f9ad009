// Valid MLIR beyond what is supported: exit code 3, the place and the reason.
// RUN: not --exit 3 ckpt-opt %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
// CHECK: unsupported.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}successors are not supported
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  "cf.br"(%arg0)[^bb1] : (tensor<2xf32>) -> ()
^bb1(%0: tensor<2xf32>):
  return %0 : tensor<2xf32>
}
