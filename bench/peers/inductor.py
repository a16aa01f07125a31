"""PyTorch compiled (torch.compile, whose back end is Inductor), in a process of its own. It needs a C++ compiler and Python's headers.

usage: inductor.py THREADS [WORK ...]"""
import os

import measure

if "HEDDLE_PEERS_CACHE" in os.environ:
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(os.environ["HEDDLE_PEERS_CACHE"], "inductor"))
import torch  # noqa: E402: reads the environment
from torch_functions import (blocks, chain12, cross_entropy, depthwise, forward, gradient, mlp, other, square, train_step,  # noqa: E402
                             transformer_step)

torch._dynamo.config.cache_size_limit = 64


def compiled(make):
    f, inputs = make()
    return torch.compile(f), inputs


def warm(make):
    """Compiled before it is timed."""
    call = make()
    call()
    return call


works = {
    **{name: lambda make=make: forward(*compiled(make)) for name, (make, _) in blocks.items()},
    **{name + ("_forces" if "jones" in name else "_grad"): lambda make=make, count=count: gradient(*compiled(make), count)
       for name, (make, count) in blocks.items()},
    "row/cross_entropy_grad_1024x1024": lambda: cross_entropy(1024, 1024, torch.compile),
    "row/cross_entropy_grad_128x32000": lambda: cross_entropy(128, 32000, torch.compile),
    "net/mlp": lambda: mlp(torch.compile),
    "conv/depthwise_pointwise": lambda: forward(*compiled(depthwise)),
    "move/chain_12": lambda: forward(torch.compile(chain12), [square, other]),
    "train/mlp_784_512_256_10": lambda: train_step([784, 512, 256, 10], lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9), torch.compile),
    "train/digits": lambda: train_step([64, 128, 64, 10], lambda p: torch.optim.Adam(p, 2e-3), torch.compile),
    "train/transformer": lambda: transformer_step(torch.compile),
}
measure.run({name: lambda make=make: warm(make) for name, make in works.items()}, "inductor")
