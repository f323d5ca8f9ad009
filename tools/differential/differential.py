#!/usr/bin/env python3
"""Our reference evaluator beside the one inside jaxlib: operations x element types on random and extreme inputs.

    differential.py [--bin target/release/ckpt-opt] [--seed N] [--count N]

Prints a table: for each operation and type "=" (all results bit for bit, NaNs alike), "N ulp" (the largest distance in
units in the last place), "differs" (with an example on standard error), "ours alone" (theirs refuses or ends its
process), or "-" (neither evaluates it).
Needs numpy and jax (pip install jax). Exit status 1 if anything is refused that the other accepts.
"""
import argparse, multiprocessing, os, subprocess, sys, tempfile
import numpy as np
from jax._src.interpreters import mlir as jmlir
from jax._src.lib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

FORK = multiprocessing.get_context("fork")
FLOATS = {"f16": (np.float16, np.uint16), "f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64)}
INTS = {f"{'u' * u}i{b}": np.dtype(f"{'u' * u}int{b}") for u in (0, 1) for b in (8, 16, 32, 64)}
UNARY_F = ("abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate "
           "round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh").split()
BINARY_F = "add atan2 divide maximum minimum multiply power remainder subtract".split()
UNARY_I = "abs count_leading_zeros negate not popcnt sign".split()
BINARY_I = ("add and divide maximum minimum multiply or power remainder shift_left shift_right_arithmetic "
            "shift_right_logical subtract xor").split()
DIRECTIONS = "EQ NE GE GT LE LT".split()

def inputs(rng, ty, count):
    if ty in FLOATS:
        kind, bits = FLOATS[ty]; info = np.finfo(kind)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, -info.tiny, info.smallest_subnormal, info.max, info.min, 1, -1, 0.5, 2.5, -1.5]
        raw = rng.integers(0, np.iinfo(bits).max, count // 2, dtype=bits, endpoint=True).view(kind)
        return np.concatenate([np.array(special, kind), raw, (rng.standard_normal(count) * 4).astype(kind)])
    info = np.iinfo(INTS[ty]); special = [0, 1, 2, info.max, info.min, info.max - 1, info.bits - 1, info.bits]
    return np.concatenate([np.array(special, INTS[ty]), rng.integers(info.min, info.max, count, dtype=INTS[ty], endpoint=True), rng.integers(0, 9, count).astype(INTS[ty])])

def literal(x, ty): return f'dense<"0x{x.tobytes().hex().upper()}"> : tensor<{len(x)}x{ty}>'

def program(ty, a, b, op):
    n = len(a); T = f"tensor<{n}x{ty}>"; P = f"tensor<{n}xi1>"
    name, *rest = op.split(":")
    if name == "compare": line, R = f"stablehlo.compare {rest[0]}, %a, %b : ({T}, {T}) -> {P}", P
    elif name == "convert": line, R = f"stablehlo.convert %a : ({T}) -> tensor<{n}x{rest[0]}>", f"tensor<{n}x{rest[0]}>"
    elif name == "is_finite": line, R = f"stablehlo.is_finite %a : ({T}) -> {P}", P
    else: line, R = (f"stablehlo.{name} %a, %b : {T}" if name in BINARY_F + BINARY_I else f"stablehlo.{name} %a : {T}"), T
    return f"func.func @main() -> {R} {{\n  %a = stablehlo.constant {literal(a, ty)}\n  %b = stablehlo.constant {literal(b, ty)}\n  %0 = {line}\n  return %0 : {R}\n}}\n"

def theirs(text):
    """Their result, from a process of its own: some operands end it (the smallest integer divided by -1)."""
    mine, its = multiprocessing.Pipe()
    child = FORK.Process(target=lambda: its.send(evaluate(text))); child.start(); its.close()
    try: return mine.recv()
    except EOFError: return None
    finally: child.join()

def evaluate(text):
    ctx = jmlir.make_ir_context()
    with ctx, ir.Location.unknown(ctx):
        return np.array(ir.DenseElementsAttr(stablehlo.eval_module(ir.Module.parse(text, ctx), [])[0]))

def ours(binary, text, folder):
    path, out = os.path.join(folder, "p.mlir"), os.path.join(folder, "o.npz")
    with open(path, "w") as f: f.write(text)
    r = subprocess.run([binary, "run", path, "--outputs", out], capture_output=True, text=True)
    if r.returncode: raise RuntimeError(r.stderr.strip().split("\n")[0])
    with np.load(out) as z: return z["out0"]

def ordered(x):
    """Floats as integers in their own order, so that neighbours differ by one."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(object)
    return np.where(bits < 0, -(1 << (8 * x.dtype.itemsize - 1)) - bits, bits)

def verdict(a, b, wanted, got):
    if wanted.dtype.kind == "f" and got.dtype == wanted.dtype:
        nan = np.isnan(wanted) & np.isnan(got)
        if (nan | (wanted == got) & (np.signbit(wanted) == np.signbit(got))).all(): return "="
        one = np.isnan(wanted) != np.isnan(got)
        far = max(abs(d) for d in (ordered(wanted) - ordered(got))[~nan])
        at = int(np.flatnonzero(~nan & (wanted != got))[0]) if not one.any() else int(np.flatnonzero(one)[0])
        if not one.any() and far <= 4: return f"{far} ulp"
    else:
        if wanted.shape == got.shape and (wanted == got).all(): return "="
        at = int(np.flatnonzero(wanted != got)[0])
    return f"differs: of {a[at]!r}, {b[at]!r} theirs {wanted[at]!r}, ours {got[at]!r}"

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", default="target/release/ckpt-opt"); p.add_argument("--seed", type=int, default=0); p.add_argument("--count", type=int, default=200)
    A = p.parse_args(); types = list(INTS) + list(FLOATS); table, bad = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for ty in types:
            rng = np.random.default_rng(A.seed); a, b = inputs(rng, ty, A.count), rng.permutation(inputs(rng, ty, A.count))
            ops = (UNARY_F + BINARY_F + ["is_finite"] if ty in FLOATS else UNARY_I + BINARY_I) + [f"compare:{d}" for d in DIRECTIONS] + [f"convert:{t}" for t in types]
            for op in ops:
                text = program(ty, a, b, op)
                wanted = theirs(text)
                try: got = ours(A.bin, text, folder)
                except RuntimeError as error: got = str(error)
                if wanted is None: cell = "ours alone" if not isinstance(got, str) else "-"
                elif isinstance(got, str): cell, bad = "refused", bad + 1; print(f"{op} {ty}: {got}", file=sys.stderr)
                else: cell = verdict(a, b, wanted, got)
                if cell.startswith("differs"): print(f"{op} {ty}: {cell}", file=sys.stderr); cell = "differs"
                table.setdefault(op, {})[ty] = cell
    print("| operation | " + " | ".join(types) + " |\n|---" * 1 + "|---" * len(types) + "|")
    for op, row in table.items(): print(f"| {op} | " + " | ".join(row.get(t, "-") for t in types) + " |")
    return 1 if bad else 0

if __name__ == "__main__": sys.exit(main())
