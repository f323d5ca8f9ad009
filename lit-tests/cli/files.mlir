// Files that cannot be read or written are named, and nothing is left behind.
// RUN: not --exit 1 ckpt-opt %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=READ
// READ: ckpt-opt: error: {{.*}}.missing.mlir:
// RUN: not --exit 1 ckpt-opt %s -o %t.missing/out.mlir 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: ckpt-opt: error: {{.*}}out.mlir:
// RUN: not --exit 1 ckpt-opt run %s --inputs=%s 2>&1 | FileCheck %s --check-prefix=NPZ
// NPZ: ckpt-opt: error: {{.*}}files.mlir:

// A refused input leaves an output file that was there as it was.
// RUN: echo before > %t.out.mlir
// RUN: echo 'func.func @main( {' | not --exit 1 ckpt-opt - -o %t.out.mlir
// RUN: echo before | cmp - %t.out.mlir
// RUN: ls | FileCheck %s --check-prefix=LEFT
// LEFT: t.out.mlir
// LEFT-NOT: {{.}}

// An output file may be read by whom the user lets read new files.
// RUN: umask 027; ckpt-opt %s -o %t.new.mlir; stat -c %%a %t.new.mlir | FileCheck %s --check-prefix=MODE
// MODE: {{^640$}}
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  return %arg0 : tensor<2xf32>
}
