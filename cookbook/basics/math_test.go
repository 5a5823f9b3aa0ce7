package basics_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
)

func TestAllClose(t *testing.T) {
	a := torch.TensorOf[float32](1, 2)
	if !torch.AllClose(a, torch.TensorOf[float32](1, 2.00001)) {
		t.Error("1e-5 apart is not close")
	}
	if torch.AllClose(a, torch.TensorOf[float32](1, 2.0001)) {
		t.Error("1e-4 apart is close")
	}
	fails(t, "Float did not match Long", func() { torch.AllClose(a, torch.TensorOf[int64](1, 2)) })
}

// equal compares exactly, floats as well.
func TestEqual(t *testing.T) {
	a := torch.TensorOf[float32](1, 2)
	if !torch.Equal(a, a.Clone()) || torch.Equal(a, torch.TensorOf[float32](1, 3)) {
		t.Error("equal is wrong about values")
	}
	if torch.Equal(a, a.View([]int{2, 1})) {
		t.Error("tensors of two shapes are equal")
	}
}

func TestMM(t *testing.T) {
	a, b := torch.Arange(6.0).View([]int{2, 3}), torch.Arange(12.0).View([]int{3, 4})
	near(t, torch.MM(a, b), 20, 23, 26, 29, 56, 68, 80, 92)
	fails(t, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", func() { torch.MM(a, a) })
}

func TestProducts(t *testing.T) {
	shaped(t, torch.BMM(torch.Ones([]int{2, 2, 3}), torch.Ones([]int{2, 3, 4})), 2, 2, 4)

	a, b := torch.TensorOf[float32](1, 2), torch.TensorOf[float32](3, 4)
	near(t, a.Mul(b), 3, 8)
	near(t, torch.Mul(a, b), 3, 8)

	// matmul broadcasts all dimensions but the last two
	c := torch.MatMul(torch.Ones([]int{2, 1, 3, 4}), torch.Ones([]int{5, 4, 2}))
	shaped(t, c, 2, 5, 3, 2)
	if !torch.Equal(c, torch.Full([]int{2, 5, 3, 2}, 4.0)) {
		t.Error("want 4 everywhere")
	}
	one := torch.Ones([]int{3})
	d := torch.MatMul(one, one)
	shaped(t, d)
	near(t, d, 3)
	shaped(t, torch.MatMul(torch.Ones([]int{2, 3}), one), 2)
}

// y = x², whose gradient is 2x.
func TestSquareGradient(t *testing.T) {
	torch.ManualSeed(0)
	x := torch.Rand([]int{2, 2}).SetRequiresGrad(true)
	y := x.PowScalar(2)
	fails(t, "grad can be implicitly created only for scalar outputs", func() { y.Backward() })
	y.Backward(torch.BackwardOptions{Gradient: torch.OnesLike(y)})
	near(t, x, 0.4963, 0.7682, 0.0885, 0.1320)
	near(t, x.Grad(), 0.9925, 1.5364, 0.1770, 0.2641)
	if !torch.Equal(x.Grad(), x.Detach().MulScalar(2)) {
		t.Error("the gradient is not 2x")
	}
}

// A hook sees the gradient on its way and may replace it.
func TestGradientHook(t *testing.T) {
	a := torch.Ones([]int{2}).SetRequiresGrad(true)
	b := a.MulScalar(3)
	h := b.RegisterHook(func(g *torch.Tensor) *torch.Tensor { return g.MulScalar(10) })
	b.Sum().Backward()
	near(t, a.Grad(), 30, 30)
	h.Remove()
}

// One step of gradient descent by hand.
func TestGradientDescent(t *testing.T) {
	w := torch.TensorOf[float32](1, 2).SetRequiresGrad(true)
	w.Mul(w).Sum().Backward()
	torch.NoGrad(func() { w.SubInPlace(w.Grad().MulScalar(0.1)) })
	near(t, w, 0.8, 1.6)
}
