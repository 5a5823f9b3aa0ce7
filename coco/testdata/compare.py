"""Times pycocotools on the files of the benchmarks and prints its numbers.

GOTORCH_COCO_BENCH=/tmp/bench go test ./coco -run TestWriteBenchmark
python coco/testdata/compare.py /tmp/bench
go test ./coco -run '^$' -bench Eval
"""
import contextlib
import io
import sys
import time

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

folder = sys.argv[1]
for kind in sys.argv[2:] or ["bbox", "segm"]:
    with contextlib.redirect_stdout(io.StringIO()):
        t0 = time.perf_counter()
        truth = COCO(f"{folder}/{kind}_gt.json")
        found = truth.loadRes(f"{folder}/{kind}_dt.json")
        t1 = time.perf_counter()
        run = COCOeval(truth, found, kind)
        run.evaluate()
        run.accumulate()
        t2 = time.perf_counter()
        run.summarize()
    print(f"{kind}: load {t1 - t0:.2f} s, evaluate and accumulate {t2 - t1:.2f} s")
    print(" ".join(f"{v:.12f}" for v in run.stats))
