package loss

import (
	"github.com/gotorch-dev/torch/tensor"
)

// How a loss is reduced.
const (
	none = iota
	meanOf
	sumOf
)

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

// wantReduction refuses the number of a reduction that there is not.
func wantReduction(c *Ctx, how int) {
	if how < none || how > sumOf {
		c.Fail(tensor.ErrValue, "%d is not a valid value for reduction", how)
	}
}

// reduction reads the arguments size_average, reduce and reduction of Python's functions (the first two are the old
// form).
func reduction(c *Ctx, sizeAverage, red, text int) int {
	if sizeAverage >= 0 && (c.Has(sizeAverage) || c.Has(red)) {
		how, name := meanOf, "mean"
		switch {
		case c.Has(red) && !c.Bool(red):
			how, name = none, "none"
		case c.Has(sizeAverage) && !c.Bool(sizeAverage):
			how, name = sumOf, "sum"
		}
		tensor.Warn("size_average and reduce args will be deprecated, please use reduction='%s' instead.", name)
		return how
	}
	how, ok := reductions[c.Str(text)]
	if !ok {
		c.FailHint(tensor.ErrValue, "it is one of \"none\", \"mean\" and \"sum\"",
			"%s is not a valid value for reduction", c.Str(text))
	}
	return how
}

// reductions are the values of Python's argument of that name.
var reductions = map[string]int{"none": none, "mean": meanOf, "sum": sumOf}
