package tensors

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// The numbers of float16: the largest is 65504, what rounds above it is infinite; 1e-8 is lost, unless it is scaled
// first.
func TestHalfRange(t *testing.T) {
	half := func(v ...float64) *torch.Tensor { return torch.TensorOf(v...).Half() }
	inf := math.Inf(1)
	x := half(65504, 65519, 65520).Double()
	if got := torch.Data[float64](x); got[0] != 65504 || got[1] != 65504 || got[2] != inf {
		t.Error(got)
	}
	small := torch.Data[float64](half(6.10352e-05, 5.9605e-08, 1e-8).Double())
	if small[0] != math.Ldexp(1, -14) || small[1] != math.Ldexp(1, -24) || small[2] != 0 {
		t.Error(small)
	}
	near(t, half(2e-8*65536), 0.0013)
}

// Near 1/8 neighbouring halves are 2^-13 apart: half of that is rounded away.
func TestHalfRounding(t *testing.T) {
	x := torch.TensorOf(0.125).Half()
	for exp, want := range map[int]float64{-14: 0.125, -13: 0.1251220703125} {
		if got := x.Add(torch.TensorOf(math.Ldexp(1, exp)).Half()).Item(); got != want {
			t.Errorf("2^-3 + 2^%d = %v, want %v", exp, got, want)
		}
	}
}

// A constant such as eps must fit the type: 1e-8 is 0 as float16.
func TestHalfEpsilon(t *testing.T) {
	eps := torch.TensorOf(1e-8).Half()
	if e, r := eps.Item(), eps.Reciprocal().Item(); e != 0 || !math.IsInf(r, 1) {
		t.Error(e, r)
	}
}

// Sums of halves overflow, and so does a softmax written by hand; the library's subtracts the maximum first.
func TestStableSoftmax(t *testing.T) {
	if s := torch.Ones([]int{70000}, torch.OnesOptions{DType: torch.Float16}).Sum().Item(); !math.IsInf(s, 1) {
		t.Error(s)
	}
	x := torch.TensorOf[float32](1000, 1001)
	byHand := x.Exp().Div(x.Exp().Sum())
	near(t, byHand.IsNaN(), 1, 1)
	near(t, torch.Softmax(x, 0), 0.2689, 0.7311)
	near(t, torch.Softmax(torch.TensorOf[float32](100, 101).Half(), 0), 0.2690, 0.7310)
	near(t, torch.Softmax(torch.TensorOf[float32](1, 2, 3), 0), 0.0900, 0.2447, 0.6652)
	near(t, torch.LogSoftmax(torch.TensorOf[float32](1, 2, 3), 0), -2.4076, -1.4076, -0.4076)
	far := torch.TensorOf[float32](-1000, 0)
	near(t, torch.LogSoftmax(far, 0), -1000, 0)
	if naive := torch.Softmax(far, 0).Log(); !math.IsInf(naive.Index(0).Item(), -1) {
		t.Error(naive)
	}
}

// Types are not mixed behind one's back: a matrix product of different types is refused, and the error names the
// operator, the operands with their types, and the place of the call.
func TestMixedTypes(t *testing.T) {
	a, b := torch.Ones([]int{2, 2}), torch.Ones([]int{2, 2}).Half()
	for _, words := range []string{
		"expected m1 and m2 to have the same dtype, but got: float != c10::Half",
		"aten::mm(float32[2, 2] cpu, float16[2, 2] cpu)", "numbers_test.go:",
	} {
		fails(t, words, func() { torch.MM(a, b) })
	}
	near(t, torch.MM(a, b.Float()), 2, 2, 2, 2)
}

// IsNaN finds what is not a number; infinity and NaN come from log 0, 1/0 and 0/0.
func TestNotANumber(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	near(t, torch.TensorOf(1, nan).IsNaN().Sum(), 1)
	zero, one := torch.TensorOf[float32](0), torch.TensorOf[float32](1)
	if l, q, r := zero.Log().Item(), zero.Div(zero).Item(), one.Div(zero).Item(); l != -inf || !math.IsNaN(q) ||
		r != inf {
		t.Error(l, q, r)
	}
}

// Clamp limits what bicubic interpolation, or anything else, lets out of the range.
func Example_clamp() {
	x := torch.TensorOf[float32](-8.9648, 57.7734, 281.8945)
	fmt.Println(x.ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 255}))
	// Output:
	// tensor([  0.0000,  57.7734, 255.0000])
}

// MaxDim gives the maxima and their places: predicted classes and, through Softmax, their probabilities.
func TestPredictions(t *testing.T) {
	w := torch.Arange(12).View([]int{4, 3}).Float().DivScalar(10)
	x := torch.FromSlice([]float32{1, 2, 3, 3, 0, -9}, 2, 3)
	_, classes := x.MatMul(w.T()).MaxDim(1)
	near(t, classes, 3, 0)
	probabilities, _ := torch.Softmax(x.MatMul(w.T()), 1).MaxDim(1)
	near(t, probabilities, 0.835325, 0.835325)
}

// Joining and adding promote to the wider type; dot does not.
func TestPromotion(t *testing.T) {
	a, b := torch.Ones([]int{2}), torch.Ones([]int{2}).BFloat16()
	if c := torch.Cat([]*torch.Tensor{a, b}); c.DType() != torch.Float32 {
		t.Error(c.DType())
	}
	if c := a.Add(b); c.DType() != torch.Float32 {
		t.Error(c.DType())
	}
	fails(t, "dot : expected both vectors to have same dtype, ", func() { torch.Dot(a, b) })
}
