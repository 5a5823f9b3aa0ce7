package vec

// redBlock is the number of elements that a reduction adds up in one go, with
// a fixed number of accumulators. The results of blocks are combined pairwise,
// as in a balanced tree, so that rounding errors grow with the logarithm of
// the length.
const redBlock = 4096

// cascade combines block results pairwise: like a binary counter, level i
// holds the sum of 2^i blocks.
type cascade[T float32 | float64] struct {
	level [48]T
	n     uint // blocks so far
}

func (c *cascade[T]) push(x T) {
	i := 0
	for n := c.n; n&1 != 0; n >>= 1 {
		x = c.level[i] + x
		i++
	}
	c.level[i] = x
	c.n++
}

func (c *cascade[T]) sum() T {
	var s T
	first := true
	for i, n := 0, c.n; n != 0; i, n = i+1, n>>1 {
		if n&1 == 0 {
			continue
		}
		if first {
			s, first = c.level[i], false
		} else {
			s = c.level[i] + s
		}
	}
	return s
}

// cascaded is the pairwise sum of the results of blocks.
func cascaded[E any, T float32 | float64](a []E, block func(a []E) T) T {
	if len(a) <= redBlock {
		return block(a)
	}
	var c cascade[T]
	for len(a) > 0 {
		m := min(len(a), redBlock)
		c.push(block(a[:m]))
		a = a[m:]
	}
	return c.sum()
}

// SumF32 returns the sum of a, 0 if it is empty. The order of additions
// depends on the length alone.
func SumF32(a []float32) float32 { return cascaded(a, sumBlockF32) }

// SumF64 is SumF32 for float64.
func SumF64(a []float64) float64 { return cascaded(a, sumBlockF64) }

// SumF32As64 returns the sum of a, added up in float64.
func SumF32As64(a []float32) float64 { return cascaded(a, sumBlockF32As64) }

// SumSquaresF32 returns the sum of (a[i]-c)²; with c = 0 the sum of squares,
// with the mean as c the sum behind the variance.
func SumSquaresF32(a []float32, c float32) float32 {
	if len(a) <= redBlock {
		return sumSqBlockF32(a, c)
	}
	var t cascade[float32]
	for len(a) > 0 {
		m := min(len(a), redBlock)
		t.push(sumSqBlockF32(a[:m], c))
		a = a[m:]
	}
	return t.sum()
}

// SumSquaresF64 is SumSquaresF32 for float64.
func SumSquaresF64(a []float64, c float64) float64 {
	if len(a) <= redBlock {
		return sumSqBlockF64(a, c)
	}
	var t cascade[float64]
	for len(a) > 0 {
		m := min(len(a), redBlock)
		t.push(sumSqBlockF64(a[:m], c))
		a = a[m:]
	}
	return t.sum()
}

// SumSquaresF32As64 is SumSquaresF32 with float64 arithmetic.
func SumSquaresF32As64(a []float32, c float64) float64 {
	if len(a) <= redBlock {
		return sumSqBlockF32As64(a, c)
	}
	var t cascade[float64]
	for len(a) > 0 {
		m := min(len(a), redBlock)
		t.push(sumSqBlockF32As64(a[:m], c))
		a = a[m:]
	}
	return t.sum()
}

// SumSquares is SumSquaresF32 or SumSquaresF64 of what is not to overflow nor to vanish.
func SumSquares[E real](a []E) float64 {
	if a, ok := any(a).([]float32); ok {
		return preciseSquares(float64(SumSquaresF32(a, 0)), a)
	}
	return SumSquaresF64(any(a).([]float64), 0)
}

// preciseSquares is the sum of squares of a, which is s as far as float32 can tell: where squares may have come near
// its limits they are summed in float64.
func preciseSquares[E real](s float64, a []E) float64 {
	if a, ok := any(a).([]float32); ok && !(s > 0x1p-80 && s < 0x1p127) {
		return SumSquaresF32As64(a, 0)
	}
	return s
}

// SumAbsF32 returns the sum of |a[i]|.
func SumAbsF32(a []float32) float32 { return cascaded(a, sumAbsBlockF32) }

// SumAbsF64 is SumAbsF32 for float64.
func SumAbsF64(a []float64) float64 { return cascaded(a, sumAbsBlockF64) }

// DotF32 returns the sum of a[i]*b[i] over the length of a.
func DotF32(a, b []float32) float32 {
	b = b[:len(a)]
	if len(a) <= redBlock {
		return dotBlockF32(a, b)
	}
	var t cascade[float32]
	for len(a) > 0 {
		m := min(len(a), redBlock)
		t.push(dotBlockF32(a[:m], b[:m]))
		a, b = a[m:], b[m:]
	}
	return t.sum()
}

// DotF64 is DotF32 for float64.
func DotF64(a, b []float64) float64 {
	b = b[:len(a)]
	if len(a) <= redBlock {
		return dotBlockF64(a, b)
	}
	var t cascade[float64]
	for len(a) > 0 {
		m := min(len(a), redBlock)
		t.push(dotBlockF64(a[:m], b[:m]))
		a, b = a[m:], b[m:]
	}
	return t.sum()
}

// DotF32As64 is DotF32 with products and sums in float64.
func DotF32As64(a, b []float32) float64 {
	b = b[:len(a)]
	if len(a) <= redBlock {
		return dotBlockF32As64(a, b)
	}
	var t cascade[float64]
	for len(a) > 0 {
		m := min(len(a), redBlock)
		t.push(dotBlockF32As64(a[:m], b[:m]))
		a, b = a[m:], b[m:]
	}
	return t.sum()
}

// GradSumsF32 returns the sums of grad[i] and of grad[i]*(x[i]-mean), the two
// numbers that the backward pass of a normalisation needs; grad[i]*w[i] takes
// the place of grad[i] unless w is nil.
func GradSumsF32(grad, w, x []float32, mean float32) (s0, s1 float32) {
	x = x[:len(grad)]
	if w != nil {
		w = w[:len(grad)]
	}
	block := func(i, m int) (float32, float32) {
		if w == nil {
			return gradSumsBlockF32(grad[i:i+m], x[i:i+m], mean)
		}
		return gradSumsWeightBlockF32(grad[i:i+m], w[i:i+m], x[i:i+m], mean)
	}
	if len(grad) <= redBlock {
		return block(0, len(grad))
	}
	var t0, t1 cascade[float32]
	for i := 0; i < len(grad); i += redBlock {
		a, b := block(i, min(len(grad)-i, redBlock))
		t0.push(a)
		t1.push(b)
	}
	return t0.sum(), t1.sum()
}

// GradSumsF64 is GradSumsF32 for float64.
func GradSumsF64(grad, w, x []float64, mean float64) (s0, s1 float64) {
	x = x[:len(grad)]
	if w != nil {
		w = w[:len(grad)]
	}
	block := func(i, m int) (float64, float64) {
		if w == nil {
			return gradSumsBlockF64(grad[i:i+m], x[i:i+m], mean)
		}
		return gradSumsWeightBlockF64(grad[i:i+m], w[i:i+m], x[i:i+m], mean)
	}
	if len(grad) <= redBlock {
		return block(0, len(grad))
	}
	var t0, t1 cascade[float64]
	for i := 0; i < len(grad); i += redBlock {
		a, b := block(i, min(len(grad)-i, redBlock))
		t0.push(a)
		t1.push(b)
	}
	return t0.sum(), t1.sum()
}

// MaxF32 returns the largest element of a: NaN if there is one, -Inf if a is
// empty.
func MaxF32(a []float32) float32 {
	r := -inf32
	for len(a) > 0 {
		m := min(len(a), redBlock)
		if x := maxBlockF32(a[:m]); x > r {
			r = x
		} else if x != x {
			return x
		}
		a = a[m:]
	}
	return r
}

// MinF32 returns the smallest element of a: NaN if there is one, +Inf if a is
// empty.
func MinF32(a []float32) float32 {
	r := inf32
	for len(a) > 0 {
		m := min(len(a), redBlock)
		if x := minBlockF32(a[:m]); x < r {
			r = x
		} else if x != x {
			return x
		}
		a = a[m:]
	}
	return r
}

// MaxF64 is MaxF32 for float64.
func MaxF64(a []float64) float64 {
	r := -inf64
	for len(a) > 0 {
		m := min(len(a), redBlock)
		if x := maxBlockF64(a[:m]); x > r {
			r = x
		} else if x != x {
			return x
		}
		a = a[m:]
	}
	return r
}

// MinF64 is MinF32 for float64.
func MinF64(a []float64) float64 {
	r := inf64
	for len(a) > 0 {
		m := min(len(a), redBlock)
		if x := minBlockF64(a[:m]); x < r {
			r = x
		} else if x != x {
			return x
		}
		a = a[m:]
	}
	return r
}

// argBlock is the block length of ArgMax and ArgMin: short, because the
// winning block is searched once more, element by element.
const argBlock = 512

// ArgMaxF32 returns the index of the first largest element, or of the first
// NaN if there is one; -1 if a is empty.
func ArgMaxF32(a []float32) int { return argBest(a, maxBlockF32, -inf32, 1) }

// ArgMinF32 returns the index of the first smallest element, or of the first
// NaN if there is one; -1 if a is empty.
func ArgMinF32(a []float32) int { return argBest(a, minBlockF32, inf32, -1) }

// ArgMaxF64 is ArgMaxF32 for float64.
func ArgMaxF64(a []float64) int { return argBest(a, maxBlockF64, -inf64, 1) }

// ArgMinF64 is ArgMinF32 for float64.
func ArgMinF64(a []float64) int { return argBest(a, minBlockF64, inf64, -1) }

// argBest finds the first block that holds the extremum, and then the element.
func argBest[T float32 | float64](a []T, block func([]T) T, best T, sign T) int {
	if len(a) == 0 {
		return -1
	}
	at := 0
	for i := 0; i < len(a); i += argBlock {
		x := block(a[i:min(i+argBlock, len(a))])
		if x != x {
			best, at = x, i
			break
		}
		if sign > 0 && x > best || sign < 0 && x < best {
			best, at = x, i
		}
	}
	for i, x := range a[at:min(at+argBlock, len(a))] {
		if x == best || x != x {
			return at + i
		}
	}
	return at
}
