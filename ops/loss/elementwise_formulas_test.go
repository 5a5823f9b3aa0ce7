package loss_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// pairFormulas are the losses of pairs of elements: the function under test, the loss and its derivative by x. unit
// wants x within 0 and 1, signs a target of -1 and 1.
var pairFormulas = []struct {
	name        string
	unit, signs bool
	f           func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor
	loss, slope func(x, t float64) float64
}{
	{"mse", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.MSELoss(x, t, F.MSELossOptions{Reduction: how})
	}, func(x, t float64) float64 { return (x - t) * (x - t) }, func(x, t float64) float64 { return 2 * (x - t) }},
	{"l1", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.L1Loss(x, t, F.L1LossOptions{Reduction: how})
	}, func(x, t float64) float64 { return math.Abs(x - t) }, func(x, t float64) float64 { return sign(x - t) }},
	{"smooth l1", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.SmoothL1Loss(x, t, F.SmoothL1LossOptions{Reduction: how, Beta: tensor.Some(0.5)})
	}, func(x, t float64) float64 {
		if z := math.Abs(x - t); z < 0.5 {
			return z * z
		}
		return math.Abs(x-t) - 0.25
	}, func(x, t float64) float64 { return min(max((x-t)*2, -1), 1) }},
	{"huber", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.HuberLoss(x, t, F.HuberLossOptions{Reduction: how, Delta: tensor.Some(0.5)})
	}, func(x, t float64) float64 {
		if z := math.Abs(x - t); z < 0.5 {
			return z * z / 2
		}
		return 0.5 * (math.Abs(x-t) - 0.25)
	}, func(x, t float64) float64 { return min(max(x-t, -0.5), 0.5) }},
	{"bce", true, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.BinaryCrossEntropy(x, t, F.BinaryCrossEntropyOptions{Reduction: how})
	}, func(x, t float64) float64 {
		return -t*math.Max(math.Log(x), -100) - (1-t)*math.Max(math.Log1p(-x), -100)
	}, func(x, t float64) float64 { return (x - t) / math.Max((1-x)*x, 1e-12) }},
	{"bce with logits", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.BinaryCrossEntropyWithLogits(x, t, F.BinaryCrossEntropyWithLogitsOptions{Reduction: how})
	}, func(x, t float64) float64 { return math.Log1p(math.Exp(x)) - t*x },
		func(x, t float64) float64 { return 1/(1+math.Exp(-x)) - t }},
	{"kl div", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.KLDiv(x, t, F.KLDivOptions{Reduction: how})
	}, func(x, t float64) float64 {
		if t == 0 {
			return 0
		}
		return t * (math.Log(t) - x)
	}, func(x, t float64) float64 { return -t }},
	{"kl div of logarithms", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.KLDiv(x, t, F.KLDivOptions{Reduction: how, LogTarget: true})
	}, func(x, t float64) float64 { return math.Exp(t) * (t - x) }, func(x, t float64) float64 { return -math.Exp(t) }},
	{"soft margin", false, true, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.SoftMarginLoss(x, t, F.SoftMarginLossOptions{Reduction: how})
	}, func(x, t float64) float64 { return math.Log1p(math.Exp(-t * x)) },
		func(x, t float64) float64 { return -t / (1 + math.Exp(t*x)) }},
	{"poisson of logarithms", false, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.PoissonNLLLoss(x, t, F.PoissonNLLLossOptions{Reduction: how})
	}, func(x, t float64) float64 { return math.Exp(x) - t*x }, func(x, t float64) float64 { return math.Exp(x) - t }},
	{"poisson", true, false, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.PoissonNLLLoss(x, t, F.PoissonNLLLossOptions{Reduction: how, NoLogInput: true, Eps: tensor.Some(0.5)})
	}, func(x, t float64) float64 { return x - t*math.Log(x+0.5) },
		func(x, t float64) float64 { return 1 - t/(x+0.5) }},
	{"hinge embedding", false, true, func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor {
		return F.HingeEmbeddingLoss(x, t, F.HingeEmbeddingLossOptions{Reduction: how, Margin: tensor.Some(0.5)})
	}, func(x, t float64) float64 {
		if t == 1 {
			return x
		}
		return math.Max(0, 0.5-x)
	}, func(x, t float64) float64 {
		switch {
		case t == 1:
			return 1
		case x < 0.5:
			return -1
		}
		return 0
	}},
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// TestPairFormulas compares values and gradients of every floating type with the formulas in float64, also for operands
// that are not contiguous.
func TestPairFormulas(t *testing.T) {
	tols := map[tensor.DType]float64{tensor.Float64: 1e-13, tensor.Float32: 3e-6, tensor.BFloat16: 1e-2,
		tensor.Float16: 2e-3}
	for _, c := range pairFormulas {
		for dt, tol := range tols {
			for _, sh := range [][]int{{1}, {3, 17}, {5, 1031}, {9, 7001}} {
				for _, transposed := range []bool{false, true} {
					torch.ManualSeed(7)
					x, q := torch.Rand(sh), torch.Rand(sh)
					if !c.unit {
						x = x.MulScalar(6).SubScalar(3)
					}
					if c.signs {
						q = q.GtScalar(0.5).ToDType(tensor.Float32).MulScalar(2).SubScalar(1)
					}
					x, q = x.ToDType(dt), q.ToDType(dt)
					if transposed && len(sh) == 2 {
						x, q = x.T().Contiguous().T(), q.T().Contiguous().T()
					}
					xs, qs := tensor.Data[float64](x.Contiguous().ToDType(tensor.Float64)),
						tensor.Data[float64](q.Contiguous().ToDType(tensor.Float64))
					n := len(xs)
					each, slopes := make([]float64, n), make([]float64, n)
					total := 0.0
					for i := range xs {
						each[i], slopes[i] = c.loss(xs[i], qs[i]), c.slope(xs[i], qs[i])
						total += each[i]
					}
					for _, how := range []F.Reduction{F.None, F.Sum, F.Mean} {
						name := fmt.Sprintf("%s, %s of %v (transposed: %v), %s", c.name, dt, sh, transposed, how)
						v := x.Detach().SetRequiresGrad(true)
						y := c.f(v, q, how)
						g := torch.Ones(y.Shape()).ToDType(dt)
						if how == F.None {
							g = g.MulScalar(2)
						}
						grad := torch.Grad([]*tensor.Tensor{y}, []*tensor.Tensor{v},
							torch.GradOptions{GradOutputs: []*tensor.Tensor{g}})[0]
						want, factor := each, 2.0
						switch how {
						case F.Sum:
							want, factor = []float64{total}, 1
						case F.Mean:
							want, factor = []float64{total / float64(n)}, 1/float64(n)
						}
						wantGrad, beyond := make([]float64, n), false
						for i, s := range slopes {
							wantGrad[i] = s * factor
							if dt == tensor.Float16 && math.Abs(wantGrad[i]) > 65000 {
								beyond = true
							}
						}
						if beyond || dt == tensor.Float16 && how == F.Mean && n > 1000 {
							wantGrad = nil // beyond the range, or subnormal
						}
						if dt == tensor.Float16 && how == F.Sum && n > 10000 {
							continue // beyond the type's range
						}
						closeTo(t, name, y, want, tol)
						if wantGrad != nil {
							closeTo(t, name+", gradient", grad, wantGrad, tol)
						}
					}
				}
			}
		}
	}
}

// closeTo compares with a tolerance relative to the largest value or 1e-3, whichever is more.
func closeTo(t *testing.T, name string, got *tensor.Tensor, want []float64, tol float64) {
	t.Helper()
	g := tensor.Data[float64](got.Detach().Contiguous().ToDType(tensor.Float64))
	top := 1e-3
	for _, w := range want {
		top = math.Max(top, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(g[i]-w) <= tol*top) {
			t.Fatalf("%s: element %d is %g, want %g", name, i, g[i], w)
		}
	}
}

// TestOneGradientTwice takes second derivatives by the first or the second argument alone.
func TestOneGradientTwice(t *testing.T) {
	cosine := func(x, t *tensor.Tensor, _ F.Reduction) *tensor.Tensor { return F.CosineSimilarity(x, t) }
	check := func(name string, f func(x, t *tensor.Tensor, how F.Reduction) *tensor.Tensor, x, y *tensor.Tensor) {
		opstest.GradCheck(t, name+" by the input",
			func(in []*tensor.Tensor) *tensor.Tensor { return f(in[0], y, F.Mean) }, x)
		opstest.GradCheck(t, name+" by the target",
			func(in []*tensor.Tensor) *tensor.Tensor { return f(x, in[0], F.Mean) }, y)
	}
	x, y := opstest.Fill(tensor.Float64, 1, 3, 4), opstest.Fill(tensor.Float64, 2, 3, 4)
	for _, l := range pairFormulas {
		if !l.signs && !l.unit {
			check(l.name, l.f, x, y.Abs())
		}
	}
	check("cosine similarity", cosine, x, y)
}

// TestWeightedHuber checks that the mean divides by the number of losses where that of squares divides by the sum of
// the weights.
func TestWeightedHuber(t *testing.T) {
	x, y, w := tensor.FromSlice([]float64{0.5, 0}, 2), tensor.FromSlice([]float64{0, 0}, 2),
		tensor.FromSlice([]float64{4, 1}, 2)
	if got := F.HuberLoss(x, y, F.HuberLossOptions{Weight: w}).Item(); got != 0.25 {
		t.Errorf("huber_loss is %v, want 0.25", got)
	}
	if got := F.MSELoss(x, y, F.MSELossOptions{Weight: w}).Item(); got != 0.2 {
		t.Errorf("mse_loss is %v, want 0.2", got)
	}
}
