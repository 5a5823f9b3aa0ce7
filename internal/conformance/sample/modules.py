"""Cases of modules: PyTorch's own samples for every class, with parameters, buffers, results and gradients."""

import sys
import warnings

import torch
from torch.testing._internal.common_modules import module_db

from encode import Arrays, Encoder, index, loss, tensors


def record(info, i, m, dtype, arrays, number, desc):
    ctor, call = m.constructor_input, m.forward_input
    if call is None:
        return None
    e = Encoder(arrays, str(number))
    cls = info.module_cls.__name__
    ctor_rec = {"cls": cls, "args": [e.value(a, f"c{j}") for j, a in enumerate(ctor.args)], "kwargs": {k: e.value(v, "c." + k) for k, v in ctor.kwargs.items()}}
    torch.manual_seed(i)
    module = info.module_cls(*ctor.args, **ctor.kwargs).to(dtype)
    if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
        return None
    cases = []
    for mode in ("train", "eval"):
        module.train(mode == "train")
        if sum(t.numel() for t in tensors([list(call.args), call.kwargs]) + list(module.parameters())) > 700:
            return None
        e = Encoder(arrays, f"{number}{mode[0]}")
        args, kwargs = fresh(call.args), fresh(call.kwargs)
        case = {"mode": mode, "dtype": str(dtype).removeprefix("torch."), "params": {n: e.tensor(p, "p." + n) for n, p in module.named_parameters()},
                "buffers": {n: e.tensor(b, "b." + n) for n, b in module.named_buffers()}, "args": [e.value(a, f"a{j}") for j, a in enumerate(args)],
                "kwargs": {k: e.value(v, "k." + k) for k, v in kwargs.items()}}
        before = {n: b.clone() for n, b in module.named_buffers()}
        torch.manual_seed(7)
        case["seed"] = 7
        out = module(*args, **kwargs)
        case["out"] = e.value(out, "o", lambda t: None)
        ins = [t for t in tensors([list(args), kwargs]) if t.requires_grad]
        ps = dict(module.named_parameters())
        if any(o.requires_grad for o in tensors(out)):
            grads = torch.autograd.grad(loss(tensors(out)), ins + list(ps.values()), allow_unused=True)
            enc = lambda t, g, key, **more: {"none": True, **more} if g is None else e.tensor(g.detach(), key, **more)
            case["grad_inputs"] = [enc(t, g, f"gi{j}", of=e.seen[id(t)]) for j, (t, g) in enumerate(zip(ins, grads))]
            case["grad_params"] = {n: enc(p, g, "gp." + n) for (n, p), g in zip(ps.items(), grads[len(ins):])}
        after = {n: e.tensor(b, "w." + n) for n, b in module.named_buffers() if not torch.equal(b, before[n])}
        if after:
            case["buffers_after"] = after
        for n, b in module.named_buffers():
            b.copy_(before[n])
        cases.append(case)
    return {"name": f"{cls}.{i}", "cls": cls, "desc": desc, "dtype": str(dtype).removeprefix("torch."), "ctor": ctor_rec, "repr": str(module),
            "state_dict": list(module.state_dict()), "cases": cases}


def fresh(v):
    """The value with tensors of its own."""
    if isinstance(v, torch.Tensor):
        return v.detach().clone().requires_grad_(v.requires_grad)
    if isinstance(v, (list, tuple)):
        return type(v)(fresh(x) for x in v)
    if isinstance(v, dict):
        return {k: fresh(x) for k, x in v.items()}
    return v


def make(write, offered, left_out):
    records = []
    for info in module_db:
        cls = info.module_cls.__name__
        if cls in left_out:
            continue
        arrays = Arrays()
        own = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(1)
            try:
                inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=True)
            except Exception:
                continue
            for i, m in enumerate(inputs):
                before = dict(arrays.files)
                try:
                    r = record(info, i, m, torch.float32, arrays, len(own), m.desc)
                except Exception:
                    r = None
                if r is None:
                    arrays.files = before
                    continue
                r["file"] = cls + ".npz"
                own.append(r)
                if len(own) == 8:
                    break
        if own:
            write("modules/" + cls + ".npz", arrays.bytes())
            records += own
    write("modules/index.json", index({"torch": torch.__version__}, "modules", records))
    print("modules:", len(records), "modules of", len({r["cls"] for r in records}), "classes", file=sys.stderr)
