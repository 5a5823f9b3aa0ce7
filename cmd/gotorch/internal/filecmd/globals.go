package filecmd

import (
	"io"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
)

// globals lists the classes and functions that the pickles of a file refer to, also those that they throw away: a call
// whose result is dropped leaves no trace in the value.
func globals(f io.ReaderAt, n int64, kind filekind.Kind) ([]string, error) {
	var names []string
	find := func(module, name string) (pickle.Func, error) {
		if g := module + "." + name; !slices.Contains(names, g) {
			names = append(names, g)
		}
		return nil, nil
	}
	var err error
	if kind == filekind.Pickle {
		_, err = pickle.NewDecoder(io.NewSectionReader(f, 0, n), pickle.DecodeOptions{FindClass: find}).Decode()
	} else {
		_, err = torchzip.LoadWith(f, n, torchzip.LoadOptions{FindClass: find})
	}
	slices.Sort(names)
	return names, err
}

// How far a name of a pickle can be trusted.
const (
	data    = iota // makes values
	imports        // a class of some program
	runs           // runs code
)

// dangerous are modules whose functions, called with arguments from a file, run programs, change files or reach the
// network.
var dangerous = []string{"os", "posix", "nt", "subprocess", "sys", "shutil", "socket", "pty", "runpy", "importlib",
	"commands", "webbrowser", "ctypes", "code", "codeop", "types", "marshal", "pickle", "_pickle", "functools",
	"operator",
	"asyncio", "multiprocessing", "threading", "urllib", "requests", "http", "ftplib", "smtplib", "tempfile", "pathlib",
	"builtins", "__builtin__", "torch.hub", "torch.serialization", "torch.jit", "torch.package", "numpy.testing",
	"pip", "setuptools", "bdb", "pdb", "timeit", "cProfile", "profile", "trace", "platform", "linecache"}

func danger(g string) int {
	module, name := g[:strings.LastIndexByte(g, '.')], g[strings.LastIndexByte(g, '.')+1:]
	switch {
	case module == "builtins" && slices.Contains([]string{"set", "frozenset", "list", "tuple", "dict", "bytes",
		"bytearray", "complex", "int", "float", "bool", "str", "object", "slice", "range"}, name):
		return data
	case module == "pathlib" && strings.HasSuffix(name, "Path"):
		return imports
	case module == "collections" || g == "_codecs.encode" || g == "datetime.datetime" || g == "datetime.timedelta":
		return data
	case module == "torch" && (strings.HasSuffix(name, "Storage") || name == strings.ToLower(name) &&
		!strings.Contains(name,
			"load")), g == "torch.storage.UntypedStorage", g == "torch.Tensor", g == "torch.Size",
		module == "torch._utils" && strings.HasPrefix(name, "_rebuild_"), module == "torch.nn.parameter":
		return data
	case g == "numpy.ndarray" || g == "numpy.dtype", (module == "numpy.core.multiarray" ||
		module == "numpy._core.multiarray") && (name == "_reconstruct" || name == "scalar"), name == "_frombuffer" &&
		strings.HasSuffix(module, "core.numeric"):
		return data
	case strings.HasPrefix(module, "__torch__"), g == "torch.storage._load_from_bytes",
		g == "torch.serialization._get_layout":
		return data
	}
	for _, d := range dangerous {
		if module == d || strings.HasPrefix(module, d+".") {
			return runs
		}
	}
	return imports
}
