# Makes the files in this folder with PyTorch 2.15. Run it here.
import torch
from torch import nn

torch.manual_seed(0)
m = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
torch.save(m, "whole.pth")  # the module, not its state dict
print(m(torch.ones(1, 3)))
