"""XLA's side of the benchmarks: JAX, compiled for the CPU, the state of training steps donated.

usage: xla.py THREADS [WORK ...]"""
import time

import measure
from jax_functions import jax, steps, works


def call_of(f, arguments):
    g = jax.jit(f)
    return lambda: jax.block_until_ready(g(*arguments))


def call_of_step(f, state):
    g = jax.jit(f, donate_argnums=tuple(range(len(state))))

    def call():
        nonlocal state
        _, state = g(*state)
        jax.block_until_ready(state)
    return call


def compile_seconds(f, state):
    start = time.perf_counter()
    jax.jit(f, donate_argnums=tuple(range(len(state)))).lower(*state).compile()
    return time.perf_counter() - start


if measure.threads() == 2:  # first: nothing is compiled yet
    for name, make in steps.items():
        work = name.replace("train/", "compile/") + "/cold"
        if measure.is_wanted(work):
            measure.tell(f"{work}/xla", us=1e6 * compile_seconds(*make()))
measure.run({name: lambda make=make: call_of(*make()) for name, make in works.items()}, "xla")
measure.run({name: lambda make=make: call_of_step(*make()) for name, make in steps.items()}, "xla")
