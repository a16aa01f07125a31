"""PyTorch's side of the benchmarks, eager, in a process of its own. Prints JSON lines: {"name", "us"}, the best of many samples.

usage: peers.py THREADS [WORK ...]"""
import json
import sys
import time

import torch
import torch.nn.functional as F

threads = int(sys.argv[1])
torch.set_num_threads(threads)
torch.manual_seed(1)


def best(call, seconds=1.5):
    """Microseconds of the best sample; a sample groups calls so that it lasts a millisecond."""
    end = time.perf_counter() + 0.3
    calls = 0
    while time.perf_counter() < end:
        call()
        calls += 1
    group = max(1, int(calls / 0.3 / 1000))
    found = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(group):
            call()
        found = min(found, (time.perf_counter() - start) / group)
    return 1e6 * found


def train_step(widths, optimizer):
    layers = []
    for i, o in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(i, o), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    update = optimizer(model.parameters())
    x, y = torch.rand(32, widths[0]), torch.arange(32) * 7 % 10

    def step():
        update.zero_grad()
        F.cross_entropy(model(x), y).backward()
        update.step()
    return step


def gemm(n, ta=False, tb=False):
    a, b, c = torch.rand(n, n), torch.rand(n, n), torch.empty(n, n)
    a, b = a.T if ta else a, b.T if tb else b
    return lambda: torch.mm(a, b, out=c)


square = torch.rand(1024, 1024)
a16, x16, b16 = torch.rand(16), torch.rand(16), torch.rand(16)
marked16 = torch.rand(16, requires_grad=True)
other = torch.rand(1024, 1024)


def backward16():
    (marked16 * x16).backward(b16)
    marked16.grad = None


def chain():
    with torch.no_grad():
        torch.relu(torch.tanh((square + other) * square) - other)


works = {
    "train/mlp_784_512_256_10": lambda: train_step([784, 512, 256, 10], lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9)),
    "train/digits": lambda: train_step([64, 128, 64, 10], lambda p: torch.optim.Adam(p, 2e-3)),
    "gemm/NN/512": lambda: gemm(512),
    "gemm/NN/1024": lambda: gemm(1024),
    "gemm/NT/512": lambda: gemm(512, tb=True),
    "gemm/TN/512": lambda: gemm(512, ta=True),
    "softmax": lambda: (lambda: torch.softmax(square, -1)),
    "sum/first_axis": lambda: (lambda: square.sum(0)),
    "sum/last_axis": lambda: (lambda: square.sum(1)),
    "call/16_floats": lambda: (lambda: a16 * x16 + b16),
    "eager/call_16_floats": lambda: (lambda: a16 + x16),
    "eager/call_16_floats_recorded": lambda: (lambda: marked16 * x16),
    "eager/backward_16_floats": lambda: backward16,
    "eager/chain_1024x1024": lambda: chain,
}
for name, make in works.items():
    if len(sys.argv) > 2 and not any(name.startswith(w) for w in sys.argv[2:]):
        continue
    suffix = "" if "16_floats" in name else f"/threads:{threads}"
    if name in ("call/16_floats", "eager/call_16_floats"):
        with torch.no_grad():
            print(json.dumps({"name": name + suffix + "/pytorch", "us": best(make())}), flush=True)
    else:
        print(json.dumps({"name": name + suffix + "/pytorch", "us": best(make())}), flush=True)
