package shape_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestUnsafeChunk: the parts of unsafe_chunk may be changed in place while gradients are recorded, as recurrent cells do.
func TestUnsafeChunk(t *testing.T) {
	x := torch.Ones([]int{2, 4}).SetRequiresGrad(true)
	v, err := tensor.CallOp("aten::unsafe_chunk", tensor.TensorValue(x.MulScalar(2)), tensor.IntValue(2),
		tensor.IntValue(1))
	if err != nil {
		t.Fatal(err)
	}
	parts := v[0].X.([]*tensor.Tensor)
	parts[0].MulScalarInPlace(3).Sum().Backward()
	if got := x.Grad().Sum().Item(); got != 4*6 {
		t.Errorf("the gradients add up to %v, want 24", got)
	}
}
