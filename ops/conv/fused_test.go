package conv_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/ops/conv"
	"github.com/gotorch-dev/torch/tensor"
)

// The fused operator gives what its parts give, in either layout and mixed.
func TestFused(t *testing.T) {
	x := opstest.Fill(tensor.Float32, 1, 2, 6, 9, 8)
	w := opstest.Fill(tensor.Float32, 2, 10, 6, 3, 3)
	b := opstest.Fill(tensor.Float32, 3, 10)
	r := opstest.Fill(tensor.Float32, 4, 2, 10, 5, 4)
	last := func(t *tensor.Tensor) *tensor.Tensor {
		y := tensor.NewStrided(t.Shape(), tensor.FormatStrides(t.Shape(), tensor.ChannelsLast), t.DType())
		tensor.CopyRaw(y, t)
		return y
	}
	want := F.Conv2d(x, w, F.Conv2dOptions{Bias: b, Stride: []int{2, 2}, Padding: []int{1, 1}}).Add(r).Dense()
	for _, c := range []struct {
		name       string
		x, r       *tensor.Tensor
		lo, hi     float64
		resultLast bool
	}{
		{"planar ReLU", x, r, 0, math.Inf(1), false},
		{"last ReLU6", last(x), last(r), 0, 6, true},
		{"mixed, no clamp", last(x), r, math.Inf(-1), math.Inf(1), true},
		{"mixed", x, last(r), -0.1, 0.1, false},
	} {
		y := conv.Fused(c.x, w, b, c.r, []int{2, 2}, []int{1, 1}, []int{1, 1}, 1, c.lo, c.hi)
		if got := y.IsContiguousFormat(tensor.ChannelsLast); got != c.resultLast {
			t.Errorf("%s: channels last is %v", c.name, got)
		}
		got := tensor.Data[float32](y.Dense())
		for i, v := range tensor.Data[float32](want) {
			if v := min(max(float64(v), c.lo), c.hi); math.Abs(float64(got[i])-v) > 1e-5 {
				t.Fatalf("%s: element %d is %v, want %v", c.name, i, got[i], v)
			}
		}
	}
	// A change of the weights in place is seen.
	run := func() float32 {
		return tensor.Data[float32](conv.Fused(x, w, b, nil, []int{2, 2}, []int{1, 1}, []int{1, 1}, 1, math.Inf(-1), math.Inf(1)))[0]
	}
	before := run()
	w.MulScalarInPlace(2)
	if after := run(); math.Abs(float64(after-2*before)) > 1+math.Abs(float64(before)) || after == before {
		t.Errorf("got %v after doubling the weights, %v before", after, before)
	}
}
