// What --json holds: exact bytes, and times as numbers.
// RUN: ckpt-opt %S/Inputs/mlp.mlir --remat=activations:80% -o %t.mlir --json=%t.json 2> %t.err
// RUN: FileCheck %s < %t.json
//      CHECK: {
// CHECK-NEXT: "format": "ckpt-report/1",
//  CHECK-DAG: "memory_model": "kernels",
//  CHECK-DAG: "device": "a100",
//  CHECK-DAG: "budget_bytes": 71273,
//  CHECK-DAG: "argument_bytes": 18432,
//  CHECK-DAG: "baseline_peak_bytes": 84484,
//  CHECK-DAG: "peak_bytes": 69124,
//  CHECK-DAG: "overhead_percent": 14.2767
//  CHECK-DAG: "lower_bound_percent": 14.2767
//  CHECK-DAG: "gap_percent": 0.0,
//  CHECK-DAG: "optimal": true,
//  CHECK-DAG: "kept": 2,
//  CHECK-DAG: "recomputed": 1,
//  CHECK-DAG: "plan_hash": "{{[0-9a-f]+}}",
//      CHECK: "seconds": {

// Without a policy there is no budget, and the program is printed as written.
// RUN: ckpt-opt %S/Inputs/mlp.mlir --json=%t.json -o %t.mlir 2> %t.err
// RUN: FileCheck %s --check-prefix=NONE < %t.json
// RUN: ckpt-opt %S/Inputs/mlp.mlir | cmp - %t.mlir
// NONE-DAG: "budget_bytes": null,
// NONE-DAG: "baseline_peak_bytes": 84484,
// NONE-DAG: "peak_bytes": 84484,
// NONE-DAG: "recomputed": 0,
