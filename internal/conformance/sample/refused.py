"""Calls that PyTorch refuses: its own error samples, and small calls of every operator with one argument spoilt.

Refusals that say the same in other words stand in refused_words.tsv; their texts are not compared. To list them anew, clear that file, make the archive,
unpack it and

    go run ./conformance -kind opinfo -dir DIR/opinfo -only NONE -v > OUT
    python3 refused.py OUT
"""

import json
import multiprocessing
import re
import resource
import sys
import warnings
import zipfile

import torch
from torch.testing._internal.common_methods_invocations import op_db

from encode import DTYPES, Arrays, Encoder, Unsupported, index, tensors
from opinfo import LEFT_OUT, Watch, copy, path_of, pick, samples, small

MOST = 6  # cases of an operator; each with another text
SECONDS = 60  # for one operator
WORDS = "refused_words.tsv"
INDEX = "opinfo/index_refused.json"


def spoilt_tensor(t):
    """t with another type, another number of dimensions, another size."""
    for dtype in (torch.int64, torch.float32, torch.bool, torch.complex64, torch.float64):
        if t.dtype != dtype:
            yield t.to(dtype)
    yield t.unsqueeze(0)
    if t.dim() > 0:
        yield t.sum(0, dtype=t.dtype)
        for d in {0, t.dim() - 1}:
            if t.shape[d] > 1:
                yield t.narrow(d, 0, t.shape[d] - 1).clone()
            yield t.narrow(d, 0, 0).clone()
    if not t.dtype.is_complex and t.dtype != torch.bool and t.numel() > 0:
        for v in (-7, 90):
            s = t.clone(memory_format=torch.contiguous_format)
            s.view(-1)[-1] = v
            yield s


def spoilt(v):
    """Values of v's kind that an operator may refuse in its place."""
    if isinstance(v, torch.Tensor):
        yield from spoilt_tensor(v)
    elif isinstance(v, torch.dtype):
        yield from (w for w in (torch.bool, torch.int64, torch.complex64) if w != v)
    elif isinstance(v, bool) or v is None:
        return
    elif isinstance(v, (int, float)):
        yield from (type(v)(w) for w in (-1, 0, 1, 2, -90, 90))
        if isinstance(v, float):
            yield from (float("nan"), 0.5, 1.5)
    elif isinstance(v, str):
        yield "nonsense"
    elif isinstance(v, (list, tuple)):
        yield type(v)(v[:-1])
        yield type(v)(list(v) + list(v[-1:]))
        for i in {0, len(v) - 1} if v else ():
            for w in spoilt(v[i]):
                yield type(v)(list(v[:i]) + [w] + list(v[i + 1:]))


def calls(args, kwargs):
    """The call with one of its arguments spoilt."""
    for i, a in enumerate(args):
        for v in spoilt(a):
            yield [*args[:i], v, *args[i + 1:]], kwargs
    for k, a in kwargs.items():
        for v in spoilt(a):
            yield args, {**kwargs, k: v}


def text_of(e):
    """What a refusal says, or None for one that another caller cannot meet: of Python's parser, of a build without something, of a fault."""
    text = str(e).split("\n")[0].strip()
    if isinstance(e, (SystemError, AssertionError, AttributeError, MemoryError, KeyError, NameError)) or not text:
        return None
    if isinstance(e, TypeError) or re.search(r"INTERNAL ASSERT|argument '\w+' |must be \w+, not|[Cc]ompiled|memory|overflow|Could not run|0x|not within the range", text):
        return None
    return text


def refused(fn, offered):
    """The refusals among the offered calls, at most MOST with different texts: (error, text, args, kwargs)."""
    found = {}
    for args, kwargs in offered:
        try:
            a, k = copy(args), copy(kwargs)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fn(*a, **k)
        except Exception as e:
            text = text_of(e)
            if text:
                found.setdefault(re.sub(r"-?\d+", "", text), (type(e).__name__, text, args, kwargs))
    return pick(list(found.values()), MOST)


def records(fn, offered, dtype):
    """Encodes the refusals of a function; the texts are to be found as they are."""
    arrays, out = Arrays(), []
    for kind, text, args, kwargs in refused(fn, offered):
        e = Encoder(arrays, str(len(out)))
        before = dict(arrays.files)
        try:
            if not args or any(t.device.type != "cpu" or not t.is_contiguous() for t in tensors([args, kwargs])):
                continue
            out.append({"dtype": str(dtype).removeprefix("torch."), "src": "e", "input": e.value(args[0], "i"),
                        "args": [e.value(a, f"a{i}") for i, a in enumerate(args[1:])], "kwargs": {k: e.value(a, f"k.{k}") for k, a in kwargs.items()},
                        "error": {"type": kind, "message": text, "regex": re.sub(r"([\\.^$*+?{}\[\]()|])", r"\\\1", text)}})
        except (Unsupported, TypeError, ValueError):
            arrays.files = before
    return out, arrays


def apart(work):
    """Runs work in a process of its own, since some kernels crash on what they do not check."""
    ours, theirs = multiprocessing.Pipe(False)

    def run():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        theirs.send(work())

    p = multiprocessing.get_context("fork").Process(target=run)
    p.start()
    theirs.close()
    got = None
    try:
        if ours.poll(SECONDS):
            got = ours.recv()
    except EOFError:
        pass
    p.kill()
    p.join()
    return got


def error_samples(op):
    try:
        return [([s.sample_input.input, *s.sample_input.args], s.sample_input.kwargs) for s in op.error_inputs("cpu") if s.error_type is not TypeError]
    except Exception:
        return []


def functions(left_out, watch):
    """The public functions with calls to try."""
    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        call = path_of(op.op)
        if name in left_out or not call or "._" in call or "lambda" in call or LEFT_OUT.search(name) or not hasattr(op, "sample_inputs"):
            continue
        dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
        torch.manual_seed(sum(map(ord, name)))
        found = pick(samples(op, dtype, False), 3)
        for s in found:
            try:
                with watch, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    op.op(copy(s.input), *copy(s.args), **copy(s.kwargs))
            except Exception:
                pass

        def offered(op=op, found=found):
            yield from error_samples(op)
            for s in found:
                yield from calls([s.input, *s.args], s.kwargs)

        yield {"op": name, "file": "refused/" + name + ".npz", "aten": op.aten_name, "callable": call}, op.op, offered, dtype


def overloads(offered, left_out, watch):
    """The overloads that those functions reach, with calls to try."""
    for name in sorted(watch.calls):
        func, found = watch.calls[name]
        full = name.removeprefix("aten.").removesuffix(".default")
        if func.namespace != "aten" or full not in offered or "aten." + full in left_out or LEFT_OUT.search(full):
            continue

        def tried(found=found):
            for _, a, k in found[:2]:
                yield from calls(list(a), {x: v for x, v in k.items() if x not in ("pin_memory", "layout", "device")})

        yield {"op": "aten." + full, "file": "refused/aten." + full + ".npz", "aten": full, "callable": "torch.ops.aten." + full}, func, tried, torch.float32


def other_words(records):
    """Takes the texts that are not compared out of the records."""
    listed = {tuple(line.rstrip("\n").split("\t")) for line in open(WORDS)}
    for r in records:
        for i, c in enumerate(r["cases"]):
            if (r["op"], str(i)) in listed:
                c["error"]["regex"] = ""
    return index({"torch": torch.__version__}, "ops", records)


def make(write, offered, left_out):
    small()
    watch, out = Watch(), []
    for step in (lambda: functions(left_out, watch), lambda: overloads(offered, left_out, watch)):
        for record, fn, tried, dtype in step():
            got = apart(lambda: records(fn, tried(), dtype))
            if got and got[0]:
                record["cases"] = got[0]
                write("opinfo/" + record["file"], got[1].bytes())
                out.append(record)
    write(INDEX, other_words(out))
    print("refused:", len(out), "operators,", sum(len(r["cases"]) for r in out), "cases", file=sys.stderr)


def main():
    """Lists the cases that the output of the runner shows to be refused in other words, and writes the archive's index anew."""
    found = re.findall(r"^  (\S.*?)@refused case (\d+): .* does not match ", open(sys.argv[1]).read(), re.M)
    with open(WORDS, "a") as f:
        f.writelines(f"{op}\t{case}\n" for op, case in found)
    with zipfile.ZipFile("refused.zip") as z:
        files = {n: z.read(n) for n in z.namelist()}
    files[INDEX] = other_words(json.loads(files[INDEX])["ops"])
    with zipfile.ZipFile("refused.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, data in files.items():
            z.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    main()
