package torch_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestNodeNames compares names of nodes with those that PyTorch prints: gradient rules of overloads are numbered, and
// some operators that are composed here are one in PyTorch.
func TestNodeNames(t *testing.T) {
	x := torch.TensorOf[float32](1, 2, 3, 4).Reshape([]int{2, 2}).SetRequiresGrad(true)
	b := torch.TensorOf[float32](1, 0.5)
	z := torch.TensorOf[complex64](1, 2i).SetRequiresGrad(true)
	for _, c := range []struct {
		want string
		y    *torch.Tensor
	}{
		{"MulBackward0", x.Mul(b)}, {"MulBackward0", x.MulScalar(2)}, {"DivBackward0", x.DivScalar(3)},
		{"PowBackward0", x.PowScalar(2)}, {"PowBackward1", x.Pow(b)}, {"PowBackward0", x.Square()},
		{"RsubBackward1", x.RsubScalar(2)}, {"Log1PBackward0", x.Log1p()},
		{"ClampBackward0",
			x.Clamp(torch.ClampOptions{Min: torch.TensorOf[float32](1), Max: torch.TensorOf[float32](3)})}, {"ClampMinBackward0", x.ClampMinScalar(2)},
		{"FmodBackward0", x.FmodScalar(2)}, {"FmodBackward1", x.Fmod(b)},
		{"TransposeBackward0", x.Transpose(0, 1)}, {"TBackward0", transposed(x)},
		{"RepeatBackward0", x.Repeat([]int{1, 2})}, {"RepeatBackward0", x.Tile([]int{2})},
		{"StackBackward0", torch.Stack([]*torch.Tensor{x, x}, torch.StackOptions{Dim: 1})},
		{"SumBackward0", x.Sum()}, {"SumBackward1", x.SumDim([]int{0})}, {"MeanBackward1", x.MeanDim([]int{1})},
		{"SelectBackward0", z.Real()}, {"SelectBackward0", z.Imag()},
	} {
		if got := c.y.GradFn().Name(); got != c.want {
			t.Errorf("a node is named %s, want %s", got, c.want)
		}
	}
	// The names do not go to nodes of the arguments.
	if y := x.MulScalar(2); transposed(y).GradFn().Name() != "TBackward0" || y.GradFn().Name() != "MulBackward0" {
		t.Errorf("the node of an argument was renamed: %s", y.GradFn().Name())
	}
}

// transposed is Python's x.t().
func transposed(x *torch.Tensor) *torch.Tensor {
	v, err := tensor.CallOp("aten::t", tensor.Box(x))
	if err != nil {
		panic(err)
	}
	return v[0].T
}
