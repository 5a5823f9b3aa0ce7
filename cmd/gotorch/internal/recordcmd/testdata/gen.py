"""Writes what im2rec has to answer for the folder described in tree.txt.

Independent of the Go code: os.walk, random and struct only. Usage: python gen.py
Each file of the folder holds its own path, so pass-through records are known.
"""
import os
import random
import struct
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
names = open(os.path.join(here, "tree.txt"), encoding="utf-8").read().splitlines()
root = tempfile.mkdtemp()
for n in names:
    p = os.path.join(root, n)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    with open(p, "wb") as f:
        f.write(n.encode())


def find(recursive, exts):
    out, classes = [], {}
    if recursive:
        for path, dirs, files in os.walk(root, followlinks=True):
            dirs.sort()
            for f in sorted(files):
                if os.path.splitext(f)[1].lower() in exts:
                    label = classes.setdefault(path, len(classes))
                    out.append((len(out), label, os.path.relpath(os.path.join(path, f), root)))
    else:
        for f in sorted(os.listdir(root)):
            full = os.path.join(root, f)
            if os.path.isfile(full) and os.path.splitext(f)[1].lower() in exts:
                out.append((len(out), 0, f))
    return out


def save(name, items):
    with open(os.path.join(here, name), "w", encoding="utf-8") as f:
        f.writelines("%d\t%f\t%s\n" % it for it in items)


def shuffle(items):
    random.seed(100)
    random.shuffle(items)
    return items


EXTS = [".jpeg", ".jpg", ".png"]
save("flat.want", shuffle(find(False, EXTS)))
save("rec_sorted.want", find(True, EXTS))
every = shuffle(find(True, EXTS))
save("rec.want", every)
save("exts.want", shuffle(find(True, [".png", ".bmp"])))
# Three chunks, 60 % for training, 25 % for testing.
size = (len(every) + 2) // 3
for c in range(3):
    chunk = every[c * size:(c + 1) * size]
    tr, te = int(size * 0.6), int(size * 0.25)
    save("parts_%d_train.want" % c, chunk[te:te + tr])
    save("parts_%d_test.want" % c, chunk[:te])
    save("parts_%d_val.want" % c, chunk[te + tr:])

# The record and index files of rec.want with --pass-through.
MAGIC = struct.pack("<I", 0xced7230a)


def record(b):
    parts, start = [], 0
    for i in range(0, len(b) // 4 * 4, 4):
        if b[i:i + 4] == MAGIC:
            parts.append(b[start:i])
            start = i + 4
    parts.append(b[start:])
    out = b""
    for k, p in enumerate(parts):
        flag = 0 if len(parts) == 1 else 1 if k == 0 else 3 if k == len(parts) - 1 else 2
        out += MAGIC + struct.pack("<I", flag << 29 | len(p)) + p
    return out + b"\0" * (-len(b) % 4)


rec, idx = b"", ""
for i, label, path in every:
    idx += "%d\t%d\n" % (i, len(rec))
    rec += record(struct.pack("<IfQQ", 0, label, i, 0) + open(os.path.join(root, path), "rb").read())
open(os.path.join(here, "rec.rec.want"), "wb").write(rec)
open(os.path.join(here, "rec.idx.want"), "w").write(idx)
