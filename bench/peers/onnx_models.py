"""Works as ONNX graphs with their weights inside: name -> a function that gives a Graph and the name of its result."""
import numpy as np
from onnx import TensorProto
from onnx import helper
from onnx import numpy_helper

random = np.random.default_rng(1)


def rand(*dims, scale=1.0, dtype=np.float32):
    return ((random.random(dims) * 2 - 1) * scale).astype(dtype)


class Graph:
    """Nodes by calls; arrays among the operands are weights."""

    def __init__(self):
        self.nodes, self.weights, self.inputs = [], [], {}

    def input(self, value):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = value
        return name

    def _name(self, operand):
        if isinstance(operand, str):
            return operand
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(operand), name))
        return name

    def __call__(self, op, *operands, results=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, [self._name(o) for o in operands], names, **attributes))
        return names[0] if results == 1 else names

    def model(self, result):
        """The graph that gives `result`."""
        some = next(iter(self.inputs.values()))
        kind = TensorProto.DOUBLE if some.dtype == np.float64 else TensorProto.FLOAT
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info(n, kind, v.shape) for n, v in self.inputs.items()],
                                  [helper.make_tensor_value_info(result, kind, None)], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def integers(*values):
    return np.array(values, np.int64)


def rows(op):
    g = Graph()
    x, s, b = g.input(rand(1024, 1024)), rand(1024), rand(1024)
    if op == "softmax":
        return (g, g("Softmax", x, axis=-1))
    if op == "layer_norm":
        return (g, g("LayerNormalization", x, s, b, axis=-1, epsilon=1e-5))
    return (g, g("Gelu", g("Add", g("Mul", x, s), b)))


def mlp():
    g = Graph()
    h, sizes = g.input(rand(32, 784)), [784, 512, 256, 10]
    for i, o in zip(sizes, sizes[1:]):
        h = g("Gemm", h, rand(i, o, scale=0.05), rand(o, scale=0.05))
        h = h if o == 10 else g("Relu", h)
    return (g, h)


def transformer():
    g, r = Graph(), lambda *d: rand(*d, scale=0.05)
    x = g.input(r(128, 768))
    linear = lambda x, i, o: g("Add", g("MatMul", x, r(i, o)), r(o))
    norm = lambda x: g("LayerNormalization", x, r(768), r(768), axis=-1, epsilon=1e-5)
    q, k, v = g("Split", linear(norm(x), 768, 2304), results=3, axis=-1, num_outputs=3)
    heads = lambda t, order: g("Transpose", g("Reshape", t, integers(128, 12, 64)), perm=order)
    s = g("MatMul", heads(q, [1, 0, 2]), heads(k, [1, 2, 0]))
    s = g("Softmax", g("Mul", s, np.float32(0.125)), axis=-1)
    o = g("Transpose", g("MatMul", s, heads(v, [1, 0, 2])), perm=[1, 0, 2])
    h = g("Add", x, linear(g("Reshape", o, integers(128, 768)), 768, 768))
    return (g, g("Add", h, linear(g("Gelu", linear(norm(h), 768, 3072)), 3072, 768)))


def basic_block():
    g, r = Graph(), lambda *d: rand(*d, scale=0.1)
    x = g.input(r(1, 64, 56, 56))
    conv = lambda x: g("Conv", x, r(64, 64, 3, 3), r(64), pads=[1, 1, 1, 1])
    return (g, g("Relu", g("Add", conv(g("Relu", conv(x))), x)))


def depthwise_pointwise():
    g = Graph()
    h = g("Relu", g("Conv", g.input(rand(1, 96, 56, 56)), rand(96, 1, 3, 3), pads=[1, 1, 1, 1], group=96))
    return (g, g("Relu", g("Conv", h, rand(96, 96, 1, 1))))


def lennard_jones(dtype):
    g = Graph()
    p, self = g.input(rand(256, 3, scale=5, dtype=dtype)), np.eye(256, dtype=dtype)
    d = g("Sub", g("Unsqueeze", p, integers(1)), g("Unsqueeze", p, integers(0)))
    r2 = g("Add", g("ReduceSum", g("Mul", d, d), integers(2), keepdims=0), self)
    s6 = g("Div", 1 - self, g("Mul", g("Mul", r2, r2), r2))
    return (g, g("Mul", g("ReduceSum", g("Sub", g("Mul", s6, s6), s6), keepdims=0), dtype(2)))


def lstm():
    g, r = Graph(), lambda *d: rand(*d, scale=0.1)
    y, _, _ = g("LSTM", g.input(r(64, 8, 128)), r(1, 512, 128), r(1, 512, 128), r(1, 1024), "", r(1, 8, 128), r(1, 8, 128),
                results=3, hidden_size=128)
    return (g, g("Squeeze", y, integers(1)))


def attention(tokens):
    g = Graph()
    q, k, v = (g.input(rand(12, tokens, 64)) for _ in range(3))
    s = g("Softmax", g("Mul", g("MatMul", q, g("Transpose", k, perm=[0, 2, 1])), np.float32(0.125)), axis=-1)
    return (g, g("MatMul", s, v))


def gemm(n):
    g = Graph()
    return (g, g("MatMul", g.input(rand(n, n)), g.input(rand(n, n))))


def sixteen_floats():
    g = Graph()
    a, x, b = (g.input(rand(16)) for _ in range(3))
    return (g, g("Add", g("Mul", a, x), b))


works = {
    **{f"row/{op}": lambda op=op: rows(op) for op in ("softmax", "layer_norm", "gelu")},
    "net/mlp": mlp,
    "net/transformer": transformer,
    **{f"net/attention_{n}": lambda n=n: attention(n) for n in (128, 512, 2048)},
    "conv/basic_block": basic_block,
    "conv/depthwise_pointwise": depthwise_pointwise,
    "sim/lennard_jones_f32": lambda: lennard_jones(np.float32),
    "sim/lennard_jones_f64": lambda: lennard_jones(np.float64),
    "seq/lstm": lstm,
    "gemm/NN/512": lambda: gemm(512),
    "gemm/NN/1024": lambda: gemm(1024),
    "call/16_floats": sixteen_floats,
}
