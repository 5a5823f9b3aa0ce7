package softmax_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func TestGradients(t *testing.T) {
	x := opstest.Fill(tensor.Float64, 1, 3, 4, 5)
	for dim := range 3 {
		d := tensor.Some(dim)
		opstest.GradCheck(t, fmt.Sprintf("softmax over %d", dim),
			func(x []*T) *T { return F.Softmax(x[0], F.SoftmaxOptions{Dim: d}) }, x)
		opstest.GradCheck(t, fmt.Sprintf("log_softmax over %d", dim),
			func(x []*T) *T { return F.LogSoftmax(x[0], F.LogSoftmaxOptions{Dim: d}) }, x)
		opstest.GradCheck(t, fmt.Sprintf("softmin over %d", dim),
			func(x []*T) *T { return F.Softmin(x[0], F.SoftminOptions{Dim: d}) }, x)
	}
}

// TestExtremes checks that large numbers do not overflow and that a row of minus infinity is NaN, as in PyTorch.
func TestExtremes(t *testing.T) {
	inf := float32(math.Inf(1))
	x := tensor.FromSlice([]float32{1e30, 1e30, -1e30, -inf, 0, 0, -inf, -inf, -inf}, 3, 3)
	want := []float64{0.5, 0.5, 0, 0, 0.5, 0.5, math.NaN(), math.NaN(), math.NaN()}
	for i, v := range tensor.Data[float32](x.Softmax(1)) {
		if w := want[i]; float64(v) != w && (w == w || v == v) {
			t.Errorf("element %d of the softmax is %g, want %g", i, v, w)
		}
	}
}

// TestLines compares every way in which lines lie in memory, short and long, with the definition in float64, values and
// gradients.
func TestLines(t *testing.T) {
	tols := map[tensor.DType]float64{tensor.Float64: 1e-13, tensor.Float32: 1e-5, tensor.BFloat16: 4e-2,
		tensor.Float16: 4e-3}
	for _, c := range []struct {
		shape []int
		dim   int
	}{{[]int{7, 15}, 0}, {[]int{3, 16}, 0}, {[]int{2, 5, 70}, 1}, {[]int{1, 33, 1100}, 1}, {[]int{3, 1, 40}, 1},
		{[]int{9, 21, 3}, 1}, {[]int{9, 30, 20}, 1}, {[]int{5, 3, 63}, 1},
		{[]int{7, 15}, 1}, {[]int{64, 1}, 1}, {[]int{63, 20}, 1}, {[]int{523, 20}, 1}, {[]int{300, 32}, 1},
		{[]int{300, 33}, 1}, {[]int{5, 1300}, 1}} {
		for dt, tol := range tols {
			for _, transposed := range []bool{false, true} {
				x, g := opstest.Fill(tensor.Float64, 1, c.shape...).ToDType(dt),
					opstest.Fill(tensor.Float64, 2, c.shape...).ToDType(dt)
				if transposed {
					x, g = x.Transpose(0, 1).Contiguous().Transpose(0, 1),
						g.Transpose(0, 1).Contiguous().Transpose(0, 1)
				}
				a, b := x.ToDType(tensor.Float64), g.ToDType(tensor.Float64)
				keep := tensor.SumDimOptions{KeepDim: true}
				sum := func(v *T) *T { return v.SumDim([]int{c.dim}, keep) }
				p := a.Exp().Div(sum(a.Exp()))
				wants := [][2]*T{{p, p.Mul(b.Sub(sum(b.Mul(p))))}, {p.Log(), b.Sub(p.Mul(sum(b)))}}
				for k, f := range []func(x *T) *T{func(x *T) *T { return x.Softmax(c.dim) },
					func(x *T) *T { return x.LogSoftmax(c.dim) }} {
					v := x.Detach().SetRequiresGrad(true)
					y := f(v)
					y.Backward(tensor.BackwardOptions{Gradient: g})
					for i, got := range []*T{y.Detach(), v.Grad()} {
						have, want := tensor.Data[float64](got.ToDType(tensor.Float64).Contiguous()),
							tensor.Data[float64](wants[k][i].Contiguous())
						for j := range want {
							if !(math.Abs(have[j]-want[j]) <= tol*(1+math.Abs(want[j]))) {
								t.Fatalf("%v over %d, %v (transposed: %v), function %d, result %d: element %d is %g, "+
									"want %g", c.shape, c.dim, dt, transposed, k, i, j, have[j], want[j])
							}
						}
					}
				}
			}
		}
	}
}

func TestThreads(t *testing.T) {
	for dim := range 2 {
		opstest.SameBits(t, fmt.Sprintf("softmax over %d", dim), func() []*T {
			x := opstest.Fill(tensor.Float32, 1, 301, 407).SetRequiresGrad(true)
			y := x.Softmax(dim)
			y.Mul(y).SumDim(nil).Backward()
			return []*T{y.Detach(), x.Grad()}
		})
	}
}

// TestThreadsTypes is TestThreads for the types and lines that have ways of their own.
func TestThreadsTypes(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float64, tensor.BFloat16} {
		for _, sh := range [][]int{{3001, 20}, {20, 3001}, {301, 407}} {
			opstest.SameBits(t, fmt.Sprintf("log_softmax of %v, %v", sh, dt), func() []*T {
				x := opstest.Fill(tensor.Float64, 1, sh...).ToDType(dt).Detach().SetRequiresGrad(true)
				y := x.LogSoftmax(len(sh) - 1)
				z := x.Softmax(0)
				y.Mul(z).SumDim(nil).Backward()
				return []*T{y.Detach(), z.Detach(), x.Grad()}
			})
		}
	}
}

// Each row of a softmax is positive and sums to one.
func Example() {
	x := tensor.FromSlice([]float64{0, math.Log(3), 5, 5}, 2, 2)
	for _, p := range tensor.Data[float64](x.Softmax(1)) {
		fmt.Printf("%.2f ", p)
	}
	// Output: 0.25 0.75 0.50 0.50
}

// TestSafeSoftmax checks that a line of minus infinity gives zeros, and a gradient of zeros.
func TestSafeSoftmax(t *testing.T) {
	x := tensor.FromSlice([]float64{math.Inf(-1), math.Inf(-1), 0, 0}, 2, 2).SetRequiresGrad(true)
	r, err := tensor.CallOp("aten::_safe_softmax", tensor.TensorValue(x), tensor.IntValue(1))
	if err != nil {
		t.Fatal(err)
	}
	r[0].T.Mul(tensor.FromSlice([]float64{1, 2, 1, 2}, 2, 2)).Sum().Backward()
	for _, c := range []struct {
		name string
		got  *T
		want []float64
	}{{"result", r[0].T.Detach(), []float64{0, 0, 0.5, 0.5}}, {"gradient", x.Grad(), []float64{0, 0, -0.25, 0.25}}} {
		if got := tensor.Data[float64](c.got); !slices.Equal(got, c.want) {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLogSoftmax16 checks that log_softmax of 16-bit floats rounds the sums of the last dimension's exponentials and
// their logarithms, in lines of all lengths, those of other dimensions not, and that a sum beyond float16 is no
// infinity.
func TestLogSoftmax16(t *testing.T) {
	keep := tensor.SumDimOptions{KeepDim: true}
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		for _, c := range []struct {
			shape []int
			dim   int
		}{{[]int{5}, 0}, {[]int{5, 5}, 1}, {[]int{300, 7}, 1}, {[]int{300, 32}, 1}, {[]int{4, 33}, 1},
			{[]int{3, 5000}, 1}, {[]int{7, 33}, 0}, {[]int{4, 5, 64}, 1}, {[]int{4, 9, 1}, 1}} {
			x := opstest.Fill(tensor.Float32, 1, c.shape...).MulScalar(4).ToDType(dt)
			w := x.ToDType(tensor.Float64)
			d := w.Sub(w.Amax(tensor.AmaxOptions{Dim: []int{c.dim}, KeepDim: true}))
			s := d.Exp().SumDim([]int{c.dim}, keep)
			if c.dim == len(c.shape)-1 {
				s = s.ToDType(dt).ToDType(tensor.Float64).Log().ToDType(dt).ToDType(tensor.Float64)
			} else {
				s = s.Log()
			}
			got, want := tensor.Data[float64](x.LogSoftmax(c.dim).ToDType(tensor.Float64)),
				tensor.Data[float64](d.Sub(s).ToDType(dt).ToDType(tensor.Float64))
			off := 0
			for i, v := range got {
				if v != want[i] {
					off++
				}
			}
			if off*500 > len(got) { // float32 may fall on the other side of the middle
				t.Errorf("%v of %v along %d: %d of %d elements differ", dt, c.shape, c.dim, off, len(got))
			}
		}
		for _, v := range tensor.Data[float32](tensor.New([]int{1, 70000},
			dt).MulScalar(0).LogSoftmax(1).ToDType(tensor.Float32))[:1] {
			if math.Abs(float64(v)+math.Log(70000)) > 0.1 {
				t.Errorf("%v of 70000 zeros: %v", dt, v)
			}
		}
	}
}

// TestOtherDType compares softmax of 16-bit numbers in float32, along every dimension and for lines far apart and close
// together, with that of the same numbers in float32: it has the same bits.
func TestOtherDType(t *testing.T) {
	for _, from := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		for _, shape := range [][]int{{40, 300}, {7, 1000}, {5, 6, 70}, {300, 3, 5}, {2, 2000}} {
			x := opstest.Fill(tensor.Float32, 3, shape...).ToDType(from)
			y := x.ToDType(tensor.Float32)
			for dim := range shape {
				d := tensor.SoftmaxOptions{DType: tensor.Float32}
				got, want := tensor.Data[float32](x.Softmax(dim, d)), tensor.Data[float32](y.Softmax(dim))
				if !slices.Equal(got, want) {
					t.Errorf("softmax of %v %v over %d in float32 differs from that of float32", from, shape, dim)
				}
				got = tensor.Data[float32](x.LogSoftmax(dim, tensor.LogSoftmaxOptions{DType: tensor.Float32}))
				if want = tensor.Data[float32](y.LogSoftmax(dim)); !slices.Equal(got, want) {
					t.Errorf("log_softmax of %v %v over %d in float32 differs from that of float32", from, shape, dim)
				}
			}
		}
	}
}
