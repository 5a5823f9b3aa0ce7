"""The text of tensors and modules."""

import math
import sys

import torch
from torch import nn

from encode import Arrays, Encoder, index


def values():
    g = torch.Generator().manual_seed(3)
    r = lambda *s: torch.randn(*s, generator=g)
    yield "0-d", torch.tensor(1.0), {}
    yield "0-d", torch.tensor(-3), {}
    yield "0-d", torch.tensor(True), {}
    yield "0-d", torch.tensor(1.5 - 2j), {}
    for dt in (torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool):
        yield "dtype", (r(2, 3) * 3).to(dt), {}
    yield "complex", torch.complex(r(2, 2), r(2, 2)), {}
    yield "vector", r(5), {}
    yield "whole", torch.arange(6.0), {}
    yield "large", r(4) * 1e6, {}
    yield "small", r(4) * 1e-6, {}
    yield "range", torch.tensor([1e-8, 1.0, 1e8]), {}
    yield "specials", torch.tensor([math.inf, -math.inf, math.nan, 1.5]), {}
    yield "specials", torch.tensor([math.inf, 2.0]), {}
    yield "empty", torch.empty(0), {}
    yield "empty", torch.empty(2, 0, 3), {}
    yield "cube", r(2, 2, 3), {}
    yield "long", torch.arange(30), {}
    yield "wide", r(2, 30), {}
    yield "summary", torch.arange(2000), {}
    yield "summary", torch.arange(1600.0).reshape(40, 40), {}
    yield "requires grad", r(3).requires_grad_(), {}
    for o in ({"precision": 2}, {"sci_mode": True}, {"linewidth": 40}, {"threshold": 5, "edgeitems": 1}, {"profile": "short"}):
        yield "options", r(3, 9), o


MODULES = [("Linear", (3, 4)), ("Linear", (3, 4, False)), ("Conv2d", (3, 8, 3)), ("Conv1d", (2, 4, 5, 2, 1)), ("ConvTranspose2d", (4, 2, 3)), ("BatchNorm2d", (7,)),
           ("LayerNorm", (5,)), ("GroupNorm", (2, 6)), ("Dropout", (0.3,)), ("ReLU", ()), ("LeakyReLU", (0.2,)), ("GELU", ()), ("Softmax", (1,)), ("MaxPool2d", (2,)),
           ("AvgPool2d", (3, 2)), ("AdaptiveAvgPool2d", (1,)), ("Embedding", (10, 3)), ("LSTM", (4, 5, 2)), ("GRU", (4, 5)), ("MultiheadAttention", (8, 2)), ("Flatten", ()),
           ("Upsample", (None, 2.0)), ("CrossEntropyLoss", ()), ("MSELoss", ()), ("TransformerEncoderLayer", (8, 2, 16))]


def make(write, offered, left_out):
    arrays, tensors, modules = Arrays(), [], []
    for i, (note, t, options) in enumerate(values()):
        torch.set_printoptions(profile="default")
        rec = {"id": i, "note": note, "value": Encoder(arrays, "").tensor(t, str(i))}
        if options:
            torch.set_printoptions(**options)
            rec["options"] = options
        rec["text"] = repr(t)
        tensors.append(rec)
    torch.set_printoptions(profile="default")
    for i, (cls, args) in enumerate(MODULES):
        m = getattr(nn, cls)(*args)
        e = Encoder(arrays, f"m{i}")
        modules.append({"id": i, "ctor": {"cls": cls, "args": [e.value(a, "") for a in args], "kwargs": {}}, "text": str(m),
                        "state_dict": [[k, str(v.dtype).removeprefix("torch."), list(v.shape)] for k, v in m.state_dict().items()],
                        "named_modules": [n for n, _ in m.named_modules()], "named_parameters": [n for n, _ in m.named_parameters()],
                        "num_params": sum(p.numel() for p in m.parameters()), "training": True, "default_dtype": "float32"})
    write("print/print.npz", arrays.bytes())
    text = index({"torch": torch.__version__, "objects": []}, "tensors", tensors).decode().rstrip()[:-1]
    write("print/index.json", (text + ', "modules": ' + index({"x": 0}, "modules", modules).decode().split('"modules": ', 1)[1]).encode())
    print("print:", len(tensors), "tensors,", len(modules), "modules", file=sys.stderr)
