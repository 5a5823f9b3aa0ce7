"""Cases of operators: PyTorch's own samples for public functions, then every overload that those samples reach."""

import inspect
import re
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from encode import DTYPES, Arrays, Encoder, Unsupported, index, loss, tensors

SIZE = 60  # elements of the arguments and results of a case, if there are samples that small
PLAN = [(torch.float32, 2), (torch.float64, 1), (torch.int64, 1), (torch.bool, 1), (torch.bfloat16, 1), (torch.float16, 1), (torch.complex64, 1),
        (torch.uint8, 1)]
# What draws random numbers (rng.py has it), leaves results undefined or reads outside its view.
LEFT_OUT = re.compile(r"empty|partial_views|dropout|rand|normal_?$|bernoulli|cauchy|exponential|geometric|log_normal|uniform|multinomial|rrelu|gumbel|fractional|lowrank|svd_|segment_reduce")


def small():
    """Makes the sizes that PyTorch's samples are built of smaller."""
    for m in list(sys.modules.values()):
        if getattr(m, "__name__", "").startswith("torch.testing._internal"):
            for name, old, new in (("S", 5, 3), ("M", 10, 4), ("L", 20, 5)):
                if getattr(m, name, None) == old:
                    setattr(m, name, new)


SPACES = [("torch", torch), ("torch.nn.functional", torch.nn.functional), ("torch.linalg", torch.linalg), ("torch.fft", torch.fft),
          ("torch.special", torch.special), ("torch.masked", torch.masked), ("torch.signal.windows", torch.signal.windows), ("torch.Tensor", torch.Tensor)]


def path_of(fn):
    """The dotted public name of a function, or the text of a lambda of one line, or None."""
    if getattr(fn, "__name__", "") == "<lambda>":
        text = re.search(r"lambda .*", inspect.getsource(fn)).group().rstrip(",")
        method = re.fullmatch(r"lambda (\w+), \*args, \*\*kwargs: \1\.(\w+)\(\*args, \*\*kwargs\)", text)
        if method:
            return "torch.Tensor." + method.group(2)
        return text if text.count("(") == text.count(")") and text[-1] == ")" and "wrapper_set_seed" not in text else None
    own = getattr(fn, "__name__", "")
    for prefix, space in SPACES:
        for n in [own] + [n for n in dir(space) if not n.startswith("_")]:
            if n and getattr(space, n, None) is fn:
                return f"{prefix}.{n}"
    return None


def elements(sample):
    return sum(t.numel() for t in tensors([sample.input, list(sample.args), sample.kwargs]))


def samples(op, dtype, grad):
    try:
        found = list(op.sample_inputs("cpu", dtype, requires_grad=grad))
    except Exception:
        return []
    found = [s for s in found if elements(s) <= SIZE] or sorted(found, key=elements)[:1]
    return [s for s in found if elements(s) <= 800]


def pick(found, n):
    """n of the samples, spread over the list, the last one among them: later samples have more arguments."""
    if len(found) <= n:
        return found
    return [found[(len(found) - 1) * (i + 1) // n] for i in range(n)]


def telling(op, found):
    """The samples whose results have elements, if there are such; the others say little."""

    def elements_of(s):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return sum(t.numel() for t in tensors(op.op(copy(s.input), *copy(s.args), **copy(s.kwargs))))
        except Exception:
            return 0

    return [s for s in found if elements_of(s)] or found


def alias_of(args):
    """Names the argument whose memory a result shares."""
    where = {}
    for name, v in args:
        for t in tensors(v):
            if t.layout == torch.strided and t.numel():
                where.setdefault(t.untyped_storage().data_ptr(), name)
    return lambda t: where.get(t.untyped_storage().data_ptr()) if t.layout == torch.strided and t.numel() else None


def same(a, b):
    return a.shape == b.shape and bool(((a == b) | (a != a) & (b != b)).all())


def case(arrays, number, fn, input, args, kwargs, dtype, src, grad=True):
    """Runs one call and records it; None if PyTorch itself refuses the call."""
    e = Encoder(arrays, str(number))
    before = dict(arrays.files)
    try:
        rec = {"dtype": str(dtype).removeprefix("torch."), "src": src, "input": e.value(input, "i"),
               "args": [e.value(a, f"a{i}") for i, a in enumerate(args)], "kwargs": {k: e.value(a, f"k.{k}") for k, a in kwargs.items()}}
        named = [("input", input)] + [(f"args.{i}", a) for i, a in enumerate(args)] + [(f"kwargs.{k}", a) for k, a in kwargs.items()]
        olds = [(n, v, [t.detach().clone() for t in tensors(v)]) for n, v in named]
        leaves = [t for t in tensors([v for _, v in named]) if t.requires_grad]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = fn(input, *args, **kwargs)
        if sum(t.numel() for t in tensors(out)) > 800:
            raise Unsupported("large")
        rec["out"] = e.value(out, "o", alias_of(named))
        after = {}
        for n, v, old in olds:
            for t, o in zip(tensors(v), old):
                if not same(t.detach(), o):
                    after[n] = e.value(v, "w." + n, lambda t: None)
        if after:
            rec["after"] = after
        if grad and leaves and not after and any(o.requires_grad for o in tensors(out)):
            unique = list({id(t): t for t in leaves}.values())
            grads = torch.autograd.grad(loss(tensors(out)), unique, allow_unused=True)
            rec["grad"] = []
            for i, (t, g) in enumerate(zip(unique, grads)):
                if g is None:
                    rec["grad"].append({"none": True, "of": e.seen[id(t)]})
                else:
                    rec["grad"].append(e.tensor(g.resolve_conj().detach(), f"g{i}", of=e.seen[id(t)]))
        return rec
    except Exception:
        arrays.files = before
        return None


class Watch(TorchDispatchMode):
    """Remembers small calls of every overload."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        calls = self.calls.setdefault(str(func), (func, []))[1]
        ts = tensors([list(args), kwargs])
        if len(calls) < 2 and sum(t.numel() for t in ts) <= 2 * SIZE and all(t.layout == torch.strided and t.dtype in DTYPES for t in ts):
            key = [(t.dtype, t.shape) for t in ts]
            if not any(k == key for k, _, _ in calls):
                calls.append((key, copy(args), copy(kwargs)))
        return func(*args, **kwargs)


def copy(v):
    if isinstance(v, torch.Tensor):
        t = torch.empty_strided(v.shape, v.stride(), dtype=v.dtype)
        return t.copy_(v.detach())
    if isinstance(v, (list, tuple)):
        return type(v)(copy(e) for e in v)
    if isinstance(v, dict):
        return {k: copy(e) for k, e in v.items()}
    return v


def forms(func, args, kwargs):
    """The in-place and out= overloads that take the arguments of a call."""
    space, packet = torch.ops.aten, func._schema.name.removeprefix("aten::")
    over = func._schema.overload_name or "default"
    if hasattr(space, packet + "_"):
        p = getattr(space, packet + "_")
        if over in p.overloads():
            yield getattr(p, over), args, kwargs
    want = [(a.name, str(a.type)) for a in func._schema.arguments if a.name not in ("dtype", "layout", "device", "pin_memory")]
    for name in getattr(space, packet).overloads():
        f = getattr(getattr(space, packet), name)
        outs = [a for a in f._schema.arguments if a.is_out]
        rest = [(a.name, str(a.type)) for a in f._schema.arguments if not a.is_out]
        if outs and rest == want:
            try:
                res = tensors(func(*copy(args), **copy(kwargs)))
            except Exception:
                continue
            if len(res) == len(outs) and all(t.layout == torch.strided for t in res):
                more = {k: v for k, v in kwargs.items() if k not in ("dtype", "layout", "device", "pin_memory")}
                yield f, args, {**more, **{a.name: torch.zeros_like(r) for a, r in zip(outs, res)}}


def cases(offered, left_out):
    """All records with their arrays: (record, file name, Arrays). offered are the names that the registry has."""
    small()
    watch = Watch()
    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        call = (path_of(op.op) or "").replace("._threshold", ".threshold")  # a name of PyTorch's own
        if name in left_out or not call or LEFT_OUT.search(name) or not hasattr(op, "sample_inputs"):
            continue
        arrays, records = Arrays(), []
        for dtype, n in PLAN:
            if dtype not in op.dtypes:
                continue
            grad = dtype in (torch.float32, torch.float64, torch.complex64) and op.supports_autograd and dtype in op.backward_dtypes
            torch.manual_seed(sum(map(ord, name)))
            for s in pick(telling(op, samples(op, dtype, grad)), n):
                if dtype in (torch.float32, torch.int64, torch.bool):
                    try:
                        with watch, warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            i, a, k = copy(s.input), copy(s.args), copy(s.kwargs)
                            if grad:
                                i = i.requires_grad_() if isinstance(i, torch.Tensor) else [t.requires_grad_() for t in i]
                            l = loss(tensors(op.op(i, *a, **k)))
                            if isinstance(l, torch.Tensor):
                                l.backward()
                    except Exception:
                        pass
                r = case(arrays, len(records), op.op, s.input, s.args, s.kwargs, dtype, "s")
                if r:
                    records.append(r)
        if records:
            yield {"op": name, "file": name + ".npz", "aten": op.aten_name, "callable": call, "cases": records}, arrays
    calls = dict(watch.calls)
    for func, found in list(calls.values()):
        if func.namespace != "aten":
            continue
        for _, a, k in found[:1]:
            for f, fa, fk in forms(func, a, k):
                calls.setdefault(str(f), (f, []))[1].append((None, fa, fk))
    for name in sorted(calls):
        func, found = calls[name]
        full = name.removeprefix("aten.").removesuffix(".default")
        if full not in offered or "aten." + full in left_out or LEFT_OUT.search(full):
            continue
        arrays, records = Arrays(), []
        for _, a, k in found[:2]:
            k = {x: v for x, v in copy(k).items() if x not in ("pin_memory", "layout", "device")}
            a = copy(a)
            if a:
                r = case(arrays, len(records), func, a[0], a[1:], k, tensors([list(a), k])[0].dtype if tensors([list(a), k]) else torch.float32, "d", False)
                if r:
                    records.append(r)
        if records:
            yield {"op": "aten." + full, "file": "aten." + full + ".npz", "aten": full, "callable": "torch.ops.aten." + full, "cases": records}, arrays


def make(write, offered, left_out):
    torch.manual_seed(0)
    records = []
    for record, arrays in cases(offered, left_out):
        write("opinfo/" + record["file"], arrays.bytes())
        records.append(record)
    write("opinfo/index.json", index({"torch": torch.__version__}, "ops", records))
    print("opinfo:", len(records), "operators,", sum(len(r["cases"]) for r in records), "cases", file=sys.stderr)
