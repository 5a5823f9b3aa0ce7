#!/usr/bin/env python3
"""Makes the .zip files in this folder: a small sample of what PyTorch computes, for the gates of a plain clone.

    go run ./cmd/gotorch ops --json > ops.json
    cd internal/conformance/sample && python3 make.py ../../../ops.json [PART ...]

It needs torch 2.15, numpy, expecttest and einops. All inputs are random numbers from fixed seeds, or PyTorch's own samples drawn with them; all figures were
computed with PyTorch 2.15 by this project, which places them under its own licence (LICENSE at the root). ops.json lists the operators that the registry
offers; ../known.tsv names what is not there yet, whose cases would only take room. Afterwards: go test ./internal/conformance -run TestSample -update, and
reasons in known.tsv for what fails.
"""

import importlib
import json
import sys
import zipfile

import torch

PARTS = ["opinfo", "refused", "modules", "optim", "rng", "printed", "dists", "einsum"]


def main():
    offered = {o["name"].removeprefix("aten::") for o in json.load(open(sys.argv[1]))}
    left_out = set()
    for line in open("../known.tsv"):
        kind, name, status, cases, _ = line.rstrip("\n").split("\t")
        if status == "skip" and (cases == "*" or kind.endswith("optim")):
            left_out.add(name)
    torch.set_num_threads(1)
    for part in sys.argv[2:] or PARTS:
        with zipfile.ZipFile(part + ".zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            write = lambda name, data: z.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
            importlib.import_module(part).make(write, offered, left_out)


if __name__ == "__main__":
    main()
