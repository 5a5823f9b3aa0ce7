package runcmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/serialize/npy"
)

// model writes y = x + x for x of shape N, 2.
func model(t *testing.T) string {
	t.Helper()
	io := func(name string) []onnxpb.Info {
		return []onnxpb.Info{{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: onnxpb.Float,
			HasShape: true, Shape: []onnxpb.Dim{{Value: -1, Param: "N"}, {Value: 2}}}}}
	}
	m := onnxpb.Model{Opsets: []onnxpb.Opset{{Version: 17}}, Graph: &onnxpb.Graph{Inputs: io("x"), Outputs: io("a/y"),
		Nodes: []*onnxpb.Node{{Op: "Add", Inputs: []string{"x", "x"}, Outputs: []string{"a/y"}}}}}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func command(args ...string) (string, error) {
	var b bytes.Buffer
	c := Command()
	c.SetOut(&b)
	c.SetErr(&b)
	c.SetArgs(args)
	err := c.Execute()
	return b.String(), err
}

func TestRun(t *testing.T) {
	path, dir := model(t), t.TempDir()
	out, err := command(path, "--input", "x=ones(3,2)", "--repeat", "3", "--output", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x: float32[N, 2]", "a/y: float32[3 2]  min 2, max 2, mean 2", "median of 3"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	file := filepath.Join(dir, "a_y.npy")
	if a, err := npy.ReadFile(file); err != nil || a.NumElements() != 6 {
		t.Fatal(a, err)
	}
	out, err = command(path, "--input", "x="+file, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Outputs) != 1 || r.Outputs[0].Max != 4 {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = command(path, "--input", "ones(5,2)"); err != nil || !strings.Contains(out, "float32[5 2]") {
		t.Errorf("an input without its name: %v\n%s", err, out)
	}
	if out, err = command(path); err != nil || !strings.Contains(out, "float32[1 2]") {
		t.Errorf("without inputs: %v\n%s", err, out)
	}
}

func TestMistakes(t *testing.T) {
	path := model(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{path, "--input", "x=ones(3,3)"}, "[3, 3]"},
		{[]string{path, "--input", "z=ones(3,2)"}, `"z"`},
		{[]string{path, "--input", "x"}, "--input x: open x"},
		{[]string{path, "--input", "ones(3,2)", "--input", "ones(1)"}, "the model has 1 inputs only"},
		{[]string{path, "--input", "x=twos(2)"}, "twos"},
		{[]string{path, "--input", "x=rand(a)"}, `"a"`},
		{[]string{path, "--input", "x=gone.npy"}, "gone.npy"},
		{[]string{path, "--repeat", "0"}, "--repeat"},
		{[]string{filepath.Join(t.TempDir(), "gone.onnx")}, "gone.onnx"},
	} {
		if _, err := command(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.args[1:], err, c.want)
		}
	}
}

// TestExported runs a program of torch.export.
func TestExported(t *testing.T) {
	p, err := export.Export(func(x *torch.Tensor) *torch.Tensor { return x.AddScalar(1) },
		[]any{torch.Zeros([]int{2, 3})}, export.Options{Dynamic: map[string]map[int]string{"x": {0: "n"}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.pt2")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	out, err := command(path, "--input", "x=ones(4,3)")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x: float32[s0, 3]", "output: float32[4 3]  min 2, max 2, mean 2"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
