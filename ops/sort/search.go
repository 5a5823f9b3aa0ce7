package sort

import (
	"sort"

	"github.com/gotorch-dev/torch/tensor"
)

// search finds the places of values in sorted boundaries, one row of boundaries or one per row of values.
func search(c *Ctx, seq, vals, sorter *T, right, int32Out bool) *T {
	if seq.Dim() == 0 || vals.Dim() > 0 && seq.Dim() > 1 && (seq.Dim() != vals.Dim() || !tensor.SameShape(seq.Shape()[:seq.Dim()-1], vals.Shape()[:vals.Dim()-1])) {
		c.Fail(tensor.ErrShape, "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor %s and input value tensor %s", tensor.ShapeString(seq.Shape()), tensor.ShapeString(vals.Shape()))
	}
	if sorter != nil && !tensor.SameShape(sorter.Shape(), seq.Shape()) {
		c.Fail(tensor.ErrShape, "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor %s and got sorter tensor %s", tensor.ShapeString(seq.Shape()), tensor.ShapeString(sorter.Shape()))
	}
	n := seq.Size(-1)
	b, v := raw[float64](seq.DenseAs(tensor.Float64)), raw[float64](vals.DenseAs(tensor.Float64))
	var perm []int64
	if sorter != nil {
		perm = raw[int64](sorter.DenseAs(tensor.Int64))
	}
	out := tensor.New(vals.Shape(), tensor.Int64)
	d := raw[int64](out)
	per := len(v)
	if seq.Dim() > 1 && vals.Dim() > 0 {
		per = vals.Size(-1)
	}
	for i, x := range v {
		row := i / per * n
		d[i] = int64(sort.Search(n, func(k int) bool {
			if perm != nil {
				k = int(perm[row+k])
			}
			y := b[row+k]
			if right {
				return less(x, y)
			}
			return !less(y, x)
		}))
	}
	if int32Out {
		return out.ToDType(tensor.Int32)
	}
	return out
}

//gen:searching
func searching(schema, doc string, f func(c *Ctx) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) { c.Return(f(c)) }})
}

func sideRight(c *Ctx) bool {
	switch s := c.Str(4); s {
	case "", "left", "right":
		if s == "left" && c.Bool(3) {
			c.Fail(tensor.ErrValue, "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
		}
		return c.Bool(3) || s == "right"
	default:
		c.Fail(tensor.ErrValue, "torch.searchsorted(): side can only be 'left' or 'right' but got %s", s)
	}
	return false
}

func bucketize(c *Ctx) *T {
	if c.T(1).Dim() != 1 {
		c.Fail(tensor.ErrShape, "boundaries tensor must be 1 dimension, but got dim(%d)", c.T(1).Dim())
	}
	return search(c, c.T(1), c.T(0), nil, c.Bool(3), c.Bool(2))
}

func init() {
	const base = "https://pytorch.org/docs/stable/generated/torch."
	searching("searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor", "finds where values would be inserted into sorted rows.\n"+base+"searchsorted.html",
		func(c *Ctx) *T { return search(c, c.T(0), c.T(1), c.T(5), sideRight(c), c.Bool(2)) })
	searching("searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor", "finds where a number would be inserted into a sorted row.",
		func(c *Ctx) *T { return search(c, c.T(0), c.T(1), c.T(5), sideRight(c), c.Bool(2)) })
	searching("bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", "finds the bucket of each value between sorted boundaries.\n"+base+"bucketize.html", bucketize)
	searching("bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", "finds the bucket of a number between sorted boundaries.", bucketize)
}
