package trace_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

func rand(shape ...int) *tensor.Tensor { return torch.Rand(shape) }

// mlp has a module of its own, a list of layers, and numbers made of sizes.
type mlp struct {
	nn.Base
	FC1  *nn.Linear
	Act  *nn.ReLU
	Rest *nn.Sequential
}

func newMLP() *mlp {
	return nn.New(&mlp{FC1: nn.NewLinear(8, 4), Act: nn.NewReLU(),
		Rest: nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU())})
}

func (m *mlp) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = x.Reshape([]int{x.Size(0), -1})
	x = m.Act.Forward(m.FC1.Forward(x))
	return m.Rest.Forward(x).AddScalar(1).Reshape([]int{x.Size(0) * 2, -1})
}

// programs are recorded with inputs, and run on others.
var programs = []struct {
	name    string
	fn      func() any
	inputs  []any
	dynamic map[string]map[int]string
	others  []*tensor.Tensor
	ops     string // in order, without constants
}{
	{name: "mlp", fn: func() any { return newMLP() }, inputs: []any{rand(3, 2, 4)},
		dynamic: map[string]map[int]string{"x": {0: "N"}}, others: []*tensor.Tensor{rand(5, 2, 4)},
		ops: "size reshape linear relu linear relu add size mul reshape"},
	{name: "views and writes", fn: func() any {
		return func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Clone()
			y.Select(0, 1).MulScalarInPlace(2)
			return y.AddInPlace(x)
		}
	}, inputs: []any{rand(3, 2)}, others: []*tensor.Tensor{rand(3, 2)}, ops: "clone select mul_ add_"},
	{name: "detached", fn: func() any {
		return func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(x.Square().Detach()) }
	}, inputs: []any{rand(3, 2)}, others: []*tensor.Tensor{rand(3, 2)}, ops: "square detach mul"},
	{name: "two results", fn: func() any {
		return func(x, y *tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
			return x.MatMul(y), x.Chunk(2, tensor.ChunkOptions{Dim: 1})
		}
	}, inputs: []any{rand(3, 4), rand(4, 5)}, others: []*tensor.Tensor{rand(3, 4), rand(4, 5)}, ops: "matmul chunk"},
	{name: "list", fn: func() any {
		return func(l []*tensor.Tensor) *tensor.Tensor { return torch.Cat(l, torch.CatOptions{Dim: 1}) }
	}, inputs: []any{[]*tensor.Tensor{rand(3, 4), rand(3, 5)}}, others: []*tensor.Tensor{rand(3, 4), rand(3, 5)},
		ops: "cat"},
	{name: "lstm", fn: func() any { return nn.NewLSTM(4, 3) }, inputs: []any{rand(5, 2, 4)},
		dynamic: map[string]map[int]string{"x": {0: "T", 1: "N"}}, others: []*tensor.Tensor{rand(7, 3, 4)},
		ops: "size zeros size zeros lstm"},
	{name: "encoder", fn: func() any {
		m := nn.NewTransformerEncoderLayer(8, 2, nn.TransformerLayerOptions{DimFeedforward: tensor.Some(16)})
		m.Eval()
		return m
	}, inputs: []any{rand(5, 3, 8)}, dynamic: map[string]map[int]string{"x": {0: "T", 1: "N"}},
		others: []*tensor.Tensor{rand(7, 2, 8)}},
	{name: "quotient", fn: func() any {
		return func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, x.Size(0)/2) }
	}, inputs: []any{rand(6, 2)}, dynamic: map[string]map[int]string{"x": {0: "N"}},
		others: []*tensor.Tensor{rand(9, 2)}, ops: "size floordiv narrow"},
	{name: "resnet18", fn: func() any {
		m := models.NewResNet18()
		m.Eval()
		return m
	}, inputs: []any{rand(2, 3, 32, 32)}, dynamic: map[string]map[int]string{"x": {0: "N", 2: "H", 3: "W"}},
		others: []*tensor.Tensor{rand(1, 3, 64, 48)}},
}

// opsOf lists a program's operators without constants.
func opsOf(p *trace.Program) string {
	var l []string
	for _, n := range p.Func.Body.Nodes {
		if !strings.HasPrefix(n.Op, "prim::") {
			name, _, _ := strings.Cut(strings.TrimPrefix(n.Op, "aten::"), ".")
			l = append(l, name)
		}
	}
	return strings.Join(l, " ")
}

func TestPrograms(t *testing.T) {
	for _, c := range programs {
		t.Run(c.name, func(t *testing.T) {
			fn := c.fn()
			p, err := trace.Record(fn, c.inputs, trace.Options{Dynamic: c.dynamic})
			if err != nil {
				t.Fatal(err)
			}
			if got := opsOf(p); c.ops != "" && got != c.ops {
				t.Errorf("operators: %s\nwant %s\n%s", got, c.ops, p)
			}
			again, err := trace.Record(fn, c.inputs)
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range again.Results {
				if !torch.AllClose(y, p.Results[i]) {
					t.Errorf("result %d of the recording differs", i)
				}
			}
			// what the program says of other inputs is what the module says
			got, err := p.Call(context.Background(), c.others...)
			if err != nil {
				t.Fatal(err)
			}
			var args []any
			if len(c.others) == 2 && len(c.inputs) == 1 {
				args = []any{c.others}
			} else {
				for _, x := range c.others {
					args = append(args, x)
				}
			}
			direct, err := trace.Record(fn, args)
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range direct.Results {
				if !torch.AllClose(y, got[i]) {
					t.Errorf("result %d for other inputs differs", i)
				}
			}
			frozen, err := p.Freeze().Run(context.Background(), tensorValues(c.others)...)
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range got {
				if !torch.AllClose(y, frozen[i].T) {
					t.Errorf("result %d of the frozen function differs", i)
				}
			}
		})
	}
}

func tensorValues(l []*tensor.Tensor) []tensor.Value {
	var out []tensor.Value
	for _, x := range l {
		out = append(out, tensor.TensorValue(x))
	}
	return out
}

func TestScopes(t *testing.T) {
	m := models.NewResNet18()
	m.Eval()
	p, err := trace.Record(m, []any{rand(1, 3, 32, 32)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range p.Func.Body.Nodes {
		if !strings.HasPrefix(n.Op, "prim::") {
			got[n.Scope.Path] = n.Op + " " + n.Scope.Class
		}
	}
	for path, want := range map[string]string{
		"":                      "aten::flatten.using_ints torchvision.models.ResNet",
		"layer1.0":              "aten::add_.Tensor torchvision.models.BasicBlock",
		"layer2.0.downsample.1": "aten::batch_norm torch.nn.modules.batchnorm.BatchNorm2d",
		"fc":                    "aten::linear torch.nn.modules.linear.Linear",
	} {
		if got[path] != want {
			t.Errorf("%s: %s, want %s; there are %v", path, got[path], want, slices.Sorted(maps.Keys(got)))
		}
	}
}

// TestBuffers trains: the recording changes buffers once, however often the program is recorded.
func TestBuffers(t *testing.T) {
	m := nn.NewBatchNorm1d(3)
	if _, err := trace.Record(m, []any{rand(4, 3)},
		trace.Options{Dynamic: map[string]map[int]string{"x": {0: "N"}}}); err != nil {
		t.Fatal(err)
	}
	if n := m.NumBatchesTracked.Item(); n != 1 {
		t.Errorf("%v batches were counted, want 1", n)
	}
}

func warned(t *testing.T, f func()) []string {
	t.Helper()
	var got []string
	before := tensor.SetWarnings(func(w tensor.Warning) { got = append(got, w.String()) })
	defer func() { tensor.SetWarnings(before) }()
	f()
	return got
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   any
		want string
	}{
		{"item", func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(x.Sum().Item()) }, "Reading the elements"},
		{"constant", func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(torch.TensorOf[float32](1, 2)) },
			"registered as a constant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := warned(t, func() {
				if _, err := trace.Record(c.fn, []any{rand(2, 2)}); err != nil {
					t.Fatal(err)
				}
			})
			if len(got) != 1 || !strings.Contains(got[0], c.want) || !strings.Contains(got[0], "trace_test.go:") ||
				!strings.Contains(got[0], "TracerWarning") {
				t.Errorf("warnings %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	dynamic := trace.Options{Dynamic: map[string]map[int]string{"x": {0: "N"}}}
	for _, c := range []struct {
		name string
		fn   any
		opt  trace.Options
		want string
	}{
		{"loop over a size", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Select(0, 0)
			for i := 1; i < x.Size(0); i++ {
				y = y.Add(x.Select(0, i))
			}
			return y
		}, dynamic, "which operators are called depends on N"},
		{"read elements", func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(x.Sum().Item()) },
			trace.Options{Strict: true}, "reads the elements"},
		{"float of a size", func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(1 / float64(x.Size(0))) },
			dynamic,
			"depends on N in a way that is not known"},
		{"unknown input", func(x *tensor.Tensor) *tensor.Tensor { return x },
			trace.Options{Dynamic: map[string]map[int]string{"y": {0: "N"}}}, "which is no input"},
		{"fixed size", func(x *tensor.Tensor) *tensor.Tensor { return x.Add(torch.Zeros([]int{4, 2})) }, dynamic,
			"does not take other sizes"},
		{"no function", 3, trace.Options{}, "neither a function nor a module"},
		{"a mistake", func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(x) }, trace.Options{}, "aten::mm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trace.Record(c.fn, []any{rand(4, 2)}, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestTiedWeights(t *testing.T) {
	a, b := nn.NewLinear(3, 3), nn.NewLinear(3, 3)
	b.Weight = a.Weight
	p, err := trace.Record(nn.NewSequential(a, b), []any{rand(2, 3)})
	if err != nil {
		t.Fatal(err)
	}
	if p.Shared["1.weight"] != "0.weight" || len(p.Self.Slots) != 3 {
		t.Errorf("shared %v, %d attributes", p.Shared, len(p.Self.Slots))
	}
}

var _ graph.Model = (*trace.Program)(nil)
