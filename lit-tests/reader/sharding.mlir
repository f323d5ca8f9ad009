// Shardy's operations are read and printed as JAX writes them. A sharding
// constraint is the identity; the others are carried through.
// RUN: ckpt-opt %s -o %t
// RUN: FileCheck %s < %t
// RUN: ckpt-opt %s --mlir-print-op-generic | ckpt-opt -o %t.again
// RUN: diff %t %t.again
// RUN: ckpt-opt %s --remat=min | FileCheck %s --check-prefix=REMAT
// CHECK: sdy.mesh @mesh = <["d"=4]> {note = "a"}
// CHECK: %1 = sdy.sharding_constraint %0 <@mesh, [{"d"}, {}]> : tensor<8x16xf32>
// CHECK: %2:2 = sdy.manual_computation(%1, %arg0) in_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, []>] manual_axes={"d"} (%arg1: tensor<2x16xf32>, %arg2: tensor<8x16xf32>) {
// CHECK: sdy.return %3, %arg2 : tensor<2x16xf32>, tensor<8x16xf32>
// REMAT: sdy.manual_computation
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["d"=4]> {note = "a"}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> tensor<8x16xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<8x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"d"}, {}]> : tensor<8x16xf32>
    %2:2 = sdy.manual_computation(%1, %arg0) in_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, []>] manual_axes={"d"} (%arg1: tensor<2x16xf32>, %arg2: tensor<8x16xf32>) {
      %3 = stablehlo.negate %arg1 : tensor<2x16xf32>
      sdy.return %3, %arg2 : tensor<2x16xf32>, tensor<8x16xf32>
    } : (tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    return %2#0 : tensor<8x16xf32>
  }
}
