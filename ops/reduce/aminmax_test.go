package reduce_test

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestAminmaxGradient checks the gradients of both results together, over a dimension and over all.
func TestAminmaxGradient(t *testing.T) {
	for _, o := range []tensor.AminmaxOptions{{}, {Dim: tensor.Some(1)}, {Dim: tensor.Some(0), KeepDim: true}} {
		opstest.GradCheck(t, "aminmax", func(x []*tensor.Tensor) *tensor.Tensor {
			lo, hi := x[0].Aminmax(o)
			return hi.MulScalar(2).Sub(lo)
		}, opstest.Fill(tensor.Float64, 1, 4, 5))
	}
}

// TestOutTuple calls operators with several results with out=(a, b), as Python does, and checks what is refused.
func TestOutTuple(t *testing.T) {
	type T = tensor.Tensor
	x := opstest.Fill(tensor.Float32, 1, 6, 5)
	f32 := func(n int) *T { return tensor.New([]int{n}, tensor.Float32) }
	one := f32(5)
	ten := f32(10)
	for _, c := range []struct {
		name string
		op   string
		args []tensor.Value
		out  []*T
		err  string
	}{
		{"both", "aminmax", nil, []*T{f32(5), f32(5)}, ""},
		{"resized", "aminmax", nil, []*T{f32(0), f32(0)}, ""},
		{"other type", "aminmax", nil, []*T{f32(5), tensor.New([]int{5}, tensor.Float64)},
			"Expected out tensor to have dtype float, but got double instead"},
		{"integers", "aminmax", nil, []*T{tensor.New([]int{5}, tensor.Int64), f32(5)},
			"Expected out tensor to have dtype float, but got long int instead"},
		{"the same twice", "aminmax", nil, []*T{one, one}, "must not overlap"},
		{"overlapping", "aminmax", nil, []*T{ten.Narrow(0, 0, 5), ten.Narrow(0, 3, 5)}, "unsupported operation"},
		{"one of two", "aminmax", nil, []*T{f32(5)}, "expected tuple of 2 elements but got 1"},
		{"kthvalue", "kthvalue", []tensor.Value{tensor.IntValue(2)}, []*T{f32(5), tensor.New([]int{5}, tensor.Int64)},
			""},
		{"kthvalue into its input", "kthvalue", []tensor.Value{tensor.IntValue(2)},
			[]*T{x, tensor.New([]int{5}, tensor.Int64)}, "unsupported operation"},
	} {
		_, err := tensor.ResolveCall([]string{"aten::" + c.op},
			append([]tensor.Value{tensor.TensorValue(x)}, c.args...),
			map[string]tensor.Value{"dim": tensor.IntValue(0), "out": tensor.TensorsValue(c.out)})
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v", c.name, err)
		case c.err == "" && c.op == "aminmax":
			if lo, hi := x.Aminmax(tensor.AminmaxOptions{Dim: tensor.Some(0)}); !c.out[0].Equal(lo) ||
				!c.out[1].Equal(hi) {
				t.Errorf("%s: other values than without out", c.name)
			}
		}
	}
}
