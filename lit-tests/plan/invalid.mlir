// Graphs that break the format are refused with the reason, and no plan is written.
// RUN: refuse() { sed "$1" %S/Inputs/chain.json > %t.json; not --exit 1 ckpt-opt plan %t.json -o %t.plan 2>> %t.err; }; \
// RUN:   refuse 's/ckpt-graph.1/ckpt-graph\/9/'; \
// RUN:   refuse 's/\[6, 0\]/[60, 0]/'; \
// RUN:   refuse 's/\[1, 2, 3, 4, 5, 6\]/[2, 1, 3, 4, 5, 6]/'; \
// RUN:   refuse 's/"bytes": .100./"bytes": [-1]/'; \
// RUN:   refuse '$d'
// RUN: test ! -e %t.plan
// RUN: FileCheck %s < %t.err
// CHECK-COUNT-5: ckpt-opt: error: {{.*}}t.json: {{.+}}
// Policies that need a program are not for graphs.
// RUN: not --exit 2 ckpt-opt plan %S/Inputs/chain.json --remat=sqrt 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: error: the policy sqrt needs a program with a loss
