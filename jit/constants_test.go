package jit_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/tensor"
)

// A tensor constant without dimensions counts as a number where it is the second operand of arithmetic, as in PyTorch's
// executor, which gives another dtype for it than eager calls do.
func TestConstantsAreNumbers(t *testing.T) {
	c := torch.ScalarTensor(4.5, torch.ScalarTensorOptions{DType: torch.Float64})
	x := torch.TensorOf[int64](2, 4)
	for _, k := range []struct {
		name string
		f    func(x *torch.Tensor) *torch.Tensor
		want torch.DType
	}{
		{"add", func(x *torch.Tensor) *torch.Tensor { return x.Add(c) }, torch.Float32},
		{"sub", func(x *torch.Tensor) *torch.Tensor { return x.Sub(c) }, torch.Float32},
		{"mul", func(x *torch.Tensor) *torch.Tensor { return x.Mul(c) }, torch.Float32},
		{"div", func(x *torch.Tensor) *torch.Tensor { return x.Div(c) }, torch.Float32},
		{"first operand", func(x *torch.Tensor) *torch.Tensor { return c.Mul(x) }, torch.Float64},
		{"another operator", func(x *torch.Tensor) *torch.Tensor { return x.Maximum(c) }, torch.Float64},
		{"one dimension", func(x *torch.Tensor) *torch.Tensor { return x.Mul(c.Reshape([]int{1})) }, torch.Float64},
	} {
		m, err := jit.Trace(k.f, x)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = again(m); err != nil {
			t.Fatal(err)
		}
		want := k.f(x)
		y, err := m.Forward(x)
		if err != nil || y.DType() != k.want || !torch.AllClose(y.ToDType(torch.Float64), want) {
			t.Errorf("%s: got %v, %v, want %v in %s", k.name, y, err, want, k.want)
		}
	}
}

// The lite interpreter knows no hooks.
func TestLiteWithoutHooks(t *testing.T) {
	b, err := jit.LoadFile("testdata/exported_methods.ptl")
	if err != nil {
		t.Fatal(err)
	}
	want := call(t, b, "forward", torch.Ones([]int{2}))
	hook := "  __forward_hooks__ = [\"double\"]\n  def double(s: __torch__.cases.Counter,\n    x: Tuple[Tensor],\n" +
		"    y: int) -> int:\n    return torch.mul(y, 2)\n"
	m, err := jit.LoadLite(rewritten(t, "testdata/exported_methods.ptl", "code/__torch__/cases.py",
		func(code string) string { return strings.Replace(code, "  def forward", hook+"  def forward", 1) }))
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, m, "forward", torch.Ones([]int{2})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// rewritten is an archive with another text in one of its files.
func rewritten(t *testing.T, path, file string, change func(string) string) (*bytes.Reader, int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	from, err := torchzip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := torchzip.NewWriter(&buf, "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range from.Records() {
		data, err := from.ReadAll(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == file {
			data = []byte(change(string(data)))
		}
		if err := w.Record(name, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(buf.Bytes()), int64(buf.Len())
}

// Texts become numbers by the rules of C++'s stod and stoll, with their errors.
func TestNumbersOfTexts(t *testing.T) {
	m := load(t, module+"  def f(self, s: str) -> float:\n    return float(s)\n"+
		"  def i(self, s: str) -> int:\n    return int(s)\n")
	for _, c := range []struct{ method, text, want, err string }{
		{"f", "  -3", "-3.", ""},
		{"f", "0x10", "16.", ""},
		{"f", "infinity", "inf", ""},
		{"f", "1.5x", "", "could not convert string to float: '1.5x'"},
		{"f", " 2 ", "", "could not convert string to float: ' 2 '"},
		{"f", "nan1", "", "could not convert string to float: 'nan1'"},
		{"f", "1e", "", "could not convert string to float: '1e'"},
		{"f", "abc", "", "stod"},
		{"f", "-", "", "stod"},
		{"f", ".", "", "stod"},
		{"f", "1e999", "", "stod"},
		{"i", " 7", "7", ""},
		{"i", " 7 ", "", "invalid literal for int() with base 10: ' 7 '"},
		{"i", "99999999999999999999", "", "stoll"},
	} {
		v, err := m.Call(context.Background(), c.method, []tensor.Value{tensor.StrValue(c.text)}, nil)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %s", c.text, err, c.err)
			}
		case err != nil || graph.Text(v) != c.want:
			t.Errorf("%q: %s, %v, want %s", c.text, graph.Text(v), err, c.want)
		}
	}
}
