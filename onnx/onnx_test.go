package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

// value declares an input or output of floats; dims are numbers, or names of sizes.
func value(name string, dims ...any) onnxpb.Info {
	t := &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: onnxpb.Float, HasShape: true}
	for _, d := range dims {
		if n, ok := d.(int); ok {
			t.Shape = append(t.Shape, onnxpb.Dim{Value: int64(n)})
		} else {
			t.Shape = append(t.Shape, onnxpb.Dim{Value: -1, Param: d.(string)})
		}
	}
	return onnxpb.Info{Name: name, Type: t}
}

func node(op, in, out string, attrs ...*onnxpb.Attr) *onnxpb.Node {
	return &onnxpb.Node{Op: op, Name: "the " + op, Inputs: strings.Fields(in), Outputs: strings.Fields(out),
		Attrs: attrs}
}

func floats(name string, dims []int64, x ...float32) *onnxpb.Tensor {
	return &onnxpb.Tensor{Name: name, Type: onnxpb.Float, Dims: dims, Floats: x}
}

func ints(name string, x ...int64) *onnxpb.Tensor {
	return &onnxpb.Tensor{Name: name, Type: onnxpb.Int64, Dims: []int64{int64(len(x))}, Ints64: x}
}

// linear is y = relu(x W + b) for x of shape N, 2.
func linear() *onnxpb.Model {
	return &onnxpb.Model{IRVersion: 9, Producer: "test", Opsets: []onnxpb.Opset{{Version: 18}},
		Metadata: []onnxpb.Entry{{Key: "author", Value: "me"}},
		Graph: &onnxpb.Graph{Name: "linear", Inputs: []onnxpb.Info{value("x", "N", 2)},
			Outputs: []onnxpb.Info{value("y", "N", 3)},
			Initializers: []*onnxpb.Tensor{floats("w", []int64{2, 3}, 1, 2, 3, 4, 5, 6),
				floats("b", []int64{3}, 0, 0, -100)},
			Nodes: []*onnxpb.Node{node("MatMul", "x w", "h"), node("Add", "h b", "s"), node("Relu", "s", "y")}}}
}

func read(t testing.TB, m *onnxpb.Model) *onnx.Model {
	t.Helper()
	b := m.Bytes()
	got, err := onnx.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func run(t testing.TB, m *onnx.Model, x *torch.Tensor) *torch.Tensor {
	t.Helper()
	out, err := m.Run(context.Background(), map[string]*torch.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	return out["y"]
}

func same(t testing.TB, got *torch.Tensor, want ...float32) {
	t.Helper()
	if !got.Reshape([]int{-1}).Equal(torch.TensorOf(want...)) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestModel(t *testing.T) {
	m := read(t, linear())
	defer m.Close()
	if got := m.Inputs()[0].String(); got != "x: float32[N, 2]" {
		t.Errorf("input %q", got)
	}
	if got := m.Outputs()[0].String(); got != "y: float32[N, 3]" {
		t.Errorf("output %q", got)
	}
	if md := m.Metadata(); md["author"] != "me" || md["producer_name"] != "test" || md["opset:ai.onnx"] != "18" {
		t.Errorf("metadata %v", md)
	}
	same(t, run(t, m, torch.FromSlice([]float32{1, 1, 0, -1}, 2, 2)), 5, 7, 0, 0, 0, 0)
}

// TestGoroutines runs one model in many goroutines at once.
func TestGoroutines(t *testing.T) {
	m := read(t, linear())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				same(t, run(t, m, torch.FromSlice([]float32{float32(i), 0}, 1, 2)), float32(i), float32(2*i), 0)
			}
		})
	}
	wg.Wait()
}

// TestInputs gives what a model does not take: the error names the input and what was expected, before anything runs.
func TestInputs(t *testing.T) {
	m := read(t, linear())
	x := torch.Zeros([]int{1, 2})
	for _, c := range []struct {
		name   string
		inputs map[string]*torch.Tensor
		want   []string
	}{
		{"missing", nil, []string{`"x"`, "float32[N, 2]"}},
		{"unknown", map[string]*torch.Tensor{"x": x, "z": x}, []string{`"z"`}},
		{"shape", map[string]*torch.Tensor{"x": torch.Zeros([]int{1, 3})}, []string{`"x"`, "[1, 3]", "float32[N, 2]"}},
		{"rank", map[string]*torch.Tensor{"x": torch.Zeros([]int{2})}, []string{`"x"`, "[2]"}},
		{"dtype", map[string]*torch.Tensor{"x": x.Double()}, []string{`"x"`, "float64", "float32"}},
	} {
		_, err := m.Run(context.Background(), c.inputs)
		if !errors.Is(err, onnx.ErrInput) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", c.name, err, w)
			}
		}
	}
}

// TestRefusals loads what cannot be translated: the error names the node.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *onnxpb.Model)
		is     error
		want   string
	}{
		{"operator", func(m *onnxpb.Model) { m.Graph.Nodes[2].Op = "Nonsense" }, onnx.ErrUnsupported,
			`"the Relu": Nonsense (opset 18)`},
		{"domain", func(m *onnxpb.Model) { m.Graph.Nodes[2].Domain = "com.example" }, onnx.ErrUnsupported,
			"com.example::Relu"},
		{"input", func(m *onnxpb.Model) { m.Graph.Nodes[2].Inputs[0] = "gone" }, onnxpb.ErrFormat,
			`"gone" is computed by no node`},
		{"output", func(m *onnxpb.Model) { m.Graph.Outputs[0].Name = "gone" }, onnxpb.ErrFormat, `output "gone"`},
		{"too few inputs", func(m *onnxpb.Model) { m.Graph.Nodes[1].Inputs = []string{"h"} }, onnxpb.ErrFormat,
			"input 1 is missing"},
		{"weight", func(m *onnxpb.Model) { m.Graph.Initializers[0].Dims[0] = 5 }, onnxpb.ErrFormat, `initializer "w"`},
		{"strings", func(m *onnxpb.Model) { m.Graph.Inputs[0].Type.DataType = onnxpb.String }, onnx.ErrUnsupported,
			"elements of type string"},
		{"cycle", func(m *onnxpb.Model) { m.Graph.Nodes[0].Inputs[0] = "s" }, onnxpb.ErrFormat, `"the MatMul"`},
		{"attribute", func(m *onnxpb.Model) {
			m.Graph.Nodes[2] = node("Elu", "s", "y", &onnxpb.Attr{Name: "alpha", Type: onnxpb.AttrInt, I: 1})
		}, onnxpb.ErrFormat, `attribute "alpha" has type 2, want 1`},
	} {
		m := linear()
		c.change(m)
		b := m.Bytes()
		_, err := onnx.Read(bytes.NewReader(b), int64(len(b)))
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestRunError fails while the program runs: the error names the operator and its arguments.
func TestRunError(t *testing.T) {
	m := linear()
	m.Graph.Inputs = append(m.Graph.Inputs, value("k", "K", "L"))
	m.Graph.Nodes[0].Inputs[1] = "k"
	_, err := read(t, m).Run(context.Background(),
		map[string]*torch.Tensor{"x": torch.Zeros([]int{1, 2}), "k": torch.Zeros([]int{3, 3})})
	if err == nil || !strings.Contains(err.Error(), "matmul") {
		t.Errorf("got %v", err)
	}
}

// TestContext ends a loop that never ends by itself.
func TestContext(t *testing.T) {
	m := linear()
	body := &onnxpb.Graph{Name: "body",
		Inputs:  []onnxpb.Info{value("i"), value("c"), value("v", "N", 2)},
		Outputs: []onnxpb.Info{value("c"), value("v2")}, Nodes: []*onnxpb.Node{node("Neg", "v", "v2")}}
	m.Graph.Initializers = append(m.Graph.Initializers,
		&onnxpb.Tensor{Name: "true", Type: onnxpb.Bool, HasRaw: true, Raw: []byte{1}})
	m.Graph.Nodes = []*onnxpb.Node{{Op: "Loop", Inputs: []string{"", "true", "x"}, Outputs: []string{"y"},
		Attrs: []*onnxpb.Attr{{Name: "body", Type: onnxpb.AttrGraph, G: body}}}}
	ctx, stop := context.WithCancel(context.Background())
	model := read(t, m)
	done := make(chan error)
	go func() {
		_, err := model.Run(ctx, map[string]*torch.Tensor{"x": torch.Zeros([]int{1, 2})})
		done <- err
	}()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestFunction calls a function of the model's own, with an attribute that the call gives and one that has a default.
func TestFunction(t *testing.T) {
	m := linear()
	m.Opsets = append(m.Opsets, onnxpb.Opset{Domain: "mine", Version: 1})
	ref := func(name, of string) *onnxpb.Attr { return &onnxpb.Attr{Name: name, Ref: of, Type: onnxpb.AttrFloat} }
	m.Functions = []*onnxpb.Function{{Name: "Twice", Domain: "mine", Inputs: []string{"a"}, Outputs: []string{"b"},
		Attrs: []string{"slope"}, Defaults: []*onnxpb.Attr{{Name: "alpha", Type: onnxpb.AttrFloat, F: 0.5}},
		Opsets: []onnxpb.Opset{{Version: 18}},
		Nodes: []*onnxpb.Node{node("LeakyRelu", "a", "h", ref("alpha", "slope")),
			node("Elu", "h", "b", ref("alpha", "alpha"))}}}
	m.Graph.Nodes = []*onnxpb.Node{{Op: "Twice", Domain: "mine", Inputs: []string{"x"}, Outputs: []string{"y"},
		Attrs: []*onnxpb.Attr{{Name: "slope", Type: onnxpb.AttrFloat, F: 0}}}}
	same(t, run(t, read(t, m), torch.FromSlice([]float32{3, -2}, 1, 2)), 3, 0)
	m.Functions[0].Nodes[0] = &onnxpb.Node{Op: "Twice", Domain: "mine", Inputs: []string{"a"}, Outputs: []string{"h"}}
	b := m.Bytes()
	if _, err := onnx.Read(bytes.NewReader(b), int64(len(b))); !errors.Is(err, onnx.ErrUnsupported) {
		t.Errorf("a function that calls itself: got %v", err)
	}
}

// TestExternal reads weights from a second file, and from nowhere outside of the model's folder.
func TestExternal(t *testing.T) {
	dir := t.TempDir()
	raw := linear().Graph.Initializers[1].Bytes() // any bytes: 0 0 -100 are at the end
	data := raw[len(raw)-len("b")-2-12:][:12]
	inside := filepath.Join(dir, "model")
	if err := os.MkdirAll(filepath.Join(inside, "weights"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{filepath.Join(inside, "weights", "b.bin"), filepath.Join(dir, "b.bin")} {
		if err := os.WriteFile(f, append(make([]byte, 4), data...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "b.bin"), filepath.Join(inside, "link.bin")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		location, offset, length string
		ok                       bool
	}{
		{"weights/b.bin", "4", "12", true},
		{"weights/b.bin", "4", "", true},
		{"weights/b.bin", "8", "12", false},
		{"weights/b.bin", "-4", "12", false},
		{"weights/b.bin", "4", "99999999999", false},
		{"../b.bin", "4", "12", false},
		{filepath.Join(dir, "b.bin"), "4", "12", false},
		{"link.bin", "4", "12", false},
		{"weights", "4", "12", false},
		{"gone.bin", "4", "12", false},
		{"", "4", "12", false},
	} {
		m := linear()
		b := m.Graph.Initializers[1]
		b.Floats, b.IsExtern = nil, true
		b.External = []onnxpb.Entry{{Key: "location", Value: c.location}, {Key: "offset", Value: c.offset}}
		if c.length != "" {
			b.External = append(b.External, onnxpb.Entry{Key: "length", Value: c.length})
		}
		path := filepath.Join(inside, "m.onnx")
		if err := os.WriteFile(path, m.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := onnx.Open(path)
		if (err == nil) != c.ok {
			t.Errorf("%q at %s: %v", c.location, c.offset, err)
		}
		if err == nil {
			same(t, run(t, got, torch.FromSlice([]float32{1, 1}, 1, 2)), 5, 7, 0)
		}
		if c.ok {
			if _, err := onnx.OpenFS(os.DirFS(inside), "m.onnx"); err != nil {
				t.Errorf("as a file system: %v", err)
			}
			if _, err := onnx.Read(bytes.NewReader(m.Bytes()), int64(len(m.Bytes()))); !errors.Is(err,
				onnx.ErrUnsupported) {
				t.Errorf("without a folder: %v", err)
			}
		}
	}
}

// TestOpen reads a path and a file system, and refuses a file of another format.
func TestOpen(t *testing.T) {
	fsys := fstest.MapFS{"a/m.onnx": {Data: linear().Bytes()}, "bad.onnx": {Data: []byte("PK\x03\x04 something else")}}
	m, err := onnx.OpenFS(fsys, "a/m.onnx")
	if err != nil {
		t.Fatal(err)
	}
	same(t, run(t, m, torch.FromSlice([]float32{1, 1}, 1, 2)), 5, 7, 0)
	if _, err := onnx.OpenFS(fsys, "bad.onnx"); !errors.Is(err, onnxpb.ErrFormat) ||
		!strings.Contains(err.Error(), "bad.onnx") {
		t.Errorf("got %v", err)
	}
	if _, err := onnx.Open(filepath.Join(t.TempDir(), "gone.onnx")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestOutputsAreOwned changes an output that is a weight of the model: the next run does not see it.
func TestOutputsAreOwned(t *testing.T) {
	m := linear()
	m.Graph.Nodes = []*onnxpb.Node{node("Identity", "b", "y")}
	model := read(t, m)
	x := torch.Zeros([]int{1, 2})
	run(t, model, x).FillScalarInPlace(7)
	same(t, run(t, model, x), 0, 0, -100)
}

// TestFolding computes nodes of constants when the model is loaded, unless the file does not bound their results.
func TestFolding(t *testing.T) {
	m := linear()
	m.Graph.Initializers = append(m.Graph.Initializers, ints("perm", 3, 2), ints("big", 1<<40))
	m.Graph.Nodes = append([]*onnxpb.Node{node("Neg", "w", "w2"), node("Reshape", "w2 perm", "w3"),
		node("Transpose", "w3", "w4", &onnxpb.Attr{Name: "perm", Type: onnxpb.AttrInts, Ints: []int64{1, 0}}),
		node("Expand", "b big", "unused"), node("ConstantOfShape", "big", "unused2")}, m.Graph.Nodes...)
	m.Graph.Nodes[5].Inputs[1] = "w4"
	model := read(t, m)
	n := 0
	for _, x := range model.Program().Body.Nodes {
		if x.Op == "aten::neg" || x.Op == "aten::permute" || x.Op == "aten::reshape" {
			n++
		}
	}
	if n > 0 {
		t.Errorf("%d nodes of constants are left in\n%s", n, model.Program())
	}
}

// TestSequences runs a model whose input and output are sequences.
func TestSequences(t *testing.T) {
	seq := func(name string) onnxpb.Info {
		return onnxpb.Info{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindSequence,
			Elem: &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: onnxpb.Float}}}
	}
	m := &onnxpb.Model{Opsets: []onnxpb.Opset{{Version: 17}}, Graph: &onnxpb.Graph{
		Inputs: []onnxpb.Info{seq("s"), value("x", 1)}, Outputs: []onnxpb.Info{seq("t"), value("n")},
		Nodes: []*onnxpb.Node{node("SequenceInsert", "s x", "t"), node("SequenceLength", "t", "n")}}}
	m.Graph.Outputs[1].Type.DataType = onnxpb.Int64
	model := read(t, m)
	x := torch.FromSlice([]float32{3})
	out, err := model.RunValues(context.Background(), map[string]tensor.Value{"x": tensor.TensorValue(x),
		"s": graph.NewList(graph.Tensor, tensor.TensorValue(torch.FromSlice([]float32{1, 2})))})
	if err != nil {
		t.Fatal(err)
	}
	if items, _ := graph.ItemsOf(out["t"]); len(items) != 2 || out["n"].T.Num().I != 2 {
		t.Errorf("got %v", out)
	}
	if _, err := model.Run(context.Background(), map[string]*torch.Tensor{"x": x}); !errors.Is(err, onnx.ErrInput) {
		t.Errorf("without the sequence: %v", err)
	}
}

// FuzzRead loads and runs hostile models: an error or a result, in bounded time and memory.
func FuzzRead(f *testing.F) {
	f.Add(linear().Bytes())
	for _, ops := range [][]string{{"Conv", "MaxPool"}, {"Reshape", "Slice"}, {"LSTM", "Gather"}, {"Resize", "Pad"}} {
		m := linear()
		for i, op := range ops {
			m.Graph.Nodes[i].Op = op
		}
		f.Add(m.Bytes())
	}
	for _, op := range []string{"StringSplit", "Identity", "StringNormalizer"} {
		f.Add(stringModel(node(op, "x", "y"), onnxpb.String).Bytes())
	}
	labels := stringModel(node("LabelEncoder", "x", "y", stringAttr("keys_strings", "a b", "c"),
		intAttr("values_int64s", 1, 2)), onnxpb.String)
	labels.Graph.Nodes[0].Domain = "ai.onnx.ml"
	f.Add(labels.Bytes())
	torch.SetMemoryLimit(1 << 30)
	f.Fuzz(func(_ *testing.T, b []byte) { exercise(b) })
}

// exercise reads a model and runs it once, with zeros, of the size 1 where sizes vary, for a second at most.
func exercise(b []byte) {
	m, err := onnx.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	in := map[string]tensor.Value{}
	for _, p := range m.Inputs() {
		shape := []int{}
		total := 1
		for _, d := range p.Shape {
			n := min(max(d.Size, 1), 1<<20)
			if total *= n; total > 1<<20 {
				return
			}
			shape = append(shape, n)
		}
		switch {
		case p.Type.Kind == graph.OpaqueType:
			in[p.Name] = graph.NewStrings(slices.Repeat([]string{"a b"}, total), shape...)
		case p.DType == 0:
			return
		default:
			in[p.Name] = tensor.TensorValue(torch.Zeros(shape).ToDType(p.DType))
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second) // of loops that never end
	defer stop()
	_, _ = m.RunValues(ctx, in)
}

// TestForms checks what the families of operators declare: the operator that is called exists and takes as many
// arguments, and no two forms of an ONNX operator hold for one version.
func TestForms(t *testing.T) {
	n := 0
	tensor.ONNXForms(func(f tensor.ONNXForm) {
		n++
		op := graph.Lookup(f.Op)
		if op == nil {
			t.Errorf("%s: %s does not exist", f.Name, f.Op)
			return
		}
		if len(f.Args) > len(op.Params) {
			t.Errorf("%s: %s takes %d arguments, not %d", f.Name, f.Op, len(op.Params), len(f.Args))
		}
		for _, a := range f.Args {
			if a.Input >= len(f.Args) {
				t.Errorf("%s: input %d", f.Name, a.Input)
			}
		}
		if g := tensor.FindONNX(f.Name, f.Since); g == nil || g.Op != f.Op || g.Since != f.Since {
			t.Errorf("%s, version %d: another form comes first", f.Name, f.Since)
		}
	})
	if n < 50 {
		t.Errorf("only %d forms", n)
	}
}
