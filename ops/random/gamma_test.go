package random_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/special"
	"github.com/gotorch-dev/torch/tensor"
)

// The derivative of a draw is -(∂F/∂α)/f; the approximations are good to some digits over all their ranges.
func TestGammaGradient(t *testing.T) {
	const h = 1e-5
	var alpha, x []float64
	for _, a := range []float64{0.2, 0.7, 1, 2.5, 6, 9, 30, 200} {
		for _, q := range []float64{0.15, 0.5, 0.9, 1, 1.05, 1.3, 2} {
			alpha, x = append(alpha, a), append(x, a*q)
		}
	}
	a, v := tensor.FromSlice(alpha), tensor.FromSlice(x)
	got := tensor.Data[float64](torch.StandardGammaGrad(a, v))
	rise := tensor.Data[float64](special.Gammainc(a.AddScalar(h),
		v).Sub(special.Gammainc(a.SubScalar(h), v)).DivScalar(2 * h))
	logs := tensor.Data[float64](a.SubScalar(1).Mul(v.Log()).Sub(v).Sub(a.Lgamma()))
	for i := range x {
		want := -rise[i] / math.Exp(logs[i])
		if math.Abs(rise[i]) < 1e-6 { // too far in the tail for differences
			continue
		}
		if math.Abs(got[i]-want) > 2e-3*math.Abs(want)+1e-4 {
			t.Errorf("alpha %g, x %g: got %g, want %g", alpha[i], x[i], got[i], want)
		}
	}
}

// A Dirichlet of two coordinates is a Beta: with b = 1 its first coordinate is u^(1/a), whose derivative by a is known.
func TestDirichletGradient(t *testing.T) {
	for _, a := range []float64{0.3, 1, 2, 5, 8} {
		for _, u := range []float64{0.05, 0.3, 0.6, 0.95} {
			x := math.Pow(u, 1/a)
			want := -x * math.Log(u) / (a * a)
			g := torch.DirichletGrad(tensor.FromSlice([]float64{x}), tensor.FromSlice([]float64{a}),
				tensor.FromSlice([]float64{a + 1})).Item()
			if got := g * (1 - x); math.Abs(got-want) > 3e-3*want+1e-4 {
				t.Errorf("a %g, u %g: got %g, want %g", a, u, got, want)
			}
		}
	}
}

func TestSampleDirichlet(t *testing.T) {
	torch.ManualSeed(0)
	x := tensor.FromSlice([]float32{1, 2, 3}).Expand([]int{20000, 3}).SampleDirichlet()
	mean := tensor.Data[float32](x.MeanDim([]int{0}))
	for i, want := range []float64{1. / 6, 2. / 6, 3. / 6} {
		if math.Abs(float64(mean[i])-want) > 0.01 {
			t.Errorf("mean %v", mean)
		}
	}
	if s := x.SumDim([]int{-1}); !s.AllClose(s.OnesLike()) {
		t.Error("rows do not sum to 1")
	}
	if torch.Try(func() { tensor.FromSlice([]float32{-1, 1}).SampleDirichlet() }) == nil {
		t.Error("a negative concentration is taken")
	}
}
