// An attribute that the pretty form's clause cannot say is printed in generic form.
// RUN: ckpt-opt %s | FileCheck %s
// RUN: ckpt-opt %s | ckpt-opt | FileCheck %s
// CHECK: "stablehlo.fft"
// CHECK-SAME: fft_type = #other<fft_type IRFFT>
// CHECK: "test.get_dimension_size"
// CHECK-SAME: dimension = -1 : i64
func.func private @fft(%arg0: tensor<?xcomplex<f32>>) -> tensor<?xf32> {
  %0 = "stablehlo.fft"(%arg0) {fft_type = #other<fft_type IRFFT>, fft_length = array<i64: 16>} : (tensor<?xcomplex<f32>>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @size(%arg0: tensor<2xf32>) -> tensor<i32> {
  %0 = "test.get_dimension_size"(%arg0) {dimension = 18446744073709551615 : i64} : (tensor<2xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
