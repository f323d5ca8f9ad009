// The same program gives the same bytes in every run, whatever the number of
// threads and the seeds of hash tables: the program, the verdict and, but for
// its seconds, the report.
// RUN: ckpt-opt %S/../remat/step.mlir --remat=activations:60% -o %t.first --json=%t.json 2> %t.verdict
// RUN: sed '/"seconds"/,$d' %t.json > %t.report
// RUN: for i in $(seq 20); do \
// RUN:   RAYON_NUM_THREADS=$((i % 4 + 1)) ckpt-opt %S/../remat/step.mlir --remat=activations:60% -o %t.again --json=%t.json 2> %t.other; \
// RUN:   cmp %t.first %t.again; cmp %t.verdict %t.other; sed '/"seconds"/,$d' %t.json | cmp - %t.report; done
// RUN: FileCheck %s < %t.report
// CHECK: "plan_hash"
