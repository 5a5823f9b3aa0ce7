"""Writes record files and what they hold, without the Go code.

Only struct, hashlib, json and zlib are used. Usage: python gen.py
"""
import hashlib
import json
import os
import struct
import zlib

here = os.path.dirname(os.path.abspath(__file__))
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


def save(name, data, want, idx=None, lst=None):
    open(os.path.join(here, name + ".rec"), "wb").write(data)
    json.dump(want, open(os.path.join(here, name + ".json"), "w"), indent=1)
    if idx:
        open(os.path.join(here, name + ".idx"), "w").write(idx)
    if lst:
        open(os.path.join(here, name + ".lst"), "w").write(lst)


sha = lambda b: hashlib.sha256(b).hexdigest()

# Plain payloads: every length modulo four, the magic in every place.
plain = [b"", b"a", b"ab", b"abc", b"abcd", MAGIC, MAGIC * 3, b"a" + MAGIC + b"bcd", b"abcd" + MAGIC, MAGIC + b"ab",
         b"abcd" + MAGIC[:3], bytes(range(256)) * 20, (MAGIC + b"1234") * 50 + b"xy", b"123" + MAGIC * 4 + b"x"]
data, want, idx = b"", [], ""
for i, p in enumerate(plain):
    want.append({"offset": len(data), "length": len(p), "sha256": sha(p), "hex": p.hex()})
    idx += "%d\t%d\n" % (1000 - 3 * i, len(data))
    data += record(p)
save("plain", data, {"records": want}, idx)


# Image records: number and array labels, ids of 64 bits, a PNG made by hand.
def png(h, w, c):
    raw = b"".join(b"\0" + bytes((y * 40 + x * 3 + k * 7) % 256 for x in range(w) for k in range(c)) for y in range(h))
    chunk = lambda t, d: struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, {1: 0, 3: 2, 4: 6}[c], 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


data, want, idx, lst = b"", [], "", ""
for i, (label, id2, shape) in enumerate([(4, 0, (3, 5, 3)), (0.1, 0, (4, 4, 1)), ([1, 2, 3], 0, (2, 7, 4)), ([0.25], 2**64 - 1, (6, 2, 3))]):
    body = png(*shape)
    many = isinstance(label, list)
    flag = len(label) if many else 0
    head = struct.pack("<IfQQ", flag, 0 if many else label, 7 * i, id2)
    if many:
        head += struct.pack("<%df" % flag, *label)
    want.append({"offset": len(data), "flag": flag, "label": label, "id": 7 * i, "id2": id2, "body_sha256": sha(body), "image": list(shape)})
    idx += "%d\t%d\n" % (7 * i, len(data))
    lst += "%d\t%s%d.png\n" % (7 * i, "".join("%f\t" % v for v in (label if many else [label])), i)
    data += record(head + body)
save("images", data, {"records": want}, idx, lst)


# SageMaker protobuf: dense and sparse, the three types.
def varint(n):
    out = b""
    n &= 2**64 - 1
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


field = lambda num, b: varint(num << 3 | 2) + varint(len(b)) + b


def value(kind, vals, keys=(), shape=()):
    if kind == 7:
        b = b"".join(varint(v) for v in vals)
    else:
        b = struct.pack("<%d%s" % (len(vals), {2: "f", 3: "d"}[kind]), *vals)
    t = field(1, b) if b else b""
    for num, ints in ((2, keys), (3, shape)):
        if ints:
            t += field(num, b"".join(map(varint, ints)))
    return field(kind, t)


entry = lambda num, v: field(num, field(1, b"values") + field(2, v))
data, want = b"", []
for kind, vals, keys, shape, dense in [
    (2, [1.5, -2.25, 0.1], (), (), [1.5, -2.25, struct.unpack("<f", struct.pack("<f", 0.1))[0]]),
    (3, [3.0, 1e300], (0, 5), (2, 3), [3.0, 0, 0, 0, 0, 1e300]),
    (7, [-1, 2**31 - 1], (), (), [-1, 2**31 - 1]),
    (7, [], (), (4,), [0, 0, 0, 0]),
    (2, [9.0], (299,), (300,), [0] * 299 + [9.0]),
]:
    msg = entry(1, value(kind, vals, keys, shape)) + entry(2, value(2, [float(len(want))]))
    want.append({"hex": msg.hex(), "features": dense, "labels": [float(len(want))]})
    data += record(msg)
save("proto", data, {"records": want})

# Damage: where the first error is, and what can still be read.
recs = [b"record_%d" % i for i in range(6)]
good = b"".join(map(record, recs))
hexes = lambda keep: [recs[i].hex() for i in keep]


def damaged(name, data, before, at, keep):
    save(name, data, {"records": [{"hex": recs[i].hex()} for i in range(before)], "error_offset": at, "recovered_hex": hexes(keep)})


damaged("bad_magic", good[:32] + b"X" + good[33:], 2, 32, [0, 1, 3, 4, 5])
damaged("bad_start", b"XXXX" + good[4:], 0, 0, [1, 2, 3, 4, 5])
damaged("cut", good[:-3], 5, 80, [0, 1, 2, 3, 4])
damaged("long_length", good[:52] + struct.pack("<I", 2**29 - 1) + good[56:], 3, 48, [0, 1, 2, 4, 5])
damaged("open_split", good[:36] + struct.pack("<I", 1 << 29 | 8) + good[40:], 2, 48, [0, 1, 3, 4, 5])
damaged("bad_flag", good[:68] + struct.pack("<I", 5 << 29 | 8) + good[72:], 4, 64, [0, 1, 2, 3, 5])
