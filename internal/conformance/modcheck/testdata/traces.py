"""Writes traces.tsv: the operators that PyTorch shows of every module case.

usage: python traces.py DIRECTORY_OF_MODULE_CASES > traces.tsv

The operators are those of the program that make_fx traces with pre_dispatch, which is what torch.export records before
decompositions. A line is a list of names in the order of the calls, a tab, and the cases that show it: record:number.
A case that cannot be traced has the reason after "!" instead of names.
"""
import collections
import json
import operator
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx

warnings.filterwarnings("ignore")


class Decoder:
    def __init__(self, arrays):
        self.arrays, self.refs = arrays, {}

    def tensor(self, e):
        a = torch.from_numpy(np.array(self.arrays[e["t"]]))
        t = a.to(getattr(torch, e["dtype"])).reshape(e["shape"])
        if "stride" in e:
            s = torch.zeros(e.get("offset", 0) + 1 + sum((n - 1) * k for n, k in zip(e["shape"], e["stride"]) if n), dtype=t.dtype)
            s = s.as_strided(e["shape"], e["stride"], e.get("offset", 0))
            s.copy_(t)
            t = s
        if e.get("rg"):
            t.requires_grad_()
        self.refs[e["t"]] = t
        return t

    def __call__(self, e):
        if "t" in e:
            return self.tensor(e)
        if "ref" in e:
            return self.refs[e["ref"]]
        if "v" in e:
            return e["v"]
        if "f" in e:
            return float(e["f"])
        if "c" in e:
            return complex(*e["c"])
        if "s" in e:
            s = e["s"]
            return getattr(torch, s[6:]) if s.startswith("torch.") else torch.device(s)
        if "l" in e:
            return [self(x) for x in e["l"]]
        if "u" in e:
            return tuple(self(x) for x in e["u"])
        if "d" in e:
            return {k: self(x) for k, x in e["d"].items()}
        if "od" in e:
            return collections.OrderedDict((k, self(x)) for k, x in e["od"])
        if "module" in e:
            return self.module(e["module"])
        if "fn" in e:
            return operator.attrgetter(e["fn"][6:])(torch)
        if "obj" in e:
            o = e["obj"]
            cls = getattr(torch.nn, o["cls"].split(".")[-1], None) or operator.attrgetter(o["cls"].removeprefix("torch."))(torch)
            return cls(**{k: self(x) for k, x in o["fields"].items()})
        raise ValueError(f"unknown value {e}")

    def module(self, m):
        cls = getattr(torch.nn, m["cls"])
        return cls(*[self(x) for x in m["args"]], **{k: self(x) for k, x in m["kwargs"].items()})


def names(rec, case, arrays):
    d = Decoder(arrays)
    m = d.module(rec["ctor"])
    if case.get("lazy"):
        m.to(getattr(torch, rec["dtype"]))(*[d(x) for x in case["args"]])
    m = m.to(getattr(torch, rec["dtype"])).train(case["mode"] != "eval")
    args, kwargs = [d(x) for x in case["args"]], {k: d(x) for k, x in case["kwargs"].items()}
    own = dict(m.named_parameters()) | dict(m.named_buffers())
    with torch.no_grad():
        for k, e in [*(case.get("params") or {}).items(), *(case.get("buffers") or {}).items()]:
            own[k].copy_(d(e))
    if case.get("seed") is not None:
        torch.manual_seed(case["seed"])
    flat, spec = torch.utils._pytree.tree_flatten((args, kwargs))

    def run(*flat):
        a, k = torch.utils._pytree.tree_unflatten(flat, spec)
        return m(*a, **k)

    g = make_fx(run, pre_dispatch=True)(*flat)
    ops = []
    for n in g.graph.nodes:
        if n.op == "call_function" and isinstance(n.target, torch._ops.OpOverload):
            ops.append(str(n.target).replace(".", "::", 1).removesuffix(".default"))
    return " ".join(ops)


def main(where):
    where = pathlib.Path(where)
    seen = collections.defaultdict(list)
    for rec in json.loads((where / "index.json").read_text())["modules"]:
        arrays = np.load(where / rec["file"])
        for i, case in enumerate(rec["cases"]):
            try:
                line = names(rec, case, arrays)
            except Exception as e:
                line = "! " + " ".join(f"{type(e).__name__}: {e}".split())[:200]
            seen[line].append(f"{rec['name']}:{i}")
    for line, cases in sorted(seen.items()):
        print(line, " ".join(cases), sep="\t")


main(sys.argv[1])
