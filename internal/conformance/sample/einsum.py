"""Cases of einops."""

import sys

import einops
import torch

from encode import Arrays, Encoder, index, loss

CASES = [("rearrange", (2, 3, 4), "a b c -> c (a b)", None, {}), ("rearrange", (2, 12), "a (b c) -> a c b", None, {"b": 3}), ("rearrange", (2, 3, 1), "a b 1 -> b a", None, {}),
         ("rearrange", (2, 3, 4), "... c -> c ...", None, {}), ("repeat", (2, 3), "a b -> a r b", None, {"r": 2}), ("repeat", (3,), "a -> (a r)", None, {"r": 3}),
         ("reduce", (2, 3, 4), "a b c -> a c", "sum", {}), ("reduce", (2, 3, 4), "a b c -> b", "mean", {}), ("reduce", (2, 6), "a (b k) -> a b", "max", {"k": 2}),
         ("reduce", (2, 3, 4), "a b c -> c 1", "min", {}), ("reduce", (2, 3), "... -> ", "prod", {})]


def make(write, offered, left_out):
    arrays, cases = Arrays(), []
    torch.manual_seed(4)
    for i, (fn, shape, pattern, reduction, sizes) in enumerate(CASES):
        e = Encoder(arrays, f"c{i}.")
        x = torch.randn(shape, requires_grad=True)
        rec = {"fn": fn, "x": e.value(x, "x"), "pattern": pattern}
        if reduction:
            rec["args"] = [e.value(reduction, "")]
        if sizes:
            rec["kwargs"] = sizes
        out = getattr(einops, fn)(x, pattern, *([reduction] if reduction else []), **sizes)
        rec["out"] = e.value(out, "out", lambda t: None)
        rec["view"] = out.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        g, = torch.autograd.grad(loss([out]), [x])
        rec["grad"] = [e.tensor(g.detach(), "g", of="c%d.x" % i)]
        cases.append(rec)
    write("einops/einops.npz", arrays.bytes())
    write("einops/index.json", index({"einops": einops.__version__}, "cases", cases))
    print("einops:", len(cases), "cases", file=sys.stderr)
