// `-` and nothing at all are standard input; the program goes to standard
// output, the verdict to standard error.
// RUN: ckpt-opt %s -o %t.file
// RUN: ckpt-opt < %s | cmp - %t.file
// RUN: ckpt-opt - -o - < %s | cmp - %t.file
// RUN: gzip -c %s | ckpt-opt | cmp - %t.file
// RUN: ckpt-opt %s --remat=min 2> %t.err | FileCheck %s --check-prefix=OUT
// RUN: FileCheck %s --check-prefix=ERR < %t.err
// OUT-NOT: peak
// OUT: stablehlo.tanh
// ERR-NOT: stablehlo
// ERR: peak {{.*}} (without remat {{.*}}) · overhead
// Places in standard input have a name too.
// RUN: sed 's/tanh/tan h/' %s | not --exit 1 ckpt-opt 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: <stdin>:[[# @LINE + 2]]:{{[0-9]+}}: error:
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<2xf32>
  return %0 : tensor<2xf32>
}
