package conv_test

import (
	"errors"
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
	want := tensor.Dense(F.Conv2d(x, w, F.Conv2dOptions{Bias: b, Stride: []int{2, 2}, Padding: []int{1, 1}}).Add(r))
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
		got := tensor.Data[float32](tensor.Dense(y))
		for i, v := range tensor.Data[float32](want) {
			if v := min(max(float64(v), c.lo), c.hi); math.Abs(float64(got[i])-v) > 1e-5 {
				t.Fatalf("%s: element %d is %v, want %v", c.name, i, got[i], v)
			}
		}
	}
	// A change of the weights in place is seen.
	run := func() float32 {
		return tensor.Data[float32](conv.Fused(x, w, b, nil, []int{2, 2}, []int{1, 1}, []int{1, 1}, 1, math.Inf(-1),
			math.Inf(1)))[0]
	}
	before := run()
	w.MulScalarInPlace(2)
	if after := run(); math.Abs(float64(after-2*before)) > 1+math.Abs(float64(before)) || after == before {
		t.Errorf("got %v after doubling the weights, %v before", after, before)
	}
}

// A pair gives what its parts give, in either layout, and so does one with a third convolution.
func TestPair(t *testing.T) {
	last := func(t *tensor.Tensor) *tensor.Tensor {
		y := tensor.NewStrided(t.Shape(), tensor.FormatStrides(t.Shape(), tensor.ChannelsLast), t.DType())
		tensor.CopyRaw(y, t)
		return y
	}
	x := opstest.Fill(tensor.Float32, 1, 2, 6, 9, 8)
	w, w2 := opstest.Fill(tensor.Float32, 2, 40, 6, 1, 1), opstest.Fill(tensor.Float32, 3, 40, 1, 3, 3)
	b := opstest.Fill(tensor.Float32, 4, 40)
	w3, b3, res := opstest.Fill(tensor.Float32, 5, 7, 40, 1, 1), opstest.Fill(tensor.Float32, 6, 7),
		opstest.Fill(tensor.Float32, 7, 2, 7, 5, 4)
	one, none, two := []int{1, 1}, []int{0, 0}, []int{2, 2}
	inf := math.Inf(1)
	pair := func(x, w2, w3, b3, res *tensor.Tensor) (*tensor.Tensor, error) {
		var args []tensor.Value
		for _, a := range []any{x, w, b, one, none, one, 0.0, 6.0, w2, nil, two, one, one, -1.0, inf, w3, b3, res, 0.0,
			inf} {
			args = append(args, tensor.Box(a))
		}
		y, err := tensor.CallOp("gotorch::conv_depthwise_fused", args...)
		if err != nil {
			return nil, err
		}
		return y[0].T, nil
	}
	for _, c := range []struct {
		name       string
		x          *tensor.Tensor
		third      bool
		res        *tensor.Tensor
		resultLast bool
	}{
		{"planar", x, false, nil, false},
		{"last", last(x), false, nil, true},
		{"three, planar", x, true, nil, false},
		{"three, last", last(x), true, nil, true},
		{"three, residual", last(x), true, last(res), true},
		{"three, planar residual", last(x), true, res, true},
		{"three, planar, residual last", x, true, last(res), false},
	} {
		mid := conv.Fused(c.x, w, b, nil, one, none, one, 1, 0, 6)
		want := conv.Fused(mid, w2, nil, nil, two, one, one, 40, -1, inf)
		var y *tensor.Tensor
		var err error
		if c.third {
			want = conv.Fused(want, w3, b3, c.res, one, none, one, 1, 0, inf)
			y, err = pair(c.x, w2, w3, b3, c.res)
		} else {
			y, err = pair(c.x, w2, nil, nil, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := y.IsContiguousFormat(tensor.ChannelsLast); got != c.resultLast {
			t.Errorf("%s: channels last is %v", c.name, got)
		}
		data := tensor.Data[float32](tensor.Dense(want))
		for i, v := range tensor.Data[float32](tensor.Dense(y)) {
			if v != data[i] {
				t.Fatalf("%s: element %d is %v, want %v", c.name, i, v, data[i])
			}
		}
	}
	for _, shape := range [][]int{{39, 1, 3, 3}, {80, 1, 3, 3}, {40, 2, 3, 3}} {
		if _, err := pair(x, opstest.Fill(tensor.Float32, 5, shape...), nil, nil, nil); !errors.Is(err,
			tensor.ErrShape) {
			t.Errorf("a second weight of shape %v: got %v, want an error of shapes", shape, err)
		}
	}
	for name, a := range map[string][3]*tensor.Tensor{
		"third weight":         {opstest.Fill(tensor.Float32, 5, 7, 39, 1, 1), b3, nil},
		"residual":             {w3, b3, b3},
		"residual and no more": {nil, nil, res},
	} {
		if _, err := pair(x, w2, a[0], a[1], a[2]); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: got %v, want an error of shapes", name, err)
		}
	}
}

// A convolution with a maximum pooling gives what its parts give, in either layout.
func TestPool(t *testing.T) {
	planar := opstest.Fill(tensor.Float32, 1, 2, 3, 19, 18)
	last := tensor.NewStrided(planar.Shape(), tensor.FormatStrides(planar.Shape(), tensor.ChannelsLast), tensor.Float32)
	tensor.CopyRaw(last, planar)
	w, b := opstest.Fill(tensor.Float32, 2, 40, 3, 3, 3), opstest.Fill(tensor.Float32, 3, 40)
	one := []int{1, 1}
	pool := func(x *tensor.Tensor, window, stride, pad []int, ceil bool) (*tensor.Tensor, error) {
		var args []tensor.Value
		for _, a := range []any{x, w, b, one, one, one, 1, 0.0, 6.0, window, stride, pad, false, ceil} {
			args = append(args, tensor.Box(a))
		}
		y, err := tensor.CallOp("gotorch::conv_pool_fused", args...)
		if err != nil {
			return nil, err
		}
		return y[0].T, nil
	}
	for _, x := range []*tensor.Tensor{planar, last} {
		for _, c := range []struct {
			window, stride, pad []int
			ceil                bool
		}{
			{[]int{3, 3}, []int{2, 2}, []int{1, 1}, false}, {[]int{2}, []int{2}, []int{0}, false},
			{[]int{3, 2}, []int{1, 3}, []int{1, 0}, false}, {[]int{3, 3}, []int{2, 2}, []int{0, 0}, true},
			{[]int{2, 3}, []int{5, 4}, []int{1, 1}, true}, {[]int{4, 5}, []int{3, 7}, []int{2, 0}, true},
			{[]int{2, 2}, []int{4, 4}, []int{0, 0}, true},
		} {
			y, err := pool(x, c.window, c.stride, c.pad, c.ceil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := tensor.CallOp("aten::max_pool2d", tensor.Box(conv.Fused(x, w, b, nil, one, one, one, 1, 0, 6)),
				tensor.Box(c.window), tensor.Box(c.stride), tensor.Box(c.pad), tensor.Box(one), tensor.Box(c.ceil))
			if err != nil {
				t.Fatal(err)
			}
			if !tensor.SameShape(y.Shape(), want[0].T.Shape()) {
				t.Fatalf("%v: got shape %v, want %v", c, y.Shape(), want[0].T.Shape())
			}
			data := tensor.Data[float32](tensor.Dense(want[0].T))
			for i, v := range tensor.Data[float32](tensor.Dense(y)) {
				if v != data[i] {
					t.Fatalf("%v: element %d is %v, want %v", c, i, v, data[i])
				}
			}
		}
	}
	for _, c := range []struct {
		window, stride, pad []int
		want                error // that of aten::max_pool2d
	}{
		{[]int{3, 3}, []int{2, 2}, []int{2, 1}, tensor.ErrValue},
		{[]int{30, 30}, []int{1, 1}, []int{0, 0}, tensor.ErrShape},
		{[]int{0, 1}, []int{1, 1}, []int{0, 0}, tensor.ErrValue},
	} {
		if _, err := pool(planar, c.window, c.stride, c.pad, false); !errors.Is(err, c.want) {
			t.Errorf("windows %v: got %v, want an error %v", c, err, c.want)
		}
	}
}
