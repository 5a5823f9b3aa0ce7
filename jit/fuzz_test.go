package jit_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/tensor"
)

// exercise loads an archive, by its code and by its bytecode, and runs all its methods, for a few steps each. Whatever
// the file holds, there is an error or a result.
func exercise(b []byte) {
	for _, read := range []func(io.ReaderAt, int64, ...jit.LoadOptions) (*jit.Module, error){jit.Load, jit.LoadLite} {
		if m, err := read(bytes.NewReader(b), int64(len(b))); err == nil {
			runAll(m)
		}
	}
}

func runAll(m *jit.Module) {
	_, _ = m.String(), m.StateDict()
	for _, name := range m.Methods() {
		_, _ = m.Code(name), m.Graph(name)
		f := m.Method(name)
		args := []tensor.Value{graph.Box(m.Object())}
		for i, p := range f.Body.Params {
			if i > 0 {
				args = append(args, sample(p.Type))
			}
		}
		_, _ = f.RunWith(context.Background(), graph.Options{MaxSteps: 2000}, args...)
	}
}

// sample is a value of a type.
func sample(t *graph.Type) tensor.Value {
	switch t.Kind {
	case graph.TensorType:
		return tensor.TensorValue(torch.Ones([]int{1, 2}))
	case graph.IntType, graph.BoolType, graph.NumberType:
		return tensor.IntValue(2)
	case graph.FloatType:
		return tensor.FloatValue(0.5)
	case graph.StrType:
		return tensor.StrValue("ab")
	case graph.ListType:
		return graph.NewList(t.Elems[0], sample(t.Elems[0]))
	}
	return tensor.Value{}
}

func FuzzArchive(f *testing.F) {
	files, err := filepath.Glob("testdata/*.pt*")
	if err != nil || len(files) == 0 {
		f.Fatal("no files in testdata: ", err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { exercise(b) })
}

// FuzzSource changes the code of an archive.
func FuzzSource(f *testing.F) {
	for _, code := range []string{
		"  def f(self, x: Tensor, n: int) -> Tensor:\n    for i in range(n):\n      if i > 3:\n        break\n" +
			"      x = torch.add(x, i)\n    return x\n",
		"  def f(self, l: List[int]) -> Dict[int, str]:\n    return {i: f\"{i}\" for i in l if i is not None}\n",
		"  a : List[Tuple[int, Optional[str]]]\n  def f(self, s: str) -> Optional[str]:\n    while len(s) > 0:\n" +
			"      s = s[1:]\n      if s == \"b\":\n        return s\n    raise ValueError(s)\n",
		"  def f(self, x: Union[int, str]) -> int:\n    a, b, = [1, 2]\n    c = (a, b)[-1]\n" +
			"    return c if isinstance(x, int) else ord(unchecked_cast(str, x))\n",
	} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) { exercise(archive(t, module+code, 10)) })
}

// FuzzPickle changes the objects and the bytecode of an archive.
func FuzzPickle(f *testing.F) {
	b, err := os.ReadFile("testdata/exported_methods.ptl")
	if err != nil {
		f.Fatal(err)
	}
	r, err := torchzip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		f.Fatal(err)
	}
	read := func(name string) []byte {
		data, err := r.ReadAll(name)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	code := read("code/__torch__/cases.py")
	f.Add(read("data.pkl"), read("bytecode.pkl"))
	f.Fuzz(func(t *testing.T, data, bytecode []byte) {
		var buf bytes.Buffer
		w, err := torchzip.NewWriter(&buf, "m")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []struct {
			name string
			data []byte
		}{{"data.pkl", data}, {"bytecode.pkl", bytecode}, {"code/__torch__/cases.py", code},
			{"data/0", make([]byte, 8)}, {"version", []byte("10\n")}} {
			if err := w.Record(r.name, r.data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		exercise(buf.Bytes())
	})
}
