package conv_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/ops/conv"
	"github.com/gotorch-dev/torch/tensor"
)

// Joined convolutions give what their parts give, by the kernels or, where those do not take the arguments, one by one.
func TestCat(t *testing.T) {
	type part struct{ x, w, b *tensor.Tensor }
	parts := func(d tensor.DType) []part {
		x := opstest.Fill(d, 1, 2, 16, 9, 8)
		return []part{
			{x, opstest.Fill(d, 2, 32, 16, 1, 1), opstest.Fill(d, 3, 32)},
			{x, opstest.Fill(d, 4, 48, 16, 3, 3), opstest.Fill(d, 5, 48)},
			{opstest.Fill(d, 6, 2, 5, 9, 8), opstest.Fill(d, 7, 3, 5, 1, 1), opstest.Fill(d, 8, 3)},
		}
	}
	stride, dil, pad := []int{1, 1, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1, 1}, []int{0, 0, 1, 1, 0, 0}
	join := func(p []part, stride, pad []int, act string, winograd bool) (*tensor.Tensor, error) {
		var x, w, b []*tensor.Tensor
		for _, p := range p {
			x, w, b = append(x, p.x), append(w, p.w), append(b, p.b)
		}
		var args []tensor.Value
		for _, a := range []any{x, w, b, stride, pad, dil[:len(stride)], 0.0, math.Inf(1), act, winograd} {
			args = append(args, tensor.Box(a))
		}
		y, err := tensor.CallOp("gotorch::conv_cat", args...)
		if err != nil {
			return nil, err
		}
		return y[0].T, nil
	}
	for _, c := range []struct {
		name string
		d    tensor.DType
		act  string
		wino bool
		tol  float64
	}{
		{"float32", tensor.Float32, "none", false, 1e-5},
		{"float32 by Winograd's algorithm, with an activation", tensor.Float32, "sigmoid", true, 1e-4},
		{"float64", tensor.Float64, "none", false, 1e-12},
		{"bfloat16, which is joined apart", tensor.BFloat16, "none", false, 0},
	} {
		list := parts(c.d)
		y, err := join(list, stride, pad, c.act, c.wino)
		if err != nil {
			t.Fatal(err)
		}
		got, at := tensor.Dense(y.To(tensor.Float64)), 0
		for i, p := range list {
			want := conv.Fused(p.x, p.w, p.b, nil, stride[:2], pad[2*i:][:2], dil[:2], 1, 0, math.Inf(1))
			if c.act == "sigmoid" {
				want = want.Sigmoid()
			}
			n := want.Size(1)
			part := tensor.Data[float64](tensor.Dense(got.Narrow(1, at, n)))
			for k, v := range tensor.Data[float64](tensor.Dense(want.To(tensor.Float64))) {
				if !(math.Abs(part[k]-v) <= c.tol*max(1, math.Abs(v))) {
					t.Fatalf("%s: part %d, element %d is %v, want %v", c.name, i, k, part[k], v)
				}
			}
			at += n
		}
		if at != y.Size(1) {
			t.Errorf("%s: %d channels, want %d", c.name, y.Size(1), at)
		}
	}
	list := parts(tensor.Float32)
	for _, c := range []struct {
		name        string
		parts       []part
		stride, pad []int
		act         string
		want        error
	}{
		{"of other sizes", list, stride, []int{0, 0, 1, 1, 1, 1}, "none", tensor.ErrShape},
		{"too few numbers", list, stride, pad[:4], "none", tensor.ErrShape},
		{"none", nil, nil, nil, "none", tensor.ErrShape},
		{"stride 0", list, []int{1, 1, 0, 1, 1, 1}, pad, "none", tensor.ErrValue},
		{"no activation", list, stride, pad, "square", tensor.ErrValue},
		{"channels that do not fit", []part{list[0], {list[2].x, list[1].w, list[1].b}}, stride[:4], pad[:4], "none",
			tensor.ErrShape},
	} {
		if _, err := join(c.parts, c.stride, c.pad, c.act, false); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want an error %v", c.name, err, c.want)
		}
	}
}
