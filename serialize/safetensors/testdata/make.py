"""Writes all.safetensors, a tensor of each dtype. Needs PyTorch and safetensors; the tests do not."""
import os

import safetensors.torch
import torch

here = os.path.dirname(os.path.abspath(__file__))
tensors = {}
for name in ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]:
    tensors[name] = torch.arange(6).reshape(2, 3).to(getattr(torch, name))
tensors["scalar"] = torch.tensor(2.5)
tensors["none"] = torch.zeros(0, 3)
tensors['a "quoted" name é <&>'] = torch.ones(1)
safetensors.torch.save_file(tensors, os.path.join(here, "all.safetensors"), metadata={"format": "pt"})
