// RUN: ckpt-opt %s --remat=most 2> %t.err; test $? = 2
// RUN: FileCheck %s --check-prefix=POLICY < %t.err
// POLICY: most
// RUN: ckpt-opt %s -o %t.missing/out.mlir 2> %t.err && exit 1 || true
// RUN: FileCheck %s --check-prefix=OUT < %t.err
// OUT: error
func.func @main() {
  return
}
