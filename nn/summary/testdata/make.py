"""Writes tables of torchsummary 1.5.1 and torchinfo 1.8.0. Needs them, PyTorch and torchvision; the tests do not."""
import contextlib
import io
import os
import warnings

import torch
import torchinfo
import torchsummary
import torchvision
from torch import nn

warnings.simplefilter("ignore")
here = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("input_size", "output_size", "num_params", "params_percent", "kernel_size", "mult_adds", "trainable")


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 3, padding=1)
        self.act = nn.ReLU()
        self.scale = nn.Parameter(torch.ones(4, 1))

    def forward(self, x):
        return self.act(self.conv(x)) * self.scale


class User(nn.Module):
    """Lists that do not run, a layer that runs twice, frozen parameters, an LSTM."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Inner(), Inner()])
        self.twice = Inner()
        self.pool = nn.MaxPool1d(2)
        self.lstm = nn.LSTM(8, 5, batch_first=True)
        self.head = nn.Sequential(nn.Linear(5, 3), nn.Dropout(0.5))
        for p in self.blocks[0].parameters():
            p.requires_grad_(False)
        self.head[0].bias.requires_grad_(False)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        x = self.twice(self.twice(x))
        x = self.lstm(self.pool(x))[0]
        return self.head(x)


class NoLSTM(User):
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.pool(self.twice(self.twice(x)))


def write(name, text):
    with open(os.path.join(here, name + ".txt"), "w") as f:
        f.write(text)


def old(name, model, size, **options):
    b = io.StringIO()
    with contextlib.redirect_stdout(b):
        torchsummary.summary(model, size, device="cpu", **options)
    write("torchsummary_" + name, b.getvalue())


def new(name, model, size, **options):
    write("torchinfo_" + name, str(torchinfo.summary(model, size, verbose=0, **options) if size else
                                   torchinfo.summary(model, verbose=0, **options)))


for arch in ["resnet18", "resnet50"]:
    model = getattr(torchvision.models, arch)()
    old(arch, model, (3, 224, 224))
    new(arch, model, (1, 3, 224, 224))
old("batch", torchvision.models.resnet18(), (3, 64, 64), batch_size=16)
old("user", NoLSTM(), (4, 16))
new("columns", torchvision.models.resnet18(), (2, 3, 64, 64), col_names=COLUMNS, depth=2,
    row_settings=("depth", "var_names"))
new("user", User(), (2, 4, 16), col_names=COLUMNS)
new("user_names", User(), (2, 4, 16), row_settings=("var_names", "ascii_only"), col_width=18, depth=5)
new("user_recursive", User(), (2, 4, 16), row_settings=("depth", "hide_recursive_layers"), mode="train")
new("user_structure", User(), None)
user = User()
s = torchinfo.summary(user, (2, 4, 16), verbose=0, col_names=("kernel_size", "num_params"))
s.formatting.verbose = 2
write("torchinfo_verbose", str(s))
