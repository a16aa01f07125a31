"""PyTorch's side of the benchmarks, eager, in a process of its own.

usage: pytorch.py THREADS [WORK ...]"""
import measure
import torch
from torch_functions import (basic_block, blocks, chain12, channels_last, cross_entropy, depthwise, forward, gemm, gradient, half, index, mlp,
                             other, other_half, square, train_step, transformer_step)

a16, x16, b16 = torch.rand(16), torch.rand(16), torch.rand(16)
marked16 = torch.rand(16, requires_grad=True)


def backward16():
    (marked16 * x16).backward(b16)
    marked16.grad = None


def chain():
    with torch.no_grad():
        torch.relu(torch.tanh((square + other) * square) - other)


def of_halves(dtype):
    x, y, small = square.to(dtype), other.to(dtype), square[:512, :512].contiguous().to(dtype)
    return {"add": lambda: x + y, "sum": lambda: x.sum(1), "softmax": lambda: torch.softmax(x, -1), "product": lambda: small @ small}


def of_bytes(n, tb):
    x, y = (torch.randint(-128, 128, (n, n), dtype=torch.int8) for _ in range(2))
    return lambda: torch._int_mm(x, y.T if tb else y)


works = {
    **{name: lambda make=make: forward(*make()) for name, (make, _) in blocks.items()},
    **{name + ("_forces" if "jones" in name else "_grad"): lambda make=make, count=count: gradient(*make(), count)
       for name, (make, count) in blocks.items()},
    "row/cross_entropy_grad_1024x1024": lambda: cross_entropy(1024, 1024),
    "row/cross_entropy_grad_128x32000": lambda: cross_entropy(128, 32000),
    "net/mlp": mlp,
    "conv/depthwise_pointwise": lambda: forward(*depthwise()),
    "move/chain_12": lambda: forward(chain12, [square, other]),
    "move/transpose": lambda: (lambda: square.T.contiguous()),
    "move/concat": lambda: (lambda: torch.cat([half, other_half], 1)),
    "move/gather": lambda: (lambda: square[index]),
    "move/embedding_grad": lambda: (lambda: (square[index], torch.zeros(1024, 1024).index_add_(0, index, square))),
    "move/argmax": lambda: (lambda: square.argmax(-1)),
    "move/cumsum": lambda: (lambda: square.cumsum(-1)),
    "move/top_k": lambda: (lambda: torch.topk(square, 8)),
    "train/mlp_784_512_256_10": lambda: train_step([784, 512, 256, 10], lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9)),
    "train/digits": lambda: train_step([64, 128, 64, 10], lambda p: torch.optim.Adam(p, 2e-3)),
    "train/transformer": transformer_step,
    **{f"gemm/N{'NT'[tb]}/{n}": lambda n=n, tb=tb: gemm(n, n, n, tb=tb) for n in (512, 1024) for tb in (False, True)},
    **{f"gemm/TN/{n}": lambda n=n: gemm(n, n, n, ta=True) for n in (512, 1024)},
    **{f"gemm/N{'NT'[tb]}/{m}x{k}x{n}": lambda m=m, k=k, n=n, tb=tb: gemm(m, k, n, tb=tb)
       for m in (1, 8, 16, 32, 128) for k, n in ((768, 3072), (3072, 768)) for tb in (False, True)},
    **{f"gemm/i8_N{'NT'[tb]}/{n}": lambda n=n, tb=tb: of_bytes(n, tb) for n in (512, 1024) for tb in (False, True)},
    "sum/first_axis": lambda: (lambda: square.sum(0)),
    "sum/last_axis": lambda: (lambda: square.sum(1)),
    **{f"half/{name}_{work}": lambda dtype=dtype, work=work: of_halves(dtype)[work]
       for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16)) for work in ("add", "sum", "softmax", "product")},
    "eager/call_16_floats_recorded": lambda: (lambda: marked16 * x16),
    "eager/backward_16_floats": lambda: backward16,
    "eager/chain_1024x1024": lambda: chain,
}


def status(field):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))


def grown(make):
    """The bytes that the process grows by at most for three steps, state included."""
    before = status("VmRSS")
    step = make()
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
    for _ in range(3):
        step()
    return status("VmHWM") - before


if measure.threads() == 2:
    train_step([16, 16, 10], lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9))()  # what the first step of all takes does not count
    for name in ("train/mlp_784_512_256_10", "train/transformer"):
        if measure.is_wanted(name.replace("train/", "memory/")):
            measure.tell(name.replace("train/", "memory/") + "/pytorch", bytes=grown(works[name]))
measure.run(works, "pytorch")
measure.run({
    "conv/basic_block": lambda: forward(*channels_last(*basic_block())),
    "conv/basic_block_grad": lambda: gradient(*channels_last(*basic_block())),
    "conv/depthwise_pointwise": lambda: forward(*channels_last(*depthwise())),
}, "pytorch_channels_last")
with torch.no_grad():
    measure.run({"call/16_floats": lambda: (lambda: a16 * x16 + b16), "eager/call_16_floats": lambda: (lambda: a16 + x16)}, "pytorch")
