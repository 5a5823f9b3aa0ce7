package torch

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// Python's programs compute with sizes by these functions, since the sizes may be symbols while torch.export looks at
// the program. In Go a size is a number, and package export finds out by other means which sizes may vary.

// SymNumber is a number of one of Go's usual types.
type SymNumber interface {
	~int | ~int32 | ~int64 | ~float32 | ~float64
}

// SymMax is the larger number. NaN is passed on, as by Go's max.
// https://docs.pytorch.org/docs/stable/generated/torch.sym_max.html
func SymMax[N SymNumber](a, b N) N { return max(a, b) }

// SymMin is the smaller number. NaN is passed on, as by Go's min.
// https://docs.pytorch.org/docs/stable/generated/torch.sym_min.html
func SymMin[N SymNumber](a, b N) N { return min(a, b) }

// SymNot is the negation.
// https://docs.pytorch.org/docs/stable/generated/torch.sym_not.html
func SymNot(a bool) bool { return !a }

// SymFloat converts to a floating-point number.
// https://docs.pytorch.org/docs/stable/generated/torch.sym_float.html
func SymFloat[N SymNumber](a N) float64 { return float64(a) }

// SymInt cuts off the fraction of a number. It panics with ErrValue for NaN and for numbers that an int does not hold,
// of which Python's integers hold all but the infinite ones.
// https://docs.pytorch.org/docs/stable/generated/torch.sym_int.html
func SymInt[N SymNumber](a N) int {
	f := math.Trunc(float64(a))
	if i := int(a); float64(a) == f && float64(i) == f { // all integers, and small floats without a fraction
		return i
	}
	if !(f >= math.MinInt && f < math.MaxInt) {
		tensor.Fail(tensor.ErrValue, "sym_int: cannot convert float %v to integer", float64(a))
	}
	return int(f)
}

// SymITE is yes if the condition holds, otherwise no.
// https://docs.pytorch.org/docs/stable/generated/torch.sym_ite.html
func SymITE[V any](condition bool, yes, no V) V {
	if condition {
		return yes
	}
	return no
}

// SymSqrt is the square root. It panics with ErrValue for a negative number.
func SymSqrt[N SymNumber](a N) float64 {
	if a < 0 {
		tensor.Fail(tensor.ErrValue, "sym_sqrt: math domain error: %v is negative", float64(a))
	}
	return math.Sqrt(float64(a))
}

// SymSum adds numbers; the sum of none is 0.
// https://docs.pytorch.org/docs/stable/generated/torch.sym_sum.html
func SymSum[N SymNumber](items ...N) N {
	var sum N
	for _, a := range items {
		sum += a
	}
	return sum
}

// SymFreshSize is the number itself: in Python a new symbol of the same value.
func SymFreshSize(expr int) int { return expr }

// SymRange are the ends, included, between which a size is to lie.
type SymRange struct {
	Min, Max tensor.Opt[int] // by default the least and the largest int
}

// SymConstrainRange panics with ErrValue unless a size lies in a range. In Python it also tells torch.export that the
// size always will.
func SymConstrainRange(size int, r SymRange) {
	constrain(size, r.Min.Or(math.MinInt), r.Max.Or(math.MaxInt))
}

// SymConstrainRangeForSize is [SymConstrainRange] for the size of a dimension: the least number is 0 unless it is
// given, and the largest one must be above 2, since torch.export makes other programs of the sizes 0 and 1.
func SymConstrainRangeForSize(size int, r SymRange) {
	largest := r.Max.Or(math.MaxInt)
	if largest <= 2 {
		tensor.Fail(tensor.ErrValue, "Max value to constrain_range_for_size must be greater than 2. got: %d", largest)
	}
	constrain(size, r.Min.Or(0), largest)
}

func constrain(size, least, largest int) {
	switch {
	case largest < least:
		tensor.Fail(tensor.ErrValue, "Max must be greater than or equal to min. Got min=%d max=%d", least, largest)
	case size < least || size > largest:
		tensor.Fail(tensor.ErrValue, "Invalid value range for %d between [%d, %d].", size, least, largest)
	}
}
