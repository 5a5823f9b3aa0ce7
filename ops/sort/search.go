package sort

import (
	"math/bits"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// searchInfer checks a call that finds the places of values in sorted boundaries, which are one row or one row for
// each row of values.
func searchInfer(c *Ctx, seq, vals, sorter *T, int32Out bool) {
	if vals.Dim() == 0 && seq.Dim() != 1 {
		c.Fail(tensor.ErrShape, "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is "+
			"1, but we got boundaries tensor dim(%d) and input value's dim(0) numel(1)", seq.Dim())
	}
	if seq.Dim() == 0 || vals.Dim() > 0 && seq.Dim() > 1 &&
		(seq.Dim() != vals.Dim() || !tensor.SameShape(seq.Shape()[:seq.Dim()-1], vals.Shape()[:vals.Dim()-1])) {
		c.Fail(tensor.ErrShape, "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "+
			"dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor %s and "+
			"input value tensor %s", tensor.ShapeString(seq.Shape()), tensor.ShapeString(vals.Shape()))
	}
	if sorter != nil && sorter.DType() != tensor.Int64 {
		c.Fail(tensor.ErrDType, "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype %s",
			sorter.DType().ClassName())
	}
	if sorter != nil && !tensor.SameShape(sorter.Shape(), seq.Shape()) {
		c.Fail(tensor.ErrShape, "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "+
			"tensor %s and got sorter tensor %s", tensor.ShapeString(seq.Shape()), tensor.ShapeString(sorter.Shape()))
	}
	for _, t := range []*T{seq, vals} {
		if t.DType().IsComplex() && vals.Numel() > 0 {
			c.FailDType(tensor.ErrNotImpl, "searchsorted_out_cpu", t.DType())
		}
	}
	c.Alloc(0, vals.Shape(), op.Pick(int32Out, tensor.Int32, tensor.Int64))
}

// search is the kernel of such a call.
func search(c *Ctx, seq, vals, sorter *T, right bool) {
	var perm []int64
	if sorter != nil {
		perm = op.Raw[int64](tensor.Dense(sorter))
		for _, p := range perm {
			if uint64(p) >= uint64(seq.Size(-1)) {
				c.Fail(tensor.ErrIndex, "torch.searchsorted(): sorter index out of range")
			}
		}
	}
	out := c.Out(0)
	if out.DType() != tensor.Int64 || !out.IsContiguous() {
		out = tensor.New(vals.Shape(), tensor.Int64)
	}
	per := vals.Numel()
	if seq.Dim() > 1 && vals.Dim() > 0 {
		per = vals.Size(-1)
	}
	n := seq.Size(-1)
	if n == 0 { // whatever the value, it belongs at place 0
		tensor.ZeroRaw(c.Out(0))
		return
	}
	// Both in their common dtype, as PyTorch compares them: beside a float32 an integer is rounded to float32.
	common := tensor.ResultType(seq, vals)
	as := func(t *T, dt tensor.DType) *T { return tensor.DenseAs(tensor.DenseAs(t, common), dt) }
	switch common {
	case tensor.Float32, tensor.Float16, tensor.BFloat16:
		places(op.Raw[int64](out), op.Raw[float32](as(seq, tensor.Float32)), op.Raw[float32](as(vals, tensor.Float32)),
			perm, n, per, right)
	case tensor.Uint8:
		placesOfInts(op.Raw[int64](out), op.Raw[uint8](as(seq, common)), op.Raw[uint8](as(vals, common)), perm, n, per,
			right)
	case tensor.Int8, tensor.Int16, tensor.Int32:
		placesOfInts(op.Raw[int64](out), op.Raw[int32](as(seq, tensor.Int32)), op.Raw[int32](as(vals, tensor.Int32)),
			perm, n, per, right)
	case tensor.Int64:
		placesOfInts(op.Raw[int64](out), op.Raw[int64](as(seq, common)), op.Raw[int64](as(vals, common)), perm, n, per,
			right)
	default:
		places(op.Raw[int64](out), op.Raw[float64](as(seq, tensor.Float64)), op.Raw[float64](as(vals, tensor.Float64)),
			perm, n, per, right)
	}
	if out != c.Out(0) {
		tensor.CopyRaw(c.Out(0), out)
	}
}

// places finds the places of values, per values in each row of n boundaries; perm, if there is one, sorts the rows.
// It compares keys, which lets each step of the search go without a branch: where a value belongs cannot be
// predicted.
func places[E ordered](out []int64, rows, vals []E, perm []int64, n, per int, right bool) {
	if len(vals) == 0 {
		return
	}
	if len(vals)*bits.Len(uint(n)) < len(rows) { // most boundaries are never looked at
		placesOfFew(out, rows, vals, perm, n, per, right)
		return
	}
	keys := make([]uint64, len(rows))
	keysOf(keys, rows, false)
	if E(1)/2 != 0 {
		for i, v := range rows {
			if v != v {
				keys[i] = 0 // no value belongs in front of NaN
			}
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
	for r := 0; r < len(keys); r += n {
		inOrder = inOrder && slices.IsSorted(keys[r:r+n])
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
			for ; inOrder && j+8 <= len(out); j += 8 {
				eightBounds((*[8]int64)(out[j:]), row, (*[8]uint64)(want[j:]))
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

// placesOfFew is places without keys, which take longer to make than few values take to find.
func placesOfFew[E ordered](out []int64, rows, vals []E, perm []int64, n, per int, right bool) {
	par.For(len(vals), 256, func(lo, hi int) {
		for i, v := range vals[lo:hi] {
			first := 0 // of the row
			if len(rows) > n {
				first = (lo + i) / per * n
			}
			at, end := 0, n
			for at < end {
				mid := int(uint(at+end) / 2)
				k := first + mid
				if perm != nil {
					k = first + int(perm[k])
				}
				// NaN is behind all numbers: these comparisons with it are false
				if x := rows[k]; x > v || !right && x == v {
					end = mid
				} else {
					at = mid + 1
				}
			}
			out[lo+i] = int64(at)
		}
	})
}

// eightBounds sets at to the numbers of sorted keys below each of eight. The searches wait for different loads; all
// go by the same steps.
func eightBounds(at *[8]int64, keys []uint64, want *[8]uint64) {
	var a0, a1, a2, a3, a4, a5, a6, a7 int
	n := len(keys)
	for n > 0 {
		half := (n + 1) / 2 // of the n keys from each place on that are in question
		from := keys[half-1:]
		// 1 where the key is below; the compiler would make a branch of an if
		_, b0 := bits.Sub64(from[a0], want[0], 0)
		a0 += half & -int(b0)
		_, b1 := bits.Sub64(from[a1], want[1], 0)
		a1 += half & -int(b1)
		_, b2 := bits.Sub64(from[a2], want[2], 0)
		a2 += half & -int(b2)
		_, b3 := bits.Sub64(from[a3], want[3], 0)
		a3 += half & -int(b3)
		_, b4 := bits.Sub64(from[a4], want[4], 0)
		a4 += half & -int(b4)
		_, b5 := bits.Sub64(from[a5], want[5], 0)
		a5 += half & -int(b5)
		_, b6 := bits.Sub64(from[a6], want[6], 0)
		a6 += half & -int(b6)
		_, b7 := bits.Sub64(from[a7], want[7], 0)
		a7 += half & -int(b7)
		n -= half
	}
	*at = [8]int64{int64(a0), int64(a1), int64(a2), int64(a3), int64(a4), int64(a5), int64(a6), int64(a7)}
}

// placesOfInts is places for integers. Where they are many of few, the places of all that lie between the smallest
// and the largest are found first.
func placesOfInts[E uint8 | int32 | int64](out []int64, rows, vals []E, perm []int64, n, per int, right bool) {
	if len(vals) == 0 {
		return
	}
	var lo, hi [1]E
	vec.MinRowsInt(lo[:], vals, 1, len(vals), 0)
	vec.MaxRowsInt(hi[:], vals, 1, len(vals), 0)
	least := lo[0]
	span := uint64(hi[0]) - uint64(least)
	if span >= uint64(per)/4 {
		places(out, rows, vals, perm, n, per, right)
		return
	}
	all, at := make([]E, span+1), make([]int64, span+1)
	for i := range all {
		all[i] = least + E(i)
	}
	for r := 0; r < len(vals)/per; r++ {
		row, order := rows, perm
		if len(rows) > n {
			row = rows[r*n:][:n]
			if perm != nil {
				order = perm[r*n:][:n]
			}
		}
		places(at, row, all, order, n, len(all), right)
		vals, out := vals[r*per:][:per], out[r*per:][:per]
		par.For(per, 1<<16, func(lo, hi int) {
			out := out[lo:hi]
			for i, v := range vals[lo:hi] {
				out[i] = at[uint64(v)-uint64(least)]
			}
		})
	}
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

// searchsorted declares an operator with the arguments boundaries, values, out_int32, right, side, sorter.
//
//gen:searchsorted
func searchsorted(schema, doc string) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, NoGrad: "integer result",
		Infer: func(c *Ctx) {
			sideRight(c)
			searchInfer(c, c.T(0), c.T(1), c.T(5), c.Bool(2))
		},
		CPU: func(c *Ctx) { search(c, c.T(0), c.T(1), c.T(5), sideRight(c)) },
	})
}

// bucketize declares an operator with the arguments values, boundaries, out_int32, right.
//
//gen:bucketize
func bucketize(schema, doc string) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, NoGrad: "integer result",
		Infer: func(c *Ctx) {
			if c.T(1).Dim() != 1 {
				c.Fail(tensor.ErrShape, "boundaries tensor must be 1 dimension, but got dim(%d)", c.T(1).Dim())
			}
			searchInfer(c, c.T(1), c.T(0), nil, c.Bool(2))
		},
		CPU: func(c *Ctx) { search(c, c.T(1), c.T(0), nil, c.Bool(3)) },
	})
}

func sideRight(c *Ctx) bool {
	switch s := c.Str(4); s {
	case "", "left", "right":
		if s == "left" && c.Bool(3) {
			c.Fail(tensor.ErrValue, "torch.searchsorted(): side and right can't be set to opposites, got side of "+
				"left while right was True")
		}
		return c.Bool(3) || s == "right"
	default:
		c.Fail(tensor.ErrValue, "torch.searchsorted(): side can only be 'left' or 'right' but got %s", s)
	}
	return false
}

func init() {
	const base = "https://pytorch.org/docs/stable/generated/torch."
	searchsorted("searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor", "finds where values would be inserted into sorted rows.\n"+base+"searchsorted.html")
	searchsorted("searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor", "finds where a number would be inserted into a sorted row.")
	bucketize("bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
		"finds the bucket of each value between sorted boundaries.\n"+base+"bucketize.html")
	bucketize("bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
		"finds the bucket of a number between sorted boundaries.")
}
