package sort

import (
	"math"
	"math/bits"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
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
	var perm []int64
	if sorter != nil {
		perm = op.Raw[int64](sorter.DenseAs(tensor.Int64))
	}
	out := tensor.New(vals.Shape(), tensor.Int64)
	per := vals.Numel()
	if seq.Dim() > 1 && vals.Dim() > 0 {
		per = vals.Size(-1)
	}
	n := seq.Size(-1)
	switch a, b := seq.DType(), vals.DType(); {
	case a == tensor.Float32 && b == tensor.Float32:
		places(op.Raw[int64](out), op.Raw[float32](seq.Dense()), op.Raw[float32](vals.Dense()), perm, n, per, right)
	case a.IsInt() && b.IsInt():
		places(op.Raw[int64](out), op.Raw[int64](seq.DenseAs(tensor.Int64)), op.Raw[int64](vals.DenseAs(tensor.Int64)), perm, n, per, right)
	default:
		places(op.Raw[int64](out), op.Raw[float64](seq.DenseAs(tensor.Float64)), op.Raw[float64](vals.DenseAs(tensor.Float64)), perm, n, per, right)
	}
	if int32Out {
		return out.ToDType(tensor.Int32)
	}
	return out
}

// places finds the places of values, per values in each row of n boundaries; perm, if there is one, sorts the rows. It compares keys, which
// lets each step of the search go without a branch: where a value belongs cannot be predicted.
func places[E ordered](out []int64, rows, vals []E, perm []int64, n, per int, right bool) {
	if len(vals) == 0 {
		return
	}
	keys := make([]uint64, len(rows))
	keysOf(keys, rows, false)
	for i, v := range rows {
		if v != v {
			keys[i] = 0 // no value belongs in front of NaN
		}
	}
	if perm != nil {
		inOrder := make([]uint64, len(rows))
		for i, p := range perm {
			inOrder[i] = keys[i/n*n+int(p)]
		}
		keys = inOrder
	}
	par.For(len(vals), 1024, func(lo, hi int) {
		var want [1024]uint64
		keysOf(want[:], vals[lo:hi], false)
		for i := lo; i < hi; {
			r := i / per
			row := keys[r*n:][:n]
			for end := min(hi, (r+1)*per); i < end; i++ {
				x := want[i-lo]
				switch v := vals[i]; {
				case v != v || right && x == math.MaxUint64:
					out[i] = int64(n)
					continue
				case right: // behind equal ones: in front of the next key
					x++
				}
				if next := want[(i+1-lo)&1023]; i+1 < end && next < math.MaxUint64 { // two at a time, which wait for different loads
					if right {
						next++
					}
					a, b := lowerBounds(row, x, next)
					out[i], out[i+1] = int64(a), int64(b)
					i++
					continue
				}
				out[i] = int64(lowerBound(row, x))
			}
		}
	})
}

// lowerBounds is lowerBound for two.
func lowerBounds(keys []uint64, x, y uint64) (at, by int) {
	end, fin := len(keys), len(keys)
	for at < end && by < fin {
		mid, m2 := int(uint(at+end)/2), int(uint(by+fin)/2)
		_, below := bits.Sub64(keys[mid], x, 0)
		_, under := bits.Sub64(keys[m2], y, 0)
		m, u := -int(below), -int(under)
		at += (mid + 1 - at) & m
		end += (mid - end) &^ m
		by += (m2 + 1 - by) & u
		fin += (m2 - fin) &^ u
	}
	for at < end {
		mid := int(uint(at+end) / 2)
		if keys[mid] < x {
			at = mid + 1
		} else {
			end = mid
		}
	}
	for by < fin {
		mid := int(uint(by+fin) / 2)
		if keys[mid] < y {
			by = mid + 1
		} else {
			fin = mid
		}
	}
	return at, by
}

// lowerBound is the number of keys below x in sorted keys. Keys that are not sorted are looked at in PyTorch's order.
func lowerBound(keys []uint64, x uint64) int {
	at, end := 0, len(keys)
	for at < end {
		mid := int(uint(at+end) / 2)
		_, below := bits.Sub64(keys[mid], x, 0) // 1 where the key is below x; the compiler would make a branch of an if
		m := -int(below)
		at += (mid + 1 - at) & m
		end += (mid - end) &^ m
	}
	return at
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
