package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

// small is a network with batch norm and dropout.
func small() *nn.Sequential {
	torch.ManualSeed(2)
	return nn.NewSequential(nn.NewConv2d(1, 2, 3), nn.NewBatchNorm2d(2), nn.NewSiLU(), nn.NewDropout(),
		nn.NewConv2d(2, 2, 1), nn.NewSiLU())
}

func exported(t *testing.T, m any, inputs []*tensor.Tensor, o onnx.ExportOptions) *onnxpb.Model {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.ExportTo(&b, m, inputs, o); err != nil {
		t.Fatal(err)
	}
	pb, err := onnxpb.ReadModel(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return pb
}

func ops(pb *onnxpb.Model) (out []string) {
	for _, n := range pb.Graph.Nodes {
		out = append(out, n.Op)
	}
	return out
}

func TestExportOptions(t *testing.T) {
	m := small()
	nn.Eval(m)
	x := torch.Randn([]int{2, 1, 6, 6})
	pb := exported(t, m, []*tensor.Tensor{x}, onnx.ExportOptions{Opset: 17, InputNames: []string{"image"},
		OutputNames: []string{"score"}, Dynamic: map[string]onnx.Dims{"image": {0: "batch", 2: "height"}}, Name: "net",
		Doc: "a test", Metadata: map[string]string{"author": "me"}, Producer: "maker"})
	if pb.Producer != "maker" || pb.Doc != "a test" || pb.Graph.Name != "net" || pb.Opsets[0].Version != 17 ||
		pb.Metadata[0] != (onnxpb.Entry{Key: "author", Value: "me"}) {
		t.Errorf("%+v", pb)
	}
	in, out := pb.Graph.Inputs[0], pb.Graph.Outputs[0]
	if in.Name != "image" || out.Name != "score" || in.Type.Shape[0].Param != "batch" ||
		in.Type.Shape[2].Param != "height" || in.Type.Shape[3].Value != 6 || out.Type.Shape[0].Param != "batch" ||
		out.Type.Shape[1].Value != 2 || out.Type.Shape[2].Param == "" {
		t.Errorf("input %+v, output %+v", in.Type, out.Type)
	}
	if want := []string{"Conv", "BatchNormalization", "Sigmoid", "Mul", "Conv", "Sigmoid",
		"Mul"}; !slices.Equal(ops(pb),
		want) {
		t.Errorf("nodes %v, want %v", ops(pb), want)
	}
	var names []string
	for _, p := range pb.Graph.Initializers {
		names = append(names, p.Name)
	}
	for n := range nn.NamedParameters(m) {
		if !slices.Contains(names, n) {
			t.Errorf("no initializer %s among %v", n, names)
		}
	}
	if !slices.Contains(names, "1.running_var") {
		t.Errorf("no running_var among %v", names)
	}
}

// TestExportFunctions keeps modules of several nodes as functions.
func TestExportFunctions(t *testing.T) {
	m := small()
	nn.Eval(m)
	x := torch.Randn([]int{2, 1, 6, 6})
	pb := exported(t, m, []*tensor.Tensor{x}, onnx.ExportOptions{KeepFunctions: true})
	if want := []string{"Conv", "BatchNormalization", "SiLU", "Conv", "SiLU"}; !slices.Equal(ops(pb), want) ||
		len(pb.Functions) != 1 {
		t.Errorf("nodes %v with %d functions, want %v with one", ops(pb), len(pb.Functions), want)
	}
	b := pb.Bytes()
	f, err := onnx.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Run(context.Background(), map[string]*tensor.Tensor{f.Inputs()[0].Name: x})
	if err != nil || !got["output"].AllClose(m.Forward(x), tensor.AllCloseOptions{Atol: tensor.Some(1e-6)}) {
		t.Errorf("%v, %v", got, err)
	}
}

// warnings collects what f warns of.
func warnings(f func()) (texts []string) {
	before := tensor.SetWarnings(func(w tensor.Warning) { texts = append(texts, w.Text) })
	defer func() { tensor.SetWarnings(before) }()
	f()
	return texts
}

// TestExportModes exports a module that is in training mode: by default as in evaluation, with a warning.
func TestExportModes(t *testing.T) {
	m := small()
	x := torch.Randn([]int{2, 1, 6, 6})
	for _, c := range []struct {
		mode    onnx.Training
		warns   bool
		dropout bool
	}{{onnx.TrainingEval, true, false}, {onnx.TrainingPreserve, false, true}, {onnx.TrainingTrain, false, true}} {
		var pb *onnxpb.Model
		texts := warnings(func() { pb = exported(t, m, []*tensor.Tensor{x}, onnx.ExportOptions{Training: c.mode}) })
		warned := slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "is in training mode") })
		if warned != c.warns || slices.Contains(ops(pb), "Dropout") != c.dropout {
			t.Errorf("mode %d: warnings %q, nodes %v", c.mode, texts, ops(pb))
		}
		if !nn.IsTraining(m) {
			t.Errorf("mode %d: the module has left training mode", c.mode)
		}
	}
}

// TestExternalData writes weights beside the model.
func TestExternalData(t *testing.T) {
	m := nn.NewLinear(64, 32)
	x := torch.Randn([]int{2, 64})
	path := filepath.Join(t.TempDir(), "m.onnx")
	nn.Eval(m)
	if err := onnx.Export(path, m, []*tensor.Tensor{x}, onnx.ExportOptions{External: true}); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path + ".data"); err != nil || st.Size() < 64*32*4 {
		t.Fatal(st, err)
	}
	f, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := f.Run(context.Background(), map[string]*tensor.Tensor{f.Inputs()[0].Name: x})
	if err != nil || !got["output"].AllClose(m.Forward(x)) {
		t.Errorf("%v, %v", got, err)
	}
	if err := onnx.ExportTo(new(bytes.Buffer), m, []*tensor.Tensor{x},
		onnx.ExportOptions{External: true}); !errors.Is(err,
		onnx.ErrUnsupported) {
		t.Errorf("to a writer: %v", err)
	}
}

type unsupported struct {
	nn.Base
	Inner *inner
}

type inner struct{ nn.Base }

func (m *inner) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor { return x.Lgamma().Add(x.Digamma()) })
}

func (m *unsupported) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Inner.Forward(F.ReLU(x)).Lgamma()
}

// TestExportRefusals exports what cannot be: the error names what is the matter.
func TestExportRefusals(t *testing.T) {
	x := torch.Randn([]int{2, 3})
	bad := nn.New(&unsupported{Inner: nn.New(&inner{})})
	nn.Eval(bad)
	linear := nn.NewLinear(3, 2)
	nn.Eval(linear)
	square := func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(x) }
	for _, c := range []struct {
		name   string
		module any
		inputs []*tensor.Tensor
		o      onnx.ExportOptions
		want   []string
	}{
		{"operators", bad, []*tensor.Tensor{x}, onnx.ExportOptions{},
			[]string{"aten::digamma in Inner", "aten::lgamma in Inner, the module"}},
		{"opset", linear, []*tensor.Tensor{x}, onnx.ExportOptions{Opset: 9}, []string{"opset 9", "13"}},
		{"names", linear, []*tensor.Tensor{x}, onnx.ExportOptions{OutputNames: []string{"a", "b"}},
			[]string{"2 names"}},
		{"no input", linear, []*tensor.Tensor{x}, onnx.ExportOptions{Dynamic: map[string]onnx.Dims{"z": {0: "n"}}},
			[]string{`z`}},
		{"module", 7, nil, onnx.ExportOptions{}, []string{"int"}},
		{"size", square, []*tensor.Tensor{torch.Randn([]int{2, 2})}, onnx.ExportOptions{InputNames: []string{"x"},
			Dynamic: map[string]onnx.Dims{"x": {0: "n"}}}, []string{"other sizes n", "mm"}},
		{"not there", nil, nil, onnx.ExportOptions{}, []string{"nil"}},
	} {
		err := onnx.Export(filepath.Join(t.TempDir(), "m.onnx"), c.module, c.inputs, c.o)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(w)) {
				t.Errorf("%s: %q does not say %q", c.name, err, w)
			}
		}
	}
}

// TestExportForms gives an operator a form that it does not have.
func TestExportForms(t *testing.T) {
	f := func(x *tensor.Tensor) *tensor.Tensor { return x.Lgamma() }
	x := torch.Rand([]int{3})
	pb := exported(t, f, []*tensor.Tensor{x}, onnx.ExportOptions{Forms: map[string]onnx.Form{
		"aten::lgamma": func(c *onnx.Call) []*onnx.FormValue {
			return c.Emit("my.domain", "LGamma", onnx.Attrs{"exact": true}, 1, []*onnx.FormValue{c.T(0)})
		}}})
	if n := pb.Graph.Nodes[0]; n.Op != "LGamma" || n.Domain != "my.domain" || len(pb.Opsets) != 2 {
		t.Errorf("%+v, %+v", n, pb.Opsets)
	}
}
