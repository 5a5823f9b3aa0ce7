"""Random numbers after a seed, with the generator's state afterwards, which shows how many draws were made."""

import hashlib
import sys

import torch

from encode import Arrays, dtype_name, index, plain_array

FACTORY = [("rand", [[n]], dt) for n in (1, 15, 16, 17, 70) for dt in ("float32", "float64")] + [
    ("randn", [[n]], dt) for n in (1, 15, 16, 17, 70) for dt in ("float32", "float64")] + [
    ("rand", [[9]], "float16"), ("rand", [[9]], "bfloat16"), ("randn", [[20]], "float16"), ("randn", [[20]], "bfloat16"), ("randn", [[5]], "complex64"),
    ("randint", [10, [20]], "int64"), ("randint", [-5, 300, [20]], "int32"), ("randint", [0, 2**40, [9]], "int64"), ("randint", [7, [9]], "float32"),
    ("randperm", [1], "int64"), ("randperm", [20], "int64"), ("randperm", [33], "int32")]
INPLACE = [("uniform_", [-1.0, 2.0]), ("normal_", [1.0, 2.0]), ("bernoulli_", [0.3]), ("exponential_", [1.5]), ("cauchy_", [0.5, 2.0]), ("log_normal_", [0.5, 0.25]),
           ("geometric_", [0.3]), ("random_", [])]


def enc(v):
    if isinstance(v, list):
        return {"l": [enc(e) for e in v]}
    if isinstance(v, float):
        return {"f": v}
    return {"v": v}


def make(write, offered, left_out):
    arrays, cases = Arrays(), []

    def case(text, seed, call, run):
        torch.manual_seed(seed)
        out = run()
        key = f"{len(cases)}#0"
        arrays.put(key, plain_array(out))
        cases.append({"group": "basic", "case": text, "seed": seed, "call": call,
                      "out": [{"t": key, "dtype": dtype_name(out.dtype), "shape": list(out.shape), "stride": list(out.stride())}],
                      "state": {"sha256": hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest()}})

    for seed in (0, 1234567890123):
        for fn, args, dt in FACTORY:
            case(f"{fn}({args}) {dt}", seed, {"kind": "factory", "fn": fn, "args": [enc(a) for a in args], "kwargs": {}, "dtype": dt},
                 lambda: getattr(torch, fn)(*args, dtype=getattr(torch, dt)))
        for fn, args in INPLACE:
            for size in ([3], [4, 5]):
                for dt in ("float32", "float64"):
                    case(f"{fn}({args}) {size} {dt}", seed, {"kind": "inplace", "fn": fn, "args": [enc(a) for a in args], "kwargs": {}, "dtype": dt, "size": size},
                         lambda: getattr(torch.empty(size, dtype=getattr(torch, dt)), fn)(*args))
    write("rng/rng.npz", arrays.bytes())
    write("rng/rng.json", index({"torch": torch.__version__}, "cases", cases))
    print("rng:", len(cases), "cases", file=sys.stderr)
