package reduce_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/par"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

// noise fills a tensor with numbers of very different sizes, so that another order of additions would show.
func noise(shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	d := make([]float32, n)
	x := uint32(12345)
	for i := range d {
		x = x*1664525 + 1013904223
		d[i] = float32(math.Ldexp(float64(int32(x)), int(x>>8%20)-40))
	}
	return tensor.FromSlice(d, shape...)
}

func TestSameBitsOnAnyNumberOfThreads(t *testing.T) {
	before := par.NumThreads()
	defer par.SetNumThreads(before)
	cases := []struct {
		shape, dims []int
		gap         int // elements that are left out of each row
	}{{[]int{300001}, nil, 0}, {[]int{3, 100003}, []int{1}, 0}, {[]int{20011, 5}, []int{0}, 0},
		{[]int{700, 300}, []int{0}, 0}, {[]int{4, 6, 50, 70}, []int{0, 2, 3}, 0},
		{[]int{5000, 5}, nil, 2}, {[]int{30011, 5}, nil, 1}, {[]int{3, 900, 70}, []int{1, 2}, 8},
		{[]int{70, 40, 20}, []int{1, 2}, 7}}
	for _, c := range cases {
		x := noise(c.shape...)
		if last := len(c.shape) - 1; c.gap > 0 {
			x = x.Narrow(last, 0, c.shape[last]-c.gap)
		}
		want := map[string]string{}
		for threads := 1; threads <= 3; threads++ {
			par.SetNumThreads(threads)
			for name, y := range map[string]*tensor.Tensor{"sum": x.SumDim(c.dims), "mean": x.MeanDim(c.dims),
				"var": x.VarCorrection(tensor.VarCorrectionOptions{Dim: c.dims}),
				"max": x.Amax(tensor.AmaxOptions{Dim: c.dims})} {
				got := fmt.Sprint(tensor.Data[float32](y.Contiguous()))
				if threads == 1 {
					want[name] = got
				} else if got != want[name] {
					t.Errorf("%s of %v less %d over %v differs with %d threads", name, c.shape, c.gap, c.dims, threads)
				}
			}
		}
	}
}

func TestTiesAndNaN(t *testing.T) {
	nan := float32(math.NaN())
	x := tensor.FromSlice([]float32{1, 3, 3, 0, 2, nan, 5, nan}, 2, 4)
	if got := tensor.Data[int64](x.ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(1)})); got[0] != 1 || got[1] != 1 {
		t.Errorf("ArgMax = %v, want the first of equal ones and the first NaN: [1 1]", got)
	}
	if m := x.Max().Num().F; m == m {
		t.Errorf("Max = %v, want NaN", m)
	}
}

// TestTruthOfExpanded compares any, all and count_nonzero of repeated elements, also of a part of a larger tensor, with
// those of a copy.
func TestTruthOfExpanded(t *testing.T) {
	x := tensor.FromSlice([]float32{7, 0, 1, 0, 2, 0, 0, 3}, 8).Narrow(0, 1, 6).View([]int{2, 1, 3})
	for _, shape := range [][]int{{2, 5, 3}, {4, 2, 5, 3}} {
		e := x.Expand(shape)
		c := e.Contiguous()
		same := func(what string, got, want *tensor.Tensor) {
			if !got.Equal(want) {
				t.Errorf("%s of %v: got %v, want %v", what, shape, got, want)
			}
		}
		same("any", e.Any(), c.Any())
		same("all", e.All(), c.All())
		same("count", e.CountNonzero(), c.CountNonzero())
		for d := range shape {
			same(fmt.Sprint("any along ", d), e.AnyDim(d), c.AnyDim(d))
			same(fmt.Sprint("all along ", d), e.AllDim(d), c.AllDim(d))
		}
	}
	if e := tensor.FromSlice([]float32{0}, 1).Expand([]int{100000}); e.Any().Item() != 0 ||
		e.EqScalar(0).All().Item() != 1 {
		t.Error("any or all of one repeated element is wrong")
	}
}
