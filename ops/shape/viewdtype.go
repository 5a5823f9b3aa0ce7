package shape

import (
	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
		Doc: "sees the same memory as elements of another type. Where the types have different sizes the last " +
			"dimension grows or shrinks, and has to be contiguous. There is no gradient.\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.view.html",
		Go:     "ViewDType",
		NoGrad: "other elements in the same memory",
		View:   viewDType,
	})
}

func viewDType(c *Ctx) *T {
	t, dt := c.T(0), c.DType(1)
	from := t.DType()
	if !dt.Valid() {
		c.Fail(tensor.ErrType, "view(): argument 'dtype' must be torch.dtype, not None")
	}
	if from == dt {
		return tensor.Alias(t, t.Shape(), t.Strides(), t.StorageOffset())
	}
	switch conj, neg := tensor.Bits(t); {
	case conj:
		c.Fail(tensor.ErrValue, "torch.Tensor.view is not supported for conjugate view tensors when converting to a "+
			"different dtype.")
	case neg:
		c.Fail(tensor.ErrValue, "torch.Tensor.view is not supported for tensors with negative bit set when converting "+
			"to a different dtype.")
	}
	shape, stride, off := append([]int{}, t.Shape()...), append([]int{}, t.Strides()...), t.StorageOffset()
	a, b, last := from.Size(), dt.Size(), len(shape)-1
	if a != b {
		if last < 0 {
			c.Fail(tensor.ErrShape, "self.dim() cannot be 0 to view %s as %s (different element sizes)",
				from.ClassName(), dt.ClassName())
		}
		if stride[last] != 1 {
			c.Fail(tensor.ErrShape, "self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %d",
				from.ClassName(), dt.ClassName(), stride[last])
		}
	}
	switch {
	case a > b:
		k := a / b
		for i := range last {
			stride[i] *= k
		}
		shape[last] *= k
		off *= k
	case a < b:
		k := b / a
		divides := func(what string, n int) {
			if n%k != 0 {
				c.Fail(tensor.ErrShape, "self.%s must be divisible by %d to view %s as %s (different element sizes), "+
					"but got %d", what, k, from.ClassName(), dt.ClassName(), n)
			}
		}
		divides("size(-1)", shape[last])
		divides("storage_offset()", off)
		for i := range last {
			divides(fmt.Sprintf("stride(%d)", i), stride[i])
			stride[i] /= k
		}
		shape[last] /= k
		off /= k
	}
	return tensor.WithDType(tensor.Alias(t, shape, stride, off), dt)
}
