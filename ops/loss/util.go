package loss

import (
	"unsafe"

	"github.com/gotorch-dev/torch/tensor"
)

// How a loss is reduced.
const (
	none = iota
	meanOf
	sumOf
)

func raw[E any](t *T) []E {
	if t.Numel() == 0 {
		return nil
	}
	return unsafe.Slice((*E)(t.Ptr()), t.Numel())
}

// op1 calls an operator with one tensor result.
func op1(name string, args ...any) *T { return opN(name, args...)[0].T }

func opN(name string, args ...any) []tensor.Value {
	vals := make([]tensor.Value, len(args))
	for i, a := range args {
		if t, ok := a.(*T); ok && t == nil {
			continue
		}
		vals[i] = tensor.Box(a)
	}
	res, err := tensor.CallOp(name, vals...)
	if err != nil {
		panic(err)
	}
	return res
}

// reduce applies a reduction to elementwise losses.
func reduce(x *T, how int) *T {
	switch how {
	case meanOf:
		return x.Mean()
	case sumOf:
		return x.Sum()
	}
	return x
}

// reduction reads the arguments size_average, reduce and reduction of Python's functions (the first two are the old form).
func reduction(c *Ctx, sizeAverage, red, text int) int {
	if sizeAverage >= 0 && (c.Has(sizeAverage) || c.Has(red)) {
		switch {
		case c.Has(red) && !c.Bool(red):
			return none
		case c.Has(sizeAverage) && !c.Bool(sizeAverage):
			return sumOf
		}
		return meanOf
	}
	switch s := c.Str(text); s {
	case "none":
		return none
	case "mean":
		return meanOf
	case "sum":
		return sumOf
	default:
		c.Fail(tensor.ErrValue, "%s is not a valid value for reduction", s)
	}
	return none
}

// zeroWhere is v with zeros where the mask is true.
func zeroWhere(v, mask *T) *T {
	z := tensor.New(nil, v.DType())
	z.ZeroRaw()
	return op1("aten::where.self", mask, z, v)
}
