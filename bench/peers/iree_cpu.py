"""IREE's side of the benchmarks: the JAX functions as StableHLO, compiled for this CPU, timed by IREE's own program in C++. Of two ways to
compile (with and without tiling of data) the faster one counts; results are compared with XLA's first.

usage: iree_cpu.py THREADS [WORK ...]"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

import measure
import numpy as np
from jax_functions import jax, mlp, mlp_parameters, rand, steps, transformer, transformer_arguments, works

BIN = os.path.dirname(sys.executable)
CACHE = os.environ.get("HEDDLE_PEERS_CACHE") or os.path.join(tempfile.gettempdir(), f"heddle-peers-{os.getuid()}")
WAYS = [["--iree-opt-level=O3"], ["--iree-opt-level=O3", "--iree-opt-data-tiling=true"],
        ["--iree-opt-data-tiling=true", "--iree-llvmcpu-fail-on-out-of-bounds-stack-allocation=false"]]
NAMES = ["row/softmax", "row/layer_norm", "row/gelu", "net/transformer_grad", "gemm/NN/512", "gemm/NN/1024", "call/16_floats",
         "sim/lennard_jones_f32", "sim/lennard_jones_f32_forces", "sim/lennard_jones_f64", "sim/lennard_jones_f64_forces"]


def with_weights(f, x, *weights):
    """A function of x alone: weights are constants, which the compiler may pack."""
    return (lambda x: f(x, *weights)), [x]


def iree_works():
    constant = {"net/mlp": lambda: with_weights(mlp, rand(32, 784), *mlp_parameters()),
                "net/transformer": lambda: with_weights(transformer, *transformer_arguments())}
    return {**{name: works[name] for name in NAMES}, **steps, **constant}


def tool(name, *arguments):
    done = subprocess.run([os.path.join(BIN, name), *arguments], capture_output=True, text=True)
    if done.returncode:
        words = [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr[-300:]]
        raise RuntimeError(f"{name}: {words[0]}")
    return done.stdout


def compiled(text, way):
    """The path of the module; RuntimeError when IREE refuses."""
    os.makedirs(CACHE, exist_ok=True)
    stem = os.path.join(CACHE, hashlib.sha256((text + " ".join(way)).encode()).hexdigest()[:24])
    if not os.path.exists(stem + ".vmfb"):
        open(stem + ".mlir", "w").write(text)
        tool("iree-compile", stem + ".mlir", *way, "--iree-input-type=stablehlo", "--iree-hal-target-device=local",
             "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host",
             "--iree-input-demote-f64-to-f32=false", "-o", stem + ".part")
        os.rename(stem + ".part", stem + ".vmfb")
    return stem + ".vmfb"


def device():
    return ["--device=local-sync"] if measure.threads() == 1 else \
        ["--device=local-task", f"--task_topology_group_count={measure.threads()}"]


def is_right(base, expected, folder):
    files = [os.path.join(folder, f"out{i}.npy") for i in range(len(expected))]
    tool("iree-run-module", *base, *[f"--output=@{f}" for f in files])
    got = [np.load(f) for f in files]
    return all(np.abs(g - e).max() <= 1e-3 * np.abs(e).max() + 1e-30 for g, e in zip(got, expected))


def microseconds(base):
    report = tool("iree-benchmark-module", *base, "--benchmark_format=json", "--benchmark_repetitions=15",
                  "--benchmark_min_time=0.08s", "--time_unit=us")
    runs = json.loads(report[report.index("{"):])["benchmarks"]
    return min(r["real_time"] for r in runs if r.get("run_type") == "iteration")


def measured(f, arguments):
    text = str(jax.jit(f).lower(*arguments).compiler_ir("stablehlo"))
    expected = [np.asarray(y) for y in jax.tree_util.tree_leaves(jax.jit(f)(*arguments))]
    found = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for i, a in enumerate(jax.tree_util.tree_leaves(arguments)):
            np.save(os.path.join(folder, f"in{i}.npy"), np.asarray(a))
            inputs.append(f"--input=@{folder}/in{i}.npy")
        for way in WAYS:
            try:
                base = ["--module=" + compiled(text, way), "--function=main", *device(), *inputs]
                if is_right(base, expected, folder):
                    found = min(found, microseconds(base))
                else:
                    print(f"iree: {' '.join(way)}: wrong results", file=sys.stderr)
            except RuntimeError as refused:
                print(refused, file=sys.stderr)
    return found


def compile_cold(name, make):
    f, arguments = make()
    text = str(jax.jit(f).lower(*arguments).compiler_ir("stablehlo"))
    start = time.perf_counter()
    compiled(text + f"\n// {start}", WAYS[0])
    measure.tell(name.replace("train/", "compile/") + "/cold/iree", us=1e6 * (time.perf_counter() - start))


for name, make in iree_works().items():
    if measure.is_wanted(name):
        us = measured(*make())
        if us < float("inf"):
            measure.tell(name + ("" if "16_floats" in name else f"/threads:{measure.threads()}") + "/iree", us=us)
for name, make in steps.items():
    if measure.threads() == 2 and measure.is_wanted(name.replace("train/", "compile/")):
        compile_cold(name, make)
