"""Writes quants.gguf, blocks of every type with random bits, quants.npz, the numbers that the package gguf of
llama.cpp makes of them, and ../codebooks.bin, the codebooks of the format. Needs the packages gguf and numpy; the tests do not."""
import os

import gguf
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(0)
types = gguf.GGMLQuantizationType
writer = gguf.GGUFWriter(os.path.join(here, "quants.gguf"), "test")
writer.add_uint32("test.uint32", 7)
writer.add_float32("test.float32", 1.5)
writer.add_bool("test.bool", True)
writer.add_string("test.string", "é")
writer.add_array("test.strings", ["a", "b"])
writer.add_array("test.ints", [1, -2, 3])
want = {}
# Where the scales lie in a block, which random bits could make infinite.
halves = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64],
          "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0]}
for name in list(halves) + ["MXFP4", "NVFP4", "IQ1_M"]:
    t = types[name]
    block, size = gguf.GGML_QUANT_SIZES[t]
    raw = rng.integers(0, 256, (2, 2 * size), dtype=np.uint8)
    for row in raw:
        for b in range(2):
            for at in halves.get(name, []):
                row[b * size + at: b * size + at + 2] = np.array([rng.normal()], np.float16).view(np.uint8)
            if name == "MXFP4":
                row[b * size] = rng.integers(100, 150)
            if name == "NVFP4":  # without a sign
                row[b * size: b * size + 4] &= 127
            if name == "IQ1_M":  # the upper four bits of the fourth word are those of the scale
                row[(b + 1) * size - 1] &= 0x3f
    writer.add_tensor(name, raw, raw_dtype=t)
    want[name] = gguf.quants.dequantize(raw, t).astype(np.float32)
for name, a in {"F32": rng.normal(size=(2, 3)).astype(np.float32), "F16": rng.normal(size=4).astype(np.float16),
                "F64": rng.normal(size=(1, 2)), "I8": np.arange(3, dtype=np.int8), "I16": np.arange(3, dtype=np.int16),
                "I32": np.arange(3, dtype=np.int32), "I64": np.arange(3, dtype=np.int64)}.items():
    writer.add_tensor(name, a)
    want[name] = a
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
np.savez(os.path.join(here, "quants.npz"), **want)
with open(os.path.join(here, "..", "codebooks.bin"), "wb") as f:
    for name in ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"]:
        f.write(bytes.fromhex(getattr(gguf.quants, name).grid_hex.decode()))
