"""Writes cv2.json: what OpenCV makes of small pictures.

Needs numpy and opencv-python. Usage: python gen_cv2.py > cv2.json
"""
import base64
import json
import struct

import cv2
import numpy as np

rng = np.random.RandomState(7)
b64 = lambda b: base64.b64encode(bytes(b)).decode()


def arr(a):
    if a.ndim == 2:
        a = a[:, :, None]
    return {"h": a.shape[0], "w": a.shape[1], "c": a.shape[2], "pix": b64(a.tobytes())}


def smooth(h, w, c):
    """A picture with soft gradients, so that chroma interpolation shows."""
    y, x = np.mgrid[0:h, 0:w]
    planes = [127 + 120 * np.sin(x * (0.11 + 0.05 * k) + y * (0.07 + 0.04 * k) + k) for k in range(c)]
    return np.stack(planes, -1).astype(np.uint8)


resize = []
for (h, w, c), (nw, nh) in [
    ((7, 5, 3), (4, 3)), ((8, 6, 3), (3, 4)), ((9, 13, 1), (5, 7)), ((5, 4, 4), (9, 11)),
    ((1, 1, 3), (4, 2)), ((16, 12, 3), (5, 16)), ((3, 20, 1), (20, 1)), ((10, 10, 3), (10, 4)),
    ((33, 21, 3), (8, 12)), ((6, 7, 3), (7, 6)),
]:
    img = rng.randint(0, 256, (h, w, c)).astype(np.uint8)
    resize.append({"in": arr(img), "out": arr(cv2.resize(img, (nw, nh)))})

decode = []


def add(name, data):
    e = {"name": name, "data": b64(data), "out": {}}
    for flag in (-1, 0, 1):
        img = cv2.imdecode(np.frombuffer(bytes(data), np.uint8), flag)
        if img.dtype == np.uint16:
            img = (img >> 8).astype(np.uint8)
        e["out"][str(flag)] = arr(img)
    decode.append(e)


noise = lambda h, w, c: rng.randint(0, 256, (h, w, c)).astype(np.uint8)
add("png gray", cv2.imencode(".png", noise(5, 7, 1))[1])
add("png bgr", cv2.imencode(".png", noise(5, 7, 3))[1])
add("png bgra", cv2.imencode(".png", noise(5, 7, 4))[1])
add("png gray16", cv2.imencode(".png", rng.randint(0, 65536, (4, 3, 1)).astype(np.uint16))[1])
add("png bgr16", cv2.imencode(".png", rng.randint(0, 65536, (4, 3, 3)).astype(np.uint16))[1])
S = cv2.IMWRITE_JPEG_SAMPLING_FACTOR
for name, f in [("420", 0x221111), ("422", 0x211111), ("440", 0x121111), ("444", 0x111111)]:
    for h, w in [(32, 32), (17, 23)]:
        add(f"jpg {name} {h}x{w}", cv2.imencode(".jpg", smooth(h, w, 3), [cv2.IMWRITE_JPEG_QUALITY, 95, S, f])[1])
add("jpg gray", cv2.imencode(".jpg", smooth(19, 13, 1))[1])
base = bytes(cv2.imencode(".jpg", smooth(11, 18, 3))[1])
for o in range(1, 9):
    for e in "<>" if o == 6 else "<":
        tiff = (b"II" if e == "<" else b"MM") + struct.pack(e + "HIHHHIHHI", 42, 8, 1, 0x112, 3, 1, o, 0, 0)
        seg = b"Exif\0\0" + tiff
        add(f"jpg exif {o}{e}", base[:2] + b"\xff\xe1" + struct.pack(">H", len(seg) + 2) + seg + base[2:])
print(json.dumps({"opencv": cv2.__version__, "resize": resize, "decode": decode}))
