"""Distributions: densities with their gradients, moments, samples, KL divergences."""

import math
import sys

import torch
from torch import distributions as D

from encode import index

A, B, P = [0.5, 1.2, 2.0], [1.5, 0.7, 1.1], [0.2, 0.5, 0.9]
DISTS = [("Normal", {"loc": A, "scale": B}), ("LogNormal", {"loc": A, "scale": B}), ("Laplace", {"loc": A, "scale": B}), ("Cauchy", {"loc": A, "scale": B}),
         ("Gumbel", {"loc": A, "scale": B}), ("StudentT", {"df": [3.0, 4.5, 5.0], "loc": A, "scale": B}), ("Uniform", {"low": A, "high": [3.0, 4.0, 5.0]}),
         ("Exponential", {"rate": B}), ("Gamma", {"concentration": A, "rate": B}), ("Chi2", {"df": [3.0, 4.5, 5.0]}), ("Beta", {"concentration1": A, "concentration0": B}),
         ("HalfNormal", {"scale": B}), ("HalfCauchy", {"scale": B}), ("Pareto", {"scale": B, "alpha": [3.0, 4.0, 5.0]}), ("Weibull", {"scale": B, "concentration": A}),
         ("VonMises", {"loc": A, "concentration": B}), ("Bernoulli", {"probs": P}), ("Geometric", {"probs": P}), ("Poisson", {"rate": B}),
         ("Categorical", {"probs": [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]}), ("Dirichlet", {"concentration": [[0.5, 1.0, 2.0], [2.0, 2.0, 1.5]]})]
KL = ["Normal", "Laplace", "Exponential", "Gamma", "Beta", "Bernoulli", "Geometric", "Poisson", "Categorical", "Dirichlet", "Uniform", "Gumbel"]


def nested(t):
    def walk(v):
        if isinstance(v, list):
            return [walk(e) for e in v]
        return v if not isinstance(v, float) or math.isfinite(v) else "nan" if v != v else "inf" if v > 0 else "-inf"

    return walk(t.detach().tolist())


def weighted(out):
    w = ((torch.arange(out.numel(), dtype=torch.float64) % 7 - 3) / 3).reshape(out.shape)
    return (out * w.to(out.dtype)).sum()


def record(cls, params, dtype):
    new = lambda grad: {k: torch.tensor(v, dtype=dtype, requires_grad=grad) for k, v in params.items()}
    make = lambda ps: getattr(D, cls)(**ps, validate_args=False)
    d = make(new(False))
    rec = {"name": cls, "cls": cls, "dtype": str(dtype).removeprefix("torch."), "params": params, "batch_shape": list(d.batch_shape), "event_shape": list(d.event_shape),
           "has_rsample": d.has_rsample, "enumerate_support": None}
    for key in ("mean", "variance", "stddev", "mode"):
        try:
            rec[key] = nested(getattr(d, key))
        except NotImplementedError:
            pass
    for key in ("entropy", "perplexity"):
        try:
            rec[key] = nested(getattr(d, key)())
        except NotImplementedError:
            pass
    if d.has_enumerate_support:
        rec["enumerate_support"] = nested(d.enumerate_support())
    torch.manual_seed(11)
    value = d.sample((4,))
    rec["value"] = nested(value)
    ps = new(True)
    discrete = cls in ("Bernoulli", "Geometric", "Poisson", "Categorical")
    v = value.clone().requires_grad_(not discrete)
    lp = make(ps).log_prob(v)
    rec["log_prob"] = nested(lp)
    leaves = list(ps.items()) + ([] if discrete else [("value", v)])
    grads = torch.autograd.grad(weighted(lp), [t for _, t in leaves], allow_unused=True)
    rec["log_prob_grad"] = {n: nested(g) for (n, _), g in zip(leaves, grads) if g is not None}
    try:
        rec["cdf"] = nested(d.cdf(value))
    except NotImplementedError:
        pass
    q = torch.tensor([[0.1], [0.5], [0.85]], dtype=dtype)
    try:
        rec["icdf"] = {"q": nested(q), "value": nested(d.icdf(q))}
    except NotImplementedError:
        pass
    for key, seed, shape in (("sample", 1, []), ("sample2", 2, [5])):
        torch.manual_seed(seed)
        s = d.sample(torch.Size(shape))
        rec[key] = {"seed": seed, "shape": shape, "value": nested(s), "dtype": str(s.dtype).removeprefix("torch.")}
    if d.has_rsample:
        ps = new(True)
        torch.manual_seed(3)
        s = make(ps).rsample(torch.Size([2]))
        grads = torch.autograd.grad(weighted(s), list(ps.values()), allow_unused=True)
        rec["rsample"] = {"seed": 3, "shape": [2], "value": nested(s), "dtype": rec["dtype"], "grad": {n: nested(g) for n, g in zip(ps, grads) if g is not None}}
    return rec


def make(write, offered, left_out):
    dists, kl = [], []
    for dtype in (torch.float64, torch.float32):
        made = {}
        for cls, params in DISTS:
            dists.append(record(cls, params, dtype))
            made[cls] = getattr(D, cls)(**{k: torch.tensor(v, dtype=dtype) for k, v in params.items()}, validate_args=False)
        for p in KL:
            for q in KL:
                try:
                    kl.append({"p": p, "q": q, "dtype": str(dtype).removeprefix("torch."), "kl": nested(D.kl_divergence(made[p], made[q]))})
                except (NotImplementedError, RuntimeError, ValueError):
                    pass
    head = index({"torch": torch.__version__, "transforms": []}, "dists", dists).decode().rstrip()[:-1]
    write("distributions/distributions.json", (head + ', "kl": ' + index({"x": 0}, "kl", kl).decode().split('"kl": ', 1)[1]).encode())
    print("distributions:", len(dists), "records,", len(kl), "divergences", file=sys.stderr)
