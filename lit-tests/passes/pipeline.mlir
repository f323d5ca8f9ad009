// Passes run one by one, by name, and are watched as in mlir-opt.
// RUN: ckpt-opt %s --pass-pipeline='builtin.module(inline,cse,dce)' --pass-statistics 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=COUNT < %t
// CHECK-LABEL: func.func public @main
// CHECK-NEXT: %0 = stablehlo.tanh %arg0 : tensor<4xf32>
// CHECK-NEXT: [[SUM:%.*]] = stablehlo.add %0, %0 : tensor<4xf32>
// CHECK-NEXT: return [[SUM]]
// COUNT: 2 inline: calls inlined
// COUNT: 1 cse: operations merged
// RUN: ckpt-opt %s --pass-pipeline=inline,cse --print-ir-after-all -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: // -----// IR Dump After inline //----- //
// ALL: stablehlo.tanh
// ALL: stablehlo.tanh
// ALL: // -----// IR Dump After cse //----- //
// ALL: stablehlo.tanh
// ALL-NOT: stablehlo.tanh
// A pass that changes nothing is not printed after change.
// RUN: ckpt-opt %s --pass-pipeline=inline,inline --print-ir-after-change -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE
// CHANGE: IR Dump After inline
// CHANGE-NOT: IR Dump
// RUN: ckpt-opt %s --pass-pipeline=inline,dce --print-ir-before=dce --print-ir-tree-dir=%t.tree -o /dev/null
// RUN: FileCheck %s --check-prefix=TREE < %t.tree/0_before_dce.mlir
// TREE: stablehlo.tanh
// What rematerialisation does inside is watched too.
// RUN: ckpt-opt %s --remat=min --print-ir-after=normalise,apply --verify-each -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMAT
// REMAT: IR Dump After normalise
// REMAT: IR Dump After apply
// RUN: ckpt-opt %s --pass-pipeline='remat{budget=1GiB effort=1}' -o /dev/null 2>&1 | FileCheck %s --check-prefix=VERDICT
// VERDICT: budget 1.00 GiB · peak
// RUN: ckpt-opt %s --pass-pipeline=cse,dce --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: builtin.module(cse,dce)
// RUN: not --exit 2 ckpt-opt %s --pass-pipeline=csee 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: there is no pass 'csee'; did you mean 'cse'?
// RUN: not --exit 5 ckpt-opt %s --pass-pipeline='remat{budget=8}' -o %t.none 2>&1 | FileCheck %s --check-prefix=UNMET
// UNMET: budget 8 B (8 bytes) cannot be met
// RUN: not test -e %t.none
// RUN: ckpt-opt --list-passes | FileCheck %s --check-prefix=LIST
// LIST: remat
// LIST: effort=1 to 5
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
