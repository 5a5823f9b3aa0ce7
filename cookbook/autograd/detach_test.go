package autograd

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn/utils"
)

// Backward fills Grad, which is nil before.
func Example() {
	a := torch.TensorOf[float32](1, 2, 3).SetRequiresGrad(true)
	fmt.Println(a.Grad() == nil)
	a.Sigmoid().Sum().Backward()
	fmt.Println(a.Grad())
	// Output:
	// true
	// tensor([0.1966, 0.1050, 0.0452])
}

// Detach is the same memory without a history; leaving it alone leaves backward alone.
func Example_detach() {
	a := torch.TensorOf[float32](1, 2, 3).SetRequiresGrad(true)
	out := a.Sigmoid()
	c := out.Detach()
	fmt.Println(out)
	fmt.Println(c)
	fmt.Println(c.RequiresGrad(), c.DataPtr() == out.DataPtr())
	out.Sum().Backward()
	fmt.Println(a.Grad())
	// Output:
	// tensor([0.7311, 0.8808, 0.9526], grad_fn=<SigmoidBackward0>)
	// tensor([0.7311, 0.8808, 0.9526])
	// false true
	// tensor([0.1966, 0.1050, 0.0452])
}

// A detached tensor that asks for gradients is a new leaf: gradients reach it, not what it came from.
func TestDetachedLeaf(t *testing.T) {
	a := torch.TensorOf[float32](1, 2).SetRequiresGrad(true)
	c := a.Sigmoid().Detach().SetRequiresGrad(true)
	c.MulScalar(3).Sum().Backward()
	near(t, c.Grad(), 3, 3)
	if a.Grad() != nil {
		t.Error("the gradient went past Detach")
	}
}

// Memory is shared: changing the detached tensor changes the other one, and backward notices.
func TestDetachSharesMemory(t *testing.T) {
	a := torch.TensorOf[float32](1, 2, 3).SetRequiresGrad(true)
	out := a.Sigmoid()
	out.Detach().ZeroInPlace()
	near(t, out, 0, 0, 0)
	fails(t, "one of the variables needed for gradient computation has been modified by an inplace operation: "+
		"[torch.FloatTensor [3]], which is output 0 of Sigmoid, is at version 1; expected version 0 instead.",
		func() { out.Sum().Backward() })
}

// Scaling the gradients down before the step: ClipGradNorm returns the norm that it found.
func TestClipGradNorm(t *testing.T) {
	p := torch.Zeros([]int{2}).SetRequiresGrad(true)
	p.SetGrad(torch.TensorOf[float32](3, 4))
	near(t, utils.ClipGradNorm([]*torch.Tensor{p}, 1), 5)
	near(t, p.Grad(), 0.6, 0.8)

	q := torch.Zeros([]int{4}).SetRequiresGrad(true)
	q.MulScalar(3).Sum().Backward()
	near(t, utils.ClipGradNorm([]*torch.Tensor{q}, 2, utils.ClipOptions{NormType: torch.Some(2.0)}), 6)
	near(t, q.Grad(), 1, 1, 1, 1)
}

// ClipGradValue limits each element by itself.
func TestClipGradValue(t *testing.T) {
	p := torch.Zeros([]int{2}).SetRequiresGrad(true)
	p.MulScalar(3).Sum().Backward()
	utils.ClipGradValue([]*torch.Tensor{p}, 1.5)
	near(t, p.Grad(), 1.5, 1.5)
}

// Gradients that are not numbers make the norm NaN, and all gradients with it; an option turns that into an error.
func TestClipNotANumber(t *testing.T) {
	nan := math.NaN()
	p := torch.Zeros([]int{2}).SetRequiresGrad(true)
	p.SetGrad(torch.TensorOf(float32(nan), 1))
	fails(t, "The total norm of order 2.0 for gradients from `parameters` is non-finite, ", func() {
		utils.ClipGradNorm([]*torch.Tensor{p}, 1, utils.ClipOptions{ErrorIfNonfinite: true})
	})
	near(t, utils.ClipGradNorm([]*torch.Tensor{p}, 1), nan)
	near(t, p.Grad(), nan, nan)
}

// Checks to write before and after a step: parameters and gradients are finite.
func TestFiniteBeforeStep(t *testing.T) {
	mu := torch.TensorOf[float32](1, 2).SetRequiresGrad(true)
	mu.Mul(mu).Sum().Backward()
	if mu.IsNaN().Any().Item() != 0 || mu.Grad().IsNaN().Any().Item() != 0 {
		t.Error("not finite")
	}
}
