package index

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// neutralOf is the element that a reduction starts from when self is left out.
func neutralOf(how string, dt tensor.DType) *T {
	switch how {
	case "prod":
		return tensor.IntValue(1).Num().Tensor()
	case "amax":
		if dt.IsFloat() {
			return tensor.FloatValue(math.Inf(-1)).Num().Tensor()
		}
		return tensor.Value{K: tensor.KInt, N: lowest(dt)}.Num().Tensor()
	case "amin":
		if dt.IsFloat() {
			return tensor.FloatValue(math.Inf(1)).Num().Tensor()
		}
		return tensor.Value{K: tensor.KInt, N: highest(dt)}.Num().Tensor()
	}
	return tensor.IntValue(0).Num().Tensor()
}

func lowest(dt tensor.DType) int64 {
	switch dt {
	case tensor.Int8:
		return math.MinInt8
	case tensor.Int16:
		return math.MinInt16
	case tensor.Int32:
		return math.MinInt32
	case tensor.Int64:
		return math.MinInt64
	}
	return 0
}

func highest(dt tensor.DType) int64 {
	switch dt {
	case tensor.Int8:
		return math.MaxInt8
	case tensor.Int16:
		return math.MaxInt16
	case tensor.Int32:
		return math.MaxInt32
	case tensor.Int64:
		return math.MaxInt64
	case tensor.Uint8:
		return math.MaxUint8
	}
	return 1
}

// constant is a tensor without gradient computed from others in float64 (complex128 for complex ones) element by element.
func constant(dt tensor.DType, shape []int, f func(i int) float64) *T {
	w := tensor.New(shape, tensor.Float64)
	d := tensor.Data[float64](w)
	for i := range d {
		d[i] = f(i)
	}
	return w.DenseAs(dt)
}

func ones(shape []int, dt tensor.DType) *T {
	return constant(dt, shape, func(int) float64 { return 1 })
}

func f64(t *T) []float64 { return tensor.Data[float64](t.Detach().DenseAs(tensor.Float64)) }

// reducer knows how scatter_reduce and index_reduce read and write the places that an index names.
type reducer struct {
	spread  func(t *T) *T         // a tensor like self, read at the index
	collect func(z, s *T) *T      // z with s added at the index
	reduce  func(self, src *T) *T // the operator itself
	zero    func(t *T) *T         // t with zeros at the index
}

// scatterReduceVJP is the gradient of scatter_reduce.
func scatterReduceVJP(c *Ctx, g *T) []*T {
	self, ix, src, out := c.T(0), c.T(2), c.T(3), c.Out(0)
	dim, how, include := c.Int(1), c.Str(4), c.Bool(5)
	full := src.Shape()
	for d, n := range ix.Shape() { // src may be larger than the index
		if d < src.Dim() && src.Shape()[d] != n {
			src = src.Narrow(d, 0, n)
		}
	}
	r := reducer{
		spread:  func(t *T) *T { return call1("gather", t, dim, ix) },
		collect: func(z, s *T) *T { return call1("scatter_add", z, dim, ix, s) },
		reduce:  func(a, b *T) *T { return call1("scatter_reduce.two", a, dim, ix, b, how, include) },
		zero:    func(t *T) *T { return call1("scatter.value", t, dim, ix, 0) },
	}
	gs, gsrc := r.grads(how, include, self, src, out, g)
	return []*T{gs, nil, fitTo(gsrc, full)}
}

// grads are the gradients of self and src, by PyTorch's formulas: ties share the gradient of a maximum, a single zero among the factors of
// a product gets the product of the others.
func (r *reducer) grads(how string, include bool, self, src, out, g *T) (gs, gsrc *T) {
	switch how {
	case "sum":
		gs, gsrc = g, r.spread(g)
	case "mean":
		n := zeros(g.Shape(), g.DType())
		if include {
			n = ones(g.Shape(), g.DType())
		}
		n = r.collect(n, ones(src.Shape(), g.DType()))
		x := reals(n)
		gs = g.Mul(constant(g.DType(), g.Shape(), func(i int) float64 { return 1 / max(1, x[i]) }))
		gsrc = r.spread(gs)
	case "amax", "amin":
		selfIs, srcIs := equalMask(self, out), equalMask(src, r.spread(out.Detach()))
		x := reals(r.collect(selfIs, srcIs))
		part := g.Mul(constant(g.DType(), g.Shape(), func(i int) float64 { return 1 / x[i] }))
		gs, gsrc = selfIs.Mul(part), srcIs.Mul(r.spread(part))
	default: // prod
		selfZero, srcZero := zeroMask(self), zeroMask(src)
		safe := self.Add(selfZero)
		gs = call1("div.Tensor", g.Mul(r.reduce(safe, src)), safe)
		count := reals(r.spread(r.collect(zeros(self.Shape(), self.DType()), srcZero)))
		z := reals(srcZero)
		single := constant(src.DType(), src.Shape(), func(i int) float64 {
			if z[i] == 1 && count[i] == 1 {
				return 1
			}
			return 0
		})
		several := constant(src.DType(), src.Shape(), func(i int) float64 { // 1 where src is no single zero
			if z[i] == 1 && count[i] == 1 {
				return 0
			}
			return 1
		})
		others := r.spread(g.Mul(r.reduce(self, src.Add(single)))).Mul(single)
		gsrc = call1("div.Tensor", r.spread(g.Mul(out)), src.Add(srcZero)).Mul(several).Add(others)
	}
	if !include {
		gs = r.zero(gs)
	}
	return gs, gsrc
}

// reals are the real parts of a tensor's elements.
func reals(t *T) []float64 {
	if t.DType().IsComplex() {
		x := tensor.Data[complex128](t.Detach().DenseAs(tensor.Complex128))
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = real(v)
		}
		return out
	}
	return f64(t)
}

// zeroMask is 1 where t is 0, else 0, in t's dtype.
func zeroMask(t *T) *T {
	x := tensor.Data[complex128](t.Detach().DenseAs(tensor.Complex128))
	return constant(t.DType(), t.Shape(), func(i int) float64 {
		if x[i] == 0 {
			return 1
		}
		return 0
	})
}

// equalMask is 1 where a equals b, else 0, in a's dtype.
func equalMask(a, b *T) *T {
	x, y := f64(a), f64(b)
	return constant(a.DType(), a.Shape(), func(i int) float64 {
		if x[i] == y[i] {
			return 1
		}
		return 0
	})
}
