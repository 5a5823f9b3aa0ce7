"""Writes fuzz/FuzzLoad: small files of PyTorch, in the form of Go's fuzzer. Needs PyTorch; the tests do not."""
import io
import os

import numpy
import torch
import torch.package

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz", "FuzzLoad")
os.makedirs(folder, exist_ok=True)
torch.manual_seed(0)


def write(name, data):
    text = "".join(f"\\x{b:02x}" for b in data)
    with open(os.path.join(folder, name), "w") as f:
        f.write(f'go test fuzz v1\n[]byte("{text}")\n')


def save(name, value, **options):
    b = io.BytesIO()
    torch.save(value, b, **options)
    write(name, b.getvalue())
    return b.getvalue()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.Adam(net.parameters())
net(torch.ones(1, 3)).sum().backward()
opt.step()
doubled = []
for _ in range(40):
    doubled = [doubled, doubled]
deep = []
for _ in range(300):
    deep = [deep]
self_dict = {}
self_dict["self"] = self_dict
self_list = []
self_list.append(self_list)
one = torch.ones(1, dtype=torch.complex64)
base = torch.arange(12.0)

save("state_dict", net.state_dict())
save("legacy", net.state_dict(), _use_new_zipfile_serialization=False)
whole = save("wrapped", {"epoch": 3, "state_dict": net.state_dict(), "optimizer": opt.state_dict()})
write("cut", whole[: len(whole) // 2])
save("module_prefix", {"module." + k: v for k, v in net.state_dict().items()})
save("whole", net)
save("doubled", doubled)
save("deep", deep)
save("self_dict", self_dict)
save("self_list", self_list)
save("conj", one.conj().expand(1 << 18, 1 << 17))
save("neg", one.conj().imag.expand(1 << 18, 1 << 17))
save("meta", torch.empty(1 << 20, device="meta"))
save("views", [base, base[3:], base.view(3, 4).t(), torch.nn.Parameter(base[:2].clone())])
save("values", [1, -(1 << 70), 1.5, float("nan"), 2j, "é", b"\x00\xff", None, True, (1,), {2: "a", "b": [()]}, {1, 2},
                torch.float16, torch.Size([2]), torch.device("cpu"), bytearray(b"x")])
save("uint16", torch.zeros(3, dtype=torch.uint16))
save("storage", torch.ones(3).untyped_storage())
save("numpy_scalar", numpy.float64(3))
b = io.BytesIO()
torch.jit.save(torch.jit.script(net), b)
write("script", b.getvalue())
b = io.BytesIO()
torch.export.save(torch.export.export(net, (torch.zeros(1, 3),)), b)
write("program", b.getvalue())
b = io.BytesIO()
with torch.package.PackageExporter(b) as e:
    e.save_pickle("m", "m.pkl", {"a": 1})
write("package", b.getvalue())

# pickle/0.pkl to 5.pkl: the same value in all protocols.
import pickle

value = {"int": 1, "big": -(1 << 70), "float": 2.5, "complex": 1j, "text": "é", "bytes": b"\x00\xff", "bool": True,
         "none": None, "list": [1, [2], (3,)], "number": numpy.float32(0.5), "count": numpy.int64(7),
         "flag": numpy.bool_(True), "size": torch.Size([2]),
         "c": numpy.arange(6, dtype=numpy.int16).reshape(2, 3),
         "fortran": numpy.asfortranarray(numpy.arange(6, dtype=numpy.int16).reshape(2, 3)),
         "big-endian": numpy.arange(6, dtype=">i2").reshape(2, 3), "tensor": torch.arange(3.0)}
value["again"] = value["list"]
pickles = os.path.join(os.path.dirname(os.path.dirname(folder)), "pickle")
os.makedirs(pickles, exist_ok=True)
for protocol in range(6):
    with open(os.path.join(pickles, f"{protocol}.pkl"), "wb") as f:
        pickle.dump(value, f, protocol)
