package sort

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// groups finds the runs of equal rows in x, whose rows are the entries of its first dimension: starts are the rows
// with which the runs begin, group is the number of the run of each row, and counts are the lengths of the runs. The
// last two may be nil when they are not wanted.
func groups(x *T, inverse, count bool) (starts, group, counts *T) {
	n := x.Size(0)
	if dt := x.DType(); x.Dim() == 1 {
		switch {
		case dt == tensor.Float64:
			return runs(op.Raw[float64](tensor.Dense(x)), inverse, count)
		case dt.IsFloat():
			return runs(op.Raw[float32](tensor.DenseAs(x, tensor.Float32)), inverse, count)
		case dt == tensor.Bool || dt == tensor.Uint8:
			return runs(op.Raw[uint8](tensor.Dense(x)), inverse, count)
		}
		return runs(op.Raw[int64](tensor.DenseAs(x, tensor.Int64)), inverse, count)
	}
	change := op.Call1("aten::ones", []int{n}, tensor.Bool)
	if n > 1 {
		ne := op.Call1("aten::slice.Tensor", x, 0, 1, n).Ne(op.Call1("aten::slice.Tensor", x, 0, 0, n-1))
		if x.Dim() > 1 {
			ne = ne.Reshape([]int{n - 1, -1}).AnyDim(1)
		}
		change = op.Call1("aten::cat", []*T{op.Call1("aten::ones", []int{1}, tensor.Bool), ne}, 0)
	}
	starts = change.Nonzero().Reshape([]int{-1})
	group = change.CumSum(0).SubScalar(1)
	ends := op.Call1("aten::cat", []*T{op.Call1("aten::slice.Tensor", starts, 0, min(1, starts.Numel()),
		starts.Numel()), op.Call1("aten::full", []int{min(1, n)}, n, tensor.Int64)}, 0)
	return starts, group, ends.Sub(starts)
}

// distinct keeps the first element of each run of equal ones in a vector of real numbers; no NaN is equal to another.
func distinct(x *T) *T {
	dt, wide := x.DType(), tensor.Dense(x)
	if dt.IsFloat() && x.ElementSize() == 2 {
		wide = tensor.DenseAs(x, tensor.Float32)
	}
	out, n := tensor.New(x.Shape(), wide.DType()), 0
	switch {
	case wide.DType() == tensor.Float32:
		n = compact(op.Raw[float32](out), op.Raw[float32](wide))
	case dt == tensor.Float64:
		n = compact(op.Raw[float64](out), op.Raw[float64](wide))
	case x.ElementSize() == 1:
		n = compact(op.Raw[uint8](out), op.Raw[uint8](wide))
	case x.ElementSize() == 2:
		n = compact(op.Raw[uint16](out), op.Raw[uint16](wide))
	case x.ElementSize() == 4:
		n = compact(op.Raw[uint32](out), op.Raw[uint32](wide))
	default:
		n = compact(op.Raw[uint64](out), op.Raw[uint64](wide))
	}
	return trimmed(out, n, x)
}

// sortedInts is the distinct elements of a vector of integers in order, without a sort of positions; nil where the
// integers lie too far apart for a set of bits or for words that hold a whole key.
func sortedInts(x *T) *T {
	switch dt := x.DType(); dt {
	case tensor.Bool, tensor.Uint8:
		var each []uint8
		for v, n := range countBytes(op.Raw[uint8](tensor.Dense(x))) {
			if n > 0 {
				each = append(each, uint8(v))
			}
		}
		out := tensor.New([]int{len(each)}, dt)
		copy(op.Raw[uint8](out), each)
		return out
	case tensor.Int32:
		return distinctInts(x, op.Raw[int32](tensor.Dense(x)), math.MinInt32)
	case tensor.Int64:
		return distinctInts(x, op.Raw[int64](tensor.Dense(x)), math.MinInt64)
	case tensor.Int8, tensor.Int16:
		return distinctInts(x, op.Raw[int32](tensor.DenseAs(x, tensor.Int32)), math.MinInt32)
	}
	return nil
}

// distinctInts is sortedInts for the elements l of x; lowest is the smallest number of their type.
func distinctInts[E int32 | int64](x *T, l []E, lowest E) *T {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	n := len(l)
	if n == 0 {
		return nil
	}
	keys := keysFor(l, false, s)
	least, most := keyRange(keys)
	from := E(least) + lowest // the smallest number
	out, m := tensor.New([]int{n}, tensor.DTypeOf[E]()), 0
	d := op.Raw[E](out)
	switch width := bits.Len64(most - least); {
	case most-least < 64*uint64(n): // a bit for each number that there may be
		set := take(&s.spare, int((most-least)/64)+1)
		clear(set)
		for _, k := range keys {
			k -= least
			set[k>>6] |= 1 << (k & 63)
		}
		for i, b := range set {
			for ; b != 0; b &= b - 1 {
				d[m] = from + E(64*i+bits.TrailingZeros64(b))
				m++
			}
		}
	case width <= 32:
		words := take(&s.words, n)
		for i, k := range keys {
			words[i] = (k - least) << 31
		}
		last := uint64(math.MaxUint64)
		for _, w := range s.sortPacked(words, width) { // what follows is overwritten, which takes no branch
			_, more := bits.Sub64(0, w^last, 0) // 1 for another than the last
			m += int(more)
			d[m-1] = from + E(w>>31)
			last = w
		}
	default:
		return nil
	}
	return trimmed(out, m, x)
}

// trimmed is the first n elements of out in the dtype of x: a copy where out is much larger, whose memory a view
// would keep.
func trimmed(out *T, n int, x *T) *T {
	if out = tensor.Alias(out, []int{n}, []int{1}, 0); 2*n < x.Numel() && out.DType() == x.DType() {
		return out.Clone()
	}
	return out.ToDType(x.DType())
}

// compact puts the first elements of runs into d and gives their number. What follows them is overwritten, which
// takes no branch.
func compact[E uint8 | uint16 | uint32 | uint64 | float32 | float64](d, l []E) int {
	if len(l) == 0 {
		return 0
	}
	d = d[:len(l)]
	k, last := 1, l[0]
	d[0] = last
	for _, v := range l[1:] {
		d[k] = v
		if v != last {
			k++
		}
		last = v
	}
	return k
}

// runs is groups for a vector of real numbers; no NaN is equal to another.
func runs[E ordered](l []E, inverse, count bool) (starts, group, counts *T) {
	n, k := len(l), 0
	at := tensor.New([]int{n + 1}, tensor.Int64)
	first := op.Raw[int64](at)
	if n > 0 {
		k = 1
		first[0] = 0
		last := l[0]
		for i, v := range l[1:] { // what follows the runs in first is overwritten, which takes no branch
			first[k] = int64(i + 1)
			more := 0
			if v != last {
				more = 1
			}
			k += more
			last = v
		}
	}
	first[k] = int64(n)
	first = first[:k+1]
	if count {
		counts = tensor.New([]int{k}, tensor.Int64)
		for i, d := 0, op.Raw[int64](counts); i < k; i++ {
			d[i] = first[i+1] - first[i]
		}
	}
	if inverse {
		group = tensor.New([]int{n}, tensor.Int64)
		g := op.Raw[int64](group)
		for i := range k {
			for at := first[i]; at < first[i+1]; at++ {
				g[at] = int64(i)
			}
		}
	}
	return tensor.Alias(at, []int{k}, []int{1}, 0), group, counts
}

// unique sets the results of a call to the distinct rows of its first argument along dim (nil: its distinct
// elements), sorted or in the order in which they come, for each row which of the distinct ones it is, and how often
// each occurs. The last two are empty when they are not wanted.
func unique(c *Ctx, dim *int, sorted, inverse, count bool) {
	for i, t := range distinctRows(c, c.T(0).Detach(), dim, sorted, inverse, count) {
		c.SetOut(i, t)
	}
}

// distinctRows computes the results of unique for x.
func distinctRows(c *Ctx, x *T, dim *int, sorted, inverse, count bool) []*T {
	rows, shape := x, x.Shape()
	switch {
	case dim == nil:
		rows = x.Reshape([]int{-1})
	default:
		d := op.Wrap(c, *dim, x.Dim())
		if x.Dim() > 0 {
			rows = x.MoveDim(d, 0)
		} else {
			rows = x.Reshape([]int{1})
		}
		shape = rows.Shape()[:1]
	}
	n := rows.Size(0)
	zeros := 0
	for _, s := range rows.Shape() {
		if s == 0 {
			zeros++
		}
	}
	if zeros > 1 && n == 0 {
		c.Fail(tensor.ErrShape, "Number of zero sized dimensions is more than one, so unique cannot be applied")
	}
	if rows.Dim() > 1 && rows.Numel() == 0 && n > 0 {
		c.Fail(tensor.ErrShape, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
	}
	if sorted && !inverse && !count && rows.Dim() == 1 && dim == nil {
		if v := sortedInts(rows); v != nil {
			none := op.Call1("aten::empty.memory_format", []int{0}, tensor.Int64)
			return []*T{v, none, none}
		}
	}
	var perm *T
	values := rows
	if sorted {
		perm = rowOrder(rows, n)
		values = rows.IndexSelect(0, perm)
	}
	var group, counts *T
	if !inverse && !count && rows.Dim() == 1 {
		values = distinct(values)
	} else {
		var starts *T
		starts, group, counts = groups(values, inverse, count)
		values = values.IndexSelect(0, starts)
	}
	if dim != nil && x.Dim() > 0 {
		values = values.MoveDim(0, op.Wrap(c, *dim, x.Dim())).Contiguous()
	}
	none := func() *T { return op.Call1("aten::empty.memory_format", []int{0}, tensor.Int64) }
	r := []*T{values, none(), none()}
	if inverse {
		if perm != nil {
			group = op.Call1("aten::empty_like", group).Scatter(0, perm, group)
		}
		r[1] = group.Reshape(shape)
	}
	if count {
		r[2] = counts
	}
	return r
}

// rowOrder is the order of the n rows of a tensor, which compare by their first element, then by the second, and so on.
func rowOrder(rows *T, n int) *T {
	cols := rows.Numel() / max(n, 1)
	const few = 8
	if cols > few {
		return manyColumns(rows, n, cols)
	}
	perm := op.Call1("aten::arange", n, tensor.Int64)
	flat := rows
	if rows.Dim() > 1 {
		flat = rows.Reshape([]int{n, cols})
	}
	for k := cols - 1; k >= 0 && n > 0; k-- { // sorting stably by the last one first
		col := flat
		if rows.Dim() > 1 {
			col = op.Call1("aten::select.int", flat, 1, k)
		}
		order := op.Call("aten::sort.stable", col.IndexSelect(0, perm), true, 0, false)[1]
		perm = perm.IndexSelect(0, order)
	}
	return perm
}

// manyColumns is rowOrder by comparing rows, which seldom looks at more than their first elements.
func manyColumns(rows *T, n, cols int) *T {
	keys := op.Raw[uint64](tensor.New([]int{n, cols}, tensor.Int64))
	switch dt := rows.DType(); {
	case dt == tensor.Float64:
		keysOf(keys, op.Raw[float64](tensor.Dense(rows)), false)
	case dt.IsFloat():
		keysOf(keys, op.Raw[float32](tensor.DenseAs(rows, tensor.Float32)), false)
	default:
		keysOf(keys, op.Raw[int64](tensor.DenseAs(rows, tensor.Int64)), false)
	}
	perm := tensor.New([]int{n}, tensor.Int64)
	p := op.Raw[int64](perm)
	for i := range p {
		p[i] = int64(i)
	}
	slices.SortFunc(p, func(i, j int64) int {
		x, y := keys[int(i)*cols:][:cols], keys[int(j)*cols:][:cols]
		return cmp.Or(slices.Compare(x, y), cmp.Compare(i, j))
	})
	return perm
}

// requested drops the results that were not asked for, as Python's functions do.
func requested(r []*T, inverse, count bool) []*T {
	out := r[:1:1]
	if inverse {
		out = append(out, r[1])
	}
	if count {
		out = append(out, r[2])
	}
	return out
}

func dimArg(c *Ctx, i int) *int {
	if !c.Has(i) {
		return nil
	}
	d := c.Int(i)
	return &d
}

// noDerivative is the rule of the operators of this file: their results are on the tape, as PyTorch's are, and refuse
// the backward pass.
func noDerivative(c *Ctx, _ *T) []*T {
	c.Fail(tensor.ErrNotImpl, "the derivative for '%s' is not implemented.", c.Op().Sch.Name)
	return nil
}

func init() {
	const base = "https://pytorch.org/docs/stable/generated/torch."
	// the kernels allocate the results, whose sizes depend on the elements
	tensor.Register(tensor.Def{
		Schema: "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)", Go: "Unique",
		Doc: "gives the distinct elements in order, for each element which of them it is, and how often each " +
			"occurs; the last two are empty unless asked for.\n" + base + "unique.html",
		VJP: noDerivative, DataDependent: true, Infer: noComplex,
		CPU: func(c *Ctx) { unique(c, nil, true, c.Bool(2), c.Bool(3)) },
	})
	tensor.Register(tensor.Def{
		Schema: "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
		Doc:    "is Unique for the slices along a dimension.\n" + base + "unique.html",
		VJP:    noDerivative, DataDependent: true, Infer: noComplex,
		CPU: func(c *Ctx) { unique(c, dimArg(c, 1), true, c.Bool(3), c.Bool(4)) },
	})
	tensor.Register(tensor.Def{
		Schema: "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
		Doc: "keeps the first of equal elements in a row; with Dim of equal slices. The other results are those " +
			"of Unique.\n" + base + "unique_consecutive.html",
		VJP: noDerivative, DataDependent: true, Infer: noComplex,
		CPU: func(c *Ctx) { unique(c, dimArg(c, 3), false, c.Bool(1), c.Bool(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "torch::unique(Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Any", Go: "-",
		Doc: "is Python's torch.unique: as many results as are asked for.", DataDependent: true,
		Body: func(c *Ctx) {
			var r []*T
			if c.Has(4) {
				r = op.Call("aten::unique_dim", c.T(0), c.Int(4), c.Bool(1), c.Bool(2), c.Bool(3))
			} else {
				r = op.Call("aten::_unique2", c.T(0), c.Bool(1), c.Bool(2), c.Bool(3))
			}
			c.Return(requested(r, c.Bool(2), c.Bool(3))...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "torch::unique_consecutive(Tensor input, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Any", Go: "-",
		Doc: "is Python's torch.unique_consecutive: as many results as are asked for.", DataDependent: true,
		Body: func(c *Ctx) {
			r := op.Call("aten::unique_consecutive", c.T(0), c.Bool(1), c.Bool(2), c.Value(3))
			c.Return(requested(r, c.Bool(1), c.Bool(2))...)
		},
	})
}
