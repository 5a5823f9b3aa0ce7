package torch_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// alike reports equal numbers, zeros of one sign, or two NaN.
func alike(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || math.IsNaN(a) && math.IsNaN(b)
}

// TestEdgeValues compares functions at the edges of the number line with PyTorch's results, in bodies of vectors and
// what is left over behind them.
func TestEdgeValues(t *testing.T) {
	inf, nan, minus := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	gelu := func(o ...F.GELUOptions) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor { return F.GELU(x, o...) }
	}
	pow := func(e float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor { return x.PowScalar(e) }
	}
	all := []tensor.DType{torch.Float32, torch.Float64, torch.Float16, torch.BFloat16}
	for _, c := range []struct {
		name   string
		f      func(x *tensor.Tensor) *tensor.Tensor
		dtypes []tensor.DType
		x, y   []float64
	}{
		{"gelu", gelu(), all, []float64{-inf, inf, nan, 0, minus, -50}, []float64{nan, inf, nan, 0, minus, minus}},
		{"gelu tanh", gelu(F.GELUOptions{Approximate: "tanh"}), all, []float64{-inf, inf, nan, 0, minus, -50},
			[]float64{nan, inf, nan, 0, minus, minus}},
		{"pow 0.5", pow(0.5), all[2:3], []float64{-inf, minus, inf, 4, -1}, []float64{inf, 0, inf, 2, nan}},
		{"pow -0.5", pow(-0.5), all[2:3], []float64{-inf, minus, 0, inf, 4}, []float64{0, inf, inf, 0, 0.5}},
		{"pow 0.5", pow(0.5), []tensor.DType{torch.Float32, torch.Float64, torch.BFloat16}, []float64{-inf, minus, inf},
			[]float64{nan, minus, inf}},
		{"lgamma", func(x *tensor.Tensor) *tensor.Tensor { return x.Lgamma() }, all[1:2],
			[]float64{-1.79e308, 1.79e308, -inf, -3, 2},
			[]float64{inf, inf, inf, inf, 0}},
	} {
		for _, dt := range c.dtypes {
			for _, n := range []int{1, 50} {
				for i, v := range c.x {
					l := make([]float64, n)
					for k := range l {
						l[k] = v
					}
					got := torch.Data[float64](c.f(torch.FromSlice(l).To(dt)).To(torch.Float64))
					for _, g := range got {
						if !alike(g, c.y[i]) {
							t.Errorf("%s of %g in %s, %d elements: got %g, want %g", c.name, v, dt, n, g, c.y[i])
							break
						}
					}
				}
			}
		}
	}
}

// TestEdgeShapes: steps without end, planes without elements, lines of NaN.
func TestEdgeShapes(t *testing.T) {
	for _, step := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		_, err := tensor.CallOp("aten::arange.start_step", tensor.FloatValue(0), tensor.FloatValue(10),
			tensor.FloatValue(step), tensor.Value{}, tensor.Value{}, tensor.Value{}, tensor.Value{})
		if err == nil || !strings.Contains(err.Error(), "step must be finite but got ") {
			t.Errorf("arange with step %g: %v", step, err)
		}
	}
	const nonZero = "Expected input to have non-zero size for non-batch dimensions"
	for _, c := range []struct {
		op    string
		shape []int
		out   []int
		want  string // an error, or "" for a result
	}{
		{"adaptive_avg_pool2d", []int{2, 3, 0, 4}, []int{1, 1}, ""},
		{"adaptive_avg_pool2d", []int{2, 3, 0, 4}, []int{2, 2}, nonZero},
		{"adaptive_avg_pool2d", []int{2, 0, 3, 3}, []int{2, 2}, ""},
		{"adaptive_avg_pool1d", []int{2, 3, 0}, []int{1}, ""},
		{"adaptive_avg_pool1d", []int{2, 3, 0}, []int{2}, nonZero},
		{"adaptive_avg_pool3d", []int{2, 3, 0, 4, 4}, []int{1, 1, 1}, ""},
		{"adaptive_avg_pool3d", []int{2, 0, 3, 3, 3}, []int{2, 2, 2}, nonZero},
		{"adaptive_max_pool2d", []int{2, 3, 0, 4}, []int{1, 1}, nonZero},
		{"adaptive_max_pool2d", []int{2, 0, 3, 3}, []int{1, 1}, nonZero},
		{"adaptive_max_pool3d", []int{2, 0, 3, 3, 3}, []int{2, 2, 2}, nonZero},
	} {
		r, err := tensor.CallOp("aten::"+c.op, tensor.TensorValue(torch.Ones(c.shape)), tensor.IntsValue(c.out))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %v to %v: %v", c.op, c.shape, c.out, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s of %v to %v: %v", c.op, c.shape, c.out, err)
			continue
		}
		for _, v := range torch.Data[float32](r[0].T.Contiguous()) {
			if v == v {
				t.Errorf("%s of %v to %v: got %v, want the mean of nothing", c.op, c.shape, c.out, v)
			}
		}
	}
	// what nth_element of the C++ library leaves in front
	for n, want := range map[int]float64{1: 0, 3: 0, 4: 2, 5: 2, 8: 6, 17: 10, 100: 67} {
		v, i := torch.Full([]int{2, n}, math.NaN()).NaNMedianDim(1)
		if !math.IsNaN(v.Select(0, 1).Item()) || i.Select(0, 1).Item() != want {
			t.Errorf("nanmedian of %d NaN: %v at %v, want %g", n, v, i, want)
		}
	}
}
