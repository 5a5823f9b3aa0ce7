package nn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

func TestTrainAndEval(t *testing.T) {
	drop := nn.NewDropout()
	net := nn.NewSequential(nn.NewLinear(2, 2), drop)
	net.Eval()
	if net.Training() || drop.Training() {
		t.Fatal("Eval did not reach the children")
	}
	x := torch.FromSlice([]float32{1, 2}, 1, 2)
	if y := drop.Forward(x); y != x && torch.Data[float32](y)[0] != 1 {
		t.Fatal("dropout in evaluation changes its input")
	}
	net.Train()
	if !drop.Training() {
		t.Fatal("Train did not reach the children")
	}
}

func TestHooksChangeGradients(t *testing.T) {
	l := nn.NewLinear(2, 1, nn.LinearOptions{NoBias: true})
	tensor.CopyRaw(l.Weight, torch.FromSlice([]float32{3, 5}, 1, 2))
	l.RegisterFullBackwardHook(func(_ nn.Module, in, out []*nn.Tensor) []*nn.Tensor {
		if got := torch.Data[float32](out[0])[0]; got != 1 {
			t.Errorf("gradient of the output is %v", got)
		}
		return []*nn.Tensor{in[0].MulScalar(2)}
	})
	x := torch.FromSlice([]float32{1, 1}, 1, 2).SetRequiresGrad(true)
	l.Forward(x).Sum().Backward()
	if g := torch.Data[float32](x.Grad()); g[0] != 6 || g[1] != 10 {
		t.Errorf("gradient %v, want [6 10]", g)
	}
	if g := torch.Data[float32](l.Weight.Grad()); g[0] != 1 || g[1] != 1 {
		t.Errorf("gradient of the weight %v, want [1 1]", g)
	}
}

func TestSharedModuleIsListedOnce(t *testing.T) {
	l := nn.NewLinear(2, 2)
	net := nn.NewSequential(l, nn.NewReLU(), l)
	if n := len(nn.Parameters(net)); n != 2 {
		t.Errorf("%d parameters, want 2", n)
	}
	if n := nn.StateDict(net).Len(); n != 4 {
		t.Errorf("%d entries in the state dict, want 4, as in Python", n)
	}
}

func TestErrors(t *testing.T) {
	cases := []struct {
		name, want string
		f          func()
	}{
		{"groups", "divisible by groups", func() { nn.NewConv2d(3, 4, 3, nn.Conv2dOptions{Groups: torch.Some(2)}) }},
		{"same stride", "not supported for strided",
			func() { nn.NewConv1d(1, 1, 3, nn.Conv1dOptions{Stride: nn.Size{2}, Padding: nn.PaddingSame}) }},
		{"batch norm dims", "expected 4D input (got 2D input)",
			func() { nn.NewBatchNorm2d(3).Forward(torch.FromSlice([]float32{1, 2, 3}, 1, 3)) }},
		{"heads", "divisible by num_heads", func() { nn.NewMultiheadAttention(7, 2) }},
		{"dropout", "between 0 and 1", func() { nn.NewDropout(nn.DropoutOptions{P: torch.Some(1.5)}) }},
		{"module name", "module name can't", func() { nn.NewSequential().Add("a.b", nn.NewReLU()) }},
		{"index", "out of range", func() { nn.NewSequential().At(0) }},
		{"lstm states", "give h and c", func() {
			x := torch.FromSlice(make([]float32, 6), 2, 1, 3)
			nn.NewLSTM(3, 4).Forward(x, x)
		}},
		{"not made with New", "nn.New", func() { (&nn.ReLU{}).Train() }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := tensor.Try(c.f)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestCumulativeMean(t *testing.T) {
	bn := nn.NewBatchNorm1d(1, nn.BatchNorm1dOptions{CumulativeMean: true})
	for _, v := range []float32{2, 4, 9} {
		bn.Forward(torch.FromSlice([]float32{v, v}, 2, 1))
	}
	if got := torch.Data[float32](bn.RunningMean)[0]; math.Abs(float64(got)-5) > 1e-6 {
		t.Errorf("running mean %v, want 5", got)
	}
	if n := torch.Data[int64](bn.NumBatchesTracked)[0]; n != 3 {
		t.Errorf("%d batches tracked, want 3", n)
	}
}

func TestSnakeCase(t *testing.T) {
	for in, want := range map[string]string{"FC1": "fc1", "InProjWeight": "in_proj_weight", "Conv1": "conv1",
		"WeightIH": "weight_ih", "RunningMean": "running_mean"} {
		if got := nn.SnakeCase(in); got != want {
			t.Errorf("SnakeCase(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestTransformerCopiesDrawNothing(t *testing.T) {
	torch.ManualSeed(3)
	layer := nn.NewTransformerEncoderLayer(8, 2, nn.TransformerLayerOptions{DimFeedforward: torch.Some(16)})
	before := string(torch.RNGState())
	enc := nn.NewTransformerEncoder(layer, 3, nil)
	if string(torch.RNGState()) != before {
		t.Error("making copies changed the generator")
	}
	w := torch.Data[float32](layer.Linear1.Weight.Detach())
	c := torch.Data[float32](enc.Layers[2].Linear1.Weight.Detach())
	for i := range w {
		if w[i] != c[i] {
			t.Fatal("the copy has other weights")
		}
	}
	if &w[0] == &c[0] {
		t.Error("the copy shares memory with the layer")
	}
}

func BenchmarkLinear16(b *testing.B) {
	m, x := nn.NewLinear(16, 16), torch.Randn([]int{8, 16})
	b.Run("forward", func(b *testing.B) {
		b.ReportAllocs()
		torch.NoGrad(func() {
			for b.Loop() {
				m.Forward(x)
			}
		})
	})
	b.Run("backward", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Forward(x).Sum().Backward()
			m.ZeroGrad()
		}
	})
}

func TestToMemoryFormat(t *testing.T) {
	m := nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewFlatten(), nn.NewLinear(16, 2))
	x := torch.Randn([]int{2, 3, 4, 4})
	want := m.Forward(x)
	m.ToMemoryFormat(torch.ChannelsLast)
	w := m.Parameters()[0]
	if s := w.Strides(); s[1] != 1 || !w.RequiresGrad() || !w.IsLeaf() {
		t.Errorf("strides %v of the convolution's weight, requires_grad %v, leaf %v", s, w.RequiresGrad(), w.IsLeaf())
	}
	if got := m.Forward(x.To(torch.ChannelsLast)); !torch.AllClose(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if m.ToMemoryFormat(torch.ContiguousFormat); !w.IsContiguous() {
		t.Errorf("strides %v", w.Strides())
	}
}

// In channels-last memory a Sequential computes a convolution with what is behind it: results and gradients are those
// of the layers one by one, and hooks see what they always do.
func TestConvTail(t *testing.T) {
	for i, behind := range [][]nn.Module{
		{nn.NewReLU()},
		{nn.NewReLU(), nn.NewMaxPool2d(2)},
		{nn.NewMaxPool2d(nn.Size{3, 2}), nn.NewReLU(nn.InplaceOptions{Inplace: true}), nn.NewReLU()},
		{nn.NewMaxPool2d(2), nn.NewMaxPool2d(2)},
		{nn.NewReLU(), nn.NewMaxPool2d(3, nn.MaxPoolOptions{Stride: nn.Size{2}})},
		{nn.NewReLU(), nn.NewMaxPool2d(2, nn.MaxPoolOptions{CeilMode: true})},
		{nn.NewMaxPool2d(7)},
	} {
		for _, o := range []nn.Conv2dOptions{{Padding: nn.Size{1}},
			{Padding: nn.Size{1}, Groups: torch.Some(3), NoBias: true},
			{PaddingMode: nn.Circular, Padding: nn.Size{1}}} {
			torch.ManualSeed(int64(i))
			m := nn.NewSequential(nn.NewConv2d(3, 6, 3, o))
			for _, b := range behind {
				m.Append(b.(nn.Layer))
			}
			m.ToMemoryFormat(torch.ChannelsLast)
			// windows without a positive number, too
			in := torch.Randn([]int{2, 3, 9, 8}).SubScalar(1).To(torch.ChannelsLast)
			run := func(f func(x *nn.Tensor) *nn.Tensor) []*nn.Tensor {
				m.ZeroGrad()
				x := in.Clone().SetRequiresGrad(true)
				y := f(x)
				y.Backward(torch.BackwardOptions{Gradient: torch.Arange(float64(y.Numel())).To(torch.Float32).Sin().Reshape(y.Shape())})
				r := []*nn.Tensor{y.Detach(), x.Grad()}
				for _, p := range m.Parameters() {
					r = append(r, p.Grad())
				}
				return r
			}
			want := run(func(x *nn.Tensor) *nn.Tensor {
				for i := range m.Len() {
					x = m.At(i).Forward(x)
				}
				return x
			})
			compare := func(what string, got []*nn.Tensor) {
				for k := range want {
					if !torch.AllClose(got[k], want[k], torch.AllCloseOptions{Atol: torch.Some(1e-4)}) {
						t.Errorf("case %d, %+v: %s: result %d is %v, want %v", i, o, what, k, got[k], want[k])
					}
				}
			}
			compare("together", run(m.Forward))
			// what a pooling makes may change in place
			if i == 1 && o.Groups == (tensor.Opt[int]{}) && o.PaddingMode == nn.Zeros {
				compare("changed in place",
					run(func(x *nn.Tensor) *nn.Tensor { return m.Forward(x).AddScalarInPlace(1).SubScalar(1) }))
			}
			seen := 0
			h := m.At(0).(*nn.Conv2d).RegisterForwardHook(func(nn.Module, []*nn.Tensor,
				*nn.Tensor) *nn.Tensor {
				seen++
				return nil
			})
			compare("with a hook", run(m.Forward))
			h.Remove()
			if seen != 1 {
				t.Errorf("the hook saw %d calls, want 1", seen)
			}
		}
	}
}

// A Sequential may take a ReLU after the max pooling behind it: nobody can tell.
func TestReLUBeforeMaxPool(t *testing.T) {
	torch.ManualSeed(1)
	x := torch.Randn([]int{2, 3, 6, 6}).MulScalar(3).Floor()
	torch.Data[float32](x)[7] = float32(math.NaN())
	x.Narrow(2, 2, 4).Narrow(3, 2, 4).Select(0, 1).SubScalarInPlace(100) // windows without a positive number
	pools := []nn.Layer{nn.NewMaxPool2d(2),
		nn.NewMaxPool2d(3, nn.MaxPoolOptions{Stride: nn.Size{1}, Padding: nn.Size{1}}),
		nn.NewMaxPool2d(3, nn.MaxPoolOptions{CeilMode: true})}
	for i, pool := range pools {
		run := func(f func(x *nn.Tensor) *nn.Tensor) (y, grad *nn.Tensor) {
			in := x.Clone().SetRequiresGrad(true)
			y = f(in.Neg().Neg())
			y.Backward(torch.BackwardOptions{Gradient: torch.Arange(float64(y.Numel())).To(torch.Float32).Reshape(y.Shape())})
			return y.Detach(), in.Grad()
		}
		y, g := run(nn.NewSequential(nn.NewReLU(), pool).Forward)
		wantY, wantG := run(func(x *nn.Tensor) *nn.Tensor { return pool.Forward(x.ReLU()) })
		if !torch.AllClose(y, wantY, torch.AllCloseOptions{Rtol: torch.Some(0.0), EqualNaN: true}) ||
			!torch.AllClose(g, wantG, torch.AllCloseOptions{Rtol: torch.Some(0.0), EqualNaN: true}) {
			t.Errorf("pooling %d:\n%v, want\n%v\ngradient\n%v, want\n%v", i, y, wantY, g, wantG)
		}
	}
	// The result of a max pooling may be changed in place, that of a ReLU may not.
	for _, format := range []torch.MemoryFormat{torch.ContiguousFormat, torch.ChannelsLast} {
		m := nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewReLU(), nn.NewMaxPool2d(2),
			nn.NewReLU(nn.InplaceOptions{Inplace: true}))
		m.ToMemoryFormat(format)
		y := m.Forward(torch.Randn([]int{2, 3, 6, 6}).To(format))
		if err := torch.Try(func() { y.Sum().Backward() }); err != nil {
			t.Errorf("%v: %v", format, err)
		}
		m = m.Slice(0, 3)
		y = m.Forward(torch.Randn([]int{2, 3, 6, 6}).To(format))
		y.MulScalarInPlace(2)
		if err := torch.Try(func() { y.Sum().Backward() }); err != nil {
			t.Errorf("%v: %v", format, err)
		}
	}
	seen := 0
	relu := nn.NewReLU()
	relu.RegisterForwardHook(func(_ nn.Module, _ []*nn.Tensor,
		y *nn.Tensor) *nn.Tensor {
		seen = y.Numel()
		return nil
	})
	nn.NewSequential(relu, pools[0]).Forward(x)
	if seen != x.Numel() {
		t.Errorf("the hook saw %d elements, want those before the pooling: %d", seen, x.Numel())
	}
}
