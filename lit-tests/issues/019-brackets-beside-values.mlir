// Values of a literal all stand at the same depth.
// RUN: not --exit 1 ckpt-opt %s 2>&1 | FileCheck %s
// CHECK: 019-brackets-beside-values.mlir:[[#@LINE+2]]:38: error: a bracket stands beside a value
func.func @main() -> tensor<1x2x2x1xi64> {
  %0 = stablehlo.constant dense<[[0, [[10], [14]]]]> : tensor<1x2x2x1xi64>
  return %0 : tensor<1x2x2x1xi64>
}
