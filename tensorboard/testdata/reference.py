"""Writes reference.json: the events of PyTorch's SummaryWriter for the calls of
TestReferenceCalls, in the JSON mapping of protocol buffers. Run it with a Python
that has torch, tensorboard and pillow: python reference.py > reference.json"""
import glob, json, sys, tempfile
import numpy as np
import torch
from google.protobuf.json_format import MessageToDict
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from torch.utils.tensorboard import SummaryWriter


def ramp(n, dtype=np.float64):  # exact in every language
    return np.array([((i * 7919) % 1009) / 1009 * 6 - 3 for i in range(n)], dtype)


def bytes_(*shape):
    n = int(np.prod(shape))
    return np.array([(i * 37) % 256 for i in range(n)], np.uint8).reshape(shape)


def unit(*shape):  # -0.125 … 1.125: some values must be cut off
    n = int(np.prod(shape))
    return np.array([((i * 29) % 81) / 64 - 0.125 for i in range(n)], np.float32).reshape(shape)


out, sys.stdout = sys.stdout, sys.stderr  # the writer prints warnings
d = tempfile.mkdtemp()
w = SummaryWriter(d, purge_step=3, filename_suffix=".suffix")
w.add_scalar("zero", 0.0, 5)
w.add_scalar("nan", float("nan"), 6)
w.add_scalar("inf", float("-inf"), 6)
w.add_scalar("new", 0.1, 7, new_style=True)
w.add_scalar("double", 0.1, 7, new_style=True, double_precision=True)
x = ramp(500)
for bins in ["tensorflow", "auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt", 7, 64, [-2.0, -1.0, 0.5, 2.5]]:
    w.add_histogram("h/%s" % bins, x, 1, bins=bins)
w.add_histogram("h/cubes", x * x * x, 1, bins="auto")
w.add_histogram("h/doane3", x * x * x, 1, bins="doane")
w.add_histogram("h/max_bins", x, 1, bins=100, max_bins=30)
w.add_histogram("h/constant", np.full(9, 2.5), 1, bins="auto")
w.add_histogram("h/one", np.array([-1.5]), 1)
w.add_histogram("h/float32", ramp(300, np.float32), 1, bins="auto")
w.add_histogram("h/ints", np.arange(-20, 30), 1, bins="auto")
w.add_histogram_raw("h/raw", -1.0, 2.0, 3, 1.5, 2.25, [-1.0, 0.0, 2.0], [0, 1, 2], 4)
w.add_image("chw", unit(3, 4, 5), 1)
w.add_image("hwc", bytes_(4, 5, 3), 1, dataformats="HWC")
w.add_image("rgba", bytes_(4, 5, 4), 1, dataformats="HWC")
w.add_image("hw", bytes_(4, 5), 1, dataformats="HW")
w.add_image("wh", bytes_(4, 5), 1, dataformats="WH")
w.add_image("one", unit(1, 4, 5), 1)
w.add_images("nchw", bytes_(11, 3, 4, 5), 1)
w.add_images("nhwc", unit(2, 4, 5, 3), 1, dataformats="NHWC")
w.add_images("n1hw", bytes_(9, 1, 4, 5), 1)
w.add_image_with_boxes("boxes", bytes_(3, 30, 40), np.array([[5, 6, 20, 25], [10.4, 3.7, 33.2, 18.9]]), 1)
w.add_audio("loud", ramp(50), 2)
w.add_audio("soft", (ramp(50) / 4).astype(np.float32)[None], 2, sample_rate=16000)
w.add_text("t", "ünï\n\n| a | b |", 9)
labels = np.array([(i * 3) % 7 < 3 for i in range(60)]).astype(np.int64)
preds = np.array([((i * 31) % 64) / 64 for i in range(60)])
w.add_pr_curve("pr", labels, preds, 1)
w.add_pr_curve("pr/10", labels, preds.astype(np.float32), 1, num_thresholds=10, weights=0.5)
w.add_pr_curve("pr/weights", labels, preds, 1, num_thresholds=300, weights=np.arange(60) / 8)
w.add_pr_curve_raw("pr/raw", [3, 1], [2, 0], [0, 2], [0, 2], [0.6, 1], [1, 0.25], 1, num_thresholds=2)
w.add_custom_scalars({"c": {"m": ["Margin", ["a", "b", "c"]], "l": ["Multiline", ["x", "y"]]}, "d": {"n": ["Multiline", []]}})
w.add_custom_scalars_multilinechart(["p", "q"])
w.add_custom_scalars_marginchart(["p", "q", "r"], category="k", title="t")
w.add_mesh("m", torch.tensor(unit(1, 4, 3)), colors=torch.tensor(bytes_(1, 4, 3)), faces=torch.tensor([[[0, 1, 2], [1, 2, 3]]]),
           config_dict={"camera": {"cls": "PerspectiveCamera", "fov": 75}, "a": [1, 2.5, "ü<\"&>😀"]}, global_step=8)
for t in [torch.tensor([[1.5, -2.0]]), torch.tensor([0.1], dtype=torch.float64), torch.tensor([1, -2], dtype=torch.int8),
          torch.tensor([1, -2], dtype=torch.int16), torch.tensor([1, -2], dtype=torch.int32), torch.tensor(-7), torch.tensor([200], dtype=torch.uint8),
          torch.tensor([True, False]), torch.tensor([1.5], dtype=torch.float16), torch.tensor([1.5], dtype=torch.bfloat16)]:
    w.add_tensor("tensor/" + str(t.dtype)[6:], t, 1)
w.close()
(f,) = glob.glob(d + "/*.suffix")
events = [MessageToDict(e) for e in LegacyEventFileLoader(f).Load()]
for e in events:
    e.pop("wallTime", None)
json.dump(events, out, indent=0, separators=(",", ":"))
