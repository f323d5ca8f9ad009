// The planner alone on a chain of three layers of 100 B and 10 us each: keeping
// all takes 400 B; 300 B need the first layer twice; less is impossible.
// RUN: ckpt-opt plan %S/Inputs/chain.json -o %t.json 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: peak 400 B (without remat 400 B), overhead 0.00 %
// RUN: for policy in min activations:399 activations:300 activations:75% budget:400; do \
// RUN:   ckpt-opt plan %S/Inputs/chain.json --remat=$policy -o %t.json 2>> %t.verdicts; \
// RUN:   FileCheck %s --check-prefix=PLAN < %t.json; done
// RUN: FileCheck %s --check-prefix=TWICE < %t.verdicts
// TWICE-COUNT-5: peak 300 B (without remat 400 B), overhead 16.67 % (no plan below 16.67 %, optimal), 1 recomputation
// PLAN: "format":"ckpt-plan/1","graph":"chain","steps":{{\[\[}}"compute",1],["compute",2],["free",1,0],
// PLAN-SAME: ["compute",1],["compute",6]
// PLAN-SAME: "peak_bytes":300,"time_us":70.0,"lower_bound_time_us":70.0,"optimal":true}

// RUN: rm %t.json
// RUN: not --exit 5 ckpt-opt plan %S/Inputs/chain.json --remat=activations:299 -o %t.json 2>&1 | FileCheck %s --check-prefix=UNMET
// RUN: test ! -e %t.json
//      UNMET: error: budget 299 B cannot be met: the smallest peak found is 300 B; no plan can need less than 300 B, held while db runs for the first time:
// UNMET-DAG: 100 B b
// UNMET-DAG: 100 B dc
// UNMET-DAG: 100 B db

// Compressed files and standard streams are as good.
// RUN: gzip -c %S/Inputs/chain.json | ckpt-opt plan - --remat=min 2> %t.err | FileCheck %s --check-prefix=PLAN
