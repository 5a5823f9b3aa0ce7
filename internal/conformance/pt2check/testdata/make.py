"""Writes the archives of this folder, with inputs and results, as the reference data has them: python make.py"""
import collections
import copy
import json
import os

import numpy as np
import torch
from torch import nn
from torch._higher_order_ops import associative_scan, cond, scan, while_loop
from torch._higher_order_ops.map import map as hop_map
from torch.export import Dim

HERE = os.path.dirname(os.path.abspath(__file__))
models = []
torch.manual_seed(5)
R = torch.randn
Pair = collections.namedtuple("Pair", "p q")
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="testdata.Pair")


class Encoder:
    """The encoding of values of the reference data."""

    def __init__(self):
        self.arrays = {}

    def value(self, x):
        if isinstance(x, torch.Tensor):
            key = f"k{len(self.arrays)}"
            y = x.detach()
            self.arrays[key] = (y.float() if y.dtype == torch.bfloat16 else y).contiguous().numpy().copy()
            return {"t": key, "dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape)}
        if x is None or isinstance(x, (bool, int, str)):
            return {"v": x}
        if isinstance(x, float):
            return {"f": x}
        if isinstance(x, list):
            return {"l": [self.value(e) for e in x]}
        if isinstance(x, tuple):
            out = {"u": [self.value(e) for e in x]}
            if hasattr(x, "_fields"):
                out.update(names=list(x._fields), cls=type(x).__name__)
            return out
        return {"d": {k: self.value(e) for k, e in x.items()}}


def add(name, forward, args, kwargs=None, dynamic=None, calls=(), irs=("training", "core"), **attrs):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            for k, v in attrs.items():
                if isinstance(v, torch.Tensor):
                    self.register_buffer(k, v)
                else:
                    setattr(self, k, v)

    M.forward = forward
    for ir in irs:
        program = torch.export.export(M(), args, kwargs or {}, dynamic_shapes=dynamic)
        if ir == "core":
            program = program.run_decompositions()
        file = os.path.join(HERE, f"{name}-{ir}")
        torch.export.save(program, file + ".pt2")
        program = torch.export.load(file + ".pt2")
        module, enc, records = program.module(), Encoder(), []
        for a, k in [(args, kwargs or {}), *calls]:
            record = {"args": [enc.value(x) for x in a], "kwargs": {n: enc.value(x) for n, x in k.items()}}
            try:
                with torch.no_grad():
                    record["out"] = enc.value(module(*copy.deepcopy(a), **copy.deepcopy(k)))
            except Exception as e:
                record["error"] = {"type": type(e).__name__, "message": str(e), "last": str(e).strip().split("\n")[-1]}
            records.append(record)
        buffers = {n: enc.value(b) for n, b in module.named_buffers()}
        state = [[k, str(v.dtype).removeprefix("torch."), list(v.shape)] for k, v in program.state_dict.items()]
        np.savez(file + ".npz", **enc.arrays)
        models.append({"name": f"{name}-{ir}", "file": f"{name}-{ir}.pt2", "npz": f"{name}-{ir}.npz",
                       "state_dict": state, "calls": records, "buffers_after": buffers or None})


def control(self, x, n):
    i, y = while_loop(lambda i, x: i < n, lambda i, x: (i + 1, self.l(x).tanh()), (torch.tensor(0), x))
    v, w = cond(x.sum() > 0, lambda x: (x + 1, x * 2), lambda x: (x - 1, x.sin()), (x,))
    return i, y, v, w, hop_map(lambda r, b: (r * b).sum(), v, w[0])


add("control", control, (R(3, 4), torch.tensor(3)), calls=[((R(3, 4), torch.tensor(n)), {}) for n in (0, 5)],
    l=nn.Linear(4, 4))


def scans(self, x):
    def step(c, x):
        n = {"a": c["a"] * 0.5 + x, "b": c["b"] - x}
        return n, n["a"] * 2

    return (scan(step, {"a": torch.zeros(3), "b": torch.ones(3)}, x, reverse=True),
            associative_scan(lambda a, b: a * b + 1, x, dim=0, combine_mode="generic"))


add("scans", scans, (R(5, 3),), calls=[((R(5, 3),), {})])


def modes(self, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = self.l(x)
        with torch.autocast("cpu", enabled=False):
            z = self.l(y.float())
    with torch.no_grad():
        return y, z, self.l(x)


add("modes", modes, (R(2, 3),), l=nn.Linear(3, 3))

b, s = Dim("b", min=2, max=20), Dim("s", max=9)
add("sizes", lambda self, x, y: (x.reshape(x.shape[0] * x.shape[1], -1).sum(1), y[:, : x.shape[1]],
                                 x.shape[0] * y.shape[1], torch.arange(x.shape[1] * 2 + 1)),
    (R(4, 3, 2), R(4, 6)), irs=["training"], dynamic={"x": {0: b, 1: s}, "y": {0: b, 1: 2 * s}},
    calls=[((R(*i), R(*j)), {}) for i, j in [((5, 4, 2), (5, 8)), ((5, 4, 2), (5, 7)), ((21, 4, 2), (21, 8)),
                                             ((1, 4, 2), (1, 8)), ((5, 4, 2), (4, 8)), ((5, 4, 3), (5, 8))]])
add("hidden", lambda self, x, y: x.sum() + y.sum(), (R(6), R(7)), irs=["training"],
    dynamic={"x": {0: 2 * s}, "y": {0: 2 * s + 1}}, calls=[((R(i), R(j)), {}) for i, j in [(8, 9), (8, 8), (20, 21), (7, 8)]])


def tree(self, d, *args, k=None, n=1):
    return {"r": d["a"] + args[0] * args[1] * n, "q": [k, (None, 3, 1.5)], "p": Pair(d["b"].p, k)}


def inputs(**kwargs):
    return ({"a": R(2), "b": Pair(R(1), R(1))}, R(2), R(2)), {"k": R(3), "n": 2, **kwargs}


add("tree", tree, *inputs(), irs=["training"], calls=[inputs(), inputs(n=3), inputs(m=1), ((*inputs()[0], R(1)), inputs()[1])])


@torch.library.custom_op("testdata::addm", mutates_args={"x"})
def addm(x: torch.Tensor, y: torch.Tensor, n: int = 2) -> None:
    x.add_(y * n)


@torch.library.custom_op("testdata::double", mutates_args={"xs"})
def double(xs: list[torch.Tensor], y: torch.Tensor) -> torch.Tensor:
    for x in xs:
        x.mul_(2)
    return y + xs[0].sum()


double.register_fake(lambda xs, y: torch.empty_like(y))


def writes(self, x):
    y = x.clone()
    for at, by in ((y, x), (y[1:3], x[:2]), (y.t(), x.t()), (self.b, x.sum(0))):
        torch.ops.testdata.addm(at, by)
    return y, torch.ops.testdata.double([y[0], self.b], x)


add("writes", writes, (R(4, 3),), calls=[((R(4, 3),), {})], b=R(3))
with open(os.path.join(HERE, "index.json"), "w") as f:
    json.dump({"torch": torch.__version__, "kind": "pt2", "models": models}, f)
