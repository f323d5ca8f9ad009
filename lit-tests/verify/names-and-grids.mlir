// RUN: piece() { awk -v n="$1" 'BEGIN { RS = "// -----\n" } NR == n + 1' %s; }; \
// RUN:   for n in 1 2 3 4 5 6; do piece $n > %t.mlir; not --exit 1 ckpt-opt %t.mlir -o /dev/null; done 2>&1 | FileCheck %s
// CHECK: unknown stablehlo type: nothing
// CHECK: operand #0 must be
// CHECK: commutative operation
// CHECK: `programs` attribute cannot be empty
// CHECK: function "missing" not found
// CHECK: scan dimension of operand 0 is out of bounds
// -----
func.func private @f(!stablehlo.nothing)
// -----
func.func @f(%arg0: tensor<2x!quant.uniform<i8:f16, 1.0e+05>>) {
  %0 = stablehlo.negate %arg0 : tensor<2x!quant.uniform<i8:f16, 1.0e+05>>
  return
}
// -----
func.func @f(%arg0: tensor<2xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.divide across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
func.func @f() {
  "interpreter.run_parallel"() {programs = []} : () -> ()
  return
}
// -----
func.func @f() {
  "interpreter.run_parallel"() {programs = [[@missing]]} : () -> ()
  return
}
// -----
func.func @f(%arg0: tensor<3xf32>, %arg1: tensor<f32>) {
  %0:2 = chlo.scan(%arg0) inits(%arg1) dimension=1 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %input, %carry : tensor<f32>, tensor<f32>
  } : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return
}
