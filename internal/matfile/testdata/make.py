"""Writes structs.mat, the kinds of arrays that data sets use, as scipy writes them. The tests do not need it."""
import os

import numpy as np
from scipy.io import savemat
from scipy.sparse import csc_matrix

here = os.path.dirname(os.path.abspath(__file__))
cars = np.zeros((1, 2), dtype=[("bbox_x1", object), ("class", object), ("fname", object)])
cars[0, 0] = (np.uint16(39), np.uint8(2), "00001.jpg")
cars[0, 1] = (np.uint16(5), np.uint8(1), "00002é.jpg")
names = np.empty((1, 2), dtype=object)
names[0, :] = ["AM General Hummer", "Acura RL"]
edges = np.empty((20, 1), dtype=object)
for i in range(20):
    m = np.zeros((3, 4), dtype=np.uint8)
    m[i % 3, i % 4] = 1
    edges[i, 0] = csc_matrix(m.astype(float))
seg = np.arange(12, dtype=np.uint8).reshape(3, 4)
savemat(os.path.join(here, "structs.mat"), {
    "annotations": cars, "class_names": names, "empty": np.zeros((0, 3)), "text": "héllo",
    "GTcls": {"Boundaries": edges, "Segmentation": seg, "CategoriesPresent": np.array([[1.0, 3.0]])},
    "flags": np.array([[True, False]]), "complex": np.array([1 + 2j])}, do_compression=True)
