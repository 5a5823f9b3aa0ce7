package torch_test

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Rounded quotients, steps and distinct elements have no derivative: results are on the tape, and refuse the backward
// pass, as PyTorch's do.
func TestNoDerivative(t *testing.T) {
	x := torch.TensorOf[float32](3, -2).SetRequiresGrad(true)
	for _, c := range []struct {
		f          func() *torch.Tensor
		node, want string
	}{
		{func() *torch.Tensor { return x.FloorDivideScalar(2) }, "NotImplemented",
			"derivative for aten::floor_divide is not implemented"},
		{func() *torch.Tensor { return x.Heaviside(x) }, "NotImplemented",
			"derivative for aten::heaviside is not implemented"},
		{func() *torch.Tensor { u, _, _ := x.Unique(); return u }, "Unique2Backward0",
			"the derivative for '_unique2' is not implemented."},
	} {
		y := c.f()
		if !y.RequiresGrad() || !strings.Contains(y.String(), "grad_fn=<"+c.node+">") {
			t.Errorf("a result is %v, want one with grad_fn=<%s>", y, c.node)
		}
		if err := torch.Try(func() { y.Sum().Backward() }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// Operators that fill take expanded tensors, some with a warning; those that compute refuse them.
func TestExpandedInPlace(t *testing.T) {
	mask := torch.Ones([]int{2, 3}, torch.OnesOptions{DType: torch.Bool})
	first := torch.TensorOf[int64](0)
	for name, c := range map[string]struct {
		f      func(x *torch.Tensor)
		warns  bool
		refuse bool
	}{
		"fill_":          {f: func(x *torch.Tensor) { x.FillScalarInPlace(2) }},
		"zero_":          {f: func(x *torch.Tensor) { x.ZeroInPlace().FillScalarInPlace(2) }},
		"fill_diagonal_": {f: func(x *torch.Tensor) { x.FillScalarInPlace(2).FillDiagonalInPlace(2) }},
		"masked_fill_":   {f: func(x *torch.Tensor) { x.MaskedFillScalarInPlace(mask, 2) }, warns: true},
		"index_fill_":    {f: func(x *torch.Tensor) { x.IndexFillScalarInPlace(0, first, 2) }, warns: true},
		"index_put_": {f: func(x *torch.Tensor) {
			x.IndexPutInPlace([]*torch.Tensor{first}, torch.Full([]int{1, 3}, 2.0))
		}, warns: true},
		"add_":  {f: func(x *torch.Tensor) { x.AddScalarInPlace(2) }, refuse: true},
		"copy_": {f: func(x *torch.Tensor) { x.CopyInPlace(torch.Ones([]int{2, 3})) }, refuse: true},
		"out":   {f: func(x *torch.Tensor) { torch.Sin(x, torch.OutOptions{Out: x}) }, refuse: true},
	} {
		var warnings []string
		restore := torch.SetWarnings(func(w torch.Warning) { warnings = append(warnings, w.Text) })
		x := torch.Zeros([]int{1, 3}).Expand([]int{2, 3})
		err := torch.Try(func() { c.f(x) })
		torch.SetWarnings(restore)
		switch {
		case c.refuse:
			if err == nil || !strings.Contains(err.Error(), "more than one element of the written-to tensor") {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		case err != nil || !x.Equal(torch.Full([]int{2, 3}, 2.0)):
			t.Errorf("%s gave %v, %v", name, x, err)
		}
		if want := "Use of " + name + " on expanded tensors is deprecated"; c.warns != (len(warnings) == 1 &&
			strings.Contains(warnings[0], want)) || !c.warns && len(warnings) > 0 {
			t.Errorf("%s warns %q", name, warnings)
		}
	}
}

// Means of narrow integers are taken of sums and counts that wrap around in their own type.
func TestMeansOfBytesWrap(t *testing.T) {
	bytes := func(n int) *torch.Tensor { return torch.Zeros([]int{n}, torch.ZerosOptions{DType: torch.Uint8}) }
	got := bytes(2).IndexReduce(0, torch.TensorOf[int64](0, 0), torch.TensorOf[uint8](200, 200), "mean")
	if !got.Equal(torch.TensorOf[uint8](48, 0)) { // (400 - 256) / 3
		t.Errorf("index_reduce gave %v", got)
	}
	got = torch.TensorOf[int8](0, 0, 0).ScatterReduce(0, torch.TensorOf[int64](0, 0, 1),
		torch.TensorOf[int8](100, 100, 7),
		"mean", tensor.ScatterReduceOptions{NoIncludeSelf: true})
	if !got.Equal(torch.TensorOf[int8](-28, 7, 0)) { // (200 - 256) / 2
		t.Errorf("scatter_reduce gave %v", got)
	}
}
