package norm_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func fill(seed int, sh ...int) *T { return opstest.Fill(tensor.Float64, seed, sh...) }

func TestGradients(t *testing.T) {
	for _, sh := range [][]int{{4, 3, 2, 3}, {5, 3}} {
		opstest.GradCheck(t, "batch_norm in training", func(x []*T) *T {
			return F.BatchNorm(x[0], nil, nil, F.BatchNormOptions{Weight: x[1], Bias: x[2], Training: true})
		}, fill(1, sh...), fill(2, 3), fill(3, 3))
		opstest.GradCheck(t, "batch_norm in evaluation", func(x []*T) *T {
			return F.BatchNorm(x[0], fill(4, 3), fill(5, 3).Mul(fill(5, 3)).AddScalar(0.5),
				F.BatchNormOptions{Weight: x[1], Bias: x[2]})
		}, fill(1, sh...), fill(2, 3), fill(3, 3))
	}
	opstest.GradCheck(t, "layer_norm", func(x []*T) *T {
		return F.LayerNorm(x[0], []int{3, 4}, F.LayerNormOptions{Weight: x[1], Bias: x[2]})
	}, fill(1, 2, 3, 4), fill(2, 3, 4), fill(3, 3, 4))
	opstest.GradCheck(t, "layer_norm of two outer dimensions", func(x []*T) *T {
		return F.LayerNorm(x[0], []int{4}, F.LayerNormOptions{Weight: x[1], Bias: x[2]})
	}, fill(1, 2, 3, 4), fill(2, 4), fill(3, 4))
	opstest.GradCheck(t, "layer_norm of the whole tensor", func(x []*T) *T {
		return F.LayerNorm(x[0], []int{3, 4}, F.LayerNormOptions{Weight: x[1], Bias: x[2]})
	}, fill(1, 3, 4), fill(2, 3, 4), fill(3, 3, 4))
	opstest.GradCheck(t, "layer_norm without parameters", func(x []*T) *T { return F.LayerNorm(x[0], []int{4}) },
		fill(1, 2, 3, 4))
	opstest.GradCheck(t, "group_norm", func(x []*T) *T {
		return F.GroupNorm(x[0], 2, F.GroupNormOptions{Weight: x[1], Bias: x[2]})
	}, fill(1, 2, 4, 3, 2), fill(2, 4), fill(3, 4))
	opstest.GradCheck(t, "instance_norm", func(x []*T) *T {
		return F.InstanceNorm(x[0], F.InstanceNormOptions{Weight: x[1], Bias: x[2]})
	}, fill(1, 2, 3, 4), fill(2, 3), fill(3, 3))
	opstest.GradCheck(t, "rms_norm", func(x []*T) *T {
		return F.RMSNorm(x[0], []int{5}, F.RMSNormOptions{Weight: x[1]})
	}, fill(1, 3, 5), fill(2, 5))
}

func TestRunningStatistics(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 3, 5, 7}, 4, 1)
	m, v := tensor.FromSlice([]float32{0}), tensor.FromSlice([]float32{1})
	before := m.Version()
	F.BatchNorm(x, m, v, F.BatchNormOptions{Training: true, Momentum: tensor.Some(0.5)})
	if got := tensor.Data[float32](m)[0]; got != 2 {
		t.Errorf("running mean %g, want 2", got)
	}
	if got, want := tensor.Data[float32](v)[0], float32(0.5+0.5*20.0/3); got != want {
		t.Errorf("running variance %g, want %g", got, want)
	}
	if m.Version() == before {
		t.Error("the change of the running mean was not counted")
	}
}

func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	f32 := func(seed int, sh ...int) *T {
		return opstest.Fill(tensor.Float32, seed, sh...).SetRequiresGrad(true)
	}
	for _, sh := range [][]int{{7, 64, 13, 17}, {9, 3000, 3, 3}, {2, 2000, 6, 6}} {
		opstest.SameBits(t, fmt.Sprint("batch_norm of ", sh), func() []*T {
			x, w, b := f32(1, sh...), f32(2, sh[1]), f32(3, sh[1])
			y := F.BatchNorm(x, nil, nil, F.BatchNormOptions{Weight: w, Bias: b, Training: true})
			z := F.BatchNorm(x, b.Detach(), w.Detach().Abs(), F.BatchNormOptions{Weight: w, Bias: b})
			y.Mul(y).Mul(z).SumDim(nil).Backward()
			return []*T{y.Detach(), z.Detach(), x.Grad(), w.Grad(), b.Grad()}
		})
	}
	opstest.SameBits(t, "layer_norm", func() []*T {
		x, w, b := f32(1, 777, 96), f32(2, 96), f32(3, 96)
		y := F.LayerNorm(x, []int{96}, F.LayerNormOptions{Weight: w, Bias: b})
		y.Mul(y).Mul(x).SumDim(nil).Backward()
		return []*T{y.Detach(), x.Grad(), w.Grad(), b.Grad()}
	})
	opstest.SameBits(t, "group_norm", func() []*T {
		x, w, b := f32(1, 7, 64, 13, 17), f32(2, 64), f32(3, 64)
		y := F.GroupNorm(x, 8, F.GroupNormOptions{Weight: w, Bias: b})
		y.Mul(y).Mul(x).SumDim(nil).Backward()
		return []*T{y.Detach(), x.Grad(), w.Grad(), b.Grad()}
	})
}

func Example() {
	x := tensor.FromSlice([]float32{1, 3, 10, 10}, 2, 2)
	fmt.Printf("%.2f\n", tensor.Data[float32](F.LayerNorm(x, []int{2})))
	// Output: [-1.00 1.00 0.00 0.00]
}

// The text of a refused dtype is PyTorch's.
func TestRMSNormRefusesIntegers(t *testing.T) {
	err := tensor.Try(func() { F.RMSNorm(tensor.New([]int{2, 3}, tensor.Int64), []int{3}) })
	if err == nil || !strings.Contains(err.Error(), `"rms_norm" not implemented for 'Long'`) {
		t.Errorf("got %v", err)
	}
}

// TestInstanceNormStatistics compares the running statistics with the mean over the images of their channels'
// moments; one channel and one image are where an expanded statistic could share its elements.
func TestInstanceNormStatistics(t *testing.T) {
	for _, sh := range [][]int{{1, 1, 6}, {5, 1, 7}, {1, 3, 6}, {4, 3, 2, 5}} {
		n, ch := sh[0], sh[1]
		x := fill(1, sh...)
		m, v := fill(2, ch), fill(3, ch)
		wantM, wantV := append([]float64{}, tensor.Data[float64](m)...), append([]float64{}, tensor.Data[float64](v)...)
		l := x.Numel() / (n * ch)
		for c := range ch {
			var mean, variance float64
			for i := range n {
				e := tensor.Data[float64](x)[(i*ch+c)*l:][:l]
				var s, q float64
				for _, a := range e {
					s += a / float64(l)
				}
				for _, a := range e {
					q += (a - s) * (a - s) / float64(l-1)
				}
				mean, variance = mean+s/float64(n), variance+q/float64(n)
			}
			wantM[c], wantV[c] = 0.7*wantM[c]+0.3*mean, 0.7*wantV[c]+0.3*variance
		}
		x.SetRequiresGrad(true)
		y := F.InstanceNorm(x, F.InstanceNormOptions{RunningMean: m, RunningVar: v, Momentum: tensor.Some(0.3)})
		y.Sum().Backward()
		for c := range ch {
			if a, b := tensor.Data[float64](m)[c], tensor.Data[float64](v)[c]; math.Abs(a-wantM[c]) > 1e-12 ||
				math.Abs(b-wantV[c]) > 1e-12 {
				t.Errorf("%v channel %d: running mean %g, variance %g, want %g, %g", sh, c, a, b, wantM[c], wantV[c])
			}
		}
	}
}
