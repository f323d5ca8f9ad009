// The frontier of peak against overhead, in three forms.
// RUN: ckpt-opt %S/../remat/step.mlir --pareto=%t.csv --pareto-points=4 -o /dev/null
// RUN: FileCheck %s --check-prefix=CSV < %t.csv
// CSV: budget_bytes,peak_bytes,time_us,overhead_percent,lower_bound_percent
// CSV-COUNT-4: {{^[0-9]+,[0-9]+,}}
// RUN: ckpt-opt %S/../remat/step.mlir --pareto=%t.json --pareto-points=4 -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// JSON: "format": "ckpt-pareto/1",
// JSON-COUNT-4: "budget_bytes"
// RUN: ckpt-opt %S/../remat/step.mlir --pareto=%t.svg -o /dev/null
// RUN: FileCheck %s --check-prefix=SVG < %t.svg
// SVG: <svg
// SVG: <polyline
// RUN: not --exit 2 ckpt-opt %S/../remat/step.mlir --pareto=%t.png 2>&1 | FileCheck %s --check-prefix=PNG
// PNG: write a file that ends in .json, .csv or .svg
