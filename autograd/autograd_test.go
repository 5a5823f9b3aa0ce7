package autograd_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

type T = autograd.Tensor

func leaf(v ...float64) *T { return torch.FromSlice(v).SetRequiresGrad(true) }

func sum(t *T) *T { return t.SumDim(nil) }

func near(t *testing.T, got *T, want ...float64) {
	t.Helper()
	if got == nil {
		t.Fatal("got nil")
	}
	g := torch.Data[float64](got.Detach().Double().Contiguous())
	if len(g) != len(want) {
		t.Fatalf("got %v, want %v", g, want)
	}
	for i := range g {
		if math.Abs(g[i]-want[i]) > 1e-6*(1+math.Abs(want[i])) {
			t.Fatalf("got %v, want %v", g, want)
		}
	}
}

func fails(t *testing.T, text string, f func()) {
	t.Helper()
	if err := torch.Try(f); err == nil || !strings.Contains(err.Error(), text) || !errors.Is(err, torch.ErrAutograd) &&
		!errors.Is(err, torch.ErrShape) {
		t.Errorf("got error %v, want %q", err, text)
	}
}

// cube saves its input and its result.
type cube struct{ wrong int }

func (cube) Forward(ctx *autograd.Context, in ...*T) []*T {
	y := in[0].Mul(in[0]).Mul(in[0])
	ctx.SaveForBackward(in[0], y)
	return []*T{y}
}

func (c cube) Backward(ctx *autograd.Context, g ...*T) []*T {
	x := ctx.SavedTensors()[0]
	r := []*T{g[0].Mul(x.Mul(x)).MulScalar(3)}
	switch c.wrong {
	case 1:
		return nil
	case 2:
		return []*T{r[0].Narrow(0, 0, 1).Reshape([]int{1, 1, 1})}
	}
	return r
}

func TestFunction(t *testing.T) {
	x := leaf(1, 2, 3)
	if err := torch.Try(func() { autograd.Apply1(nil, x) }); !errors.Is(err, torch.ErrType) {
		t.Errorf("no function: %v", err)
	}
	y := autograd.Apply1(cube{}, x)
	if y.GradFn().Name() != "cubeBackward" {
		t.Errorf("node %s", y.GradFn())
	}
	g := autograd.Grad([]*T{sum(y)}, []*T{x}, autograd.GradOptions{CreateGraph: true})[0]
	near(t, g, 3, 12, 27)
	sum(g).Backward()
	near(t, x.Grad(), 6, 12, 18)

	y = autograd.Apply1(cube{}, x)
	sum(y).Backward()
	fails(t, "Trying to backward through the graph a second time", func() { sum(y).Backward() })
	y = autograd.Apply1(cube{}, x)
	y.AddScalarInPlace(1)
	fails(t, "modified by an inplace operation", func() { sum(y).Backward() })
	fails(t, "function cubeBackward returned an incorrect number of gradients (expected 1, got 0)",
		func() { sum(autograd.Apply1(cube{1}, x)).Backward() })
	fails(t, "Function cubeBackward returned an invalid gradient at index 0 - got [1, 1, 1] but expected shape "+
		"compatible with [3]", func() { sum(autograd.Apply1(cube{2}, x)).Backward() })
	if autograd.Apply1(cube{}, x.Detach()).RequiresGrad() {
		t.Error("recorded without need")
	}
	if err := autograd.Gradcheck(func(in []*T) []*T { return autograd.Apply(cube{}, in...) }, []*T{x}); err != nil {
		t.Error(err)
	}
	if err := autograd.Gradgradcheck(func(in []*T) []*T { return autograd.Apply(cube{}, in...) }, []*T{x},
		nil); err != nil {
		t.Error(err)
	}
}

// parts returns its input, a result without gradient and one that nobody uses.
type parts struct{ once bool }

func (p parts) Forward(ctx *autograd.Context, in ...*T) []*T {
	n := in[0].MulScalar(2)
	ctx.MarkNonDifferentiable(n)
	if p.once {
		ctx.MarkOnceDifferentiable()
	}
	return []*T{in[0], n, in[0].MulScalar(3)}
}

func (parts) Backward(_ *autograd.Context, g ...*T) []*T {
	return []*T{g[0].Add(g[2].MulScalar(3))}
}

func TestFunctionResults(t *testing.T) {
	x := leaf(1, 2)
	out := autograd.Apply(parts{}, x)
	if out[0] == x || out[1].RequiresGrad() || !out[2].RequiresGrad() {
		t.Error("marks are ignored")
	}
	sum(out[0]).Backward() // the other gradients are zeros
	near(t, x.Grad(), 1, 1)
	fails(t, "trying to differentiate twice a function that was marked with @once_differentiable", func() {
		y := leaf(1, 2)
		z := autograd.Apply(parts{true}, y.Mul(y))[2]
		g := autograd.Grad([]*T{sum(z.Mul(z))}, []*T{y}, autograd.GradOptions{CreateGraph: true})[0]
		sum(g).Backward()
	})
}

func TestGradcheckFindsMistakes(t *testing.T) {
	err := autograd.Gradcheck(func(in []*T) []*T { return []*T{in[0].Mul(in[0].Detach())} }, []*T{leaf(1, 2)})
	if err == nil || !strings.Contains(err.Error(),
		"Jacobian mismatch for output 0 with respect to input 0,\nnumerical:2") {
		t.Error(err)
	}
	sine := func(in []*T) []*T { return []*T{in[0].Sin()} } // its derivative has rounding errors
	if err := autograd.Gradcheck(sine, []*T{leaf(1, 2)}); err != nil {
		t.Error(err)
	}
	if err := autograd.Gradcheck(sine, []*T{leaf(1, 2)}, autograd.GradcheckOptions{Atol: tensor.Some(0.0),
		Rtol: tensor.Some(0.0)}); err == nil {
		t.Error("a tolerance of zero is not taken")
	}
	if err := autograd.Gradcheck(func(in []*T) []*T { return in }, []*T{leaf(1).Detach()}); err == nil {
		t.Error("no input requires grad, and no error")
	}
	if err := autograd.Gradcheck(func(in []*T) []*T { return []*T{in[0].Mul(in[1]).Exp(), in[1]} },
		[]*T{leaf(1, 2), leaf(0.5)}); err != nil {
		t.Error(err)
	}
}

func TestFunctional(t *testing.T) {
	x, y := leaf(1, 2), leaf(3)
	f := func(in []*T) []*T { return []*T{in[0].Mul(in[0]).Mul(in[1])} }
	j := autograd.Jacobian(f, []*T{x, y})
	near(t, j[0][0], 6, 0, 0, 12)
	near(t, j[0][1], 1, 4)
	if j[0][1].Dim() != 2 || j[0][0].RequiresGrad() {
		t.Errorf("shape %v", j[0][1].Shape())
	}
	g := func(in []*T) []*T { return []*T{sum(f(in)[0])} }
	h := autograd.Hessian(g, []*T{x, y})
	near(t, h[0][0], 6, 0, 0, 6)
	near(t, h[0][1], 2, 4)
	near(t, h[1][1], 0)
	fails(t, "The Tensor returned by the function given to hessian should contain a single element",
		func() { autograd.Hessian(f, []*T{x, y}) })
	v := torch.FromSlice([]float64{1, 10})
	out, p := autograd.VJP(f, []*T{x, y}, []*T{v})
	near(t, out[0], 3, 12)
	near(t, p[0], 6, 120)
	near(t, p[1], 41)
	_, p = autograd.JVP(f, []*T{x, y}, []*T{v, torch.FromSlice([]float64{1})})
	near(t, p[0], 7, 124)
	_, p = autograd.HVP(g, []*T{x, y}, []*T{v, torch.FromSlice([]float64{0})})
	near(t, p[0], 6, 60)
	near(t, p[1], 42)
	fails(t, "v is a tuple of invalid length: should be 1 but got 2.",
		func() { autograd.VJP(f, []*T{x, y}, []*T{v, v}) })
	fails(t, "Entry 0 in v has invalid size: should be torch.Size([2]) but got torch.Size([1]).",
		func() { autograd.VJP(f, []*T{x, y}, []*T{y}) })
	j = autograd.Jacobian(func(in []*T) []*T { return []*T{in[0].Mul(in[0])} }, []*T{x},
		autograd.Options{CreateGraph: true})
	sum(j[0][0]).Backward()
	near(t, x.Grad(), 2, 2)
}

func TestCheckpoint(t *testing.T) {
	for _, form := range []string{"backward", "grad", "second order"} {
		x, w := leaf(1, 2, 3), leaf(2, 3, 4)
		n := 0
		f := func(x *T) *T { n++; return x.Mul(w).Sin().Mul(x) }
		run := func(y *T) []*T {
			if form == "backward" {
				x.SetGrad(nil)
				w.SetGrad(nil)
				sum(y).Backward()
				return []*T{x.Grad().Clone(), w.Grad().Clone()}
			}
			o := autograd.GradOptions{CreateGraph: form == "second order"}
			g := autograd.Grad([]*T{sum(y)}, []*T{x, w}, o)
			if o.CreateGraph {
				return autograd.Grad([]*T{sum(g[0].Mul(g[1]))}, []*T{x, w})
			}
			return g
		}
		want := run(f(x))
		n = 0
		y := autograd.Checkpoint1(f, x)
		if n != 1 {
			t.Errorf("called %d times", n)
		}
		got := run(y)
		if n < 2 {
			t.Errorf("%s: not called again", form)
		}
		for i := range want {
			near(t, got[i], torch.Data[float64](want[i].Contiguous())...)
		}
	}
}

// A call inside another one keeps none of its inputs: Backward runs the outer function again up to the input of the
// last inner call, and then each inner function on the inputs that this run has made, as PyTorch does.
func TestNestedCheckpoint(t *testing.T) {
	var log []string
	x, scale := leaf(1, 2), 1.0
	g := func(a *T) *T { log = append(log, "g"); return a.Exp() }
	f := func(a *T) *T {
		log = append(log, "f")
		a = autograd.Checkpoint1(g, a.MulScalar(scale))
		return autograd.Checkpoint1(g, a.MulScalar(-1))
	}
	y := autograd.Checkpoint1(f, x)
	log, scale = nil, 0.5 // where f is not the same the second time, what that run makes counts
	sum(y).Backward()
	if got := strings.Join(log, " "); got != "f g g g" {
		t.Errorf("ran %s", got)
	}
	e := func(x float64) float64 { return -math.Exp(-math.Exp(x/2)) * math.Exp(x/2) }
	near(t, x.Grad(), e(1), e(2))

	// without recording, a reentrant call warns of inputs that require no gradient
	log = nil
	var warned []string
	before := torch.SetWarnings(func(w torch.Warning) { warned = append(warned, w.Text) })
	defer func() { torch.SetWarnings(before) }()
	torch.NoGrad(func() {
		autograd.Checkpoint1(g, x.Exp(), autograd.CheckpointOptions{Reentrant: true})
		autograd.Checkpoint1(g, x, autograd.CheckpointOptions{Reentrant: true})
	})
	if len(warned) != 1 || len(log) != 2 || !strings.Contains(warned[0], "None of the inputs have requires_grad=True") {
		t.Errorf("ran %d times, warned of %q", len(log), warned)
	}
}

// What a Function saves goes through the hooks, as what operators save.
func TestHooksOfFunctions(t *testing.T) {
	x, packed, unpacked := leaf(1, 2), 0, 0
	var y *T
	autograd.SavedTensorsHooks(func(t *T) any { packed++; return t.MulScalar(2) },
		func(v any) *T { unpacked++; return v.(*T) }, func() { y = autograd.Apply1(squared{}, x) })
	sum(y).Backward()
	if packed != 1 || unpacked != 1 {
		t.Errorf("packed %d times, unpacked %d times", packed, unpacked)
	}
	near(t, x.Grad(), 4, 8)
}

type squared struct{}

func (squared) Forward(c *autograd.Context, in ...*T) []*T {
	c.SaveForBackward(in[0])
	return []*T{in[0].Mul(in[0])}
}

func (squared) Backward(c *autograd.Context, g ...*T) []*T {
	return []*T{g[0].Mul(c.SavedTensors()[0].MulScalar(2))}
}

func TestCheckpointRules(t *testing.T) {
	x := leaf(1, 2, 3)
	w := leaf(2, 3, 4)
	n := 0
	twice := func(a, b func(*T) *T) func(*T) *T {
		n = 0
		return func(x *T) *T {
			if n++; n == 1 {
				return a(x)
			}
			return b(x)
		}
	}
	fails(t, "A different number of tensors was saved during the original forward and recomputation.\nNumber of "+
		"tensors saved during forward: 3\nNumber of tensors saved during recomputation: 1.", func() {
		sum(autograd.Checkpoint1(twice(func(x *T) *T { return x.Sin().Exp().Tanh() }, func(x *T) *T { return x.Sin() }),
			x)).Backward()
	})
	fails(t, "saved metadata: {'shape': torch.Size([3]), 'dtype': torch.float64, 'device': "+
		"device(type='cpu')}\nrecomputed metadata: {'shape': torch.Size([2])", func() {
		sum(autograd.Checkpoint1(twice(func(x *T) *T { return x.Mul(w).Sin() },
			func(x *T) *T { return x.Narrow(0, 0, 2).Mul(w.Narrow(0, 0, 2)).Sin() }), x)).Backward()
	})
	// it stops as soon as it has what Backward needs
	var steps []int
	f := func(x *T) *T {
		b := x.Sin()
		steps = append(steps, 1)
		c := b.Exp()
		steps = append(steps, 2)
		d := c.AddScalar(1)
		steps = append(steps, 3)
		return d
	}
	y := autograd.Checkpoint1(f, x)
	sum(y).Backward(autograd.BackwardOptions{RetainGraph: true})
	sum(y).Backward()
	if fmt.Sprint(steps) != "[1 2 3 1 1]" {
		t.Errorf("steps %v", steps)
	}
	fails(t, "Trying to backward through the graph a second time", func() { sum(y).Backward() })
	torch.NoGrad(func() {
		if autograd.Checkpoint1(f, x).RequiresGrad() {
			t.Error("recorded under NoGrad")
		}
	})
	// random numbers are the same, and the generator stands where it would without checkpointing
	torch.ManualSeed(3)
	drop := func(x *T) *T { return x.Mul(x.Detach().RandnLike()).Mul(x) }
	plain := drop(x)
	after := x.Detach().RandnLike()
	torch.ManualSeed(3)
	ck := autograd.Checkpoint1(drop, x)
	near(t, autograd.Grad([]*T{sum(ck)}, []*T{x})[0],
		torch.Data[float64](autograd.Grad([]*T{sum(plain)}, []*T{x})[0])...)
	near(t, x.Detach().RandnLike(), torch.Data[float64](after)...)
}

func TestSavedTensorsHooks(t *testing.T) {
	x := leaf(1, 2)
	var y *T
	n := 0
	autograd.SavedTensorsHooks(func(t *T) any { n++; return t.To(torch.Float32) },
		func(v any) *T { n += 10; return v.(*T).To(torch.Float64) }, func() {
			y = x.Mul(x).Exp()
		})
	g := autograd.Grad([]*T{sum(y)}, []*T{x}, autograd.GradOptions{CreateGraph: true})[0]
	near(t, g, 2*math.E, 4*math.Exp(4))
	if n != 33 {
		t.Errorf("hooks: %d", n)
	}
}

func TestAnomaly(t *testing.T) {
	x := leaf(0, 1)
	var b bytes.Buffer
	o := autograd.AnomalyOptions{Output: &b}
	bad := func() { sum(x.Sqrt().MulScalar(0)).Backward() }
	fails(t, "Function 'SqrtBackward0' returned nan values in its 0th output.",
		func() { autograd.DetectAnomaly(bad, o) })
	if s := b.String(); !strings.Contains(s, "Error detected in SqrtBackward0. Traceback of forward call") ||
		!strings.Contains(s, "autograd_test.go") {
		t.Errorf("report: %s", s)
	}
	bad() // no error outside
	b.Reset()
	autograd.SetDetectAnomaly(true, o)
	fails(t, "Function 'SqrtBackward0' returned nan values", bad)
	fails(t, "returned nan values", func() { torch.EnableGrad(bad) })
	autograd.SetDetectAnomaly(false)
	bad()
	b.Reset()
	y := sum(x.Sqrt().MulScalar(0))
	fails(t, "SqrtBackward0", func() { autograd.DetectAnomaly(func() { y.Backward() }, o) })
	if !strings.Contains(b.String(), "No forward pass information available.") {
		t.Errorf("report: %s", b.String())
	}
	autograd.DetectAnomaly(func() { sum(leaf(1, 2).Sqrt()).Backward() }, o)
	b.Reset()
	fails(t, "Good luck!", func() {
		autograd.DetectAnomaly(func() {
			y := x.Exp()
			y.AddScalarInPlace(1)
			sum(y).Backward()
		}, o)
	})
	if !strings.Contains(b.String(), "Error detected in ExpBackward0.") {
		t.Errorf("report: %s", b.String())
	}
}

// Goroutines that train models of their own, or one together, do not disturb each other.
func TestGoroutines(t *testing.T) {
	shared := leaf(0, 0)
	root := leaf(1, 2)
	graph := root.Mul(root).Exp()
	var wg sync.WaitGroup
	const workers, steps = 4, 100
	for w := range workers {
		wg.Go(func() {
			own := leaf(float64(w), 1)
			for range steps {
				torch.Tidy(func() {
					own.SetGrad(nil)
					sum(own.Mul(own).Mul(own)).Backward()
					near(t, own.Grad(), 3*float64(w*w), 3)
					sum(shared.MulScalar(2)).Backward()
				})
			}
			// the same retained graph
			for range steps {
				g := autograd.Grad([]*T{sum(graph)}, []*T{root}, autograd.GradOptions{RetainGraph: true})[0]
				near(t, g, 2*math.E, 4*math.Exp(4))
			}
		})
	}
	wg.Wait()
	near(t, shared.Grad(), 2*workers*steps, 2*workers*steps)
}

// A function is checkpointed with everything that it computes from as an input: the blocks here keep nothing but that,
// and run again when Backward arrives at them, the last one first.
func ExampleCheckpoint() {
	runs := 0
	block := func(in []*torch.Tensor) []*torch.Tensor {
		runs++
		x, w := in[0], in[1]
		return []*torch.Tensor{x.Add(x.MatMul(w).ReLU())}
	}
	x := torch.Ones([]int{2, 2})
	w := torch.Full([]int{2, 2}, 0.5).SetRequiresGrad(true)
	for range 3 {
		x = autograd.Checkpoint(block, []*torch.Tensor{x, w})[0]
	}
	fmt.Println("blocks run by the forward pass:", runs)
	x.Sum().Backward()
	fmt.Println("and by the backward pass:", runs-3)
	fmt.Println(w.Grad())
	// Output:
	// blocks run by the forward pass: 3
	// and by the backward pass: 3
	// tensor([[24., 24.],
	//         [24., 24.]])
}

// Eight layers in four segments: between forward and backward pass only the inputs of the segments are kept, and what
// the last segment saves, which is not checkpointed. Dropout draws the same numbers both times.
func ExampleCheckpointSequential() {
	torch.ManualSeed(0)
	var layers []func(*torch.Tensor) *torch.Tensor
	var params []*torch.Tensor
	for range 4 {
		l := nn.NewLinear(16, 16)
		params = append(params, nn.Parameters(l)...)
		layers = append(layers, l.Forward, nn.NewDropout().Forward)
	}
	x := torch.Randn([]int{4, 16})
	var grads [2][]*torch.Tensor
	for i := range grads {
		torch.ManualSeed(1)
		y := x
		if i == 0 {
			for _, f := range layers {
				y = f(y)
			}
		} else {
			y = autograd.CheckpointSequential(layers, 4, x)
		}
		grads[i] = autograd.Grad([]*torch.Tensor{y.Square().Sum()}, params)
	}
	same := true
	for i, g := range grads[0] {
		same = same && g.Equal(grads[1][i])
	}
	fmt.Println("the gradients are the same:", same)
	// Output: the gradients are the same: true
}

func ExampleJacobian() {
	x := torch.FromSlice([]float32{1, 2})
	j := autograd.Jacobian(func(in []*torch.Tensor) []*torch.Tensor {
		return []*torch.Tensor{in[0].Mul(in[0])}
	}, []*torch.Tensor{x})
	fmt.Println(torch.Data[float32](j[0][0]))
	// Output: [2 0 0 4]
}

// Optimizers keep their state by themselves.
func TestTidyOptimizer(t *testing.T) {
	w := leaf(1, 2)
	opt := optim.NewAdam([]*T{w}, 0.1)
	for range 3 {
		torch.Tidy(func() {
			opt.ZeroGrad()
			sum(w.Mul(w)).Backward()
			opt.Step()
		})
	}
	near(t, w, 0.7015862729460302, 1.700623392046465) // as in Python
}
