package op

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// CheckFits refuses a number that the elements of a tensor cannot hold, in PyTorch's words.
func CheckFits(c *tensor.Ctx, n tensor.Num, dt tensor.DType) {
	switch {
	case dt.IsOpaque() && n.C != 0:
		c.FailDType(tensor.ErrNotImpl, "fill_cpu", dt)
	case !dt.IsOpaque() && overflows(n, dt):
		FailFit(c, dt)
	}
}

// FailFit says that a value cannot be converted to a type.
func FailFit(c *tensor.Ctx, dt tensor.DType) {
	c.Fail(tensor.ErrValue, "value cannot be converted to type %s without overflow", cppName(dt))
}

// overflows reports a number that the dtype cannot hold. Negative numbers are taken for unsigned types, where they wrap
// around, as far as their magnitude fits.
func overflows(n tensor.Num, dt tensor.DType) bool {
	switch {
	case dt == tensor.Bool || dt.IsComplex():
		return false
	case n.K == tensor.KComplex && imag(n.C) != 0:
		return true
	case dt.IsInt():
		i := tensor.IInfo(dt)
		least := float64(i.Min)
		if least == 0 {
			least = -float64(i.Max)
		}
		return n.K == tensor.KFloat && math.IsNaN(n.F) || n.F < least || n.F > float64(i.Max)
	case dt == tensor.Float64 || math.IsNaN(n.F):
		return false
	case math.IsInf(n.F, 0): // formats of 8 bits have no infinity, but for one
		return dt.IsFloat8() && dt != tensor.Float8E5M2
	}
	i := tensor.FInfo(dt)
	if dt == tensor.Float8E8M0FNU && n.F == 0 {
		return false
	}
	return n.F < i.Min || n.F > i.Max
}

// cppName is the name of a type in these messages.
func cppName(dt tensor.DType) string {
	switch dt {
	case tensor.Int8, tensor.Int16, tensor.Int64, tensor.Uint8:
		return dt.Name() + "_t"
	}
	return dt.CName()
}
