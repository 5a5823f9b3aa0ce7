package scan_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func TestGradients(t *testing.T) {
	x := opstest.Fill(tensor.Float64, 1, 3, 4, 5)
	values := func(v, _ *T) *T { return v }
	for dim := range 3 {
		for name, f := range map[string]func(x []*T) *T{
			"cumsum":       func(x []*T) *T { return x[0].CumSum(dim) },
			"cumprod":      func(x []*T) *T { return x[0].CumProd(dim) },
			"cummax":       func(x []*T) *T { return values(x[0].CumMax(dim)) },
			"cummin":       func(x []*T) *T { return values(x[0].CumMin(dim)) },
			"logcumsumexp": func(x []*T) *T { return x[0].LogCumSumExp(dim) },
			"diff": func(x []*T) *T {
				return x[0].Diff(tensor.DiffOptions{Dim: tensor.Some(dim),
					N: tensor.Some(2)})
			},
		} {
			opstest.GradCheck(t, fmt.Sprintf("%s over %d", name, dim), f, x)
		}
	}
	// Dividing the running product by an element, the short way, fails where one is zero.
	for _, v := range [][]float64{{2, 0, 3, -1}, {0, 2, 0, 5}} {
		opstest.GradCheck(t, fmt.Sprintf("cumprod of %v", v), func(x []*T) *T { return x[0].CumProd(0) },
			tensor.FromSlice(v, 4))
	}
	// gradients that are not recorded themselves take another way; the numbers are PyTorch's
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{2, 0, 3, 0, 5}, []float64{1, 8, 0, 0, 0}},
		{[]float64{0, 2, 3}, []float64{9, 0, 0}},
		{[]float64{2, 3, 0}, []float64{4, 2, 6}},
		{[]float64{2, 3, 4}, []float64{16, 10, 6}},
	} {
		x := tensor.FromSlice(c.x, len(c.x)).SetRequiresGrad(true)
		x.CumProd(0).SumDim(nil).Backward()
		if got := tensor.Data[float64](x.Grad()); !slices.Equal(got, c.want) {
			t.Errorf("gradient of cumprod at %v is %v, want %v", c.x, got, c.want)
		}
	}
}

func TestThreads(t *testing.T) {
	for dim := range 2 {
		opstest.SameBits(t, fmt.Sprintf("cumsum over %d", dim), func() []*T {
			x := opstest.Fill(tensor.Float32, 1, 311, 523).SetRequiresGrad(true)
			y := x.CumSum(dim)
			y.Mul(y).SumDim(nil).Backward()
			return []*T{y.Detach(), x.Grad()}
		})
	}
}

// TestLong goes through lines that are cut into pieces, and compares with a plain loop. Every seventh element repeats
// the one before it, and NaN comes late.
func TestLong(t *testing.T) {
	const n = 70_001
	vals := tensor.Data[float64](opstest.Fill(tensor.Float64, 1, n))
	for i := range vals {
		vals[i] = math.Round(vals[i] * 50)
		if i%7 == 0 && i > 0 {
			vals[i] = vals[i-1]
		}
	}
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int32, tensor.BFloat16} {
		for _, nan := range []bool{false, true} {
			list := slices.Clone(vals)
			if nan {
				if !dt.IsFloat() {
					continue
				}
				list[60_000], list[60_010] = math.NaN(), math.NaN()
			}
			x := tensor.FromSlice(list, n).ToDType(dt)
			want, sum := make([]float64, n), 0.0
			for i, v := range list {
				sum += v
				want[i] = sum
			}
			for i, v := range tensor.Data[float64](x.CumSum(0).ToDType(tensor.Float64)) {
				if tol := 1e-7 * math.Abs(want[i]); v != v != (want[i] != want[i]) || math.Abs(v-want[i]) > tol &&
					dt != tensor.BFloat16 {
					t.Fatalf("%v: sum of %d elements %v, want %v", dt, i+1, v, want[i])
				}
			}
			for name, f := range map[string]func(int, ...tensor.OutOptions) (*T, *T){"cummax": x.CumMax,
				"cummin": x.CumMin} {
				v, at := f(0)
				best, where := list[0], 0
				for i, w := range tensor.Data[float64](v.ToDType(tensor.Float64)) {
					e := list[i]
					if e != e || best == best && (name == "cummax" && e >= best || name == "cummin" && e <= best) {
						best, where = e, i
					}
					if got := tensor.Data[int64](at)[i]; got != int64(where) || w != best && best == best {
						t.Fatalf("%v %s: %v at %d for %d elements, want %v at %d", dt, name, w, got, i+1, best, where)
					}
				}
			}
			opstest.SameBits(t, "long "+dt.String(), func() []*T {
				a, b := x.CumMax(0)
				return []*T{x.CumSum(0), x.CumProd(0), a, b}
			})
		}
	}
}

// TestLogCumSumExp goes along lines of every kind of layout, some with infinities and NaN, some that end in a block of
// one element.
func TestLogCumSumExp(t *testing.T) {
	for _, sh := range [][]int{{300, 3}, {3, 300}, {70, 64, 5}, {40, 70}, {2, 9, 33}, {130, 65}, {2, 257}} {
		x := opstest.Fill(tensor.Float64, 1, sh...).MulScalar(30)
		list := tensor.Data[float64](x)
		for i := 7; i < len(list); i += 41 {
			list[i] = []float64{math.Inf(-1), math.Inf(-1), 500, -900, math.NaN(), math.Inf(1)}[i%83%6]
		}
		for dim := range sh {
			got := tensor.Data[float64](x.LogCumSumExp(dim).MoveDim(dim, -1).Contiguous())
			n := sh[dim]
			for i, v := range tensor.Data[float64](x.MoveDim(dim, -1).Contiguous()) {
				want := v
				if i%n > 0 {
					hi, lo := max(got[i-1], v), min(got[i-1], v)
					if want = hi; !math.IsInf(hi, 0) {
						want = hi + math.Log1p(math.Exp(lo-hi))
					}
				}
				if got[i] != want && math.Abs(got[i]-want) > 1e-12*max(1, math.Abs(want)) ||
					(got[i] != got[i]) != (want != want) {
					t.Fatalf("%v over %d: element %d is %v, want %v", sh, dim, i, got[i], want)
				}
			}
		}
	}
}

// A running sum keeps the shape.
func Example() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 4)
	fmt.Println(tensor.Data[float32](x.CumSum(0)), tensor.Data[float32](x.CumProd(0)))
	// Output: [1 3 6 10] [1 2 6 24]
}

// Differences of more orders than there are samples are empty.
func TestDiffShapes(t *testing.T) {
	for _, c := range []struct {
		shape   []int
		n, size int
	}{{[]int{1}, 1, 0}, {[]int{3}, 2, 1}, {[]int{3}, 3, 0}, {[]int{3}, 5, 0}, {[]int{2, 1}, 1, 0}, {[]int{2, 3}, 7, 0},
		{[]int{0}, 1, 0}, {[]int{4}, 1, 3}} {
		d := opstest.Fill(tensor.Float64, 1, c.shape...).Diff(tensor.DiffOptions{N: tensor.Some(c.n)})
		want := slices.Clone(c.shape)
		want[len(want)-1] = c.size
		if !slices.Equal(d.Shape(), want) {
			t.Errorf("diff of order %d of %v has the shape %v, expected %v", c.n, c.shape, d.Shape(), want)
		}
	}
}

// A complex number without dimensions stays what it is: its parts are no dimension to add up along.
func TestOneNumber(t *testing.T) {
	z := tensor.FromSlice([]complex128{-8.5 - 1.75i}).Reshape([]int{})
	for name, y := range map[string]*T{"cumsum": z.CumSum(0), "cumprod": z.CumProd(0)} {
		if got := tensor.Data[complex128](y)[0]; got != -8.5-1.75i || y.Dim() != 0 {
			t.Errorf("%s of one number: %v of %d dimensions, expected the number", name, got, y.Dim())
		}
	}
}
