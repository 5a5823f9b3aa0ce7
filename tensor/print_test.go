package tensor_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

func TestString(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	many := make([]int64, 1001)
	for i := range many {
		many[i] = int64(i)
	}
	for _, c := range []struct {
		t    *tensor.Tensor
		want string
	}{
		{tensor.FromSlice([]float32{1, 2.5}), "tensor([1.0000, 2.5000])"},
		{tensor.FromSlice([]float32{1, -2}), "tensor([ 1., -2.])"},
		{tensor.FromSlice([]float64{1e-7, 1}), "tensor([1.0000e-07, 1.0000e+00], dtype=torch.float64)"},
		{tensor.FromSlice([]float32{nan, inf, -inf, 1.5}), "tensor([   nan,    inf,   -inf, 1.5000])"},
		{tensor.FromSlice([]float32{nan}), "tensor([nan])"},
		{tensor.FromSlice([]bool{true, false}), "tensor([ True, False])"},
		{tensor.FromSlice([]complex64{1 + 2i, 3 - 4i}), "tensor([1.+2.j, 3.-4.j])"},
		{tensor.FromSlice([]int32{1, 2, 3, 4}, 2, 2), "tensor([[1, 2],\n        [3, 4]], dtype=torch.int32)"},
		{tensor.FromSlice([]float32{}, 0, 3), "tensor([], size=(0, 3))"},
		{tensor.FromSlice([]int64{}), "tensor([], dtype=torch.int64)"},
		{tensor.FromSlice(many), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"},
		{tensor.FromSlice([]float32{3}, []int{}...).SetRequiresGrad(true), "tensor(3., requires_grad=True)"},
		{tensor.FromSlice([]float32{1}).SetParameter().SetRequiresGrad(true),
			"Parameter containing:\ntensor([1.], requires_grad=True)"},
		{tensor.Alias(tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2), []int{2, 2}, []int{1, 2}, 0),
			"tensor([[1., 3.],\n        [2., 4.]])"},
		{nil, "None"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// A summarised tensor must not be read as a whole: this one would have 2^40 elements.
func TestStringOfHugeView(t *testing.T) {
	x := tensor.Alias(tensor.FromSlice([]float32{1.5}), []int{1 << 20, 1 << 20}, []int{0, 0}, 0)
	if got := x.String(); strings.Count(got, "1.5000") != 36 {
		t.Error(got)
	}
}

func TestSetPrintOptions(t *testing.T) {
	x := tensor.FromSlice([]float64{math.Pi, 1e-3})
	first := x.String()
	old := tensor.SetPrintOptions(tensor.PrintOptions{Precision: tensor.Some(2), SciMode: tensor.Some(true)})
	if got := x.String(); got != "tensor([3.14e+00, 1.00e-03], dtype=torch.float64)" {
		t.Error(got)
	}
	tensor.SetPrintOptions(old)
	if got := x.String(); got != first {
		t.Errorf("options were not restored: %s", got)
	}
	if err := tensor.Try(func() { tensor.SetPrintOptions(tensor.PrintOptions{LineWidth: tensor.Some(-1)}) }); err == nil {
		t.Error("a negative width was accepted")
	}
}

func TestFormatVerbs(t *testing.T) {
	pi := tensor.FromSlice([]float32{3.14159}, []int{}...)
	for _, c := range []struct {
		format string
		t      *tensor.Tensor
		want   string
	}{
		{"%v", pi, "tensor(3.1416)"}, {"%s", pi, "tensor(3.1416)"}, {"%.3f", pi, "3.142"}, {"%8.2f|", pi, "    3.14|"},
		{"%d", tensor.FromSlice([]int64{7}, []int{}...), "7"},
		{"%.1f", tensor.FromSlice([]int64{7}, []int{}...), "7.0"},
		{"%.3f", tensor.FromSlice([]float32{1}), "tensor([1.])"}, {"%-16s|", pi, "tensor(3.1416)  |"},
		{"%q", pi, `"tensor(3.1416)"`},
		{"%t", tensor.FromSlice([]bool{true}, []int{}...), "true"},
	} {
		if got := fmt.Sprintf(c.format, c.t); got != c.want {
			t.Errorf("%s: got %q, want %q", c.format, got, c.want)
		}
	}
	if got := fmt.Sprint(tensor.Size{2, 3}, tensor.Size{}); got != "torch.Size([2, 3]) torch.Size([])" {
		t.Error(got)
	}
}

func ExampleTensor_String() {
	fmt.Println(tensor.FromSlice([]float32{0.1, 0.25, -3, 4}, 2, 2))
	// Output:
	// tensor([[ 0.1000,  0.2500],
	//         [-3.0000,  4.0000]])
}
