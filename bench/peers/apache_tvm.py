"""TVM's side of the benchmarks: Relax from ONNX, its own pipeline for this CPU, not tuned. One thread.

usage: apache_tvm.py THREADS [WORK ...]"""
import subprocess

import measure
import onnx_models
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

WORKS = ["net/mlp", "net/transformer", "row/softmax", "gemm/NN/512", "gemm/NN/1024", "sim/lennard_jones_f32", "call/16_floats"]


def target():
    options = subprocess.run(["g++", "-march=native", "-Q", "--help=target"], capture_output=True, text=True).stdout
    cpu = next(line.split()[-1] for line in options.splitlines() if line.strip().startswith("-march="))
    return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": 1})


def call_of(graph, result):
    module = from_onnx(graph.model(result), keep_params_in_input=False)
    with target() as t:
        executable = relax.build(module, target=t)
    machine = relax.VirtualMachine(executable, tvm.cpu())
    arguments = [tvm.runtime.tensor(v) for v in graph.inputs.values()]
    run = machine["main"]
    return lambda: run(*arguments)


if measure.threads() == 1:
    measure.run({name: lambda make=onnx_models.works[name]: call_of(*make()) for name in WORKS}, "tvm")
