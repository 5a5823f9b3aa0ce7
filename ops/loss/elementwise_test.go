package loss_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/internal/par"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// pairLosses are the losses in one pass; the test's tensors are logits x, probabilities p and q.
var pairLosses = []struct {
	name string
	f    func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor
}{
	{"mse", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.MSELoss(x, q, F.MSELossOptions{Reduction: how})
	}},
	{"l1", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.L1Loss(x, q, F.L1LossOptions{Reduction: how})
	}},
	{"smooth l1", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.SmoothL1Loss(x, q, F.SmoothL1LossOptions{Reduction: how, Beta: tensor.Some(0.4)})
	}},
	{"huber", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.HuberLoss(x, q, F.HuberLossOptions{Reduction: how, Delta: tensor.Some(0.6)})
	}},
	{"bce", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.BinaryCrossEntropy(p, q, F.BinaryCrossEntropyOptions{Reduction: how})
	}},
	{"bce with logits", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.BinaryCrossEntropyWithLogits(x, q, F.BinaryCrossEntropyWithLogitsOptions{Reduction: how})
	}},
	{"kl div", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.KLDiv(x, q, F.KLDivOptions{Reduction: how})
	}},
	{"kl div of logarithms", func(x, p, q *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.KLDiv(x, q, F.KLDivOptions{Reduction: how, LogTarget: true})
	}},
}

// TestOnePass compares values, gradients and gradients of gradients with the composed forms, which float64 takes, and
// values across numbers of threads.
func TestOnePass(t *testing.T) {
	before := par.NumThreads()
	defer par.SetNumThreads(before)
	torch.ManualSeed(2)
	x0, q0 := torch.Randn([]int{7, 11000}), torch.Rand([]int{7, 11000})
	for _, c := range pairLosses {
		for _, how := range []F.Reduction{F.Mean, F.Sum, F.None} {
			run := func(dt tensor.DType, threads int) (out []float64, bits string) {
				par.SetNumThreads(threads)
				x := x0.To(dt).Detach().SetRequiresGrad(true)
				y := c.f(x, x.Sigmoid(), q0.To(dt), how).Sum()
				g := torch.Grad([]*tensor.Tensor{y}, []*tensor.Tensor{x}, torch.GradOptions{RetainGraph: true})[0]
				twice := torch.Grad([]*tensor.Tensor{y}, []*tensor.Tensor{x}, torch.GradOptions{CreateGraph: true})[0]
				s := twice.Square().Sum()
				out = []float64{y.Detach().Num().F, g.Abs().Sum().Num().F, s.Detach().Num().F}
				if s.RequiresGrad() {
					gg := torch.Grad([]*tensor.Tensor{s}, []*tensor.Tensor{x}, torch.GradOptions{AllowUnused: true})[0]
					if gg != nil {
						out = append(out, gg.Abs().Sum().Num().F)
					}
				}
				return out, fmt.Sprint(out)
			}
			want, _ := run(tensor.Float64, 1)
			got, bits := run(tensor.Float32, 1)
			for i, w := range want {
				if i >= len(got) || math.Abs(got[i]-w) > 2e-5*math.Abs(w)+1e-12 {
					t.Fatalf("%s, %s: got %v, want %v (value, gradient, its square, the gradient of that)", c.name, how,
						got, want)
				}
			}
			for _, threads := range []int{2, 3, 8} {
				if _, b := run(tensor.Float32, threads); b != bits {
					t.Errorf("%s, %s: %s with %d threads, %s with one", c.name, how, b, threads, bits)
				}
			}
		}
	}
}

// TestOnePassTarget checks the gradient of the target, where input and target are not contiguous.
func TestOnePassTarget(t *testing.T) {
	for _, c := range pairLosses {
		grads := func(dt tensor.DType) []*tensor.Tensor {
			torch.ManualSeed(3)
			x, q := torch.Randn([]int{30, 20}).To(dt).SetRequiresGrad(true),
				torch.Rand([]int{20, 30}).To(dt).SetRequiresGrad(true)
			return torch.Grad([]*tensor.Tensor{c.f(x.T(), x.T().Sigmoid(), q, F.Mean)}, []*tensor.Tensor{x, q})
		}
		got, want := grads(tensor.Float32), grads(tensor.Float64)
		for i := range got {
			if d := got[i].To(tensor.Float64).Sub(want[i]).Abs().Max().Num().F; d > 1e-6 {
				t.Errorf("%s: gradient %d is off by %g", c.name, i, d)
			}
		}
	}
}

// TestGradientNames: where PyTorch composes a loss, the gradient has the name of the last step.
func TestGradientNames(t *testing.T) {
	want := map[string][3]string{ // none, mean, sum
		"l1":                   {"AbsBackward0", "MeanBackward0", "SumBackward0"},
		"kl div":               {"SubBackward0", "MeanBackward0", "SumBackward0"},
		"kl div of logarithms": {"MulBackward0", "MeanBackward0", "SumBackward0"},
		"mse":                  {"MseLossBackward0", "MseLossBackward0", "MseLossBackward0"},
	}
	x, q := torch.Ones([]int{3}).SetRequiresGrad(true), torch.Ones([]int{3})
	for _, c := range pairLosses {
		for i, how := range []F.Reduction{F.None, F.Mean, F.Sum} {
			if w, ok := want[c.name]; ok {
				if got := c.f(x, nil, q, how).GradFn().Name(); got != w[i] {
					t.Errorf("%s, %s: %s, want %s", c.name, how, got, w[i])
				}
			}
		}
	}
}

// NaN is no probability, and does not hide others that are none.
func TestNoProbability(t *testing.T) {
	nan := math.NaN()
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		for _, how := range []F.Reduction{F.Mean, F.None} {
			for _, c := range []struct {
				x, y float64
				ok   bool
			}{{0.5, 1, true}, {nan, 0.5, false}, {nan, 2, false}, {0.5, -0.1, false}, {0.5, 1.1, false}} {
				p := torch.FromSlice([]float64{c.x, c.y}, 2).To(dt)
				err := torch.Try(func() {
					F.BinaryCrossEntropy(p, torch.Ones([]int{2}).To(dt), F.BinaryCrossEntropyOptions{Reduction: how})
				})
				if (err == nil) != c.ok {
					t.Errorf("%s, %s, %g and %g: %v", dt, how, c.x, c.y, err)
				}
			}
		}
	}
	p := torch.FromSlice([]float32{0.5, 0.5}, 2) // a target may be NaN
	if y := F.BinaryCrossEntropy(p, torch.FromSlice([]float32{1, float32(nan)}, 2)); !math.IsNaN(y.Item()) {
		t.Errorf("NaN as target: %v", y)
	}
}

// TestLossLayout: losses without a reduction are laid out like their input.
func TestLossLayout(t *testing.T) {
	last := func(x *T) *T { return x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast}) }
	x, y := opstest.Fill(tensor.Float32, 1, 2, 3, 4, 5), opstest.Fill(tensor.Float32, 2, 2, 3, 4, 5)
	o := F.MSELossOptions{Reduction: F.None}
	want := F.MSELoss(x, y, o)
	for _, c := range []struct {
		x, y    *T
		strides string
	}{{x, y, "[60 20 5 1]"}, {x, last(y), "[60 20 5 1]"}, {last(x), y, "[60 1 15 3]"},
		{last(x), last(y), "[60 1 15 3]"}} {
		got := F.MSELoss(c.x, c.y, o)
		if s := fmt.Sprint(got.Strides()); s != c.strides || !got.Equal(want) {
			t.Errorf("strides %s, want %s; %v", s, c.strides, got)
		}
	}
}
