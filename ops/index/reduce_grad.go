package index

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
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

// ones is a one, expanded.
func ones(like *T, shape []int, dt tensor.DType) *T { return op.Full(like, nil, 1, dt).Expand(shape) }

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
		spread:  func(t *T) *T { return op.Call1("aten::gather", t, dim, ix) },
		collect: func(z, s *T) *T { return op.Call1("aten::scatter_add", z, dim, ix, s) },
		reduce:  func(a, b *T) *T { return op.Call1("aten::scatter_reduce.two", a, dim, ix, b, how, include) },
		zero:    func(t *T) *T { return op.Call1("aten::scatter.value", t, dim, ix, 0) },
	}
	gs, gsrc := r.grads(how, include, self, src, out, g)
	return []*T{gs, nil, fitTo(gsrc, full)}
}

// grads are the gradients of self and src, by PyTorch's formulas: ties share the gradient of a maximum, a single zero
// among the factors of a product gets the product of the others.
func (r *reducer) grads(how string, include bool, self, src, out, g *T) (gs, gsrc *T) {
	switch how {
	case "sum":
		gs, gsrc = g, r.spread(g)
	case "mean":
		n := op.Zeros(g, g.Shape(), g.DType())
		if include {
			n = ones(g, g.Shape(), g.DType())
		}
		n = r.collect(n, ones(g, src.Shape(), g.DType()))
		gs = g.Div(n.MaskedFillScalar(n.EqScalar(0), 1))
		gsrc = r.spread(gs)
	case "amax", "amin":
		selfIs, srcIs := self.Detach().Eq(out.Detach()).ToDType(g.DType()),
			src.Detach().Eq(r.spread(out.Detach())).ToDType(g.DType())
		part := g.Div(r.collect(selfIs, srcIs))
		gs, gsrc = selfIs.Mul(part), srcIs.Mul(r.spread(part))
	default: // prod
		selfZero, srcZero := self.Detach().EqScalar(0), src.Detach().EqScalar(0)
		safe := self.MaskedFillScalar(selfZero, 1)
		gs = g.Mul(r.reduce(safe, src)).Div(safe)
		count := r.spread(r.collect(op.Zeros(self, self.Shape(), self.DType()), srcZero.ToDType(self.DType())))
		single := srcZero.LogicalAnd(count.EqScalar(1))
		gsrc = r.spread(g.Mul(out)).Div(src.MaskedFillScalar(srcZero, 1))
		// rare; the number is read in PyTorch as well
		if g.Device().Type == tensor.MetaDevice || single.IsBatched() || single.Any().Item() != 0 {
			others := r.spread(g.Mul(r.reduce(self, src.MaskedFillScalar(single, 1))))
			gsrc = op.Call1("aten::where.self", single, others, gsrc)
		}
	}
	if !include {
		gs = r.zero(gs)
	}
	return gs, gsrc
}
