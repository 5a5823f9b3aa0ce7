package modules_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// MyModule is a module of one's own: a struct with a Forward.
type MyModule struct {
	nn.Base
	Linear *nn.Linear
}

func newMyModule() *MyModule { return nn.New(&MyModule{Linear: nn.NewLinear(3, 3)}) }

func (m *MyModule) Forward(x *torch.Tensor) *torch.Tensor { return m.Linear.Forward(x) }

// The same seed initialises a layer with PyTorch's numbers, and modules print as in Python.
func Example_ownModule() {
	torch.ManualSeed(0)
	m := newMyModule()
	fmt.Println(m)
	for name, p := range nn.NamedParameters(m) {
		fmt.Println(name, p.Detach())
	}
	torch.NoGrad(func() { fmt.Println(m.Forward(torch.Ones([]int{1, 3}))) })
	// Output:
	// MyModule(
	//   (linear): Linear(in_features=3, out_features=3, bias=True)
	// )
	// linear.weight tensor([[-0.0043,  0.3097, -0.4752],
	//         [-0.4249, -0.2224,  0.1548],
	//         [-0.0114,  0.4578, -0.0512]])
	// linear.bias tensor([ 0.1528, -0.1745, -0.1135])
	// tensor([[-0.0170, -0.6669,  0.2816]])
}

func TestTrainingMode(t *testing.T) {
	m := newMyModule()
	if !m.Training() {
		t.Error("a new module is not in training mode")
	}
	m.Eval()
	for c := range nn.Children(m) {
		if c.(*nn.Linear).Training() {
			t.Error("a child is still in training mode")
		}
	}
	if m.Train(false) != nn.Module(m) {
		t.Error("Train does not return the module")
	}
}

// Dropout sets elements to 0 in training mode and scales up the others; in evaluation mode it does nothing.
func TestDropout(t *testing.T) {
	x := torch.TensorOf[float32](1, 2, 3, 4, 5)
	model := nn.NewSequential(nn.NewDropout(nn.DropoutOptions{P: torch.Some(0.3)}))
	torch.ManualSeed(8)
	near(t, model.Forward(x), 0, 2.8571, 4.2857, 5.7143, 7.1429)
	torch.ManualSeed(0)
	near(t, model.Forward(x), 0, 0, 4.2857, 0, 7.1429)
	model.Eval()
	near(t, model.Forward(x), 1, 2, 3, 4, 5)

	torch.ManualSeed(0)
	y := nn.NewDropout(nn.DropoutOptions{P: torch.Some(0.3)}).Forward(torch.Ones([]int{100000}))
	if zeros := y.EqScalar(0).Sum().Item(); zeros != 30072 {
		t.Errorf("%v zeros", zeros)
	}
	near(t, nn.NewDropout(nn.DropoutOptions{P: torch.Some(0.0)}).Forward(x), 1, 2, 3, 4, 5)
	near(t, nn.NewDropout(nn.DropoutOptions{P: torch.Some(1.0)}).Forward(x), 0, 0, 0, 0, 0)
	fails(t, "dropout probability has to be between 0 and 1, but got 1.1",
		func() { nn.NewDropout(nn.DropoutOptions{P: torch.Some(1.1)}) })
}

// The class and the function do the same.
func TestClassAndFunction(t *testing.T) {
	c, x := nn.NewConv2d(2, 3, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), torch.Randn([]int{1, 2, 5, 5})
	if !torch.Equal(c.Forward(x), F.Conv2d(x, c.Weight, F.Conv2dOptions{Bias: c.Bias, Padding: []int{1}})) {
		t.Error("nn.Conv2d and F.conv2d differ")
	}
	l, y := nn.NewLinear(4, 2), torch.Randn([]int{3, 4})
	if !torch.Equal(l.Forward(y), F.Linear(y, l.Weight, F.LinearOptions{Bias: l.Bias})) {
		t.Error("nn.Linear and F.linear differ")
	}
}

// One member of each family of layers.
func TestFamilies(t *testing.T) {
	x := torch.Randn([]int{2, 4, 8, 8})
	y := nn.NewSequential(nn.NewConv2d(4, 8, 3), nn.NewBatchNorm2d(8), nn.NewReLU(), nn.NewMaxPool2d(2),
		nn.NewDropout(),
		nn.NewFlatten(), nn.NewLinear(72, 10)).Forward(x)
	if fmt.Sprint(y.Shape()) != "[2 10]" {
		t.Errorf("shape %v", y.Shape())
	}
	for name, z := range map[string]*torch.Tensor{
		"interpolate":   F.Interpolate(x, F.InterpolateOptions{Size: []int{16, 16}}),
		"pixel_shuffle": F.PixelShuffle(x, 2),
		"pad":           F.Pad(x, []int{4, 4, 4, 4}),
	} {
		if z.Size(-1) != 16 || z.Size(-2) != 16 {
			t.Errorf("%s: shape %v", name, z.Shape())
		}
	}
}

// A hook sees what a layer gives.
func TestForwardHook(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(3, 2), nn.NewReLU())
	var seen []int
	h := nn.RegisterForwardHook(net.At(0), func(_ nn.Module, _ []*torch.Tensor, out *torch.Tensor) *torch.Tensor {
		seen = append(seen, out.Shape()...)
		return nil // keeps the output as it is
	})
	net.Forward(torch.Ones([]int{1, 3}))
	h.Remove()
	net.Forward(torch.Ones([]int{1, 3}))
	if fmt.Sprint(seen) != "[1 2]" {
		t.Errorf("seen %v", seen)
	}
}

// Gate turns its input over unless its sum is positive: an ordinary if, for the tape follows what really runs.
type Gate struct{ nn.Base }

func (*Gate) Forward(x *torch.Tensor) *torch.Tensor {
	if x.Sum().Item() > 0 {
		return x
	}
	return x.Neg()
}

// Cell is a step of a recurrent network; Loop walks a sequence with it.
type (
	Cell struct {
		nn.Base
		DG     *Gate
		Linear *nn.Linear
	}
	Loop struct {
		nn.Base
		Cell *Cell
	}
)

func (c *Cell) Forward(x, h *torch.Tensor) *torch.Tensor {
	return torch.Tanh(c.DG.Forward(c.Linear.Forward(x)).Add(h))
}

func (l *Loop) Forward(xs *torch.Tensor) *torch.Tensor {
	h := torch.Zeros([]int{3, 4})
	for i := range xs.Size(0) {
		h = l.Cell.Forward(xs.Index(i), h)
	}
	return h
}

// The figures are those of PyTorch, whether it runs the loop directly or as a script.
func TestLoopsAndBranches(t *testing.T) {
	torch.ManualSeed(0)
	torch.Rand([]int{3, 4}) // the example inputs x and h
	torch.Rand([]int{3, 4})
	loop := nn.New(&Loop{Cell: nn.New(&Cell{DG: nn.New(&Gate{}), Linear: nn.NewLinear(4, 4)})})
	y := loop.Forward(torch.Arange(24.0).View([]int{2, 3, 4}).DivScalar(24).SubScalar(0.5))
	near(t, y, -0.0359, 0.3319, -0.5187, 0.7639, -0.0230, 0.3905, -0.1744, 0.6844, -0.0100, 0.4459, 0.2517, 0.5794)

	gate := &Gate{}
	near(t, gate.Forward(torch.TensorOf[float32](-1, -2)), 1, 2)
	near(t, gate.Forward(torch.TensorOf[float32](1, 2)), 1, 2)
}
