"""The other side of the comparison: the same work in PyTorch and ONNX Runtime.

The benchmark runs this text with `python -u -c` and talks to it in lines of JSON (see peer.go). Every function marked
@work prepares one kind of work and returns the ways to do it: {"name": step}. Names that begin with "onnxruntime" run there,
all others in PyTorch. The benchmark takes the fastest way of each library.
"""
import sys
import time

if len(sys.argv) > 1 and sys.argv[1] == "start":
    # Nothing but what a user's first lines need.
    import torch
    x = torch.ones(3) + 1
    rss = next(l for l in open("/proc/self/status") if l.startswith("VmRSS")).split()[1] if sys.platform == "linux" else 0
    print(int(rss) * 1024, flush=True)
    sys.exit(0)

import gc
import json
import os
import shutil
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

WORKS = {}
THREADS = 1


def work(f):
    WORKS[f.__name__] = f
    return f


class Recorded:
    """A step that records gradients; plain functions run in inference mode."""

    def __init__(self, step):
        self.step = step


def each(ways):
    """Prepares the ways of a dict of functions. One that this version lacks becomes its error; at least one must do."""
    out = {}
    for name, prepare in ways.items():
        try:
            out[name] = prepare()
        except Exception as e:
            out[name] = e
    if out and all(isinstance(w, Exception) for w in out.values()):
        raise next(iter(out.values()))
    return out


def scripted(model, x):
    with torch.no_grad():
        m = torch.jit.freeze(torch.jit.trace(model.eval(), x))
        m(x), m(x)
    return lambda: m(x)


def compiled(model, x):
    if not (shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")):
        raise RuntimeError("torch.compile needs a C++ compiler")
    m = torch.compile(model)
    return lambda: m(x)


# ---------------------------------------------------------------- products


@work
def matmul(m, k, n, ta=False, tb=False):
    a = torch.randn(k, m).t() if ta else torch.randn(m, k)
    b = torch.randn(n, k).t() if tb else torch.randn(k, n)
    return {"eager": lambda: torch.mm(a, b)}


@work
def matmul_low(n, dtype):
    a, b = torch.randn(n, n), torch.randn(n, n)
    if dtype == "int8":
        a, b = (a * 50).to(torch.int8), (b * 50).to(torch.int8)
        return {"eager": lambda: torch._int_mm(a, b)}
    a, b = a.to(getattr(torch, dtype)), b.to(getattr(torch, dtype))
    return {"eager": lambda: torch.mm(a, b)}


@work
def bmm(b, m, k, n):
    x, y = torch.randn(b, m, k), torch.randn(b, k, n)
    return {"eager": lambda: torch.bmm(x, y)}


# ---------------------------------------------------------------- convolutions


@work
def conv(n, c, h, w, out, kernel, stride, padding, groups, layout, backward, dtype):
    fmt = torch.channels_last if layout == "channels-last" else torch.contiguous_format
    dtype = getattr(torch, dtype.removeprefix("torch."))
    x = torch.randn(n, c, h, w, dtype=dtype).to(memory_format=fmt)
    k = torch.randn(out, c // groups, kernel, kernel, dtype=dtype).to(memory_format=fmt)
    s, p = [stride, stride], [padding, padding]
    if not backward:
        return {"eager": lambda: F.conv2d(x, k, None, s, p, 1, groups)}
    g = torch.randn_like(F.conv2d(x, k, None, s, p, 1, groups))
    mask = [True, True, False]
    return {"eager": lambda: torch.ops.aten.convolution_backward(g, x, k, None, s, p, [1, 1], False, [0, 0], groups, mask)}


# ---------------------------------------------------------------- elementwise, reductions, rows


def dtype_of(name):
    return getattr(torch, name)


def fill(n, dtype):
    if dtype == "bool":
        return torch.rand(n) > 0.5
    if dtype.startswith("int") or dtype == "uint8":
        return torch.randint(1, 100, (n,), dtype=dtype_of(dtype))
    return torch.randn(n).to(dtype_of(dtype))


@work
def unary(op, n, dtype="float32"):
    x = fill(n, dtype)
    f = getattr(torch, op, None) or getattr(F, op)
    return {"eager": lambda: f(x)}


@work
def binary(op, n, dtype="float32"):
    x, y = fill(n, dtype), fill(n, dtype)
    f = getattr(torch, op)
    return {"eager": lambda: f(x, y)}


@work
def cast(n, src, dst):
    x, to = fill(n, src), dtype_of(dst)
    return {"eager": lambda: x.to(to)}


@work
def where(n):
    c, x, y = torch.rand(n) > 0.5, torch.randn(n), torch.randn(n)
    return {"eager": lambda: torch.where(c, x, y)}


@work
def add_row(rows, cols):
    x, y = torch.randn(rows, cols), torch.randn(cols)
    return {"eager": lambda: x + y}


@work
def spectral(op, shape):
    x = torch.randn(shape)
    if op[0] != "r":
        x = torch.complex(x, torch.randn(shape))
    f = getattr(torch.fft, op)
    return {"eager": lambda: f(x)}


@work
def factor(op, count, n):
    x = torch.randn(count, n, n)
    x = x @ x.mT + n * torch.eye(n)
    f = getattr(torch.linalg, op)
    return {"eager": lambda: f(x, x) if op == "solve" else f(x)}


@work
def softmax(rows, cols):
    x = torch.randn(rows, cols)
    return {"eager": lambda: torch.softmax(x, -1)}


@work
def layer_norm(rows, cols):
    x, w, b = torch.randn(rows, cols), torch.randn(cols), torch.randn(cols)
    return {"eager": lambda: F.layer_norm(x, (cols,), w, b)}


@work
def rms_norm(rows, cols):
    x, w = torch.randn(rows, cols), torch.randn(cols)
    return {"eager": lambda: F.rms_norm(x, (cols,), w)}


@work
def loss(name, n):
    x, y = torch.rand(n, requires_grad=True), torch.rand(n)
    f = getattr(F, name)
    kw = {"reduction": "sum"} if name == "kl_div" else {}
    return {"eager": Recorded(lambda: torch.autograd.grad(f(x, y, **kw), x))}


@work
def sum_all(n, dtype="float32"):
    x = fill(n, dtype)
    return {"eager": lambda: x.sum()}


@work
def sum_dim0(rows, cols):
    x = torch.randn(rows, cols)
    return {"eager": lambda: x.sum(0)}


@work
def transpose(rows, cols):
    x = torch.randn(rows, cols).t()
    return {"eager": lambda: x.contiguous()}


@work
def embedding(num, dim, n):
    w = torch.randn(num, dim, requires_grad=True)
    i = torch.randint(num, (n,))
    g = torch.randn(n, dim)
    return {"eager": Recorded(lambda: torch.autograd.grad(F.embedding(i, w), w, g))}


@work
def embedding_bag(num, dim, bags, per):
    w = torch.randn(num, dim, requires_grad=True)
    i = torch.randint(num, (bags, per))
    g = torch.randn(bags, dim)
    return {"eager": Recorded(lambda: torch.autograd.grad(F.embedding_bag(i, w), w, g))}


# ---------------------------------------------------------------- overhead


@work
def add_one(grad):
    x, y = torch.tensor([1.0], requires_grad=grad), torch.tensor([2.0], requires_grad=grad)
    step = lambda: x.add(y)
    return {"eager": Recorded(step) if grad else step}


@work
def chain(n):
    x, y = torch.tensor([1.0], requires_grad=True), torch.tensor([1.0], requires_grad=True)

    def step():
        z = x
        for _ in range(n):
            z = z * y
        z.backward()

    return {"eager": Recorded(step)}


@work
def linear(size, batch, backward):
    m = nn.Linear(size, size)
    x = torch.randn(batch, size)
    if not backward:
        return {"eager": lambda: m(x)}

    def step():
        m.weight.grad = m.bias.grad = None
        m(x).sum().backward()

    return {"eager": Recorded(step)}


# ---------------------------------------------------------------- optimizers


def gradients(params):
    for p in params:
        p.grad = torch.randn_like(p) * 1e-3
    return params


@work
def adam(count, shape, fused):
    def prepare(**options):
        params = gradients([torch.randn(*shape, requires_grad=True) for _ in range(count)])
        return Recorded(torch.optim.Adam(params, **options).step)

    if fused:
        return {"fused": prepare(fused=True)}
    return each({"default": prepare, "foreach": lambda: prepare(foreach=True)})


@work
def clip(count, shape):
    params = gradients([torch.randn(*shape, requires_grad=True) for _ in range(count)])
    return {
        "default": Recorded(lambda: nn.utils.clip_grad_norm_(params, 1e-4)),
        "foreach": Recorded(lambda: nn.utils.clip_grad_norm_(params, 1e-4, foreach=True)),
    }


# ---------------------------------------------------------------- networks


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or cin != cout:
            self.down = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + (x if self.down is None else self.down(x)))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(3, 2, 1)
        plan = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
        self.blocks = nn.Sequential(*[Block(*p) for p in plan])
        self.avg = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avg(self.blocks(x)), 1))


class Inverted(nn.Module):
    def __init__(self, cin, cout, stride, expand):
        super().__init__()
        mid, layers = cin * expand, []
        if expand != 1:
            layers += [nn.Conv2d(cin, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU6(inplace=True)]
        layers += [nn.Conv2d(mid, mid, 3, stride, 1, groups=mid, bias=False), nn.BatchNorm2d(mid), nn.ReLU6(inplace=True)]
        layers += [nn.Conv2d(mid, cout, 1, bias=False), nn.BatchNorm2d(cout)]
        self.conv = nn.Sequential(*layers)
        self.same = stride == 1 and cin == cout

    def forward(self, x):
        return x + self.conv(x) if self.same else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6(inplace=True)]
        cin = 32
        for expand, cout, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
            for i in range(count):
                layers.append(Inverted(cin, cout, stride if i == 0 else 1, expand))
                cin = cout
        layers += [nn.Conv2d(cin, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(inplace=True)]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(1280, 1000)

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


def make_mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))


def make_lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10),
    )


MODELS = {"mlp": make_mlp, "lenet": make_lenet, "resnet18": ResNet18, "mobilenet_v2": MobileNetV2}


def train_step(model, opt, x, y):
    def step():
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()

    return Recorded(step)


@work
def train(model, shape, classes, optimizer):
    """A step: gradients to none, forward, cross entropy, backward, optimizer."""
    x, y = torch.randn(*shape), torch.randint(classes, (shape[0],))
    out = {}
    images = len(shape) == 4
    for name, fmt in (("NCHW", torch.contiguous_format), ("channels-last", torch.channels_last))[: 2 if images else 1]:
        m = MODELS[model]().to(memory_format=fmt)
        xs = x.to(memory_format=fmt) if images else x
        if optimizer == "adam":
            for kind, kw in (("default", {}), ("foreach", {"foreach": True}), ("fused", {"fused": True})):
                out[name + ", " + kind + " Adam"] = lambda m=m, xs=xs, kw=kw: train_step(m, torch.optim.Adam(m.parameters(), **kw), xs, y)
        else:
            out[name] = lambda m=m, xs=xs: train_step(m, torch.optim.SGD(m.parameters(), lr=0.01, momentum=0.9), xs, y)
    return each(out)


def precision(lower, f):
    """f, or f under bfloat16 autocast."""
    if not lower:
        return f
    def run():
        with torch.autocast("cpu", torch.bfloat16):
            return f()
    return run


def sgd_step(model, opt, loss):
    def step():
        opt.zero_grad()
        loss().backward()
        opt.step()

    return Recorded(step)


@work
def amp_resnet(shape, lower):
    x, y = torch.randn(*shape), torch.randint(1000, (shape[0],))
    out = {}
    for name, fmt in (("NCHW", torch.contiguous_format), ("channels-last", torch.channels_last)):
        m, xs = ResNet18().to(memory_format=fmt), x.to(memory_format=fmt)
        loss = precision(lower, lambda m=m, xs=xs: F.cross_entropy(m(xs), y))
        out[name] = sgd_step(m, torch.optim.SGD(m.parameters(), lr=0.01, momentum=0.9), loss)
    return out


@work
def amp_transformer(d, heads, ff, batch, seq, lower):
    m = nn.TransformerEncoderLayer(d, heads, ff, dropout=0.0, batch_first=True)
    x = torch.randn(batch, seq, d)
    opt = torch.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9)
    return {"eager": sgd_step(m, opt, precision(lower, lambda: m(x).square().mean()))}


class Recommender(nn.Module):
    """DLRM: bags of categories, layers for dense features, products of all pairs of vectors."""

    def __init__(self, tables, rows, dim, dense):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, dim, mode="sum", sparse=True) for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(dense, 128), nn.ReLU(), nn.Linear(128, dim), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(dim + tables * (tables + 1) // 2, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
        self.pairs = torch.tensor([i * (tables + 1) + j for i in range(tables + 1) for j in range(i)])

    def forward(self, dense, categories):
        x = self.bottom(dense)
        v = torch.stack([x] + [b(c) for b, c in zip(self.bags, categories)], 1)
        products = torch.bmm(v, v.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
        return self.top(torch.cat([x, products], 1)).squeeze(1)


@work
def recommender(tables, rows, dim, dense, batch, per_bag):
    m = Recommender(tables, rows, dim, dense)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    x, y = torch.randn(batch, dense), torch.randint(2, (batch,)).float()
    categories = [torch.randint(rows, (batch, per_bag)) for _ in range(tables)]

    def step():
        opt.zero_grad()
        F.binary_cross_entropy_with_logits(m(x, categories), y).backward()
        opt.step()

    return {"eager": Recorded(step)}


@work
def forward(model, shape, ways):
    """Inference. ways: eager, script, compile, onnx."""
    x = torch.randn(*shape)
    out = {}
    images = len(shape) == 4
    for name, fmt in (("NCHW", torch.contiguous_format), ("channels-last", torch.channels_last))[: 2 if images else 1]:
        m = MODELS[model]().eval().to(memory_format=fmt)
        xs = x.to(memory_format=fmt) if images else x
        if "eager" in ways:
            out[name] = lambda m=m, xs=xs: lambda: m(xs)
        if "script" in ways:
            out[name + ", TorchScript"] = lambda m=m, xs=xs: scripted(m, xs)
        if "compile" in ways:
            out[name + ", torch.compile"] = lambda m=m, xs=xs: compiled(m, xs)
    if "onnx" in ways and onnxruntime is not None:
        out["onnxruntime"] = lambda: session(MODELS[model]().eval(), x)
    return each(out)


@work
def transformer(d, heads, ff, batch, seq, backward):
    m = nn.TransformerEncoderLayer(d, heads, ff, dropout=0.0, batch_first=True)
    x = torch.randn(batch, seq, d)
    if not backward:
        m.eval()
        return {"eager": lambda: m(x), "TorchScript": scripted(m, x)}
    x.requires_grad_()
    g = torch.randn(batch, seq, d)

    def step():
        m.zero_grad()
        x.grad = None
        m(x).backward(g)

    return {"eager": Recorded(step)}


@work
def lstm(size, hidden, seq, batch, backward):
    m = nn.LSTM(size, hidden)
    x = torch.randn(seq, batch, size)
    if not backward:
        m.eval()
        return {"eager": lambda: m(x), "TorchScript": scripted(m, x)}
    x.requires_grad_()
    g = torch.randn(seq, batch, hidden)

    def step():
        m.zero_grad()
        x.grad = None
        m(x)[0].backward(g)

    return {"eager": Recorded(step)}


# ---------------------------------------------------------------- kinds of networks (networks.go)

NETWORKS = {}


def kind(f):
    NETWORKS[f.__name__] = f
    return f


def block(cin, cout):
    return [nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU()]


@kind
def gpt(batch, put):
    d, heads, length, words = 256, 8, 128, 5000
    embed, position, last, head = nn.Embedding(words, d), nn.Embedding(length, d), nn.LayerNorm(d), nn.Linear(d, words, bias=False)
    blocks = [
        nn.ModuleList([nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)])
        for _ in range(2)
    ]
    x, y, p = torch.randint(words, (batch, length)), torch.randint(words, (batch * length,)), torch.arange(length)

    def loss():
        z = embed(x) + position(p)
        for norm1, norm2, qkv, proj, wide, back in blocks:
            q, k, v = [t.view(batch, length, heads, d // heads).transpose(1, 2) for t in qkv(norm1(z)).chunk(3, 2)]
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            z = z + proj(a.transpose(1, 2).reshape(batch, length, d))
            z = z + back(F.gelu(wide(norm2(z))))
        return F.cross_entropy(head(last(z)).view(batch * length, words), y)

    return [embed, position, last, head, *blocks], loss


@kind
def vit(batch, put):
    d = 192
    patch, head = nn.Conv2d(3, d, 16, 16), nn.Linear(d, 100)
    tokens = nn.ParameterList([torch.randn(1, 1, d), torch.randn(1, 197, d)])
    layer = nn.TransformerEncoderLayer(d, 3, 4 * d, 0.0, "gelu", batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(d))
    x, y = torch.randn(batch, 3, 224, 224), torch.randint(100, (batch,))

    def loss():
        z = patch(x).flatten(2).transpose(1, 2)
        z = torch.cat([tokens[0].expand(batch, -1, -1), z], 1) + tokens[1]
        return F.cross_entropy(head(encoder(z)[:, 0]), y)

    return [patch, tokens, encoder, head], loss


@kind
def bert(batch, put):
    d, length = 256, 64
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 1024, 0.1, "gelu", batch_first=True), 3)
    embed, head = nn.Embedding(10000, d), nn.Linear(d, 2)
    x, y = torch.randint(10000, (batch, length)), torch.randint(2, (batch,))
    padding = (torch.arange(length) > 40).expand(batch, length)
    return [encoder, embed, head], lambda: F.cross_entropy(head(encoder(embed(x), src_key_padding_mask=padding).mean(1)), y)


@kind
def seq2seq(batch, put):
    d, words, length = 128, 1000, 32
    m = nn.Transformer(d, 4, 2, 2, 512, batch_first=True)
    source, target, head = nn.Embedding(words, d), nn.Embedding(words, d), nn.Linear(d, words)
    x, t, y = torch.randint(words, (batch, length)), torch.randint(words, (batch, length)), torch.randint(words, (batch * length,))
    later = torch.full((length, length), float("-inf")).triu(1)
    return [m, source, target, head], lambda: F.cross_entropy(head(m(source(x), target(t), tgt_mask=later)).view(-1, words), y)


@kind
def resnet50(batch, put):
    import torchvision

    m, x, y = torchvision.models.resnet50(), put(torch.randn(batch, 3, 96, 96)), torch.randint(1000, (batch,))
    return [m], lambda: F.cross_entropy(m(x), y)


@kind
def mobilenet_v2(batch, put):
    m, x, y = MobileNetV2(), put(torch.randn(batch, 3, 96, 96)), torch.randint(1000, (batch,))
    return [m], lambda: F.cross_entropy(m(x), y)


@kind
def unet(batch, put):
    def double(cin, cout):
        return nn.Sequential(*block(cin, cout), *block(cout, cout))

    down1, down2, down3, up2, up1 = double(3, 16), double(16, 32), double(32, 64), double(64, 32), double(32, 16)
    wider2, wider1, out = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(16, 1, 1)
    x, y = put(torch.randn(batch, 3, 96, 96)), put(torch.rand(batch, 1, 96, 96))

    def loss():
        a = down1(x)
        b = down2(F.max_pool2d(a, 2))
        z = up2(torch.cat([b, wider2(down3(F.max_pool2d(b, 2)))], 1))
        z = up1(torch.cat([a, wider1(z)], 1))
        return F.binary_cross_entropy_with_logits(out(z), y)

    return [down1, down2, down3, up2, up1, wider2, wider1, out], loss


@kind
def convnext(batch, put):
    d = 96
    depth, norm, wide, back = nn.Conv2d(d, d, 7, padding=3, groups=d), nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    scale, x = nn.Parameter(torch.ones(d)), put(torch.randn(batch, d, 40, 40))

    def loss():
        z = back(F.gelu(wide(norm(depth(x).permute(0, 2, 3, 1))))) * scale
        return (x + z.permute(0, 3, 1, 2)).square().mean()

    return [depth, norm, wide, back, nn.ParameterList([scale])], loss


@kind
def diffusion(batch, put):
    d, heads, pixels = 64, 4, 24 * 24
    first, conv1, conv2, time = nn.Conv2d(3, d, 3, padding=1), nn.Conv2d(d, d, 3, padding=1), nn.Conv2d(d, d, 3, padding=1), nn.Linear(128, d)
    norm1, norm2, norm3 = [nn.GroupNorm(8, d) for _ in range(3)]
    qkv, proj = nn.Conv2d(d, 3 * d, 1), nn.Conv2d(d, d, 1)
    x, t = put(torch.randn(batch, 3, 24, 24)), torch.randn(batch, 128)

    def loss():
        z = first(x)
        h = conv1(F.silu(norm1(z))) + time(F.silu(t))[:, :, None, None]
        z = z + conv2(F.silu(norm2(h)))
        q, k, v = qkv(norm3(z)).reshape(batch, 3, heads, d // heads, pixels).permute(1, 0, 2, 4, 3)
        a = F.scaled_dot_product_attention(q, k, v)
        z = z + proj(a.transpose(2, 3).reshape(batch, d, 24, 24))
        return z.square().mean()

    return [first, norm1, conv1, time, norm2, conv2, norm3, qkv, proj], loss


@kind
def dcgan(batch, put):
    def up(cin, cout, stride, padding):
        return nn.ConvTranspose2d(cin, cout, 4, stride, padding, bias=False)

    m = nn.Sequential(
        up(100, 256, 1, 0), nn.BatchNorm2d(256), nn.ReLU(), up(256, 128, 2, 1), nn.BatchNorm2d(128), nn.ReLU(),
        up(128, 64, 2, 1), nn.BatchNorm2d(64), nn.ReLU(), up(64, 3, 2, 1), nn.Tanh(),
    )
    x = put(torch.randn(batch, 100, 1, 1))
    return [m], lambda: m(x).square().mean()


@kind
def audio(batch, put):
    m = nn.Sequential(
        nn.Conv1d(1, 64, 80, 16), nn.BatchNorm1d(64), nn.ReLU(), nn.MaxPool1d(4),
        nn.Conv1d(64, 64, 3), nn.BatchNorm1d(64), nn.ReLU(), nn.MaxPool1d(4),
        nn.Conv1d(64, 128, 3), nn.BatchNorm1d(128), nn.ReLU(), nn.MaxPool1d(4),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(128, 35),
    )
    x, y = torch.randn(batch, 1, 16000), torch.randint(35, (batch,))
    return [m], lambda: F.cross_entropy(m(x), y)


@kind
def conv3d(batch, put):
    m = nn.Sequential(
        nn.Conv3d(1, 16, 3, padding=1), nn.BatchNorm3d(16), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(16, 32, 3, padding=1), nn.BatchNorm3d(32), nn.ReLU(),
        nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(32, 5),
    )
    x, y = torch.randn(batch, 1, 16, 32, 32), torch.randint(5, (batch,))
    return [m], lambda: F.cross_entropy(m(x), y)


@kind
def gru(batch, put):
    m, head = nn.GRU(64, 128, 2, bidirectional=True, batch_first=True), nn.Linear(256, 10)
    x, y = torch.randn(batch, 50, 64), torch.randint(10, (batch,))
    return [m, head], lambda: F.cross_entropy(head(m(x)[0][:, -1]), y)


@kind
def charlstm(batch, put):
    letters, length = 65, 64
    embed, m, head = nn.Embedding(letters, 128), nn.LSTM(128, 256, 2, batch_first=True, dropout=0.2), nn.Linear(256, letters)
    x, y = torch.randint(letters, (batch, length)), torch.randint(letters, (batch * length,))
    return [embed, m, head], lambda: F.cross_entropy(head(m(embed(x))[0]).view(-1, letters), y)


@kind
def vae(batch, put):
    enter, mean, logvar = nn.Linear(784, 400), nn.Linear(400, 20), nn.Linear(400, 20)
    out = nn.Sequential(nn.Linear(20, 400), nn.ReLU(), nn.Linear(400, 784))
    x = torch.rand(batch, 784)

    def loss():
        h = F.relu(enter(x))
        m, v = mean(h), logvar(h)
        z = m + torch.randn_like(m) * (0.5 * v).exp()
        return F.binary_cross_entropy(torch.sigmoid(out(z)), x, reduction="sum") - 0.5 * (1 + v - m.pow(2) - v.exp()).sum()

    return [enter, mean, logvar, out], loss


@kind
def dlrm(batch, put):
    d, rows = 16, 10000
    bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, d), nn.ReLU())
    top = nn.Sequential(nn.Linear(81 + d, 128), nn.ReLU(), nn.Linear(128, 1))
    tables, indices = [nn.EmbeddingBag(rows, d) for _ in range(8)], [torch.randint(rows, (batch, 5)) for _ in range(8)]
    x, y = torch.randn(batch, 13), torch.rand(batch, 1)

    def loss():
        v = [bottom(x)] + [b(i) for b, i in zip(tables, indices)]
        s = torch.stack(v, 1)
        z = torch.bmm(s, s.transpose(1, 2)).flatten(1)
        return F.binary_cross_entropy_with_logits(top(torch.cat([v[0], z], 1)), y)

    return [bottom, top, *tables], loss


@kind
def gcn(batch, put):
    nodes, edges = 5000, 20000
    layer1, layer2 = nn.Linear(64, 64), nn.Linear(64, 7)
    x, y = torch.randn(nodes, 64), torch.randint(7, (nodes,))
    source, target = torch.randint(nodes, (edges,)), torch.randint(nodes, (edges,))

    def gather(x):
        return torch.zeros_like(x).index_add(0, target, x.index_select(0, source)) + x

    return [layer1, layer2], lambda: F.cross_entropy(gather(layer2(F.relu(gather(layer1(x))))), y)


@kind
def mlp(batch, put):
    m = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    x, y = torch.randn(batch, 20), torch.randint(2, (batch,))
    return [m], lambda: F.cross_entropy(m(x), y)


@work
def network(name, batch, backward, images, clip):
    """A training step, or the loss in evaluation."""

    def prepare(fmt):
        parts, loss = NETWORKS[name](batch, lambda x: x.to(memory_format=fmt))
        m = nn.ModuleList(parts)
        if images:
            m.to(memory_format=fmt)
        if not backward:
            m.eval()
            return loss
        params = list(m.parameters())
        opt = torch.optim.AdamW(params, 1e-4, fused=True)

        def step():
            opt.zero_grad()
            loss().backward()
            if clip:
                nn.utils.clip_grad_norm_(params, 1)
            opt.step()

        return Recorded(step)

    formats = (("NCHW", torch.contiguous_format), ("channels-last", torch.channels_last)) if images else (("eager", torch.contiguous_format),)
    return each({n: lambda f=f: prepare(f) for n, f in formats})


# ---------------------------------------------------------------- data and files


@work
def loader(samples, features, batch):
    from torch.utils.data import DataLoader, TensorDataset

    d = DataLoader(TensorDataset(torch.randn(samples, features), torch.randint(10, (samples,))), batch_size=batch, shuffle=True)

    def step():
        for _ in d:
            pass

    return {"0 workers": Recorded(step)}


@work
def state_dict(shapes, how):
    """Saves or loads a state dict of the given shapes: how is "save", "load" or "mmap", with "safetensors " before it in
    that format."""
    sd = {str(i): torch.ones(s) for i, s in enumerate(shapes)}
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "weights")
    if how.startswith("safetensors"):
        import safetensors.torch
        save, load = safetensors.torch.save_file, safetensors.torch.load_file
    else:
        save = torch.save

        def load(path):
            return torch.load(path, weights_only=True, mmap=how == "mmap")

    def saved(keep=folder):
        save(sd, path)
        with open(path, "rb") as f:  # our files are on the disk, too, when Save returns
            os.fsync(f.fileno())

    save(sd, path)
    step = saved if how.endswith("save") else lambda keep=folder: load(path)
    return {"eager": Recorded(step)}


# ---------------------------------------------------------------- images and detectors


def picture(w, h, seed):
    """The bytes of a JPEG, those that photo in vision.go makes."""
    import io

    from PIL import Image

    i = torch.arange(3 * h * w)
    u, v = i % w, i // w % h
    p = (u * 255 // w + v * (i // (w * h)) * 97 // h + (u * u + v * (v + seed)) // 64 % 32) % 256
    file = io.BytesIO()
    Image.fromarray(p.to(torch.uint8).view(3, h, w).permute(1, 2, 0).contiguous().numpy()).save(file, "JPEG", quality=90)
    return file.getvalue()


def evaluation():
    from torchvision import transforms as t

    return t.Compose([t.Resize(256), t.CenterCrop(224), t.ToTensor(), t.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


@work
def photo(w, h):
    import io

    from PIL import Image

    file, prepare = picture(w, h, 0), evaluation()
    return {"eager": lambda: prepare(Image.open(io.BytesIO(file)).convert("RGB"))}


@work
def image_folder(w, h, images, workers):
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder

    root = tempfile.TemporaryDirectory()
    for i in range(images):
        folder = os.path.join(root.name, str(i % 2))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{i:03}.jpg"), "wb") as f:
            f.write(picture(w, h, i))
    d = DataLoader(ImageFolder(root.name, evaluation()), batch_size=16, num_workers=workers, persistent_workers=workers > 0)

    def step(keep=root):
        for _ in d:
            pass

    return {f"{workers} workers": step}


@work
def nms(n):
    import torchvision

    at = torch.rand(n, 2) * 1000
    boxes, scores = torch.cat([at, at + torch.rand(n, 2) * 100], 1), torch.rand(n)
    return {"eager": lambda: torchvision.ops.nms(boxes, scores, 0.5)}


@work
def roi_align(channels, regions):
    import torchvision

    x, at = torch.randn(1, channels, 50, 50), torch.rand(regions, 2) * 500
    rois = torch.cat([torch.zeros(regions, 1), at, at + torch.rand(regions, 2) * 300], 1)
    return {"eager": lambda: torchvision.ops.roi_align(x, rois, 7, 1 / 16, 2)}


@work
def deform_conv2d(channels, side):
    import torchvision

    x, w, offset = torch.randn(1, channels, side, side), torch.randn(channels, channels, 3, 3), torch.randn(1, 18, side, side)
    return {"eager": lambda: torchvision.ops.deform_conv2d(x, offset, w, padding=1)}


@work
def zoo(name, batch):
    import torchvision

    m, x = torchvision.models.get_model(name).eval(), torch.randn(batch, 3, 224, 224)
    return {"eager": lambda: m(x)}


# ---------------------------------------------------------------- ONNX, written by hand: the exporter needs more packages


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """A protobuf field: an int, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Graph:
    """Nodes and weights of an ONNX graph; values are names."""

    def __init__(self):
        self.nodes, self.weights, self.count = b"", b"", 0

    def weight(self, t):
        self.count += 1
        name = "w%d" % self.count
        t = t.detach().contiguous()
        dims = b"".join(field(1, d) for d in t.shape)
        self.weights += field(5, dims + field(2, 1) + field(8, name.encode()) + field(9, t.numpy().tobytes()))
        return name

    def node(self, op, *inputs, **attrs):
        self.count += 1
        name = "v%d" % self.count
        body = b"".join(field(1, i.encode()) for i in inputs) + field(2, name.encode()) + field(4, op.encode())
        for k, v in attrs.items():
            a = field(1, k.encode())
            if isinstance(v, int):
                a += field(3, v) + field(20, 2)
            else:
                a += b"".join(field(8, x) for x in v) + field(20, 7)
            body += field(5, a)
        self.nodes += field(1, body)
        return name

    def model(self, shape, result):
        def value(name, dims):
            s = b"".join(field(1, field(1, d)) for d in dims)
            return field(1, name.encode()) + field(2, field(1, field(1, 1) + field(2, s)))

        g = self.nodes + field(2, b"g") + self.weights + field(11, value("x", shape)) + field(12, field(1, result.encode()) + field(2, field(1, field(1, 1))))
        return field(1, 8) + field(8, field(1, b"") + field(2, 17)) + field(7, g)

    # layers

    def conv(self, v, c, bn, act=None):
        """A convolution with the batch norm after it folded in."""
        scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
        w, b = c.weight * scale.reshape(-1, 1, 1, 1), bn.bias - bn.running_mean * scale
        p, s = list(c.padding), list(c.stride)
        v = self.node("Conv", v, self.weight(w), self.weight(b), kernel_shape=list(c.kernel_size), pads=p + p, strides=s, group=c.groups)
        if act == "relu":
            return self.node("Relu", v)
        if act == "relu6":
            return self.node("Clip", v, self.weight(torch.tensor(0.0)), self.weight(torch.tensor(6.0)))
        return v

    def linear(self, v, l):
        return self.node("Gemm", v, self.weight(l.weight), self.weight(l.bias), transB=1)

    def layers(self, v, seq):
        """A sequence of convolution, batch norm and perhaps ReLU6."""
        seq = list(seq)
        while seq:
            m = seq.pop(0)
            if isinstance(m, Inverted):
                y = self.layers(v, m.conv)
                v = self.node("Add", v, y) if m.same else y
            else:
                bn = seq.pop(0)
                act = "relu6" if seq and isinstance(seq[0], nn.ReLU6) else None
                if act:
                    seq.pop(0)
                v = self.conv(v, m, bn, act)
        return v


def session(m, x):
    g = Graph()
    if isinstance(m, ResNet18):
        v = g.conv("x", m.conv1, m.bn1, "relu")
        v = g.node("MaxPool", v, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        for b in m.blocks:
            y = g.conv(g.conv(v, b.conv1, b.bn1, "relu"), b.conv2, b.bn2)
            v = g.node("Relu", g.node("Add", y, v if b.down is None else g.conv(v, b.down[0], b.down[1])))
        v = g.linear(g.node("Flatten", g.node("GlobalAveragePool", v)), m.fc)
    elif isinstance(m, MobileNetV2):
        v = g.node("Flatten", g.node("GlobalAveragePool", g.layers("x", m.features)))
        v = g.linear(v, m.classifier)
    else:
        v = "x"
        for l in m:
            if isinstance(l, nn.Linear):
                v = g.linear(v, l)
            elif isinstance(l, nn.ReLU):
                v = g.node("Relu", v)
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = THREADS
    o.log_severity_level = 3
    # Otherwise its threads poll for work for 40 ms after a run, into the other side's window.
    o.add_session_config_entry("session.force_spinning_stop", "1")
    s = onnxruntime.InferenceSession(g.model(x.shape, v), o, providers=["CPUExecutionProvider"])
    a = {"x": x.numpy()}
    with torch.no_grad():
        want, got = m(x), torch.from_numpy(s.run(None, a)[0])
    if not torch.allclose(want, got, rtol=1e-2, atol=1e-2):
        raise RuntimeError("the ONNX graph computes something else")
    return lambda: s.run(None, a)


def runtime_session(path):
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = THREADS
    o.log_severity_level = 3
    o.add_session_config_entry("session.force_spinning_stop", "1")
    return onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])


@work
def model_file(path, shape):
    x = torch.randn(*shape)
    a = {"x": x.numpy()}

    def runtime():
        s = runtime_session(path + ".onnx")
        return lambda: s.run(None, a)

    def script():
        m = torch.jit.freeze(torch.jit.load(path + ".pt").eval())
        with torch.no_grad():
            m(x), m(x)
        return lambda: m(x)

    ways = {"TorchScript": script}
    if onnxruntime is not None:
        ways["onnxruntime"] = runtime
    return each(ways)


@work
def model_inputs(path, floats, ints):
    a = {k: torch.randn(*s).numpy() for k, s in floats.items()}
    a.update({k: torch.tensor(n).numpy() for k, n in ints.items()})

    def runtime():
        s = runtime_session(path)
        return lambda: s.run(None, a)

    return each({"onnxruntime": runtime} if onnxruntime is not None else {})


@work
def model_load(path):
    ways = {"TorchScript": lambda: lambda: torch.jit.load(path + ".pt")}
    if onnxruntime is not None:
        ways["onnxruntime"] = lambda: lambda: runtime_session(path + ".onnx")
    return each(ways)


def model_memory(path):
    """Prints the peak of the resident memory of a process that loads a model and runs it ten times."""
    s = runtime_session(path + ".onnx")
    a = {i.name: torch.randn(*i.shape).numpy() for i in s.get_inputs()}
    for _ in range(10):
        s.run(None, a)
    peak = next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1]
    print(int(peak) * 1024, flush=True)


# ---------------------------------------------------------------- bytes (quantized.go)


def quantizing():
    """torch.ao.quantization, with the x86 engine; its warnings do not matter here."""
    import warnings

    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "x86"
    return torch.ao.quantization


def quantized_ways(m, x, path, form):
    """A model in evaluation mode, eager and as TorchScript, and that at path in ONNX Runtime: in float32 as they are,
    statically quantized (m is fused) with observers that have seen x, or dynamically quantized."""
    m.eval()
    if form == "static":
        ao = quantizing()
        m.qconfig = ao.get_default_qconfig("x86")
        ao.prepare(m, inplace=True)
        with torch.no_grad():
            m(x)
            ao.convert(m, inplace=True)
    elif form == "dynamic":
        m = quantizing().quantize_dynamic(m, dtype=torch.qint8)
    # TransformerEncoderLayer's fast path looks at weights that a quantized layer does not have.
    torch.backends.mha.set_fastpath_enabled(form != "dynamic")
    ways = {"eager": lambda: lambda: m(x), "TorchScript": lambda: scripted(m, x)}
    if onnxruntime is not None:
        ways["onnxruntime"] = lambda: runtime_bytes(path, {"x": x.numpy()}, form)
    return each(ways)


def runtime_bytes(path, a, form):
    """ONNX Runtime with the model at path, quantized by its own tools."""
    if form != "float32":
        import logging

        from onnxruntime import quantization as q

        class Reader(q.CalibrationDataReader):
            left = 1

            def get_next(self):
                self.left -= 1
                return a if self.left == 0 else None

        logging.disable(logging.WARNING)
        out = path + ".int8"
        if form == "dynamic":
            q.quantize_dynamic(path, out, weight_type=q.QuantType.QInt8)
        else:
            q.quantize_static(path, out, Reader(), quant_format=q.QuantFormat.QDQ, per_channel=True, activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
        path = out
    s = runtime_session(path)
    return lambda: s.run(None, a)


@work
def quantized_images(model, shape, path, form):
    import torchvision

    quantizing()
    m = getattr(torchvision.models.quantization, model)(quantize=False).eval()
    if model == "mobilenet_v2":
        torchvision.models.quantization.utils._replace_relu(m)
    m.eval().fuse_model()
    return quantized_ways(m, torch.randn(*shape), path, form)


@work
def quantized_mlp(shape, path, form):
    ao = quantizing()
    m = nn.Sequential(ao.QuantStub(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10), ao.DeQuantStub()).eval()
    ao.fuse_modules(m, [["1", "2"], ["3", "4"]], inplace=True)
    return quantized_ways(m, torch.randn(*shape), path, form)


@work
def quantized_lstm(size, hidden, shape, path, form):
    return quantized_ways(nn.LSTM(size, hidden), torch.randn(*shape), path, form)


@work
def quantized_encoder(d, heads, ff, shape, path, form):
    return quantized_ways(nn.TransformerEncoderLayer(d, heads, ff, batch_first=True), torch.randn(*shape), path, form)


# ---------------------------------------------------------------- torch.func


class Example:
    """The functions of one example that the suite func maps over a batch."""

    def dot(x, y):
        return x.dot(y)

    def matmul(x, y):
        return x @ y

    def softmax(x):
        return x.softmax(0)

    def layer_norm(w, b, x):
        return F.layer_norm(x, (256,), w, b)

    def distances(x, y):
        return (x.unsqueeze(1) - y.unsqueeze(0)).square().sum(-1).sqrt()

    def cross_entropy(x, target):
        return F.cross_entropy(x, target)

    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v)

    def indexing(table, at):
        return table[at]

    def mlp(w1, b1, w2, b2, x, target):
        return F.cross_entropy(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2), target)

    def cnn(w1, b1, w2, b2, w3, b3, x, target):
        h = F.max_pool2d(F.relu(F.conv2d(x.unsqueeze(0), w1, b1, padding=1)), 2)
        h = F.max_pool2d(F.relu(F.conv2d(h, w2, b2, padding=1)), 2)
        return F.cross_entropy(F.linear(h.flatten(), w3, b3), target)


@work
def mapped(f, batch, shared, own, classes, size, grad):
    shared = [0.1 * torch.randn(sh) for sh in shared or []]
    own = [torch.randn([batch] + sh) for sh in own]
    if classes:
        own.append(torch.randint(classes, [batch] + (size or [])))
    f = getattr(Example, f)
    if grad:
        f = torch.func.grad(f, argnums=tuple(range(len(shared))))
    f = torch.func.vmap(f, in_dims=(None,) * len(shared) + (0,) * len(own))
    step = lambda: f(*shared, *own)
    return {"vmap": Recorded(step) if grad else step}


# ---------------------------------------------------------------- the loop


def sweep_tensor(d):
    if d is None:
        return None
    dtype, shape, low, high = getattr(torch, d["dtype"]), d["shape"], d["low"], d["high"]
    if dtype.is_complex:
        t = torch.view_as_complex(torch.rand(*shape, 2, dtype=torch.float64) * (high - low) + low).to(dtype)
    elif dtype.is_floating_point:
        t = (torch.rand(shape, dtype=torch.float64) * (high - low) + low).to(dtype)
    else:
        t = torch.floor(torch.rand(shape, dtype=torch.float64) * (high - low + 1) + low).to(dtype)
    if d["rising"]:
        t = t.sort()[0]
    return t.requires_grad_(d["grad"])


def sweep_arg(d):
    kind, v = next(iter(d.items()))
    if kind == "tensor":
        return sweep_tensor(v)
    if kind == "tensors":
        return [sweep_tensor(t) for t in v or []]
    if kind == "float":
        return float(v)
    if kind == "complex":
        return complex(*v)
    if kind == "torch":
        return getattr(torch, v)
    return v


@work
def sweep(op, args, backward):
    """One call of an operator by its name, and its gradients."""
    name, _, overload = op.removeprefix("aten::").partition(".")
    f = getattr(getattr(torch.ops.aten, name), overload or "default")
    params = f._schema.arguments
    values = [sweep_arg(a) for a in args]
    positional = [v for p, v in zip(params, values) if not p.kwarg_only]
    named = {p.name: v for p, v in zip(params, values) if p.kwarg_only}
    if not backward:
        return {"eager": lambda: f(*positional, **named)}
    tensors = [t for v in values for t in (v if isinstance(v, list) else [v]) if isinstance(t, torch.Tensor) and t.requires_grad]

    def results():
        out = f(*positional, **named)
        return [t for t in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(t, torch.Tensor) and t.requires_grad]

    ones = [torch.ones_like(t) for t in results()]
    return {"eager": Recorded(lambda: torch.autograd.grad(results(), tensors, ones, allow_unused=True))}


def window(step, seconds):
    """The median time of a call, in groups of calls when they are short; as loop in row.go."""
    clock = time.perf_counter_ns
    group = 30_000
    t = clock()
    step()
    one = max(1, clock() - t)
    if seconds <= 0 and one > group:
        return one
    k = max(1, group // one)
    if k > 1:
        t = clock()
        for _ in range(k):
            step()
        k = max(1, k * group // max(1, clock() - t))
    times = []
    end = clock() + seconds * 1e9
    while True:
        t = clock()
        for _ in range(k):
            step()
        now = clock()
        times.append((now - t) / k)
        if now >= end:
            break
    times.sort()
    return (times[len(times) // 2] + times[(len(times) - 1) // 2]) / 2


def memory():
    """The peak of the resident memory of some training steps."""
    m = ResNet18()
    step = train_step(m, torch.optim.SGD(m.parameters(), lr=0.01, momentum=0.9), torch.randn(16, 3, 224, 224), torch.randint(1000, (16,)))
    for _ in range(3):
        step.step()
    peak = next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1]
    print(int(peak) * 1024, flush=True)


def first_line(e):
    return "%s: %s" % (type(e).__name__, (str(e) or "?").splitlines()[0])


def answer(c):
    global THREADS, steps
    cmd = c["cmd"]
    if cmd == "hello":
        return {"torch": torch.__version__, "onnxruntime": onnxruntime and onnxruntime.__version__}
    if cmd == "prepare":
        THREADS = c["threads"]
        torch.set_num_threads(THREADS)
        ways = WORKS[c["work"]](**(c.get("args") or {}))
        notes = ["%s: %s" % (n, first_line(w)) for n, w in ways.items() if isinstance(w, Exception)]
        ways = {n: w for n, w in ways.items() if not isinstance(w, Exception)}
        steps = list(ways.values())
        choices = [{"lib": "onnxruntime" if n.startswith("onnxruntime") else "torch", "name": n} for n in ways]
        return {"choices": choices, "notes": notes}
    if cmd == "window":
        s = steps[c["choice"]]
        if isinstance(s, Recorded):
            return {"ns": window(s.step, c["seconds"])}
        with torch.inference_mode():
            return {"ns": window(s, c["seconds"])}
    if cmd == "drop":
        steps = []
        gc.collect()
        return {}
    raise ValueError("unknown command " + cmd)


def main():
    # What libraries print must not get into the answers.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            a = answer(json.loads(line))
        except Exception as e:
            a = {"error": first_line(e)}
        out.write(json.dumps(a) + "\n")
        out.flush()


if len(sys.argv) > 1 and sys.argv[1] == "memory":
    torch.set_num_threads(int(sys.argv[2]))
    memory()
elif len(sys.argv) > 1 and sys.argv[1] == "onnx":
    THREADS = int(sys.argv[2])
    model_memory(sys.argv[3])
else:
    main()
