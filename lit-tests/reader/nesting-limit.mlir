// Nesting beyond the documented limit of 200 is an error of its own, not a
// stack overflow: exit code 4.
// RUN: deep() { printf "$1%.0s" $(seq "$2"); }; \
// RUN:   { echo 'func.func @main() attributes {deep = '; deep '[' 201; deep ']' 201; echo '} { return }'; } > %t.mlir
// RUN: not --exit 4 ckpt-opt %t.mlir 2>&1 | FileCheck %s
// RUN: sed 's/^\[\[\[/[/; s/\]\]\]}/]}/' %t.mlir | ckpt-opt -o /dev/null
// CHECK: t.mlir:2:{{[0-9]+}}: error: {{.*}}nesting
