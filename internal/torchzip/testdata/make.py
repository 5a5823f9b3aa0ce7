# Makes the files in this folder with PyTorch 2.15. Run it here.
import torch
from torch import nn

torch.manual_seed(0)
m = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Sequential(nn.Linear(2, 2)))
torch.save(m.state_dict(), "sd.pt")
opt = torch.optim.AdamW(m.parameters(), lr=1e-3)
m[0](torch.ones(1, 1, 4, 4)).sum().backward()
opt.step()
torch.save({"model": m.state_dict(), "optim": opt.state_dict(), "epoch": 3, "loss": 0.5}, "ck.pt")

x = torch.arange(12.0).reshape(3, 4)
torch.save({"x": x, "xt": x.t(), "row": x[1], "p": nn.Parameter(x), "same": x}, "views.pt")
torch.save({"x": x, "xt": x.t(), "bf": torch.ones(3, dtype=torch.bfloat16)}, "leg2.pt",
           _use_new_zipfile_serialization=False)

p = nn.Parameter(x.clone())
p.tag = "hi"
torch.save(p, "ptag.pt")
t = torch.arange(3.0)
t.tag = 5
torch.save(t, "ttag.pt")

torch.save({
    "cj": torch.ones(2, dtype=torch.complex64).conj(),
    "u": (x + 2).untyped_storage(),
    "ts": (x + 1).storage(),
    "q": torch.quantize_per_tensor(x, 0.1, 3, torch.quint8),
    "sp": x.to_sparse(),
    "meta": torch.empty(2, device="meta"),
    "layout": torch.strided,
    "bool": torch.tensor([True]),
    "grad": torch.ones(2, requires_grad=True),
    "dev": torch.device("cpu"),
    "sz": x.shape,
}, "odd.pt")

from torchvision import tv_tensors  # tensors of classes of their own

torch.save({
    "image": tv_tensors.Image(torch.arange(12, dtype=torch.uint8).reshape(3, 2, 2)),
    "boxes": tv_tensors.BoundingBoxes(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), format="XYXY", canvas_size=(9, 8)),
}, "classes/subclass.pt")
