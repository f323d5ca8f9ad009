// Random numbers without a state of their own and operations with effects run
// as often as before, whatever the pressure; their readers may run again.
// RUN: ckpt-opt %s --remat=full -o %t.mlir 2> %t.err
// RUN: FileCheck %s < %t.mlir
// RUN: grep -c 'stablehlo.rng ' %t.mlir | FileCheck %s --check-prefix=ONE
// RUN: grep -c 'custom_call @log' %t.mlir | FileCheck %s --check-prefix=ONE
// ONE: {{^1$}}
// CHECK: %noise = stablehlo.rng
// CHECK: optimization_barrier %x, %w, %noise
// CHECK: %m_remat_{{[0-9]+}} = stablehlo.tanh
func.func public @main(%x: tensor<1024x16xf32>, %w: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<[1024, 16]> : tensor<2xi64>
  %noise = stablehlo.rng %low, %high, %shape, distribution =  UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<1024x16xf32>
  %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x16xf32>, tensor<16x16xf32>) -> tensor<1024x16xf32>
  %n = stablehlo.multiply %z, %noise : tensor<1024x16xf32>
  %m = stablehlo.tanh %n : tensor<1024x16xf32>
  %r = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : (tensor<1024x16xf32>, tensor<16x16xf32>) -> tensor<1024x16xf32>
  %rr = stablehlo.multiply %r, %r : tensor<1024x16xf32>
  %loss = stablehlo.reduce(%rr init: %low) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x16xf32>, tensor<f32>) -> tensor<f32>
  stablehlo.custom_call @log(%loss) {has_side_effect = true} : (tensor<f32>) -> ()
  %dm = stablehlo.dot_general %r, %w, contracting_dims = [1] x [1] : (tensor<1024x16xf32>, tensor<16x16xf32>) -> tensor<1024x16xf32>
  %g = stablehlo.dot_general %m, %dm, contracting_dims = [0] x [0] : (tensor<1024x16xf32>, tensor<1024x16xf32>) -> tensor<16x16xf32>
  return %loss, %g : tensor<f32>, tensor<16x16xf32>
}
