package onnx_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/tscheck"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// keep is where the exported files are left with their inputs and results, for another runtime to look at; "" for
// nowhere.
var keep = os.Getenv("ONNX_KEEP")

// roundTrip exports a module, imports the file, and compares what it gives for the inputs with what the module gives.
func roundTrip(t *testing.T, name string, module any, inputs []*tensor.Tensor, o onnx.ExportOptions,
	want []*tensor.Tensor) {
	t.Helper()
	dir := t.TempDir()
	if keep != "" {
		dir = filepath.Join(keep, strings.ReplaceAll(name, "/", "_"))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "m.onnx")
	if err := onnx.Export(path, module, inputs, o); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	in := map[string]*tensor.Tensor{}
	ports := m.Inputs()
	if len(ports) != len(inputs) {
		// an input that the program does not read stays an input
		t.Fatalf("%d inputs, want %d", len(ports), len(inputs))
	}
	for i, p := range ports {
		in[p.Name] = inputs[i]
	}
	got, err := m.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Outputs()) != len(want) {
		t.Fatalf("%d outputs, want %d", len(m.Outputs()), len(want))
	}
	for i, p := range m.Outputs() {
		if keep != "" {
			save(t, filepath.Join(dir, fmt.Sprintf("out_%d.npy", i)), want[i])
		}
		if s := golden.Close(got[p.Name], want[i], golden.Tolerance{RTol: 1e-5, ATol: 1e-5}); s != "" {
			t.Errorf("output %s: %s", p, s)
		}
	}
	for i, x := range inputs {
		if keep != "" {
			save(t, filepath.Join(dir, fmt.Sprintf("in_%d.npy", i)), x)
		}
	}
}

func save(t *testing.T, path string, x *tensor.Tensor) {
	t.Helper()
	if x.DType() == tensor.BFloat16 {
		x = x.Float()
	}
	x = x.Contiguous()
	a := &npy.Array{DType: x.DType().Name(), Shape: x.Shape()}
	if x.Numel() > 0 {
		a.Data = unsafe.Slice((*byte)(tensor.Ptr(x)), x.NBytes())
	}
	if err := npy.WriteFile(path, a); err != nil {
		t.Fatal(err)
	}
}

// numbers are the tensors that tensorsIn has made of numbers.
var numbers = map[*tensor.Tensor]bool{}

// tensorsIn are the tensors of a value, in order. ok is false where there is something else in it.
func tensorsIn(v tensor.Value) (out []*tensor.Tensor, ok bool) {
	switch x := v.X.(type) {
	case *graph.Dict:
		ok = true
		x.Each(func(_, e tensor.Value) {
			l, fine := tensorsIn(e)
			out, ok = append(out, l...), ok && fine
		})
		return out, ok
	}
	if items, list := graph.ItemsOf(v); list {
		for _, e := range items {
			l, fine := tensorsIn(e)
			if !fine {
				return nil, false
			}
			out = append(out, l...)
		}
		return out, true
	}
	switch v.K {
	case tensor.KTensor:
		return []*tensor.Tensor{v.T}, true
	case tensor.KNone:
		return nil, true
	case tensor.KInt, tensor.KFloat, tensor.KBool:
		x := v.Num().Tensor()
		numbers[x] = true
		return []*tensor.Tensor{x}, true
	}
	return nil, false
}

// TestRoundTripPrograms exports the TorchScript programs of the reference data whose inputs have tensors among them.
func TestRoundTripPrograms(t *testing.T) {
	dir := shared.Path(t, "golden/graphs/torchscript")
	var index struct {
		Models []struct {
			Name, File, NPZ string
			Calls           []struct {
				Method string
				Args   []json.RawMessage
				Kwargs map[string]json.RawMessage
				Error  *struct{}
			}
		}
	}
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	for _, r := range index.Models {
		for i, c := range r.Calls {
			if c.Method != "forward" || c.Error != nil || len(c.Kwargs) > 0 || i > 1 ||
				!slices.ContainsFunc(c.Args,
					func(a json.RawMessage) bool { return strings.Contains(string(a), `"t":`) }) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", r.Name, i), func(t *testing.T) {
				if why := notExported[r.Name]; why != "" {
					t.Skip(why)
				}
				m, err := jit.LoadFile(filepath.Join(dir, r.File))
				if err != nil {
					t.Skip(err)
				}
				d, err := golden.NewDecoder(filepath.Join(dir, r.NPZ))
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				dec := &tscheck.Decoder{Golden: d, Enum: m.EnumMember}
				m.Eval()
				var args []tensor.Value
				var inputs []*tensor.Tensor
				for _, a := range c.Args {
					v, err := dec.Value(a)
					if err != nil {
						t.Fatal(err)
					}
					args = append(args, v)
					if l, ok := tensorsIn(v); ok {
						for _, x := range l {
							if !numbers[x] {
								inputs = append(inputs, x)
							}
						}
					}
				}
				for i, x := range inputs { // a program may write its inputs
					inputs[i] = x.Clone()
				}
				var res tensor.Value
				tensor.NoGrad(func() { res, err = m.Call(context.Background(), "forward", args, nil) })
				if err != nil {
					t.Skip(err)
				}
				want, ok := tensorsIn(res)
				if !ok || len(want) == 0 {
					t.Skip("the results are no tensors")
				}
				m, err = jit.LoadFile(filepath.Join(dir, r.File))
				if err != nil {
					t.Fatal(err)
				}
				m.Eval()
				roundTrip(t, "ts_"+t.Name(), m, inputs, onnx.ExportOptions{Values: args}, want)
			})
		}
	}
}

// notExported are programs that no file of ONNX can hold, with the reason.
var notExported = map[string]string{
	"complex_module":    "complex numbers have no operators in ONNX",
	"beam_search":       "its lists grow and shrink by what the data say",
	"quantize_ops":      "quantized tensors are pairs of operators in ONNX",
	"dynamic_quantized": "packed parameters have no form in ONNX",
}

// layers are modules of package nn with inputs.
var layers = []struct {
	name   string
	make   func() any
	inputs func() []*tensor.Tensor
}{
	{"linear", func() any { return nn.NewLinear(4, 3) }, randn(2, 4)},
	{"linear 3d", func() any { return nn.NewLinear(4, 3) }, randn(2, 5, 4)},
	{"conv1d", func() any { return nn.NewConv1d(3, 4, 3, nn.ConvOptions{Padding: nn.Size{1}}) }, randn(2, 3, 8)},
	{"conv2d", func() any { return nn.NewConv2d(4, 6, 3, nn.ConvOptions{Stride: nn.Size{2}, Groups: tensor.Some(2)}) },
		randn(2, 4, 9, 8)},
	{"conv3d", func() any { return nn.NewConv3d(2, 3, 2) }, randn(1, 2, 4, 5, 4)},
	{"transposed", func() any { return nn.NewConvTranspose2d(3, 4, 3) }, randn(1, 3, 5, 6)},
	{"batch norm", func() any { return nn.NewBatchNorm2d(3) }, randn(2, 3, 4, 5)},
	{"layer norm", func() any { return nn.NewLayerNorm(5) }, randn(2, 3, 5)},
	{"group norm", func() any { return nn.NewGroupNorm(2, 6) }, randn(2, 6, 3, 4)},
	{"instance norm", func() any { return nn.NewInstanceNorm2d(3) }, randn(2, 3, 4, 5)},
	{"lstm", func() any { return nn.NewLSTM(4, 3, nn.RNNOptions{NumLayers: tensor.Some(2), Bidirectional: true}) },
		randn(5, 2, 4)},
	{"gru", func() any { return nn.NewGRU(4, 3, nn.RNNOptions{BatchFirst: true}) }, randn(2, 5, 4)},
	{"rnn", func() any { return nn.NewRNN(4, 3) }, randn(5, 2, 4)},
	{"encoder layer", func() any { return nn.NewTransformerEncoderLayer(8, 2) }, randn(5, 2, 8)},
	{"max pool", func() any { return nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}) },
		randn(1, 2, 9, 9)},
	{"avg pool", func() any { return nn.NewAvgPool2d(2) }, randn(1, 2, 8, 9)},
	{"adaptive", func() any { return nn.NewAdaptiveAvgPool2d(nn.Size{3, 2}) }, randn(1, 2, 7, 8)},
	{"embedding", func() any { return nn.NewEmbedding(10, 4) },
		func() []*tensor.Tensor { return []*tensor.Tensor{tensor.FromSlice([]int64{1, 3, 9, 0}, 2, 2)} }},
}

func randn(shape ...int) func() []*tensor.Tensor {
	return func() []*tensor.Tensor { return []*tensor.Tensor{torch.Randn(shape)} }
}

func TestRoundTripLayers(t *testing.T) {
	for _, l := range layers {
		for _, opset := range []int{13, 18, onnx.NewestOpset} {
			t.Run(fmt.Sprintf("%s/%d", l.name, opset), func(t *testing.T) {
				torch.ManualSeed(1)
				m := l.make().(nn.Module)
				nn.Eval(m)
				inputs := l.inputs()
				roundTrip(t, "nn_"+t.Name(), m, inputs, onnx.ExportOptions{Opset: opset}, call(t, m, inputs))
			})
		}
	}
}

// call runs a module that was recorded.
func call(t *testing.T, m nn.Module, inputs []*tensor.Tensor) []*tensor.Tensor {
	t.Helper()
	out, err := recorded(m, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// recorded records a module and runs the recording.
func recorded(m nn.Module, inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	args := make([]any, len(inputs))
	vals := make([]tensor.Value, len(inputs))
	for i, x := range inputs {
		args[i], vals[i] = x, tensor.TensorValue(x)
	}
	s, err := jit.Trace(m, args...)
	if err != nil {
		return nil, err
	}
	var v tensor.Value
	tensor.NoGrad(func() { v, err = s.Call(context.Background(), "forward", vals, nil) })
	if err != nil {
		return nil, err
	}
	out, ok := tensorsIn(v)
	if !ok {
		return nil, fmt.Errorf("the result is %s", graph.TypeOf(v))
	}
	return out, nil
}

// TestRoundTripControl exports programs with conditions and loops that depend on data and on sizes, and with writes,
// and runs the files with other data and other sizes. testdata/make.py has written the programs.
func TestRoundTripControl(t *testing.T) {
	x := func(shape ...int) []*tensor.Tensor { return []*tensor.Tensor{torch.Randn(shape)} }
	steps := func(n int64) func(int) []*tensor.Tensor {
		return func(k int) []*tensor.Tensor {
			return []*tensor.Tensor{torch.Randn([]int{2, 3}), tensor.FromSlice([]int64{n + int64(k)}).Reshape([]int{})}
		}
	}
	positive := func(shape ...int) []*tensor.Tensor { return []*tensor.Tensor{torch.Rand(shape)} }
	for _, c := range []struct {
		name    string
		dynamic onnx.Dims
		inputs  func(k int) []*tensor.Tensor
	}{
		{"if", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(2+k, 3) }},
		{"ifshape", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(2+k, 3) }},
		{"loop", nil, steps(3)},
		{"while", nil, func(int) []*tensor.Tensor { return positive(2, 3) }},
		{"loopt", onnx.Dims{0: "t", 1: "b"}, func(k int) []*tensor.Tensor { return x(4+k, 2+k, 3) }},
		{"loopt", nil, func(int) []*tensor.Tensor { return x(4, 2, 3) }},
		{"inplace", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(3+k, 5) }},
		{"inloop", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(4+k, 3) }},
		{"brk", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(4+k, 3) }},
		{"nested", onnx.Dims{0: "n", 1: "m"}, func(k int) []*tensor.Tensor { return x(3+k, 2+k) }},
		{"early", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(3+k, 2) }},
		{"mask", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(3+k, 4) }},
		{"dyn", onnx.Dims{0: "n"}, func(k int) []*tensor.Tensor { return x(3+k, 4) }},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.name, len(c.dynamic)), func(t *testing.T) {
			torch.ManualSeed(5)
			m, err := jit.LoadFile("testdata/" + c.name + ".pt")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "m.onnx")
			o := onnx.ExportOptions{}
			if c.dynamic != nil {
				o.Dynamic = map[string]onnx.Dims{"x": c.dynamic}
			}
			if err := onnx.Export(path, m, c.inputs(0), o); err != nil {
				t.Fatal(err)
			}
			f, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for k := range 6 {
				inputs := c.inputs(k)
				args, in := []tensor.Value{}, map[string]*tensor.Tensor{}
				for i, p := range f.Inputs() {
					args, in[p.Name] = append(args, tensor.TensorValue(inputs[i].Clone())), inputs[i]
				}
				var want tensor.Value
				tensor.NoGrad(func() { want, err = m.Call(context.Background(), "forward", args, nil) })
				if err != nil {
					t.Fatal(err)
				}
				got, err := f.Run(context.Background(), in)
				if err != nil {
					t.Fatal(err)
				}
				l, _ := tensorsIn(want)
				for i, p := range f.Outputs() {
					if s := golden.Close(got[p.Name], l[i], golden.Tolerance{RTol: 1e-5, ATol: 1e-5}); s != "" {
						t.Errorf("run %d, output %s: %s", k, p, s)
					}
				}
			}
		})
	}
}

// all lets TestRoundTripVision export the networks that take long, too.
var all = flag.Bool("all", false, "all networks")

// TestRoundTripVision exports networks for images with small inputs, and runs the file with another size of the batch.
func TestRoundTripVision(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
	}{
		{"resnet18", 64}, {"mobilenet_v2", 64}, {"mobilenet_v3_small", 64}, {"squeezenet1_1", 64},
		{"efficientnet_b0", 64},
		{"shufflenet_v2_x0_5", 64}, {"mnasnet0_5", 64}, {"densenet121", 64}, {"googlenet", 64}, {"regnet_y_400mf", 64},
		{"vgg11", 64}, {"alexnet", 64}, {"convnext_tiny", 64}, {"inception_v3", 96}, {"vit_b_32", 224}, {"swin_t", 224},
		{"swin_v2_t", 224}, {"maxvit_t", 224},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !*all && (c.size > 64 || strings.HasPrefix(c.name, "vgg")) {
				t.Skip("it takes long: -all")
			}
			torch.ManualSeed(1)
			m, err := models.GetModel(c.name)
			if err != nil {
				t.Fatal(err)
			}
			nn.Eval(m)
			example := torch.Randn([]int{2, 3, c.size, c.size})
			x := torch.Randn([]int{3, 3, c.size, c.size})
			want := call(t, m, []*tensor.Tensor{x})
			path := filepath.Join(t.TempDir(), "m.onnx")
			o := onnx.ExportOptions{InputNames: []string{"x"}, Dynamic: map[string]onnx.Dims{"x": {0: "batch"}}}
			if err := onnx.Export(path, m, []*tensor.Tensor{example}, o); err != nil {
				t.Fatal(err)
			}
			f, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := f.Run(context.Background(), map[string]*tensor.Tensor{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			if s := golden.Close(got["output"], want[0], golden.Tolerance{RTol: 1e-5, ATol: 1e-5}); s != "" {
				t.Error(s)
			}
		})
	}
}
