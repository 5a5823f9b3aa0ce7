package torchscript_test

import (
	"archive/zip"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

// MyModule is a linear layer in a module.
type MyModule struct {
	nn.Base
	Linear *nn.Linear
}

func newMyModule() *MyModule { return nn.New(&MyModule{Linear: nn.NewLinear(4, 4)}) }

func (m *MyModule) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Linear.Forward(x) }

// MyDecisionGate is x or -x, as the sign of the sum says. jit.If is an if of Go's until it is recorded.
type MyDecisionGate struct{ nn.Base }

func (m *MyDecisionGate) Forward(x *tensor.Tensor) *tensor.Tensor {
	return jit.If(x.Sum().GtScalar(0),
		func() []*tensor.Tensor { return []*tensor.Tensor{x} },
		func() []*tensor.Tensor { return []*tensor.Tensor{x.Neg()} })[0]
}

// frozenGate decides in Go: a trace keeps what it decided for the example.
type frozenGate struct{ nn.Base }

func (m *frozenGate) Forward(x *tensor.Tensor) *tensor.Tensor {
	if x.Sum().Item() > 0 {
		return x
	}
	return x.Neg()
}

// MyCell is a step of a recurrent network around a gate that is a program of its own.
type MyCell struct {
	nn.Base
	DG     *jit.Module `torch:"dg"`
	Linear *nn.Linear
}

func (m *MyCell) Forward(x, h *tensor.Tensor) (y, newH *tensor.Tensor) {
	newH = m.DG.Apply(m.Linear.Forward(x))[0].Add(h).Tanh()
	return newH, newH
}

// MyRNNLoop calls a cell for each step of a sequence.
type MyRNNLoop struct {
	nn.Base
	Cell *jit.Module
}

func (m *MyRNNLoop) Forward(xs *tensor.Tensor) (y, h *tensor.Tensor) {
	h = jit.Annotate("h", torch.Zeros([]int{3, 4}))
	y = jit.Annotate("y", torch.Zeros([]int{3, 4}))
	r := jit.For(xs.Size(0), []*tensor.Tensor{y, h}, func(i int, c []*tensor.Tensor) []*tensor.Tensor {
		next := m.Cell.Apply(xs.Select(0, i), c[1])
		return []*tensor.Tensor{jit.Annotate("y", next[0]), jit.Annotate("h", next[1])}
	})
	return r[0], r[1]
}

// WrapRNN is an ordinary module around a loop that is a program.
type WrapRNN struct {
	nn.Base
	Loop *jit.Module
}

func (m *WrapRNN) Forward(xs *tensor.Tensor) *tensor.Tensor {
	return jit.Annotate("y", m.Loop.Apply(xs)[0]).ReLU()
}

func must(m *jit.Module, err error) *jit.Module {
	if err != nil {
		panic(err)
	}
	return m
}

func forward(t *testing.T, m *jit.Module, x ...*tensor.Tensor) *tensor.Tensor {
	t.Helper()
	y, err := m.Forward(x...)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func ones(shape ...int) *tensor.Tensor { return torch.Ones(shape) }

func near(t *testing.T, got, want *tensor.Tensor) {
	t.Helper()
	if !torch.AllClose(got, want, torch.AllCloseOptions{Atol: tensor.Some(6e-5)}) {
		t.Errorf("%v, want %v", got, want)
	}
}

// members are the files of an archive, without the folder that all are in.
func members(t *testing.T, path string) []string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var l []string
	for _, f := range z.File {
		_, name, _ := strings.Cut(f.Name, "/")
		l = append(l, name)
	}
	slices.Sort(l)
	return l
}

func Example_script() {
	m := must(jit.Script(newMyModule(), ones(2, 4)))
	fmt.Print(m.Code())
	fmt.Println(m)
	// Output:
	// def forward(self,
	//     x: Tensor) -> Tensor:
	//   linear = self.linear
	//   return (linear).forward(x, )
	// RecursiveScriptModule(
	//   original_name=MyModule
	//   (linear): RecursiveScriptModule(original_name=Linear)
	// )
}

func Example_trace() {
	m := must(jit.Trace(nn.NewLinear(4, 4), ones(2, 4), jit.TraceOptions{Names: []string{"input"}}))
	fmt.Println(m)
	fmt.Print(m.Code())
	fmt.Println(strings.Contains(m.Graph(), "aten::linear"))
	// Output:
	// Linear(original_name=Linear)
	// def forward(self,
	//     input: Tensor) -> Tensor:
	//   bias = self.bias
	//   weight = self.weight
	//   return torch.linear(input, weight, bias)
	// true
}

// A scripted module is saved with the members that Python writes, and runs without the Go type that made it.
func TestSaveAndLoad(t *testing.T) {
	m := newMyModule()
	path := filepath.Join(t.TempDir(), "yy.pt")
	if err := must(jit.Script(m, ones(2, 4))).Save(path); err != nil {
		t.Fatal(err)
	}
	want := []string{".data/serialization_id", "byteorder", "code/__torch__.py", "code/__torch__.py.debug_pkl",
		"code/__torch__/torch/nn/modules/linear.py", "code/__torch__/torch/nn/modules/linear.py.debug_pkl",
		"constants.pkl", "data.pkl", "data/0", "data/1", "version"}
	if got := members(t, path); !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	back, err := jit.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x := torch.Rand([]int{2, 4})
	if y := forward(t, back, x); !torch.Equal(y, m.Forward(x)) {
		t.Errorf("%v, want %v", y, m.Forward(x))
	}
	if !strings.HasPrefix(back.String(), "RecursiveScriptModule(\n  original_name=MyModule\n") {
		t.Error(back)
	}
}

// Traced and scripted modules are called as the module is, and give what it gives for a new input.
func TestCalledLikeTheModule(t *testing.T) {
	m, x := newMyModule(), torch.Rand([]int{2, 4})
	for _, p := range []*jit.Module{must(jit.Trace(m, ones(2, 4))), must(jit.Script(m, ones(2, 4)))} {
		near(t, forward(t, p, x), m.Forward(x))
		if len(p.Parameters()) != 2 {
			t.Errorf("%d parameters", len(p.Parameters()))
		}
	}
}

// Tracing freezes a branch of Go's, with a warning; scripting refuses it, and keeps that of jit.If.
func TestTracingFreezesBranches(t *testing.T) {
	var warnings []string
	before := torch.SetWarnings(func(w torch.Warning) { warnings = append(warnings, w.String()) })
	traced, err := jit.Trace(nn.New(&frozenGate{}), ones(2))
	torch.SetWarnings(before)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "torchscript_test.go") ||
		!strings.Contains(warnings[0], "TracerWarning") {
		t.Errorf("warnings %q", warnings)
	}
	x, want := torch.TensorOf[float32](-1, -2), torch.TensorOf[float32](1, 2)
	near(t, forward(t, traced, x), x)
	if _, err := jit.Script(nn.New(&frozenGate{}), ones(2)); err == nil ||
		!strings.Contains(err.Error(), "torchscript_test.go") {
		t.Errorf("error %v, want one that names the line", err)
	}
	near(t, forward(t, must(jit.Script(nn.New(&MyDecisionGate{}), ones(2))), x), want)
	near(t, nn.New(&MyDecisionGate{}).Forward(x), want)
}

// A loop over a Go slice of layers is unrolled.
func TestTraceUnrollsLayers(t *testing.T) {
	layers := nn.NewModuleList(nn.NewLinear(4, 4), nn.NewLinear(4, 4), nn.NewLinear(4, 4))
	all := func(x *tensor.Tensor) *tensor.Tensor {
		for i := range layers.Len() {
			x = layers.At(i).(nn.Layer).Forward(x).Tanh()
		}
		return x
	}
	p := must(jit.Trace(all, ones(2, 4), jit.TraceOptions{Module: layers}))
	if n := strings.Count(p.Code(), "torch.tanh"); n != 3 {
		t.Errorf("%d calls of tanh in\n%s", n, p.Code())
	}
	x := torch.Rand([]int{2, 4})
	near(t, forward(t, p, x), all(x))
}

// Example_nested is a branch in a traced cell, in a scripted loop, in a traced wrapper.
func Example_nested() {
	torch.ManualSeed(0)
	x, h := torch.Rand([]int{3, 4}), torch.Rand([]int{3, 4})
	gate := must(jit.Script(nn.New(&MyDecisionGate{}), x))
	fmt.Print(gate.Code())
	cell := must(jit.Trace(nn.New(&MyCell{DG: gate, Linear: nn.NewLinear(4, 4)}), x, h,
		jit.TraceOptions{Names: []string{"x", "h"}}))
	fmt.Print(cell.Code())
	names := jit.TraceOptions{Names: []string{"xs"}}
	loop := must(jit.Script(nn.New(&MyRNNLoop{Cell: cell}), torch.Rand([]int{2, 3, 4}), names))
	fmt.Print(loop.Code())
	fmt.Println(loop.Submodule("cell.dg").Code() == gate.Code())
	wrap := must(jit.Trace(nn.New(&WrapRNN{Loop: loop}), torch.Rand([]int{10, 3, 4}), names))
	fmt.Print(wrap.Code())
	fmt.Println(wrap.Submodule("loop.cell.dg").Code() == gate.Code())
	// Output:
	// def forward(self,
	//     x: Tensor) -> Tensor:
	//   if bool(torch.gt(torch.sum(x), 0)):
	//     _0 = x
	//   else:
	//     _0 = torch.neg(x)
	//   return _0
	// def forward(self,
	//     x: Tensor,
	//     h: Tensor) -> Tuple[Tensor, Tensor]:
	//   dg = self.dg
	//   linear = self.linear
	//   _0 = torch.add((dg).forward((linear).forward(x, ), ), h)
	//   _1 = torch.tanh(_0)
	//   return (_1, _1)
	// def forward(self,
	//     xs: Tensor) -> Tuple[Tensor, Tensor]:
	//   h = torch.zeros([3, 4])
	//   y = torch.zeros([3, 4])
	//   y0 = y
	//   h0 = h
	//   for i in range(torch.size(xs, 0)):
	//     cell = self.cell
	//     _0 = (cell).forward(torch.select(xs, 0, i), h0, )
	//     y1, h1, = _0
	//     y0, h0 = y1, h1
	//   return (y0, h0)
	// true
	// def forward(self,
	//     xs: Tensor) -> Tensor:
	//   loop = self.loop
	//   _0, y, = (loop).forward(xs, )
	//   return torch.relu(y)
	// true
}

// The loop runs as often as the sequence is long, in the program, in a wrapper that was traced with another length, and
// in the archive.
func TestLoopKeepsItsLength(t *testing.T) {
	torch.ManualSeed(0)
	x, h := torch.Rand([]int{3, 4}), torch.Rand([]int{3, 4})
	gate := must(jit.Script(nn.New(&MyDecisionGate{}), x))
	cell := must(jit.Trace(nn.New(&MyCell{DG: gate, Linear: nn.NewLinear(4, 4)}), x, h))
	loop := must(jit.Script(nn.New(&MyRNNLoop{Cell: cell}), torch.Rand([]int{3, 3, 4})))
	wrap := must(jit.Trace(nn.New(&WrapRNN{Loop: loop}), torch.Rand([]int{10, 3, 4})))
	path := filepath.Join(t.TempDir(), "wrapped_rnn.pt")
	if err := wrap.Save(path); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"traced_inputs.pkl", "traced_inputs/0", "code/__torch__.py"} {
		if !slices.Contains(members(t, path), name) {
			t.Errorf("no member %s in %v", name, members(t, path))
		}
	}
	back, err := jit.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	xs := torch.Arange(24).Float().View([]int{2, 3, 4}).DivScalar(24).SubScalar(0.5)
	want := tensor.FromSlice([]float32{-0.0359, 0.3319, -0.5187, 0.7639, -0.0230, 0.3905, -0.1744, 0.6844, -0.0100,
		0.4459, 0.2517, 0.5794}, 3, 4)
	near(t, loop.Apply(xs)[0], want)
	near(t, forward(t, wrap, xs), want.ReLU())
	if !torch.Equal(forward(t, back, xs), forward(t, wrap, xs)) {
		t.Error("the archive computes something else")
	}
	near(t, nn.New(&WrapRNN{Loop: loop}).Forward(xs), want.ReLU())
}

// A model is trained in Go, saved in TorchScript's format, and trained on after it is loaded.
func TestTrainSaveTrain(t *testing.T) {
	torch.ManualSeed(1)
	x := torch.Linspace(0, 1, 32).Unsqueeze(1)
	y := x.MulScalar(2).AddScalar(1)
	net := nn.NewLinear(1, 1)
	fit := func(params []*tensor.Tensor, forward func(*tensor.Tensor) *tensor.Tensor, steps int) float64 {
		opt := optim.NewSGD(params, 0.2)
		last := 0.0
		for range steps {
			opt.ZeroGrad()
			loss := forward(x).Sub(y).Square().Mean()
			loss.Backward()
			opt.Step()
			last = loss.Item()
		}
		return last
	}
	first := fit(net.Parameters(), net.Forward, 20)
	path := filepath.Join(t.TempDir(), "line.pt")
	if err := must(jit.Trace(net, x)).Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := jit.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := fit(back.Parameters(), func(x *tensor.Tensor) *tensor.Tensor { return back.Apply(x)[0] }, 200)
	if second >= first/10 {
		t.Errorf("the loss is %g after %g", second, first)
	}
}

// An archive that Python has written runs.
func TestPythonsArchive(t *testing.T) {
	m, err := jit.LoadFile(shared.Path(t, "golden/graphs/torchscript/annotate_fn.pt"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Method("forward") == nil || m.Code() == "" {
		t.Errorf("%v has no forward", m)
	}
}
