// RUN: not --exit 2 ckpt-opt %s --remat=most 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: "most" is not a policy: write none, budget:SIZE, activations:SIZE, min, sqrt or full
// RUN: not --exit 2 ckpt-opt %s --remat=budget:8Gigs 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: "8Gigs" is not a size: write bytes, 8GiB, 500MB or 60%
// RUN: not --exit 2 ckpt-opt %s --no-such-option 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: --no-such-option
// RUN: not --exit 2 ckpt-opt run %s --device=abacus 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: invalid value 'abacus' for '--device <DEVICE>'
// RUN: not --exit 2 ckpt-opt %s --remat=min -o %t.same --json=%t.same 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: cannot take two outputs
// RUN: not --exit 2 ckpt-opt run %s --device=cpu --threads=100000 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: write a number up to 1024
// RUN: not --exit 2 ckpt-opt run %s --seed=1 --inputs=%t.npz 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// ARGUMENTS: cannot be used with
func.func @main() {
  return
}
