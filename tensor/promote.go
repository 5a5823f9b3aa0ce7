package tensor

import "github.com/gotorch-dev/torch/internal/dtype"

// Promoter finds the common dtype of operands as PyTorch does: tensors with dimensions outrank 0-d tensors, which
// outrank numbers; a lower rank only matters when it brings a higher category (bool < integer < float < complex).
type Promoter struct{ dim, zero, wrapped DType }

// Add takes a tensor into account.
func (p *Promoter) Add(t *Tensor) {
	dt := t.dt
	switch {
	case len(t.shape) > 0:
		p.dim = promote(p.dim, dt)
	case t.flags&flagWrapped != 0:
		if dt.IsComplex() {
			dt = DefaultComplexDType()
		} else if dt.IsFloat() {
			dt = DefaultDType()
		}
		p.wrapped = promote(p.wrapped, dt)
	default:
		p.zero = promote(p.zero, dt)
	}
}

// AddNum takes a number into account.
func (p *Promoter) AddNum(n Num) { p.wrapped = promote(p.wrapped, n.DType()) }

// Result is the common dtype.
func (p *Promoter) Result() DType { return combine(p.dim, combine(p.zero, p.wrapped)) }

func combine(higher, lower DType) DType {
	switch {
	case higher.IsComplex():
		return higher
	case higher.IsFloat():
		if lower.IsComplex() && higher.IsFloat8() {
			return promote(higher, lower)
		}
		if lower.IsComplex() {
			return higher.Complex()
		}
		return higher
	case higher.IsWideUnsigned() && lower.IsDifferentiable() && !lower.IsFloat8():
		return lower
	case higher == Bool || lower.IsFloat() || lower.IsComplex():
		return promote(higher, lower)
	case higher != 0:
		return higher
	}
	return lower
}

// ResultType is torch.result_type.
func ResultType(a, b *Tensor) DType {
	a.mustHaveMemory("torch.result_type")
	b.mustHaveMemory("torch.result_type")
	var p Promoter
	p.Add(a)
	p.Add(b)
	return p.Result()
}

// PromoteTypes is torch.promote_types. It panics with ErrDType where PyTorch knows no common type: for an 8-bit float
// and another type, and for uint16, uint32 or uint64 and another type than a float.
func PromoteTypes(a, b DType) DType { return promote(a, b) }

// promote is PromoteTypes, where Invalid stands for nothing.
func promote(a, b DType) DType {
	dt := dtype.Promote(a, b)
	if dt == dtype.Invalid && (a|b) != dtype.Invalid {
		what := "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote %s and %s"
		switch {
		case a.IsOpaque() || b.IsOpaque():
			what = "Promotion from %s and %s is unsupported."
		case a.IsFloat8() || b.IsFloat8():
			what = "Promotion for Float8 Types is not supported, attempted to promote %s and %s"
		}
		Fail(ErrDType, what, a.ClassName(), b.ClassName())
	}
	return dt
}

// CanCast is torch.can_cast.
func CanCast(from, to DType) bool { return dtype.CanCast(from, to) }

// PromoteArgs is the common dtype of the given arguments of a call, tensors or numbers; None is left out.
func (c *Ctx) PromoteArgs(args ...int) DType {
	var p Promoter
	for _, i := range args {
		switch v := &c.args[i]; v.K {
		case KTensor:
			p.Add(v.T)
		case KNone:
		case KTensors:
			for _, t := range v.X.([]*Tensor) {
				p.Add(t)
			}
		default:
			p.AddNum(v.Num())
		}
	}
	return p.Result()
}

// BroadcastArgs is the common shape of the given arguments of a call; numbers and None do not count.
func (c *Ctx) BroadcastArgs(args ...int) []int {
	var shape []int
	first := true
	for _, i := range args {
		t := c.args[i].T
		if t == nil {
			continue
		}
		if first {
			shape, first = t.shape, false
			continue
		}
		if SameShape(shape, t.shape) {
			continue
		}
		shape = c.broadcast2(shape, t.shape)
	}
	return shape
}

func (c *Ctx) broadcast2(a, b []int) []int {
	n := max(len(a), len(b))
	out := make([]int, n)
	for i := 1; i <= n; i++ {
		x, y := 1, 1
		if i <= len(a) {
			x = a[len(a)-i]
		}
		if i <= len(b) {
			y = b[len(b)-i]
		}
		switch {
		case x == y || y == 1:
			out[n-i] = x
		case x == 1:
			out[n-i] = y
		default:
			c.Fail(ErrShape, "The size of tensor a (%d) must match the size of tensor b (%d) at non-singleton "+
				"dimension %d", x, y, n-i)
		}
	}
	return out
}
