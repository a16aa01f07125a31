"""What is shipped, measured as it is used: libraries are exported, C programs linked to them and run.

usage: shipped.py BUILD_FOLDER; prints lines of JSON {"name", "us" or "bytes"}. Rows:
  start/mlp        a process from its start to its end, which follows the first result at once; empty_process: one that does nothing
  call/16_floats_c a call from C; hand_written: of a C function in another file
  ship/mlp_*       bytes without the weights: of the shared library, and of a program with the static one, less an empty program
  memory/*         what a process has more after three training steps on two threads; announced: what `heddle inspect` says"""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shipped")
WEIGHTS = 4 * (784 * 512 + 512 + 512 * 256 + 256 + 256 * 10 + 10)


def tell(name, **quantity):
    print(json.dumps({"name": name, **quantity}), flush=True)


def build(folder, program, *files):
    path = os.path.join(folder, program)
    subprocess.run(["cc", "-O2", "-s", "-I", folder, *files, "-o", path, "-lpthread", "-lm"], check=True)
    return path


def sources(*names):
    return [os.path.join(HERE, n) for n in names]


def start_us(path, runs=200):
    """Of the fastest process; files are in memory after the first."""
    best = float("inf")
    null = os.open(os.devnull, os.O_WRONLY)
    for _ in range(runs):
        start = time.perf_counter()
        pid = os.posix_spawn(path, [path], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
        _, status = os.waitpid(pid, 0)
        best = min(best, time.perf_counter() - start)
        if status != 0:
            raise RuntimeError(f"{path}: status {status}")
    os.close(null)
    return 1e6 * best


def stripped_bytes(path, folder):
    copy = os.path.join(folder, "stripped")
    subprocess.run(["strip", "-s", "-o", copy, path], check=True)
    return os.path.getsize(copy)


def measure(bench, step_memory, folder):
    subprocess.run([bench, f"--export={folder}"], check=True)
    empty = build(folder, "empty", *sources("empty.c"))
    first = build(folder, "first_result", *sources("first_result.c"), f"{folder}/mlp.a")
    tell("start/mlp/heddle", us=start_us(first))
    tell("start/mlp/empty_process", us=start_us(empty))
    tell("ship/mlp_shared/heddle", bytes=stripped_bytes(f"{folder}/mlp.so", folder) - WEIGHTS)
    tell("ship/mlp_static/heddle", bytes=os.path.getsize(first) - os.path.getsize(empty) - WEIGHTS)
    sixteen = build(folder, "sixteen", *sources("sixteen.c", "by_hand.c"), f"{folder}/sixteen.a")
    ours, by_hand = subprocess.run([sixteen], check=True, capture_output=True, text=True).stdout.split()
    tell("call/16_floats_c/heddle", us=1e-3 * float(ours))
    tell("call/16_floats_c/hand_written", us=1e-3 * float(by_hand))
    for library, work in (("mlp_step", "mlp_784_512_256_10"), ("transformer_step", "transformer")):
        done = subprocess.run([step_memory, f"{folder}/{library}.so", "2"], check=True, capture_output=True, text=True)
        grown, announced = done.stdout.split()
        tell(f"memory/{work}/heddle", bytes=int(grown))
        tell(f"memory/{work}/announced", bytes=int(announced))


with tempfile.TemporaryDirectory() as where:
    measure(os.path.join(sys.argv[1], "bench/heddle_bench"), os.path.join(sys.argv[1], "bench/step_memory"), where)
