// Bytecode is recognised, and the message says how to get text.
// RUN: printf 'ML\357Rrest' > %t.mlirbc
// RUN: not --exit 1 ckpt-opt %t.mlirbc 2>&1 | FileCheck %s
// CHECK: t.mlirbc:1:1: error: this is MLIR bytecode; print it as text first
