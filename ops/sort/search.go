package sort

import (
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
		turned := make([]uint64, len(rows))
		for i, p := range perm {
			turned[i] = keys[i/n*n+int(p)]
		}
		keys = turned
	}
	inOrder := true
	for i := 1; i < len(keys); i++ {
		inOrder = inOrder && (keys[i] >= keys[i-1] || i%n == 0)
	}
	par.For(len(vals), 1024, func(lo, hi int) {
		var want [1024]uint64
		keysOf(want[:], vals[lo:hi], false)
		for i := lo; i < hi; {
			r := i / per
			row, end := keys[r*n:][:n], min(hi, (r+1)*per)
			out, vals, want := out[i:end], vals[i:end], want[i-lo:]
			if right { // behind equal ones: in front of the next key
				for j := range out {
					want[j]++ // 0 for NaN, which is mended below
				}
			}
			j := 0
			for ; inOrder && j+4 <= len(out); j += 4 {
				fourBounds((*[4]int64)(out[j:]), row, (*[4]uint64)(want[j:]))
			}
			for ; j < len(out); j++ {
				out[j] = int64(lowerBound(row, want[j]))
			}
			for j, v := range vals {
				if v != v || right && want[j] == 0 {
					out[j] = int64(n)
				}
			}
			i = end
		}
	})
}

// fourBounds sets at to the numbers of sorted keys below each of four. The four searches wait for different loads; all go by the same steps.
func fourBounds(at *[4]int64, keys []uint64, want *[4]uint64) {
	x0, x1, x2, x3 := want[0], want[1], want[2], want[3]
	a0, a1, a2, a3 := 0, 0, 0, 0
	n := len(keys)
	for n > 0 {
		half := (n + 1) / 2 // of the n keys from each place on that are in question
		k0, k1, k2, k3 := keys[a0+half-1], keys[a1+half-1], keys[a2+half-1], keys[a3+half-1]
		_, b0 := bits.Sub64(k0, x0, 0) // 1 where the key is below; the compiler would make a branch of an if
		_, b1 := bits.Sub64(k1, x1, 0)
		_, b2 := bits.Sub64(k2, x2, 0)
		_, b3 := bits.Sub64(k3, x3, 0)
		a0 += half & -int(b0)
		a1 += half & -int(b1)
		a2 += half & -int(b2)
		a3 += half & -int(b3)
		n -= half
	}
	*at = [4]int64{int64(a0), int64(a1), int64(a2), int64(a3)}
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
