"""Works as JAX functions: name -> a function that gives a function and its arguments. Threads: of the CPUs of this process, as many as
there are threads."""
import os

import measure

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:measure.threads()])  # before XLA counts them

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng(1)


def rand(*dims, scale=1.0, dtype=np.float32):
    return jax.device_put(((random.random(dims) * 2 - 1) * scale).astype(dtype))


def with_gradient(f, arguments, wrt):
    """A function of the result and the cotangents of arguments `wrt` for a fixed one of the result; and its arguments."""
    cotangent = jnp.ones_like(f(*arguments))

    def both(*x):
        def of(*part):
            full = list(x)
            for i, p in zip(wrt, part):
                full[i] = p
            return f(*full)
        y, back = jax.vjp(of, *[x[i] for i in wrt])
        return y, back(cotangent)
    return both, arguments


def layer_norm(x, g, b):
    d = x - x.mean(-1, keepdims=True)
    return d * lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * g + b


def gelu(x, g, b):
    return jax.nn.gelu(x * g + b, approximate=False)


def cross_entropy(x, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1))


def cross_entropy_grad(n, classes):
    return jax.value_and_grad(cross_entropy), [rand(n, classes), jnp.arange(n, dtype=jnp.int32) * 7 % 10]


def mlp(x, w1, b1, w2, b2, w3, b3):
    return jax.nn.relu(jax.nn.relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3


def mlp_parameters(scale=0.05):
    sizes = [784, 512, 256, 10]
    return [a for i, o in zip(sizes, sizes[1:]) for a in (rand(i, o, scale=scale), rand(o, scale=scale))]


def mlp_step():
    """Momentum, as optim::momentum has it."""
    x, y = rand(32, 784), jnp.arange(32, dtype=jnp.int32) * 7 % 10

    def step(p, v):
        loss, g = jax.value_and_grad(lambda p: cross_entropy(mlp(x, *p), y))(p)
        v = [0.9 * a + b for a, b in zip(v, g)]
        return loss, ([a - 1e-3 * b for a, b in zip(p, v)], v)
    return step, (mlp_parameters(), [jnp.zeros_like(p) for p in mlp_parameters()])


def transformer_step():
    """Plain gradient descent on the sum of squares."""
    x, *weights = transformer_arguments()

    def step(w):
        loss, g = jax.value_and_grad(lambda w: (transformer(x, *w) ** 2).sum())(w)
        return loss, ([a - 1e-6 * b for a, b in zip(w, g)],)
    return step, (weights,)


def softmax_attention(q, k, v, causal=False):
    s = jnp.einsum("hqd,hkd->hqk", q, k) * 0.125
    if causal:
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -jnp.inf)
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(s, -1), v)


def transformer(x, g1, h1, wqkv, bqkv, wo, bo, g2, h2, w1, b1, w2, b2):
    q, k, v = (layer_norm(x, g1, h1) @ wqkv + bqkv).reshape(128, 3, 12, 64).transpose(1, 2, 0, 3)
    o = softmax_attention(q, k, v).transpose(1, 0, 2).reshape(128, 768)
    h = x + (o @ wo + bo)
    return h + (gelu(layer_norm(h, g2, h2) @ w1, 1, b1) @ w2 + b2)


def transformer_arguments():
    r = lambda *d: rand(*d, scale=0.05)
    return [r(128, 768), r(768), r(768), r(768, 2304), r(2304), r(768, 768), r(768), r(768), r(768), r(768, 3072), r(3072),
            r(3072, 768), r(768)]


def conv(x, w, groups=1, pad="SAME"):
    return lax.conv_general_dilated(x, w, (1, 1), pad, dimension_numbers=("NCHW", "OIHW", "NCHW"), feature_group_count=groups)


def basic_block(x, w1, s1, b1, w2, s2, b2):
    v = lambda t: t.reshape(1, -1, 1, 1)
    h = jax.nn.relu(conv(x, w1) * v(s1) + v(b1))
    return jax.nn.relu(conv(h, w2) * v(s2) + v(b2) + x)


def basic_block_arguments():
    r = lambda *d: rand(*d, scale=0.1)
    return [r(1, 64, 56, 56), r(64, 64, 3, 3), r(64), r(64), r(64, 64, 3, 3), r(64), r(64)]


def lennard_jones(p):
    d = p[:, None, :] - p[None, :, :]
    self = jnp.eye(p.shape[0], dtype=p.dtype)
    r2 = (d * d).sum(-1) + self
    s6 = (1 - self) / (r2 * r2 * r2)
    return 2 * (s6 * s6 - s6).sum()


def lstm(x, wx, wh, b, h, c):
    def step(state, xt):
        h, c = state
        i, f, g, o = jnp.split(xt + h @ wh, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (h, c), x @ wx + b)[1]


def lstm_arguments():
    r = lambda *d: rand(*d, scale=0.1)
    return [r(64, 8, 128), r(128, 512), r(128, 512), r(512), r(8, 128), r(8, 128)]


def chain(x, y):
    t = x
    for _ in range(4):
        t = jnp.maximum(t * y + x, y) - 0.5 * t
    return t


square = lambda: rand(1024, 1024)
row = lambda: rand(1024)
index = jnp.arange(1024, dtype=jnp.int32) * 7 % 10
blocks = {  # name: function, arguments, what the gradient is of
    "row/softmax": (lambda x: jax.nn.softmax(x, -1), lambda: [square()], [0]),
    "row/layer_norm": (layer_norm, lambda: [square(), row(), row()], [0, 1, 2]),
    "row/gelu": (gelu, lambda: [square(), row(), row()], [0, 1, 2]),
    "net/transformer": (transformer, transformer_arguments, range(1, 13)),
    "conv/basic_block": (basic_block, basic_block_arguments, range(7)),
    "seq/lstm": (lstm, lstm_arguments, range(4)),
    **{f"net/attention_{n}{'_causal' * c}": (lambda q, k, v, c=c: softmax_attention(q, k, v, c),
                                             lambda n=n: [rand(12, n, 64) for _ in range(3)], range(3))
       for n in (128, 512, 2048) for c in (False, True)},
}
works = {
    **{name: lambda f=f, make=make: (f, make()) for name, (f, make, _) in blocks.items()},
    **{name + "_grad": lambda f=f, make=make, wrt=wrt: with_gradient(f, make(), list(wrt)) for name, (f, make, wrt) in blocks.items()},
    "row/cross_entropy_grad_1024x1024": lambda: cross_entropy_grad(1024, 1024),
    "row/cross_entropy_grad_128x32000": lambda: cross_entropy_grad(128, 32000),
    "net/mlp": lambda: (mlp, [rand(32, 784), *mlp_parameters()]),
    "conv/depthwise_pointwise": lambda: (lambda x, d, p: jax.nn.relu(conv(jax.nn.relu(conv(x, d, 96)), p)),
                                               [rand(1, 96, 56, 56), rand(96, 1, 3, 3), rand(96, 96, 1, 1)]),
    **{f"sim/lennard_jones_{t}{'_forces' * g}": lambda t=t, g=g: (jax.value_and_grad(lennard_jones) if g else lennard_jones,
                                                                       [rand(256, 3, scale=5, dtype={"f32": np.float32, "f64": np.float64}[t])])
       for t in ("f32", "f64") for g in (False, True)},
    "move/chain_12": lambda: (chain, [square(), square()]),
    "move/transpose": lambda: (lambda x: x.T + 0, [square()]),
    "move/concat": lambda: (lambda x, y: jnp.concatenate([x, y], 1), [rand(1024, 512), rand(1024, 512)]),
    "move/gather": lambda: (lambda x, i: x[i], [square(), index]),
    "move/embedding_grad": lambda: (lambda x, i, d: (x[i], jnp.zeros_like(x).at[i].add(d)), [square(), index, square()]),
    "move/argmax": lambda: (lambda x: x.argmax(-1), [square()]),
    "move/cumsum": lambda: (lambda x: x.cumsum(-1), [square()]),
    "move/top_k": lambda: (lambda x: lax.top_k(x, 8)[0], [square()]),
    "gemm/NN/512": lambda: (jnp.matmul, [rand(512, 512), rand(512, 512)]),
    "gemm/NN/1024": lambda: (jnp.matmul, [rand(1024, 1024), rand(1024, 1024)]),
    "call/16_floats": lambda: (lambda a, x, b: a * x + b, [rand(16), rand(16), rand(16)]),
}
# The same; the function takes its state and gives a loss and the next state.
steps = {"train/mlp_784_512_256_10": mlp_step, "train/transformer": transformer_step}
