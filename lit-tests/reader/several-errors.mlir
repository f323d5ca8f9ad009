// One run shows several errors, each with its line and a caret below the place.
// RUN: not --exit 1 ckpt-opt %s --remat=min -o %t 2>&1 | FileCheck %s --strict-whitespace
// RUN: test ! -e %t
//      CHECK:several-errors.mlir:[[# @LINE + 7]]:3: error: 'stablehlo.add' op requires the same shape for all operands and results
// CHECK-NEXT:    %0 = "stablehlo.add"(%arg0, %arg1)
// CHECK-NEXT:{{^}}    ^{{$}}
//      CHECK:several-errors.mlir:[[# @LINE + 5]]:3: error: 'stablehlo.negate' op requires the same shape
// CHECK-NEXT:    %1 = "stablehlo.negate"(%arg0)
// CHECK-NEXT:{{^}}    ^{{$}}
func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%arg0, %arg1) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  %1 = "stablehlo.negate"(%arg0) : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<2xf32>
}
