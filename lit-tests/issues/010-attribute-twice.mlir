// A clause and the dictionary must not both give an attribute: the generic form
// that was printed of it could not be read.
// RUN: not --exit 1 ckpt-opt %s 2>&1 | FileCheck %s
// CHECK: 010-attribute-twice.mlir:[[#@LINE+2]]:3: error: attribute 'tolerance' occurs twice
func.func @main(%arg0: tensor<f64>) {
  check.expect_almost_eq_const %arg0, dense<5.1> : tensor<f64> {tolerance = 0.1 : f64} : tensor<f64> {tolerance = 0.1 : f64}
  return
}
