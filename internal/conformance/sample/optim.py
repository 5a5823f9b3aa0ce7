"""Runs of optimizers and of schedules of the learning rate."""

import io
import itertools
import json
import sys

import numpy as np
import torch
import torch.nn.functional as F

from encode import Arrays, plain_array

STEPS, MID = 8, 3
RUNS = [("SGD", k) for k in ({"lr": 0.1}, {"lr": 0.05, "momentum": 0.9}, {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
                             {"lr": 0.05, "momentum": 0.5, "dampening": 0.3, "maximize": True})]
RUNS += [(c, k) for c in ("Adam", "AdamW") for k in ({"lr": 0.01}, {"lr": 0.02, "betas": [0.8, 0.95], "eps": 1e-6, "weight_decay": 0.1, "amsgrad": True},
                                                     {"lr": 0.01, "maximize": True})]
RUNS += [("Adagrad", {"lr": 0.05}), ("Adadelta", {"lr": 1.0}), ("Adamax", {"lr": 0.01}), ("NAdam", {"lr": 0.01}), ("RAdam", {"lr": 0.01}),
         ("RMSprop", {"lr": 0.01, "momentum": 0.9, "centered": True}), ("Rprop", {"lr": 0.01}), ("ASGD", {"lr": 0.05})]
SCHEDULES = [("StepLR", {"step_size": 7, "gamma": 0.3}), ("MultiStepLR", {"milestones": [5, 9, 30], "gamma": 0.2}), ("ConstantLR", {"factor": 0.25, "total_iters": 6}),
             ("LinearLR", {"start_factor": 0.1, "end_factor": 0.9, "total_iters": 8}), ("ExponentialLR", {"gamma": 0.9}), ("PolynomialLR", {"total_iters": 20, "power": 2.0}),
             ("CosineAnnealingLR", {"T_max": 12, "eta_min": 0.01}), ("CosineAnnealingWarmRestarts", {"T_0": 5, "T_mult": 2, "eta_min": 0.01}),
             ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.8, "step_size_up": 4, "step_size_down": 7, "mode": "triangular2"}),
             ("OneCycleLR", {"max_lr": 0.9, "total_steps": 61}), ("OneCycleLR", {"max_lr": 0.9, "total_steps": 61, "anneal_strategy": "linear", "three_phase": True})]


def problem(dtype):
    g = torch.Generator().manual_seed(5)
    draw = lambda *s: torch.randn(*s, generator=g, dtype=torch.float64).to(dtype)
    init = {"w1": draw(16, 8) * 0.3, "b1": draw(16) * 0.1, "w2": draw(4, 16) * 0.3, "b2": draw(4) * 0.1, "x": draw(64, 8),
            "y": torch.randint(4, (64,), generator=g)}
    return init


def run(i, name, kwargs, dtype, arrays, write):
    init = problem(dtype)
    ps = [init[k].clone().requires_grad_() for k in ("w1", "b1", "w2", "b2")]
    opt = getattr(torch.optim, name)(ps, **{k: tuple(v) if isinstance(v, list) else v for k, v in kwargs.items()}, foreach=False)
    losses, steps = [], [1, MID, STEPS]
    rec = {"i": i, "name": name, "problem": "mlp", "dtype": str(dtype).removeprefix("torch."), "steps": STEPS, "kwargs": kwargs, "param_steps": steps, "mid": MID,
           "state_file": f"state{i}.pt", "state_mid_file": f"state{i}_mid.pt"}

    def save(file):
        b = io.BytesIO()
        torch.save(opt.state_dict(), b)
        write("optim/" + file, b.getvalue())

    for t in range(1, STEPS + 1):
        opt.zero_grad()
        l = F.cross_entropy(torch.tanh(init["x"] @ ps[0].T + ps[1]) @ ps[2].T + ps[3], init["y"])
        l.backward()
        losses.append(l.item())
        opt.step()
        if t in steps:
            for j, p in enumerate(ps):
                arrays.put(f"{i}.step{t}.p{j}", plain_array(p))
        if t == MID:
            save(rec["state_mid_file"])
    save(rec["state_file"])
    rec["losses"] = losses
    return rec


def plain(d):
    return {k: v if isinstance(v, (int, float, bool, str, list, dict, type(None))) else list(v) if isinstance(v, tuple) else "<..>" for k, v in d.items()}


def schedule(cls, kwargs):
    base = {"opt": "SGD", "lr": 0.5, "momentum": 0.9}
    p = torch.nn.Parameter(torch.zeros(1))
    opt = torch.optim.SGD([p], lr=0.5, momentum=0.9)
    s = getattr(torch.optim.lr_scheduler, cls)(opt, **kwargs)
    lrs, momentum, at30 = [], [], None
    for t in range(60):
        if t == 30:
            at30 = plain(s.state_dict())
        lrs.append([g["lr"] for g in opt.param_groups])
        momentum.append([g["momentum"] for g in opt.param_groups])
        opt.step()
        s.step()
    rec = {"name": cls, "cls": cls, "kwargs": kwargs, "base": base, "lr": lrs}
    if any(m != momentum[0] for m in momentum):
        rec["momentum"] = momentum
    rec["state_at_30"], rec["state"] = at30, plain(s.state_dict())
    return rec


def make(write, offered, left_out):
    arrays = Arrays()
    for k, v in problem(torch.float64).items():
        arrays.put(f"init.{k}", plain_array(v))
    runs, n = [], itertools.count()
    for name, kwargs in RUNS:
        if name not in left_out:
            runs.append(run(next(n), name, kwargs, torch.float64, arrays, write))
    write("optim/optim.npz", arrays.bytes())
    write("optim/optim.json", json.dumps({"torch": torch.__version__, "averaged": [], "runs": runs}).encode())
    schedules = [schedule(c, k) for c, k in SCHEDULES]
    write("optim/schedulers.json", json.dumps({"torch": torch.__version__, "steps": 60, "schedules": schedules}).encode())
    print("optim:", len(runs), "runs,", len(schedules), "schedules", file=sys.stderr)
