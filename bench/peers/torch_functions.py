"""The functions that PyTorch runs in the benchmarks, with their inputs: for both of its ways, eager and compiled."""
import measure
import torch
import torch.nn.functional as F

torch.set_num_threads(measure.threads())
torch.manual_seed(1)


def as_it_is(f):
    return f


def train_step(widths, optimizer, through=as_it_is):
    layers = []
    for i, o in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(i, o), torch.nn.ReLU()]
    model = through(torch.nn.Sequential(*layers[:-1]))
    update = optimizer(model.parameters())
    x, y = torch.rand(32, widths[0]), torch.arange(32) * 7 % 10

    def step():
        update.zero_grad()
        F.cross_entropy(model(x), y).backward()
        update.step()
    return step


def gemm(m, k, n, ta=False, tb=False):
    a, b, c = torch.rand(*((k, m) if ta else (m, k))), torch.rand(*((n, k) if tb else (k, n))), torch.empty(m, n)
    a, b = a.T if ta else a, b.T if tb else b
    return lambda: torch.mm(a, b, out=c)


square = torch.rand(1024, 1024)
other = torch.rand(1024, 1024)


def rows():
    x, g, b = torch.rand(1024, 1024) * 2 - 1, torch.rand(1024), torch.rand(1024)
    layer = lambda x, g, b: F.layer_norm(x, (1024,), g, b)
    gelu = lambda x, g, b: F.gelu(x * g + b)
    return {"softmax": (lambda x: torch.softmax(x, -1), [x]), "layer_norm": (layer, [x, g, b]), "gelu": (gelu, [x, g, b])}


def forward(f, inputs):
    def call():
        with torch.no_grad():
            f(*inputs)
    return call


def gradient(f, inputs, count=None):
    """Values and the gradients of the first `count` inputs (all) for a fixed cotangent."""
    count = len(inputs) if count is None else count
    leaves = [i.clone().requires_grad_() for i in inputs[:count]]
    rest = inputs[count:]
    with torch.no_grad():
        ct = torch.rand_like(f(*leaves, *rest))

    def call():
        torch.autograd.grad(f(*leaves, *rest), leaves, ct)
    return call


def cross_entropy(n, classes, through=as_it_is):
    x, y = torch.rand(n, classes, requires_grad=True), torch.arange(n) * 7 % 10
    loss = through(F.cross_entropy)
    return lambda: torch.autograd.grad(loss(x, y), x)


def mlp(through=as_it_is):
    sizes = [784, 512, 256, 10]
    layers = []
    for i, o in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(i, o), torch.nn.ReLU()]
    return forward(through(torch.nn.Sequential(*layers[:-1])), [torch.rand(32, 784)])


def transformer():
    r = lambda *d: (torch.rand(*d) * 2 - 1) * 0.05
    w, hidden = 768, 3072
    inputs = [r(w), r(w), r(w, 3 * w), r(3 * w), r(w, w), r(w), r(w), r(w), r(w, hidden), r(hidden), r(hidden, w), r(w), r(128, w)]

    def block(g1, h1, wqkv, bqkv, wo, bo, g2, h2, w1, b1, w2, b2, x):
        q, k, v = torch.addmm(bqkv, F.layer_norm(x, (w,), g1, h1), wqkv).view(128, 3, 12, 64).permute(1, 2, 0, 3)
        o = F.scaled_dot_product_attention(q[None], k[None], v[None])[0].transpose(0, 1).reshape(128, w)
        x = x + torch.addmm(bo, o, wo)
        return x + torch.addmm(b2, F.gelu(torch.addmm(b1, F.layer_norm(x, (w,), g2, h2), w1)), w2)
    return block, inputs


def transformer_step(through=as_it_is):
    """Plain gradient descent on the sum of squares."""
    block, inputs = transformer()
    block = through(block)
    weights = [w.requires_grad_() for w in inputs[:12]]
    update = torch.optim.SGD(weights, 1e-6)

    def step():
        update.zero_grad()
        (block(*weights, inputs[12]) ** 2).sum().backward()
        update.step()
    return step


def attention(tokens, causal=False):
    run = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return run, [torch.rand(1, 12, tokens, 64) for _ in range(3)]


def basic_block():
    r = lambda *d: (torch.rand(*d) * 2 - 1) * 0.1
    v = lambda t: t.view(1, -1, 1, 1)

    def block(x, w1, s1, b1, w2, s2, b2):
        h = torch.relu(F.conv2d(x, w1, padding=1) * v(s1) + v(b1))
        return torch.relu(F.conv2d(h, w2, padding=1) * v(s2) + v(b2) + x)
    return block, [r(1, 64, 56, 56), r(64, 64, 3, 3), r(64), r(64), r(64, 64, 3, 3), r(64), r(64)]


def channels_last(f, inputs):
    """The same of images and filters whose channels lie innermost."""
    return f, [i.contiguous(memory_format=torch.channels_last) if i.dim() == 4 else i for i in inputs]


def depthwise():
    return (lambda x, d, p: torch.relu(F.conv2d(torch.relu(F.conv2d(x, d, padding=1, groups=96)), p)),
            [torch.rand(1, 96, 56, 56), torch.rand(96, 1, 3, 3), torch.rand(96, 96, 1, 1)])


def lennard_jones(dtype):
    eye = torch.eye(256, dtype=dtype)

    def energy(p):
        d = p[:, None, :] - p[None, :, :]
        r2 = (d * d).sum(-1) + eye
        s6 = (1 - eye) / (r2 * r2 * r2)
        return 2 * (s6 * s6 - s6).sum()
    return energy, [torch.rand(256, 3, dtype=dtype) * 10 - 5]


def lstm():
    r = lambda *d: (torch.rand(*d) * 2 - 1) * 0.1

    def net(x, wx, wh, b, h, c):
        xs, hs = x @ wx + b, []
        for t in range(x.shape[0]):
            i, f, g, o = (xs[t] + h @ wh).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            hs.append(h)
        return torch.stack(hs)
    return net, [r(64, 8, 128), r(128, 512), r(128, 512), r(512), r(8, 128), r(8, 128)]


def chain12(x, y):
    t = x
    for _ in range(4):
        t = torch.maximum(t * y + x, y) - 0.5 * t
    return t


half, other_half, index = torch.rand(1024, 512), torch.rand(1024, 512), torch.arange(1024) * 7 % 10
blocks = {
    "net/transformer": (transformer, 12),
    **{f"net/attention_{n}{'_causal' * c}": (lambda n=n, c=c: attention(n, c), None) for n in (128, 512, 2048) for c in (False, True)},
    "conv/basic_block": (basic_block, None), "seq/lstm": (lstm, 4),
    "sim/lennard_jones_f32": (lambda: lennard_jones(torch.float32), None),
    "sim/lennard_jones_f64": (lambda: lennard_jones(torch.float64), None),
    **{f"row/{name}": (lambda name=name: rows()[name], None) for name in ("softmax", "layer_norm", "gelu")},
}
