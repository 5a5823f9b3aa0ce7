package utils_test

import (
	"sync/atomic"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// settle gives the batch norms of a module uneven statistics and weights, and puts it in evaluation mode.
func settle(m nn.Module) {
	tensor.NoGrad(func() {
		for c := range nn.Modules(m) {
			if b, ok := c.(*nn.BatchNorm2d); ok {
				n := []int{b.NumFeatures}
				b.RunningMean.CopyInPlace(torch.Randn(n).MulScalar(0.1))
				b.RunningVar.CopyInPlace(torch.Rand(n).AddScalar(0.5))
				b.Weight.CopyInPlace(torch.Rand(n).AddScalar(0.5))
				b.Bias.CopyInPlace(torch.Randn(n).MulScalar(0.1))
			}
		}
	})
	nn.Eval(m)
}

func relative(a, b *torch.Tensor) float64 {
	return a.Sub(b).Abs().Max().Item() / (1e-12 + b.Abs().Max().Item())
}

type shortcuts struct {
	nn.Base
	A, B *nn.Sequential
}

func (m *shortcuts) Forward(x *torch.Tensor) *torch.Tensor {
	y := m.A.Forward(x)
	z := m.B.Forward(y).AddInPlace(y)       // in place on the branch
	z = m.B.Forward(z).Add(z).ReLU()        // a new tensor, and an activation
	y.AddInPlace(m.B.Forward(z))            // in place on the other one
	z = torch.Cat([]*torch.Tensor{y, z, y}) // values that are read several times
	return z.Add(m.B.Forward(y).Sum())
}

func convBN(in, out int, act nn.Layer) *nn.Sequential {
	s := nn.NewSequential(nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewBatchNorm2d(out))
	if act != nil {
		s.Append(act)
	}
	return s
}

func TestOptimizeForInference(t *testing.T) {
	for name, make := range map[string]func() nn.Layer{
		"resnet18":     func() nn.Layer { return models.NewResNet18() },
		"mobilenet_v2": func() nn.Layer { return models.NewMobileNetV2() },
		"resnet9":      func() nn.Layer { return models.NewResNet9(3, 10, 8) },
		"sequential": func() nn.Layer {
			return nn.NewSequential(convBN(3, 8, nn.NewReLU()),
				convBN(8, 8, nn.NewReLU6(nn.InplaceOptions{Inplace: true})), convBN(8, 5, nil), nn.NewSigmoid())
		},
		"shortcuts": func() nn.Layer {
			return nn.New(&shortcuts{A: convBN(3, 6, nn.NewReLU()), B: convBN(6, 6, nn.NewHardtanh())})
		},
	} {
		torch.ManualSeed(5)
		m := make()
		settle(m)
		before := nn.StateDict(m)
		var sums []float64
		for _, v := range before.All() {
			sums = append(sums, v.Double().Sum().Item())
		}
		o := utils.OptimizeForInference(m)
		for _, shape := range [][]int{{2, 3, 32, 32}, {2, 3, 32, 32}, {1, 3, 40, 36}, {2, 3, 32, 32}} {
			x := torch.Randn(shape)
			old := x.Clone()
			var want *torch.Tensor
			tensor.NoGrad(func() { want = m.Forward(x) })
			for range 2 {
				got := torch.TidyReturn(func() *torch.Tensor { return o.Forward(x) })
				if !tensor.SameShape(got.Shape(), want.Shape()) {
					t.Fatalf("%s: shape %v, want %v", name, got.Shape(), want.Shape())
				}
				if d := relative(got, want); !(d <= 1e-4) {
					t.Errorf("%s of %v: result differs by %g", name, shape, d)
				}
			}
			if !torch.Equal(x, old) {
				t.Errorf("%s: the input was changed", name)
			}
			got := o.Forward(x.To(torch.ChannelsLast))
			if d := relative(got, want); !(d <= 1e-4) {
				t.Errorf("%s of %v, channels last: result differs by %g", name, shape, d)
			}
		}
		i := 0
		for k, v := range nn.StateDict(m).All() {
			if s := v.Double().Sum().Item(); s != sums[i] {
				t.Errorf("%s: %s was changed", name, k)
			}
			i++
		}
		if len(utils.PlanOf(o)) == 0 {
			t.Errorf("%s: nothing was recorded", name)
		}
		for _, op := range utils.PlanOf(o) {
			if op == "aten::native_batch_norm" || op == "aten::convolution" {
				t.Errorf("%s: %s was not fused: %v", name, op, utils.PlanOf(o))
				break
			}
		}
	}
}

func TestFuseEval(t *testing.T) {
	torch.ManualSeed(2)
	conv, bn := nn.NewConv2d(3, 6, 3), nn.NewBatchNorm2d(6)
	seq := nn.NewSequential(conv, bn)
	settle(seq)
	x := torch.Randn([]int{2, 3, 8, 8})
	if d := relative(utils.FuseConvBNEval(conv, bn).Forward(x), seq.Forward(x)); !(d <= 1e-5) {
		t.Errorf("convolution: differs by %g", d)
	}
	up := nn.NewConvTranspose2d(3, 6, 3, nn.ConvTranspose2dOptions{NoBias: true})
	nn.Eval(up)
	if d := relative(utils.FuseConvBNEval(up, bn).Forward(x), bn.Forward(up.Forward(x))); !(d <= 1e-5) {
		t.Errorf("transposed convolution: differs by %g", d)
	}
	lin, bn1 := nn.NewLinear(4, 6), nn.NewBatchNorm1d(6)
	nn.Eval(lin)
	nn.Eval(bn1)
	tensor.NoGrad(func() {
		bn1.RunningMean.CopyInPlace(torch.Randn([]int{6}))
		bn1.Weight.CopyInPlace(torch.Rand([]int{6}))
	})
	v := torch.Randn([]int{5, 4})
	if d := relative(utils.FuseLinearBNEval(lin, bn1).Forward(v), bn1.Forward(lin.Forward(v))); !(d <= 1e-5) {
		t.Errorf("linear: differs by %g", d)
	}
	nn.Train(bn, true)
	if err := tensor.Try(func() { utils.FuseConvBNEval(conv, bn) }); err == nil ||
		err.Error()[:21] != "Fusion only for eval!" {
		t.Errorf("training mode: got %v", err)
	}
}

func TestOptimizeForInferenceLinear(t *testing.T) {
	linear := func(in, out int, o ...nn.LinearOptions) *nn.Linear { return nn.NewLinear(in, out, o...) }
	for name, c := range map[string]struct {
		m      nn.Layer
		layers int
		more   bool // there are operators beside the layers
	}{
		"relu": {nn.NewSequential(linear(6, 9), nn.NewReLU(), linear(9, 5),
			nn.NewReLU(nn.InplaceOptions{Inplace: true}), linear(5, 3)), 3, false},
		"gelu": {nn.NewSequential(linear(6, 33), nn.NewGELU(), linear(33, 4, nn.LinearOptions{NoBias: true}),
			nn.NewGELU(nn.GELUOptions{Approximate: nn.TanhApprox})), 2, false},
		"tanh":     {nn.NewSequential(linear(6, 4), nn.NewTanh(), linear(4, 4), nn.NewSiLU()), 2, false},
		"others":   {nn.NewSequential(linear(6, 4), nn.NewELU(), linear(4, 4)), 2, true},
		"float64":  {nn.NewSequential(linear(6, 7, nn.LinearOptions{DType: torch.Float64}), nn.NewReLU()), 1, false},
		"two uses": {nn.New(&twice{L: linear(6, 6)}), 1, true},
	} {
		nn.Eval(c.m)
		o := utils.OptimizeForInference(c.m)
		for _, shape := range [][]int{{6}, {1, 6}, {17, 6}, {2, 3, 6}, {0, 6}} {
			x := torch.Randn(shape, torch.RandnOptions{DType: nn.Parameters(c.m)[0].DType()})
			var want *torch.Tensor
			tensor.NoGrad(func() { want = c.m.Forward(x) })
			got := torch.TidyReturn(func() *torch.Tensor { return o.Forward(x) })
			if !tensor.SameShape(got.Shape(), want.Shape()) || got.DType() != want.DType() {
				t.Fatalf("%s of %v: %v %v, want %v %v", name, shape, got.Shape(), got.DType(), want.Shape(),
					want.DType())
			}
			if got.Numel() > 0 && !(relative(got, want) <= 1e-5) {
				t.Errorf("%s of %v: result differs by %g", name, shape, relative(got, want))
			}
		}
		n := map[string]int{}
		for _, op := range utils.PlanOf(o) {
			n[op]++
		}
		if n["gotorch::linear_packed"] != 5*c.layers || len(n) > 1 != c.more { // five shapes
			t.Errorf("%s: got %v, expected %d linear layers", name, n, 5*c.layers)
		}
	}
}

// twice reads what the linear layer makes before and after the activation.
type twice struct {
	nn.Base
	L *nn.Linear
}

func (m *twice) Forward(x *torch.Tensor) *torch.Tensor {
	y := m.L.Forward(x)
	return y.ReLU().Add(y)
}

func TestOptimizeForInferenceChangedWeights(t *testing.T) {
	torch.ManualSeed(4)
	counter := &counting{L: nn.NewLinear(40, 33), Calls: torch.Zeros([]int{1})}
	for name, m := range map[string]nn.Layer{
		"linear":      nn.NewSequential(nn.NewLinear(40, 33), nn.NewReLU(), nn.NewLinear(33, 5)),
		"convolution": nn.NewSequential(nn.NewUnflatten(1, []int{1, 4, 10}), convBN(1, 8, nn.NewReLU())),
		"own counter": nn.New(counter),
	} {
		settle(m)
		o := utils.OptimizeForInference(m)
		for round := range 4 {
			for _, rows := range []int{1, 7, 7} {
				x := torch.Randn([]int{rows, 40})
				got := o.Forward(x)
				var want *torch.Tensor
				tensor.NoGrad(func() { want = m.Forward(x) })
				if d := relative(got, want); !(d <= 1e-5) {
					t.Errorf("%s, change %d, %d rows: differs by %g", name, round, rows, d)
				}
			}
			switch round { // three ways to change weights
			case 0:
				tensor.NoGrad(func() {
					for _, p := range nn.Parameters(m) {
						p.AddInPlace(torch.Randn(p.Shape()).MulScalar(0.1))
					}
				})
			case 1:
				m.Forward(torch.Randn([]int{3, 40})).Sum().Backward()
				optim.NewAdam(nn.Parameters(m), 0.1).Step()
			case 2:
				other := &tensor.StateDict{}
				for k, v := range nn.StateDict(m).All() {
					other.Set(k, v.MulScalar(0.5))
				}
				if err := nn.LoadStateDict(m, other); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// A module that changes a tensor of its own is recorded once all the same.
	o := utils.OptimizeForInference(counter)
	counter.forwards.Store(0)
	for range 3 {
		o.Forward(torch.Ones([]int{3, 40}))
	}
	if n := counter.forwards.Load(); n != 1 {
		t.Errorf("own counter: ran %d times, expected 1", n)
	}
}

// counting counts its calls in a tensor.
type counting struct {
	nn.Base
	L        *nn.Linear
	Calls    *torch.Tensor `torch:"-"`
	forwards atomic.Int32  // what may be written by several goroutines is not compared
}

func (m *counting) Forward(x *torch.Tensor) *torch.Tensor {
	m.forwards.Add(1)
	m.Calls.AddScalarInPlace(1)
	return m.L.Forward(x)
}

// TestOptimizeForInferenceMemory: the weights are copied once for all shapes of input.
func TestOptimizeForInferenceMemory(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(64, 512), nn.NewReLU(), nn.NewLinear(512, 10))
	nn.Eval(m)
	o := utils.OptimizeForInference(m)
	for rows := range 9 {
		o.Forward(torch.Randn([]int{rows, 64}))
	}
	// The outputs of a layer are rounded up to whole panels.
	if n, elements := utils.CopiesOf(o); n != 2 || elements > 64*512+512*64 {
		t.Errorf("%d copies of %d elements, expected 2 of the size of the weights", n, elements)
	}
}

// inverted is an expansion, a depthwise convolution and a projection, whose result is added to the input.
type inverted struct {
	nn.Base
	Parts  *nn.Sequential
	Middle bool // the depthwise result is read a second time
}

func (m *inverted) Forward(x *torch.Tensor) *torch.Tensor {
	if !m.Middle {
		return m.Parts.Forward(x).Add(x)
	}
	y := m.Parts.At(1).Forward(m.Parts.At(0).Forward(x))
	return m.Parts.At(2).Forward(y).Add(y.Mean())
}

// TestOptimizeForInferenceChain: convolutions around a depthwise one become one step where that computes the same.
func TestOptimizeForInferenceChain(t *testing.T) {
	block := func(k int, o nn.Conv2dOptions) *nn.Sequential {
		o.Padding = nn.Size{k / 2}
		return nn.NewSequential(
			nn.NewSequential(nn.NewConv2d(6, 20, 1), nn.NewBatchNorm2d(20), nn.NewReLU6()),
			nn.NewSequential(nn.NewConv2d(20, 20, 3, nn.Conv2dOptions{Padding: nn.Size{1}, Groups: torch.Some(20)}),
				nn.NewBatchNorm2d(20), nn.NewReLU6()),
			nn.NewSequential(nn.NewConv2d(20, 6, k, o), nn.NewBatchNorm2d(6)),
		)
	}
	for name, c := range map[string]struct {
		m                nn.Layer
		chains, separate int
	}{
		"one block":          {block(1, nn.Conv2dOptions{}), 1, 0},
		"two blocks":         {nn.NewSequential(block(1, nn.Conv2dOptions{}), block(1, nn.Conv2dOptions{})), 2, 0},
		"residual":           {nn.New(&inverted{Parts: block(1, nn.Conv2dOptions{})}), 1, 0},
		"two projections":    {nn.NewSequential(block(1, nn.Conv2dOptions{}), nn.NewConv2d(6, 9, 1)), 1, 1},
		"projection 3x3":     {block(3, nn.Conv2dOptions{}), 1, 1},
		"projection strided": {block(1, nn.Conv2dOptions{Stride: nn.Size{2}}), 1, 1},
		"padding same":       {block(3, nn.Conv2dOptions{Padding: nn.PaddingSame}), 1, 1},
		"padding uneven":     {block(2, nn.Conv2dOptions{Padding: nn.PaddingSame}), 1, 1},
		"groups":             {block(1, nn.Conv2dOptions{Groups: torch.Some(2)}), 1, 1},
		"read twice":         {nn.New(&inverted{Parts: block(1, nn.Conv2dOptions{}), Middle: true}), 1, 1},
	} {
		torch.ManualSeed(3)
		settle(c.m)
		o := utils.OptimizeForInference(c.m)
		x := torch.Randn([]int{2, 6, 11, 10})
		var want *torch.Tensor
		tensor.NoGrad(func() { want = c.m.Forward(x) })
		for range 2 {
			if d := relative(o.Forward(x), want); !(d <= 1e-5) {
				t.Errorf("%s: differs by %g", name, d)
			}
		}
		n := map[string]int{}
		for _, op := range utils.PlanOf(o) {
			n[op]++
		}
		if n["gotorch::conv_depthwise_fused"] != c.chains || n["gotorch::conv_fused"] != c.separate {
			t.Errorf("%s: got %v, expected %d chains and %d other convolutions", name, n, c.chains, c.separate)
		}
	}
}

// TestOptimizeForInferencePool: a maximum pooling runs with the convolution before it where nobody else reads that.
func TestOptimizeForInferencePool(t *testing.T) {
	stem := func(p nn.Layer) *nn.Sequential {
		return nn.NewSequential(nn.NewConv2d(3, 20, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewBatchNorm2d(20),
			nn.NewReLU(), p)
	}
	for name, c := range map[string]struct {
		m      nn.Layer
		pooled int
	}{
		"overlapping": {stem(nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}})), 1},
		"adjacent":    {stem(nn.NewMaxPool2d(2)), 1},
		"ceil":        {stem(nn.NewMaxPool2d(2, nn.MaxPool2dOptions{CeilMode: true})), 1},
		"dilated":     {stem(nn.NewMaxPool2d(2, nn.MaxPool2dOptions{Dilation: nn.Size{2}})), 0},
	} {
		torch.ManualSeed(3)
		settle(c.m)
		o := utils.OptimizeForInference(c.m)
		x := torch.Randn([]int{2, 3, 13, 11})
		var want *torch.Tensor
		tensor.NoGrad(func() { want = c.m.Forward(x) })
		for range 2 {
			if d := relative(o.Forward(x), want); !(d <= 1e-5) {
				t.Errorf("%s: differs by %g", name, d)
			}
		}
		n := map[string]int{}
		for _, op := range utils.PlanOf(o) {
			n[op]++
		}
		if n["gotorch::conv_pool_fused"] != c.pooled || c.pooled > 0 && len(n) > 1 {
			t.Errorf("%s: got %v, expected %d poolings within a convolution", name, n, c.pooled)
		}
	}
}
