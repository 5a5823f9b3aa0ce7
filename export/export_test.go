package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

func rand(shape ...int) *tensor.Tensor { return torch.Rand(shape) }

// pair is a function of dictionaries and structs.
type pair struct{ Left, Right *tensor.Tensor }

// gate has a parameter of its own, a buffer that is not persistent, and a constant.
type gate struct {
	nn.Base
	Scale  *tensor.Tensor
	Offset *tensor.Tensor `torch:"offset,buffer,nonpersistent"`
	FC     *nn.Linear
}

func newGate() *gate {
	return nn.New(&gate{Scale: nn.NewParameter(rand(4)), Offset: rand(4), FC: nn.NewLinear(4, 4)})
}

var ten = torch.TensorOf[float32](10)

func (g *gate) Forward(x *tensor.Tensor) *tensor.Tensor {
	return g.FC.Forward(x).Sigmoid().Mul(g.Scale).Add(g.Offset).Div(ten)
}

// tied has two layers with one weight.
func tied() nn.Module {
	a, b := nn.NewLinear(3, 3), nn.NewLinear(3, 3)
	b.Weight = a.Weight
	return nn.NewSequential(a, nn.NewTanh(), b)
}

func vision(name string) func() any {
	return func() any {
		m, err := models.GetModel(name)
		if err != nil {
			panic(err)
		}
		return m
	}
}

func module(m func() nn.Module) func() any { return func() any { return m() } }

// roundTrip is a module or function that is exported, saved, loaded and compared with what it computes.
type roundTrip struct {
	name    string
	make    func() any
	inputs  []any
	dynamic map[string]map[int]string
	others  []any // further inputs, of other sizes where there are dynamic ones
	train   bool
	random  bool // the result depends on the generator
	large   bool // not with -short
}

var roundTrips = []roundTrip{
	{name: "mlp", make: module(func() nn.Module {
		return nn.NewSequential(nn.NewFlatten(), nn.NewLinear(12, 8), nn.NewReLU(), nn.NewLinear(8, 3))
	}), inputs: []any{rand(2, 3, 4)}, dynamic: map[string]map[int]string{"x": {0: "batch"}},
		others: []any{rand(5, 3, 4)}},
	{name: "gate", make: module(func() nn.Module { return newGate() }), inputs: []any{rand(2, 4)}},
	{name: "tied", make: module(tied), inputs: []any{rand(2, 3)}},
	{name: "batch norm in training", make: module(func() nn.Module {
		return nn.NewSequential(nn.NewConv2d(2, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU())
	}), inputs: []any{rand(3, 2, 6, 6)}, train: true},
	{name: "dropout in training", make: module(func() nn.Module {
		return nn.NewSequential(nn.NewLinear(4, 6), nn.NewDropout(), nn.NewLinear(6, 2))
	}), inputs: []any{rand(3, 4)}, train: true, random: true},
	{name: "activations", make: module(func() nn.Module {
		return nn.NewSequential(nn.NewGELU(), nn.NewSiLU(), nn.NewHardswish(), nn.NewELU(), nn.NewLeakyReLU(),
			nn.NewPReLU(),
			nn.NewSoftplus(), nn.NewLogSoftmax(1), nn.NewHardtanh(), nn.NewMish(), nn.NewReLU6(), nn.NewSoftsign())
	}), inputs: []any{rand(3, 4)}, dynamic: map[string]map[int]string{"x": {0: "n"}}, others: []any{rand(6, 4)}},
	{name: "norms", make: module(func() nn.Module {
		return nn.NewSequential(nn.NewGroupNorm(2, 4), nn.NewInstanceNorm2d(4), nn.NewLayerNorm(5),
			nn.NewLocalResponseNorm(2))
	}), inputs: []any{rand(2, 4, 3, 5)}},
	{name: "lstm", make: module(func() nn.Module { return nn.NewLSTM(4, 3) }), inputs: []any{rand(5, 2, 4)},
		dynamic: map[string]map[int]string{"x": {0: "time", 1: "batch"}}, others: []any{rand(7, 3, 4)}},
	{name: "gru", make: module(func() nn.Module { return nn.NewGRU(4, 3) }), inputs: []any{rand(5, 2, 4)}},
	{name: "encoder", make: module(func() nn.Module {
		return nn.NewTransformerEncoderLayer(8, 2, nn.TransformerLayerOptions{DimFeedforward: tensor.Some(16)})
	}), inputs: []any{rand(5, 3, 8)}, dynamic: map[string]map[int]string{"x": {0: "time", 1: "batch"}},
		others: []any{rand(7, 2, 8)}},
	{name: "views and writes", make: func() any {
		return func(x *tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
			y := x.Clone()
			y.Select(0, 1).MulScalarInPlace(2)
			return y.AddInPlace(x), y.Chunk(2, tensor.ChunkOptions{Dim: 1})
		}
	}, inputs: []any{rand(3, 4)}},
	{name: "containers", make: func() any {
		return func(d map[string]*tensor.Tensor, p pair, l []*tensor.Tensor,
			none *tensor.Tensor) map[string]*tensor.Tensor {
			return map[string]*tensor.Tensor{"sum": d["a"].Add(d["b"]), "cat": torch.Cat(l),
				"diff": p.Left.Sub(p.Right)}
		}
	}, inputs: []any{map[string]*tensor.Tensor{"a": rand(2), "b": rand(2)}, pair{rand(3), rand(3)},
		[]*tensor.Tensor{rand(1), rand(4)}, (*tensor.Tensor)(nil)}},
	{name: "sizes", make: func() any {
		return func(x *tensor.Tensor) *tensor.Tensor {
			half := x.Size(0) / 2
			return torch.Cat([]*tensor.Tensor{x.Narrow(0, 0, half), torch.Ones([]int{x.Size(0)*2 + 1, x.Size(1)})})
		}
	}, inputs: []any{rand(6, 2)}, dynamic: map[string]map[int]string{"x": {0: "n"}}, others: []any{rand(9, 2)}},
	{name: "index and reduce", make: func() any {
		return func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
			sorted, _ := x.Sort(tensor.SortOptions{Dim: tensor.Some(1)})
			return sorted.SumDim([]int{0}), x.Index(torch.TensorOf[int64](2, 0), torch.TensorOf[int64](1))
		}
	}, inputs: []any{rand(3, 4)}},
	{name: "resnet18", make: vision("resnet18"), inputs: []any{rand(2, 3, 64, 64)},
		dynamic: map[string]map[int]string{"x": {0: "batch"}}, others: []any{rand(3, 3, 64, 64)}},
	{name: "mobilenet_v2", make: vision("mobilenet_v2"), inputs: []any{rand(2, 3, 64, 64)}, large: true},
	{name: "mobilenet_v3_small", make: vision("mobilenet_v3_small"), inputs: []any{rand(1, 3, 64, 64)}, large: true},
	{name: "squeezenet1_1", make: vision("squeezenet1_1"), inputs: []any{rand(1, 3, 64, 64)}, large: true},
	{name: "efficientnet_b0", make: vision("efficientnet_b0"), inputs: []any{rand(1, 3, 64, 64)}, large: true},
	{name: "shufflenet_v2_x0_5", make: vision("shufflenet_v2_x0_5"), inputs: []any{rand(1, 3, 64, 64)}, large: true},
	{name: "regnet_y_400mf", make: vision("regnet_y_400mf"), inputs: []any{rand(1, 3, 64, 64)}, large: true},
	{name: "swin_t", make: vision("swin_t"), inputs: []any{rand(1, 3, 64, 64)}, large: true},
	{name: "densenet121", make: vision("densenet121"), inputs: []any{rand(1, 3, 64, 64)}, large: true},
}

// tensors lists the tensors of a result in order.
func tensors(v tensor.Value, out *[]*tensor.Tensor) {
	if items, ok := graph.ItemsOf(v); ok {
		for _, e := range items {
			tensors(e, out)
		}
	} else if d, ok := v.X.(*graph.Dict); ok {
		d.Each(func(_, e tensor.Value) { tensors(e, out) })
	} else if v.K == tensor.KTensor {
		*out = append(*out, v.T)
	}
}

// value is a Go value as an argument of a program.
func value(x any) tensor.Value {
	switch x := x.(type) {
	case *tensor.Tensor:
		if x == nil {
			return tensor.Value{}
		}
		return tensor.TensorValue(x)
	case []*tensor.Tensor:
		return tensor.TensorsValue(x)
	case map[string]*tensor.Tensor:
		d := graph.NewDict(graph.Str, graph.Tensor)
		for k, v := range x {
			d.Set(tensor.StrValue(k), tensor.TensorValue(v))
		}
		return graph.Box(d)
	case pair:
		return value(map[string]*tensor.Tensor{"Left": x.Left, "Right": x.Right})
	}
	panic(fmt.Sprintf("%T", x))
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	var script strings.Builder
	before := tensor.SetWarnings(func(tensor.Warning) {}) // of constants, which are meant
	defer func() { tensor.SetWarnings(before) }()
	for i, c := range slices.Concat(roundTrips, controlTrips) {
		if c.large && testing.Short() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			torch.ManualSeed(1)
			m := c.make()
			if mod, ok := m.(nn.Module); ok && !c.train {
				nn.Eval(mod)
			}
			p, err := export.Export(m, c.inputs, export.Options{Dynamic: c.dynamic})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, fmt.Sprintf("m%d.pt2", i))
			if err := p.Save(file); err != nil {
				t.Fatal(err)
			}
			q, err := export.LoadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			others := c.others
			if others == nil {
				others = c.inputs
			}
			var args []tensor.Value
			for _, x := range others {
				args = append(args, value(x))
			}
			var got []*tensor.Tensor
			tensor.NoGrad(func() {
				torch.ManualSeed(2)
				v, err := q.Call(context.Background(), args, nil)
				if err != nil {
					t.Fatal(err)
				}
				tensors(v, &got)
				torch.ManualSeed(2)
				want, err := trace.Record(m, others)
				if err != nil {
					t.Fatal(err)
				}
				close(t, "result", got, want.Results)
			})
			if mod, ok := m.(nn.Module); ok {
				sd := nn.StateDict(mod)
				if n := len(q.StateDict()); n != sd.Len() {
					t.Errorf("%d tensors in the state dict, want %d", n, sd.Len())
				}
				for _, w := range q.StateDict() {
					close(t, w.Name, []*tensor.Tensor{w.Tensor}, []*tensor.Tensor{sd.Get(w.Name)})
				}
			}
			pythonCase(t, &script, file, others, got, c.random, c.large)
		})
	}
	runPython(t, script.String())
}

func close(t *testing.T, what string, got, want []*tensor.Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d tensors, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !torch.AllClose(got[i], want[i], tensor.AllCloseOptions{Rtol: tensor.Some(1e-5), Atol: tensor.Some(1e-5)}) {
			t.Errorf("%s %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

// prelude is the Python that checks a file: torch.export.load opens it, and module() gives what Go gives.
const prelude = `
import torch
from torch.utils import _pytree as pytree
bad = 0
def check(file, data, random, large):
    global bad
    args, want = torch.load(data)
    try:
        ep = torch.export.load(file)
        with torch.no_grad():
            got = pytree.tree_leaves(ep.module()(*args))
        got = [g for g in got if g is not None]
        assert len(got) == len(want), (len(got), len(want))
        if not random:
            for g, w in zip(got, want):
                torch.testing.assert_close(g, w, rtol=1e-4, atol=1e-5)
        if not large:
            ep.run_decompositions()
    except Exception as e:
        bad += 1
        print(file, type(e).__name__, str(e)[:2000])
`

// pythonCase writes arguments and results for Python, and a line that checks the file.
func pythonCase(t *testing.T, script *strings.Builder, file string, inputs []any, got []*tensor.Tensor,
	random, large bool) {
	t.Helper()
	args := serialize.Tuple{}
	for _, x := range inputs {
		switch x := x.(type) {
		case []*tensor.Tensor:
			var l []any
			for _, e := range x {
				l = append(l, e)
			}
			args = append(args, l)
		case map[string]*tensor.Tensor:
			d := serialize.NewDict()
			for k, e := range x {
				d.Set(k, e)
			}
			args = append(args, d)
		case pair:
			args = append(args, serialize.NewDict("Left", x.Left, "Right", x.Right))
		case *tensor.Tensor:
			if x == nil {
				args = append(args, nil)
			} else {
				args = append(args, x)
			}
		}
	}
	var want []any
	for _, x := range got {
		want = append(want, x)
	}
	data := strings.TrimSuffix(file, ".pt2") + ".pt"
	if err := serialize.SaveFile(data, serialize.Tuple{args, want}); err != nil {
		t.Fatal(err)
	}
	python := map[bool]string{false: "False", true: "True"}
	fmt.Fprintf(script, "check(%q, %q, %s, %s)\n", file, data, python[random], python[large])
}

// runPython checks the files with PyTorch where GOTORCH_PYTHON names a Python that has it.
func runPython(t *testing.T, script string) {
	python := os.Getenv("GOTORCH_PYTHON")
	if python == "" {
		t.Log("GOTORCH_PYTHON names no Python with PyTorch: the files were not opened there")
		return
	}
	cmd := exec.Command(python, "-W", "ignore", "-c", prelude+script+"print('bad', bad)\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.HasSuffix(bytes.TrimSpace(out), []byte("bad 0")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRefused(t *testing.T) {
	f := func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(2) }
	for _, c := range []struct {
		name string
		fn   any
		opt  export.Options
		want string
	}{
		{"range without a size", f, export.Options{Ranges: map[string]export.Range{"n": {Max: 3}}},
			"no size of Dynamic"},
		{"example out of range", f, export.Options{Dynamic: map[string]map[int]string{"x": {0: "n"}},
			Ranges: map[string]export.Range{"n": {Min: 10}}}, "out of its range"},
		{"a mistake", func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(x) }, export.Options{}, "aten::mm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := export.Export(c.fn, []any{rand(4, 2)}, c.opt); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestGuards calls a program with what its ranges refuse. The texts are PyTorch's.
func TestGuards(t *testing.T) {
	p, err := export.Export(func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y) }, []any{rand(4, 2), rand(4, 2)},
		export.Options{Names: []string{"x", "y"}, Dynamic: map[string]map[int]string{"x": {0: "n"}, "y": {0: "n"}},
			Ranges: map[string]export.Range{"n": {Min: 3, Max: 6}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []tensor.Value
		want string
		is   error
	}{
		{[]tensor.Value{value(rand(5, 2)), value(rand(5, 2))}, "", nil},
		{[]tensor.Value{value(rand(2, 2)), value(rand(2, 2))}, "Guard failed: x.size()[0] >= 3", export.ErrGuard},
		{[]tensor.Value{value(rand(7, 2)), value(rand(7, 2))}, "Guard failed: x.size()[0] <= 6", export.ErrGuard},
		{[]tensor.Value{value(rand(4, 3)), value(rand(4, 2))}, "Guard failed: x.size()[1] == 2", export.ErrGuard},
		{[]tensor.Value{value(rand(4, 2)), value(rand(5, 2))}, "Guard failed: y.size()[0] == x.size()[0]",
			export.ErrGuard},
		{[]tensor.Value{value(rand(4, 2))}, "Trying to flatten user inputs with exported input tree spec: \n" +
			"TreeSpec(tuple, None, [TreeSpec(tuple, None, [*,\n    *]),\n  TreeSpec(dict, [], [])])\n" +
			"but actually got inputs with tree spec of: \nTreeSpec(tuple, None, [TreeSpec(tuple, None, [*]),\n" +
			"  TreeSpec(dict, [], [])]).\nPlease check that the inputs have the same number and type of args and " +
			"kwargs " +
			"as the ones you used when tracing.", export.ErrInput},
	} {
		_, err := p.Call(context.Background(), c.args, nil)
		if !errors.Is(err, c.is) {
			t.Errorf("error %v, want %v", err, c.is)
		}
		var te *tensor.Error
		if c.want != "" && (!errors.As(err, &te) || te.Msg != c.want) {
			t.Errorf("error %v\nwant %s", err, c.want)
		}
	}
}

// TestTraining trains a loaded program, saves it, and finds the trained weights in the file. Run, which fuses operators
// with the weights, sees the change as well.
func TestTraining(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(3, 4), nn.NewReLU(), nn.NewLinear(4, 1))
	x := rand(5, 3)
	p, err := export.Export(m, []any{x})
	if err != nil {
		t.Fatal(err)
	}
	run := func(q *export.Program) *tensor.Tensor {
		t.Helper()
		out, err := q.Run(context.Background(), map[string]*tensor.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		return out["output"]
	}
	before := run(p)
	y, err := p.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	y.Sum().Backward()
	for _, w := range p.Parameters() {
		if w.Tensor.Grad() == nil {
			t.Fatalf("%s has no gradient", w.Name)
		}
		torch.NoGrad(func() { w.Tensor.SubInPlace(w.Tensor.Grad()) })
	}
	after := run(p)
	if torch.AllClose(before, after) {
		t.Error("Run does not see the trained weights")
	}
	var file bytes.Buffer
	if err := p.SaveTo(&file); err != nil {
		t.Fatal(err)
	}
	q, err := export.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if !torch.AllClose(run(q), after) {
		t.Error("the file does not have the trained weights")
	}
}
