package pointwise

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	check := func(c *Ctx) {
		a, b := c.T(0), c.T(1)
		if a.DType() != b.DType() {
			c.Fail(tensor.ErrDType, "%s did not match %s", a.DType().ClassName(), b.DType().ClassName())
		}
		for i, name := range []string{"rtol", "atol"} {
			if x := c.Float(2 + i); !(x >= 0) {
				c.Fail(tensor.ErrValue, "%s must be greater than or equal to zero, but got %s", name,
					op.CText(x))
			}
		}
	}
	tensor.Register(tensor.Def{
		Schema: "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
		Doc: "is true where |self - other| <= atol + rtol * " +
			"|other|.\nhttps://pytorch.org/docs/stable/generated/torch.isclose.html",
		Body: func(c *Ctx) {
			check(c)
			c.Return(isClose(c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
		Doc: "reports that |self - other| <= atol + rtol * |other| " +
			"everywhere.\nhttps://pytorch.org/docs/stable/generated/torch.allclose.html",
		// PyTorch, too, composes allclose of isclose, all and item, which reads an element.
		DataDependent: true,
		Body: func(c *Ctx) {
			check(c)
			r := isClose(c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4))
			c.ReturnValue(tensor.BoolValue(r.All().Item() != 0))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "equal(Tensor self, Tensor other) -> bool",
		Doc:    "reports that two tensors have the same shape and equal elements; NaN equals nothing.",
		NoGrad: "the result is no tensor", DataDependent: true,
		CPU: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(equal(c.T(0), c.T(1)))) },
	})
}

// equalRun is the number of elements that equal compares first, equalMost the most that it compares at a time.
const (
	equalRun  = 1024
	equalMost = 32 * 1024
)

// equal is the kernel of torch.equal. Large tensors of one dtype are compared in runs of growing length, up to the
// first run that differs.
func equal(a, b *T) bool {
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		return false
	}
	same := true
	tensor.NoGrad(func() {
		n := a.Numel()
		if n <= equalRun || a.DType() != b.DType() || !a.IsContiguous() || !b.IsContiguous() {
			same = allTrue(a.Eq(b))
			return
		}
		for at, run := 0, equalRun; at < n && same; at, run = at+run, 8*run {
			run = min(run, equalMost, n-at)
			part := func(t *T) *T { return tensor.Alias(t, []int{run}, []int{1}, t.StorageOffset()+at) }
			same = allTrue(part(a).Eq(part(b)))
		}
	})
	return same
}

// allTrue reports that every element of a tensor of bools in the CPU's memory is true.
func allTrue(t *T) bool {
	n := t.Numel()
	return n == 0 || vec.CountNonzeroU8(slice[uint8](tensor.Ptr(tensor.Dense(t)), n)) == n
}

// isClose is torch.isclose without its checks of dtypes.
func isClose(a, b *T, rtol, atol float64, equalNaN bool) *T {
	var r *T
	tensor.NoGrad(func() {
		r = a.Eq(b)
		if dt := a.DType(); equalNaN && (dt.IsFloat() || dt.IsComplex()) {
			r = r.LogicalOr(a.IsNaN().LogicalAnd(b.IsNaN()))
		}
		if rtol == 0 && atol == 0 {
			return
		}
		if b.DType().IsIntOrBool() {
			dt := tensor.DefaultDType()
			a, b = a.ToDType(dt), b.ToDType(dt)
		}
		allowed := b.MulScalar(rtol).Abs().AddScalar(atol)
		actual := a.Sub(b).Abs()
		r = r.LogicalOr(actual.IsFinite().LogicalAnd(actual.Le(allowed)))
	})
	return r
}
