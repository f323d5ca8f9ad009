// Files that are no programs end with a place, and those that only look odd are read.
// RUN: : > %t.empty; ckpt-opt %t.empty | FileCheck %s --check-prefix=EMPTY
// RUN: not --exit 1 ckpt-opt %S
// RUN: printf 'ML\xefR\x06' > %t.bytecode; not --exit 1 ckpt-opt %t.bytecode 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: printf 'func.func \xff' > %t.latin; not --exit 1 ckpt-opt %t.latin 2>&1 | FileCheck %s --check-prefix=LATIN
// RUN: printf '\xef\xbb\xbfmodule {}' > %t.bom; not --exit 1 ckpt-opt %t.bom
// RUN: sed 's/$/\r/' %s > %t.crlf; ckpt-opt %t.crlf | FileCheck %s
// RUN: { printf 'func.func @f() attributes {deep = '; printf '[%.0s' $(seq 100000); } > %t.deep; not --exit 4 ckpt-opt %t.deep
// RUN: ckpt-opt %s | FileCheck %s
// EMPTY: module {
// BYTECODE: 1:1: error: this is MLIR bytecode
// LATIN: 1:11: error: the text is not valid UTF-8
// CHECK: tensor<9223372036854775807xi8>
func.func private @large(tensor<9223372036854775807xi8>)
