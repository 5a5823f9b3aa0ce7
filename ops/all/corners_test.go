package all_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func vector[E tensor.Element](v ...E) *T { return tensor.FromSlice(v) }
func number[E tensor.Element](v E) *T    { return tensor.FromSlice([]E{v}, []int{}...) }
func matrix[E tensor.Element](rows int, v ...E) *T {
	return tensor.FromSlice(v, rows, len(v)/rows)
}

// slope is the gradient of the sum of f, of the given order.
func slope(order int, x *T, f func(x *T) *T) *T {
	x.SetRequiresGrad(true)
	y := f(x)
	for i := range order {
		y = torch.Grad([]*T{y.Sum()}, []*T{x}, torch.GradOptions{CreateGraph: i+1 < order})[0]
	}
	return y
}

// text is dtype, shape and values to 12 digits.
func text(t *T) string {
	var b strings.Builder
	fmt.Fprint(&b, t.DType().Name(), tensor.ShapeString(t.Shape()))
	for _, v := range tensor.Data[float64](tensor.DenseAs(t, tensor.Float64)) {
		fmt.Fprintf(&b, " %.12g", v)
	}
	return b.String()
}

// TestCorners holds cases that random comparison with PyTorch found; what is wanted is what PyTorch gives.
func TestCorners(t *testing.T) {
	nan := math.NaN()
	half := func(v ...float32) *T { return vector(v...).To(tensor.BFloat16) }
	for _, c := range []struct {
		name string
		got  func() *T
		want string
	}{
		// the gradient has the precision of the result, whatever the type of the other argument
		{"d 3^x", func() *T {
			return slope(1, vector(2.5, -1.25), func(x *T) *T { return op.Call1("aten::pow.Scalar", 3, x) })
		}, "float64[2] 17.1256707161 0.278254940542"},
		{"d int^x", func() *T {
			return slope(1, vector(2.5, -1.25),
				func(x *T) *T { return op.Call1("aten::pow.Tensor_Tensor", vector[int32](3, 3), x) })
		}, "float64[2] 17.1256707161 0.278254940542"},
		{"d xlog1py(x, 3)", func() *T {
			return slope(1, vector(2.5), func(x *T) *T { return op.Call1("aten::special_xlog1py.other_scalar", x, 3) })
		}, "float64[1] 1.38629436112"},
		{"d² i1", func() *T {
			return slope(2, vector(0., 1),
				func(x *T) *T { return op.Call1("aten::special_i1", x) })
		}, "float64[2] 0 0.429411434225"},
		{"d² i1e", func() *T { return slope(2, vector(0.), func(x *T) *T { return op.Call1("aten::special_i1e", x) }) },
			"float64[1] 0"},
		{"d lerp by true", func() *T {
			return slope(1, vector(2.5), func(x *T) *T { return op.Call1("aten::lerp.Scalar", x, vector(1.), true) })
		}, "float64[1] 0"},
		{"lerp by a 0-d integer", func() *T {
			return op.Call1("aten::lerp.Tensor", vector(1.), vector(3.),
				number(int64(2)))
		}, "float64[1] 5"},
		// 2^e is out of range, the result is not
		{"ldexp float32", func() *T {
			return op.Call1("aten::ldexp.Tensor", vector[float32](1, 0x1p-20, 1), vector(127, 130, -2000))
		}, fmt.Sprintf("float32[3] %.12g %.12g 0", 0x1p127, 0x1p110)},
		{"ldexp float64", func() *T {
			return op.Call1("aten::ldexp.Tensor", vector(1, 0x1p-1000, 0x1p1000), vector(1023, 1900, -2000))
		}, fmt.Sprintf("float64[3] %.12g %.12g %.12g", 0x1p1023, 0x1p900, 0x1p-1000)},
		{"ldexp of an integer", func() *T { return op.Call1("aten::ldexp.Tensor", vector(3), vector(5)) },
			"float32[1] 96"},
		// NaN equals itself here
		{"d max of NaN", func() *T { return slope(1, vector(nan, 1, nan), func(x *T) *T { return x.Max() }) },
			"float64[3] 0.5 0 0.5"},
		{"d min of NaN", func() *T { return slope(1, vector(nan, 1, nan), func(x *T) *T { return x.Min() }) },
			"float64[3] 0.5 0 0.5"},
		{"nansum to integers", func() *T {
			return op.Call1("aten::nansum", vector(1.5, nan, 16.5), nil, false,
				tensor.Int64)
		}, "int64[] 17"},
		// out= says what is computed in
		{"sum out", func() *T {
			return op.Call1("aten::sum.IntList_out", half(256, 1), []int{0}, false, nil, number(0.))
		}, "float64[] 257"},
		{"prod out", func() *T {
			return op.Call1("aten::prod.int_out", half(255, 255), 0, false, nil, number(0.))
		}, "float64[] 65025"},
		{"cumsum out", func() *T { return op.Call1("aten::cumsum.out", vector(1.5, 1.5), 0, nil, vector(0, 0)) },
			"int64[2] 1 2"},
		{"norm to another type", func() *T {
			return op.Call1("torch::norm.name", vector[float32](3, 4), "fro", []int{0}, false, tensor.Float64)
		}, "float64[] 5"},
		{"cumulative_trapezoid of nothing", func() *T {
			return op.Call1("aten::cumulative_trapezoid.dx", tensor.New([]int{0, 3}, tensor.Float32), 1, 0)
		}, "float32[0, 3]"},
		{"cumulative_trapezoid of nothing at points", func() *T {
			return op.Call1("aten::cumulative_trapezoid.x", tensor.New([]int{0, 3}, tensor.Float32),
				tensor.New([]int{0, 3}, tensor.Float32), 0)
		}, "float32[0, 3]"},
		{"topk 0 of a number", func() *T { return op.Call1("aten::topk", number(2.5), 0) }, "float64[] 2.5"},
		{"circular padding of a dimension without elements beside",
			func() *T { return op.Call1("F::pad", tensor.New([]int{0, 2}, tensor.Float64), []int{1, 0}, "circular") },
			"float64[0, 3]"},
		{"histc of one large number", func() *T { return op.Call1("aten::histc", vector(-1e308), 3) },
			"float64[3] 1 0 0"},
		{"bincount of nothing", func() *T { return op.Call1("aten::bincount", vector[int64](), vector(1., 2), 2) },
			"int64[2] 0 0"},
		{"d index_fill, a place named twice", func() *T {
			return slope(1, number(7.), func(v *T) *T {
				return op.Call1("aten::index_fill.int_Tensor", vector(1., 2, 3), 0, vector(1, -2, 1), v)
			})
		}, "float64[] 1"},
		{"index_add of bools", func() *T {
			return op.Call1("aten::index_add", vector(true, false), 0, vector(0, 1), vector(true, true), -1)
		}, "bool[2] 1 1"},
		{"in place into nothing", func() *T {
			return op.Call1("aten::exp_",
				tensor.New([]int{0, 1}, tensor.Float64).Expand([]int{0, 3}))
		}, "float64[0, 3]"},
		{"scatter_add into nothing", func() *T {
			return op.Call1("aten::scatter_add_", tensor.New([]int{0, 1}, tensor.Float64).Expand([]int{0, 3}), 0,
				tensor.New([]int{0, 3}, tensor.Int64), tensor.New([]int{0, 3}, tensor.Float64))
		}, "float64[0, 3]"},
		// which type
		{"einsum that only sums", func() *T {
			return op.Call1("aten::einsum", "ab->b",
				[]*T{matrix[int8](2, 100, 1, 100, 1)})
		}, "int64[2] 200 2"},
		{"einsum that sums first", func() *T {
			return op.Call1("aten::einsum", "ab,c->c", []*T{matrix[int8](2, 100, 1, 100, 1), vector[int8](1, 2)})
		}, "int64[2] 202 404"},
		{"ldexp by a 16-bit exponent", func() *T { return op.Call1("aten::ldexp.Tensor", vector(1.), half(0.5)) },
			"float64[1] 1.41421356237"},
		{"einsum with nothing to sum first",
			func() *T { return op.Call1("aten::einsum", "a,b->b", []*T{vector[int8](3), vector[int8](1, 2)}) },
			"int8[2] 3 6"},
		{"einsum of two", func() *T {
			return op.Call1("aten::einsum", "a,a->",
				[]*T{vector[int8](1, 2), vector[int8](3, 4)})
		}, "int8[] 11"},
		{"addr of several types", func() *T {
			return op.Call1("aten::addr", matrix[uint8](1, 1), vector[uint8](200), vector[int32](3), 1, 2)
		}, "int32[1, 1] 1201"},
		{"addr of several precisions", func() *T {
			return op.Call1("aten::addr", matrix(1, 1.), half(1.0078125), half(1.0078125), 0, 1)
		}, "float64[1, 1] 1.01568603516"},
		{"addmm of integers by fractions",
			func() *T { return op.Call1("aten::addmm", matrix(1, 3), matrix(1, 2), matrix(1, 5), 2.5, 1.5) },
			"int64[1, 1] 16"},
		{"block_diag with a number", func() *T {
			return op.Call1("aten::block_diag",
				[]*T{vector[float32](1), number(2.)})
		}, "float32[2, 2] 1 0 0 2"},
		{"cosine_similarity with a number", func() *T {
			return op.Call1("aten::cosine_similarity", vector[float32](3).To(tensor.Float16), number[float32](2), 0)
		}, "float32[] 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text(c.got()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestCornerErrors holds calls that PyTorch refuses or whose result it leaves to chance.
func TestCornerErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		call func()
		want string
	}{
		{"circular padding of what is cut away",
			func() { op.Call1("F::pad", matrix(2, 1., 2), []int{-1, 1}, "circular") },
			"leaves 0 of 1 entries to repeat"},
		{"addr of integers by a fraction",
			func() { op.Call1("aten::addr", matrix(1, 1), vector(1), vector(1), 1, 2.5) },
			"argument alpha must not be a floating point number"},
		{"addr by a bool", func() { op.Call1("aten::addr", matrix(1, 1), vector(1), vector(1), true, 1) },
			"Boolean beta only supported for Boolean results"},
		{"tril_ of a vector", func() { op.Call1("aten::tril_", vector(1.)) },
			"tril: input tensor must have at least 2 dimensions"},
		{"scatter_add of another type", func() { op.Call1("aten::scatter_add", vector(1.), 0, vector(0), vector(1)) },
			"scatter(): Expected self.dtype to be equal to src.dtype"},
		{"index_add of another type", func() { op.Call1("aten::index_add", vector(1.), 0, vector(0), vector(1)) },
			"index_add_(): self (Double) and source (Long) must have the same scalar type"},
		{"index_add of too many", func() { op.Call1("aten::index_add", vector(1.), 0, vector(0), vector(1., 2)) },
			"index_add_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0"},
		{"index_copy of too many", func() { op.Call1("aten::index_copy", vector(1.), 0, vector(0), vector(1., 2)) },
			"index_copy_(): Number of indices (1) should be equal to source.size(dim) (2)"},
		{"take from nothing", func() { op.Call1("aten::take", vector[float32](), vector(0)) },
			"take(): tried to take from an empty tensor"},
		{"put into nothing", func() { op.Call1("aten::put", vector[float32](), vector(0), vector[float32](1)) },
			"put_(): Tried to put elements into an empty tensor"},
		{"kthvalue of nothing", func() { op.Call1("aten::kthvalue", tensor.New([]int{2, 0}, tensor.Float32), 1, 1) },
			"kthvalue(): Expected reduction dim 1 to have non-zero size."},
		{"sort of complex numbers", func() { vector(1i).Sort() }, "Sort does not support complex dtypes on CPU"},
		{"median of complex numbers", func() { vector(1i).Median() },
			"\"median_cpu\" not implemented for 'ComplexDouble'"},
		{"median of complex numbers along a dimension", func() { vector(1i).MedianDim(0) },
			"\"median_out\" not implemented for 'ComplexDouble'"},
		{"cross of numbers", func() { op.Call1("aten::linalg_cross", number(1.), number(1.)) },
			"linalg.cross: inputs dimension -1 must have length 3. Got 1 and 1"},
		{"cross of pairs", func() { op.Call1("aten::linalg_cross", vector(1., 2, 3), vector(1., 2)) },
			"linalg.cross: inputs dimension -1 must have length 3. Got 3 and 2"},
		{"index of int16", func() { vector(1., 2).Index(vector[int16](0)) },
			"tensors used as indices must be long, int, byte or bool tensors"},
	} {
		if err := torch.Try(c.call); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.want)
		}
	}
}
