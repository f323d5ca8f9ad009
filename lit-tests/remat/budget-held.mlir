// Whatever the budget, the peak that the report gives, and the checker has
// computed again, stays within it; what cannot be met is said and not written.
// RUN: field() { sed -n "s/^  \"$1\": \([0-9]*\),/\1/p" %t.json; }; \
// RUN:   for percent in 100 95 90 85 80 75 70; do \
// RUN:     ckpt-opt %S/step.mlir --remat=budget:$percent% -o %t.mlir --json=%t.json 2> %t.err; \
// RUN:     test "$(field peak_bytes)" -le "$(field budget_bytes)"; \
// RUN:     test "$(field budget_bytes)" -eq $(( $(field baseline_peak_bytes) * percent / 100 )); done
// RUN: rm -f %t.mlir
// RUN: not --exit 5 ckpt-opt %S/step.mlir --remat=budget:10% -o %t.mlir 2>&1 | FileCheck %s
// RUN: test ! -e %t.mlir
// CHECK: error: budget {{.*}} cannot be met{{.*}}: the smallest feasible peak found is {{.*}} bytes), and no plan can need less than
// CHECK: arguments alone take
// CHECK: largest buffers held there
// CHECK: {{[0-9.]+}} KiB {{.*}}%
