package sort

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// fewRanks is the number of fractions for which selecting elements is cheaper than sorting them all.
const fewRanks = 2

func init() {
	const base = "https://pytorch.org/docs/stable/generated/torch."
	const doc = "interpolates between the sorted elements along a dimension (or all of them) at the fractions q in " +
		"[0, 1]; NaN makes the result NaN.\n" + base + "quantile.html"
	const nanDoc = "is Quantile of the elements that are not NaN.\n" + base + "nanquantile.html"
	plain, nan := func(c *Ctx) { c.Return(quantile(c, "quantile")) },
		func(c *Ctx) { c.Return(quantile(c, "nanquantile")) }
	tensor.Register(tensor.Def{Schema: "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", Doc: doc, Out: true, Body: plain})
	tensor.Register(tensor.Def{Schema: "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", Doc: doc, Out: true, Body: plain})
	tensor.Register(tensor.Def{Schema: "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", Doc: nanDoc, Out: true, Body: nan})
	tensor.Register(tensor.Def{Schema: "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", Doc: nanDoc, Out: true, Body: nan})
	tensor.Register(tensor.Def{
		Schema: "gotorch::order_statistic_indices(Tensor self, Tensor ranks) -> Tensor", Go: "-",
		Doc:    "gives the positions in the last dimension of the elements that a stable sort would put at the ranks.",
		NoGrad: "integer result",
		Infer: func(c *Ctx) {
			if dt := c.T(0).DType(); dt != tensor.Float32 && dt != tensor.Float64 || c.T(1).DType() != tensor.Int64 {
				c.Fail(tensor.ErrDType, "expected float or double elements and ranks of int64")
			}
			c.Alloc(0, c.T(1).Shape(), tensor.Int64)
		},
		CPU: func(c *Ctx) {
			switch {
			case c.Out(0).Numel() == 0:
			case !ranksFit(c.T(0), c.T(1)):
				c.Fail(tensor.ErrIndex, "expected ranks of the elements of each line, got shapes %s and %s",
					tensor.ShapeString(c.Shape(0)), tensor.ShapeString(c.Shape(1)))
			case c.T(0).DType() == tensor.Float64:
				orderStatisticIndices[float64](c)
			default:
				orderStatisticIndices[float32](c)
			}
		},
	})
}

// quantile is the body of quantile and nanquantile, which name tells apart.
func quantile(c *Ctx, name string) *T {
	x, q, keep, how := c.T(0), c.T(1), c.Bool(3), c.Str(4)
	if c.Value(1).K != tensor.KTensor || q.IsWrappedNumber() {
		v := c.Float(1)
		if !(v >= 0 && v <= 1) {
			c.Fail(tensor.ErrValue, "%s() q must be in the range [0, 1] but got %v", name, v)
		}
		q = op.Full(x, nil, v, x.DType())
	}
	switch {
	case x.Numel() == 0:
		c.Fail(tensor.ErrShape, "%s() input tensor must be non-empty", name)
	case q.Dim() > 1:
		c.Fail(tensor.ErrShape, "%s() q must be a scalar or 1D tensor", name)
	case x.DType() != tensor.Float32 && x.DType() != tensor.Float64:
		c.Fail(tensor.ErrDType, "%s() input tensor must be either float or double dtype", name)
	case q.DType() != x.DType():
		c.Fail(tensor.ErrDType, "%s() q tensor must be same dtype as the input tensor", name)
	}
	// On other devices reading the answer would mean waiting; PyTorch makes the same distinction.
	if q.Device().Type == tensor.CPUDevice && q.Numel() > 0 && !q.IsBatched() {
		r := op.Call("aten::aminmax", q.Detach())
		if !(r[0].Item() >= 0 && r[1].Item() <= 1) { // both are NaN where one of q is
			c.Fail(tensor.ErrValue, "%s() q values must be in the range [0, 1]", name)
		}
	}
	d := -1
	var rows *T
	switch {
	case !c.Has(2):
		rows = x.Reshape([]int{-1})
	case x.Dim() == 0:
		op.Wrap(c, c.Int(2), 0)
		rows = x.Reshape([]int{1})
	default:
		d = op.Wrap(c, c.Int(2), x.Dim())
		rows = x.MoveDim(d, -1)
	}
	lead, n := append([]int(nil), rows.Shape()[:rows.Dim()-1]...), rows.Size(-1)
	nan := rows.Detach().IsNaN()
	q1 := q.Reshape([]int{-1})
	var sorted *T
	if q1.Numel() > fewRanks {
		sorted = op.Call("aten::sort", rows, -1, false)[0]
	}
	// at is the elements of the ranks.
	at := func(ranks *T) *T {
		if sorted != nil {
			return sorted.Gather(-1, ranks)
		}
		return rows.Gather(-1, op.Call1("gotorch::order_statistic_indices", rows.Detach(), ranks))
	}
	var ranks *T
	if name == "nanquantile" {
		last := nan.LogicalNot().SumDim([]int{-1}, tensor.SumDimOptions{KeepDim: true}).SubScalar(1).ToDType(x.DType())
		ranks = q1.Mul(last)
		ranks = ranks.MaskedFillScalar(ranks.LtScalar(0), 0)
	} else {
		ranks = q1.MulScalar(n - 1).Expand(append(lead[:len(lead):len(lead)], q1.Numel()))
		ranks = ranks.MaskedFillScalar(op.Call1("aten::any.dim", nan, -1, true), n-1)
	}
	switch how {
	case "linear", "midpoint":
	case "lower":
		ranks = ranks.Floor()
	case "higher":
		ranks = ranks.Ceil()
	case "nearest":
		ranks = ranks.Round()
	default:
		c.Fail(tensor.ErrValue, "%s() interpolation must be one of linear, lower, higher, midpoint or nearest, but "+
			"got %s", name, how)
	}
	below := ranks.ToDType(tensor.Int64)
	var r *T
	if how != "linear" && how != "midpoint" {
		r = at(below)
	} else {
		// neighbours one after the other
		both := at(op.Call1("aten::stack", []*T{below, ranks.Ceil().ToDType(tensor.Int64)},
			-1).Flatten(tensor.FlattenOptions{StartDim: -2}))
		both = both.Reshape(append(append([]int(nil), below.Shape()...), 2))
		weight := ranks.Sub(below.ToDType(x.DType()))
		if how == "midpoint" {
			weight = op.Call1("aten::full_like", ranks, 0.5)
		}
		r = op.Call1("aten::lerp.Tensor", op.Call1("aten::select.int", both, -1, 0),
			op.Call1("aten::select.int", both, -1, 1), weight)
	}
	// the dimension of q comes first; the one that was reduced stays as 1 with keepdim
	shape := lead
	if keep {
		shape = append([]int(nil), x.Shape()...)
		for i := range shape {
			if d < 0 || i == d {
				shape[i] = 1
			}
		}
	}
	if q.Dim() == 0 {
		return r.Reshape(shape)
	}
	return r.MoveDim(-1, 0).Reshape(append([]int{q1.Numel()}, shape...))
}

// ranksFit reports that ranks, of as many lines as x, are those of elements.
func ranksFit(x, ranks *T) bool {
	d := x.Dim()
	if d == 0 || ranks.Dim() != d || !tensor.SameShape(x.Shape()[:d-1], ranks.Shape()[:d-1]) {
		return false
	}
	n := int64(x.Size(-1))
	return !slices.ContainsFunc(op.Raw[int64](tensor.Dense(ranks)), func(r int64) bool { return r < 0 || r >= n })
}

// orderStatisticIndices is the kernel of that operator.
func orderStatisticIndices[E ordered](c *Ctx) {
	x, ranks := tensor.Dense(c.T(0)), tensor.Dense(c.T(1))
	n, k := x.Size(-1), ranks.Size(-1)
	a, r, d := op.Raw[E](x), op.Raw[int64](ranks), op.Raw[int64](c.Out(0))
	par.For(len(d)/k, max(1, 4*1024/n), func(lo, hi int) {
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		for i := lo; i < hi; i++ {
			rankPositions(d[i*k:][:k], a[i*n:][:n], r[i*k:][:k], s)
		}
	})
}

// rankPositions sets d to the positions in a line of the elements of given ranks. A rank that follows the one before
// it, as those of neighbours do, takes one pass over the keys instead of a selection.
func rankPositions[E ordered](d []int64, line []E, ranks []int64, s *scratch) {
	keys := keysFor(line, false, s)
	var key uint64
	smaller, equal := 0, 0
	for j, rank := range ranks {
		k := int(rank)
		switch {
		case j > 0 && k >= smaller && k < smaller+equal: // the same key
		case j > 0 && k == smaller+equal:
			next := ^uint64(0)
			equal = 0
			for _, x := range keys {
				if x <= key || x > next {
					continue
				}
				if x < next {
					next, equal = x, 0
				}
				equal++
			}
			key, smaller = next, k
		default:
			key, smaller, equal = s.radixSelect(keys, k)
		}
		nth := k - smaller
		for i, x := range keys {
			if x == key {
				if nth == 0 {
					d[j] = int64(i)
					break
				}
				nth--
			}
		}
	}
}
