// Brackets in the wrong order, an unknown type behind a literal, functions inside
// operations and functions, lengths of a transform, bodies without a return: found by the fuzzer.
// RUN: awk 'BEGIN { RS = "// -----\n" } NR == 2' %s > %t.1; ckpt-opt %t.1 -o /dev/null
// RUN: awk 'BEGIN { RS = "// -----\n" } NR == 3' %s > %t.2; ckpt-opt %t.2 | ckpt-opt -o /dev/null
// RUN: awk 'BEGIN { RS = "// -----\n" } NR == 4' %s > %t.3; ckpt-opt %t.3 | ckpt-opt -o /dev/null
// RUN: awk 'BEGIN { RS = "// -----\n" } NR == 5' %s > %t.4; not --exit 1 ckpt-opt run %t.4
// RUN: awk 'BEGIN { RS = "// -----\n" } NR == 6' %s > %t.5; not --exit 3 ckpt-opt --remat=min %t.5
// RUN: awk 'BEGIN { RS = "// -----\n" } NR == 7' %s > %t.6; not --exit 1 ckpt-opt %t.6
// -----
func.func private @f(tensor<2x!quant.uniform<i-> i8:f32, 1.0>>)
// -----
func.func @f() {
  %0 = "stablehlo.constant"() <{value = dense<0> : !other.type}> : () -> tensor<3xi32>
  return
}
// -----
func.func @f() {
  "test.op"() ({
    func.func @g() {
      return
    }
  }) : () -> ()
  return
}
// -----
func.func @main(%arg0: tensor<3x9xf32>) -> tensor<3x9xf32> {
  %0 = "stablehlo.fft"(%arg0) {fft_length = array<i64: 4294967296>, fft_type = #other<fft_type RFFT>} : (tensor<3x9xf32>) -> tensor<3x9xf32>
  return %0 : tensor<3x9xf32>
}
// -----
func.func @main(%arg0: tensor<4xf32>) {
  %0 = stablehlo.sine %arg0 : tensor<4xf32>
  "other.end"(%0) : (tensor<4xf32>) -> ()
}
// -----
func.func @f() {
  func.func @g() {
    return
  }
  return
}
