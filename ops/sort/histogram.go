package sort

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// histogramArgs are the places of the arguments in the schemas of histogram and histogramdd: bins are numbers or
// tensors of edges; ends are the lowest and the highest edge of each dimension, -1 where the schema has none.
type histogramArgs struct {
	bins, ends, weight, density int
	flat                        bool // the input is any tensor of numbers, not one of points
}

// points is the shape of the input as points, [count, dimensions].
func (a histogramArgs) points(c *Ctx) (count, dims int) {
	sh := c.Shape(0)
	if a.flat {
		return tensor.Size(sh).Numel(), 1
	}
	if len(sh) < 2 {
		c.Fail(tensor.ErrShape, "torch.histogramdd: input tensor should have at least 2 dimensions")
	}
	dims = sh[len(sh)-1]
	return tensor.Size(sh[:len(sh)-1]).Numel(), dims
}

// numbered reports an overload that takes numbers of bins: those, and no others, have ends.
func (a histogramArgs) numbered() bool { return a.ends >= 0 }

// numbers are the numbers of bins of each dimension, which the arguments give as such or by edges.
func (a histogramArgs) numbers(c *Ctx, dims int) []int {
	if a.numbered() {
		var n []int
		if a.flat {
			n = []int{c.Int(a.bins)}
		} else {
			n = slices.Clone(c.Ints(a.bins))
		}
		a.checkDims(c, len(n), dims)
		for d, n := range n {
			a.checkBins(c, n, d)
		}
		return n
	}
	edges := a.edges(c)
	a.checkDims(c, len(edges), dims)
	n := make([]int, len(edges))
	for d, e := range edges {
		if e.Dim() != 1 {
			c.Fail(tensor.ErrShape, "torch.histogramdd: bins tensor should have one dimension, but got %d dimensions "+
				"in the "+
				"bins tensor for dimension %d", e.Dim(), d)
		}
		if e.Numel() == 0 {
			c.Fail(tensor.ErrShape, "torch.histogramdd: bins tensor should have at least 1 element, but got 0 "+
				"elements in the "+
				"bins tensor for dimension %d", d)
		}
		if e.DType() != c.ArgDType(0) {
			c.Fail(tensor.ErrDType, "torch.histogramdd: input tensor and bins tensors should have the same dtype, "+
				"but got "+
				"input with dtype %s and bins for dimension %d with dtype %s", c.ArgDType(0), d, e.DType())
		}
		n[d] = e.Numel() - 1
		a.checkBins(c, n[d], d)
	}
	return n
}

// edges are the tensors of edges among the arguments.
func (a histogramArgs) edges(c *Ctx) []*T {
	if a.flat {
		return []*T{c.T(a.bins)}
	}
	return c.Tensors(a.bins)
}

func (a histogramArgs) checkDims(c *Ctx, n, dims int) {
	if n != dims {
		c.Fail(tensor.ErrShape, "histogramdd: The size of bins must be equal to the innermost dimension of the input.")
	}
}

func (a histogramArgs) checkBins(c *Ctx, n, d int) {
	if n <= 0 {
		c.Fail(tensor.ErrValue, "torch.histogram(): bins must be > 0, but got %d for dimension %d", n, d)
	}
}

// check refuses arguments and gives the shape of the counts.
func (a histogramArgs) check(c *Ctx) []int {
	_, dims := a.points(c)
	bins := a.numbers(c, dims)
	if dt := c.ArgDType(0); dt != tensor.Float32 && dt != tensor.Float64 {
		c.Fail(tensor.ErrNotImpl, "\"histogramdd\" not implemented for '%s'", dt.ClassName())
	}
	if a.ends >= 0 && c.Has(a.ends) {
		ends := c.Floats(a.ends)
		if len(ends) != 2*dims {
			c.Fail(tensor.ErrValue, "torch.histogramdd: for a %d-dimensional histogram range should have %d "+
				"elements, but got "+
				"%d", dims, 2*dims, len(ends))
		}
		for d := range dims {
			a.checkEnds(c, ends[2*d], ends[2*d+1], d)
		}
	}
	if c.Has(a.weight) {
		sh, w := c.Shape(0), c.Shape(a.weight)
		points := sh
		if a.flat {
			sh = append(slices.Clone(sh), 1)
		} else {
			points = sh[:len(sh)-1]
		}
		if !tensor.SameShape(points, w) {
			c.Fail(tensor.ErrShape, "torch.histogramdd: if weight tensor is provided it should have the same shape "+
				"as the "+
				"input tensor excluding its innermost dimension, but got input with shape %s and weight with shape %s",
				tensor.ShapeString(sh), tensor.ShapeString(w))
		}
		if dt := c.ArgDType(a.weight); dt != c.ArgDType(0) {
			c.Fail(tensor.ErrDType, "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "+
				"should "+
				"have the same dtype, but got input(%s), and weight(%s)", c.ArgDType(0), dt)
		}
	}
	return bins
}

func (a histogramArgs) checkEnds(c *Ctx, lo, hi float64, d int) {
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) || lo != lo || hi != hi {
		c.Fail(tensor.ErrValue, "torch.histogramdd: dimension %d's range [%v, %v] is not finite", d, lo, hi)
	}
	if lo > hi {
		c.Fail(tensor.ErrValue, "torch.histogramdd: min should not exceed max, but got min %v max %v for dimension %d",
			lo, hi,
			d)
	}
}

// evenEdges are bins+1 edges of bins of equal width for dimension d of the points x, from the argument's ends or from
// the least to the greatest number.
func evenEdges[E float32 | float64](c *Ctx, a histogramArgs, x []E, dims, d, bins int) []E {
	lo, hi := E(0), E(1)
	switch {
	case c.Has(a.ends):
		ends := c.Floats(a.ends)
		lo, hi = E(ends[2*d]), E(ends[2*d+1])
	case len(x) > 0:
		lo, hi = x[d], x[d]
		nan := false // if one of them is, both ends are
		for i := d; i < len(x); i += dims {
			v := x[i]
			if v < lo {
				lo = v
			}
			if v > hi {
				hi = v
			}
			nan = nan || v != v
		}
		if nan {
			lo, hi = E(math.NaN()), E(math.NaN())
		}
	}
	a.checkEnds(c, float64(lo), float64(hi), d)
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	edges := make([]E, bins+1)
	step := (hi - lo) / E(bins)
	for i := range edges { // each half from its own end, as linspace
		if i < (bins+1)/2 {
			edges[i] = lo + step*E(i)
		} else {
			edges[i] = hi - step*E(bins-i)
		}
	}
	return edges
}

// binner finds bins between edges. Where these are even, rate bins are as wide as 1.
type binner[E float32 | float64] struct {
	edges        []E
	lo, hi, rate E
	even         bool
}

func newBinner[E float32 | float64](edges []E, even bool) binner[E] {
	last := len(edges) - 1
	b := binner[E]{edges: edges, lo: edges[0], hi: edges[last], even: even}
	b.rate = E(last) / (b.hi - b.lo)
	return b
}

// of is the bin of v, the last one closed on both sides; -1 for a number outside or NaN.
func (b *binner[E]) of(v E) int {
	if !(v >= b.lo && v <= b.hi) {
		return -1
	}
	last := len(b.edges) - 1
	if !b.even {
		from, to := 0, last+1 // binary search for the first edge above v
		for from < to {
			if m := (from + to) / 2; b.edges[m] > v {
				to = m
			} else {
				from = m + 1
			}
		}
		return min(from-1, last-1)
	}
	p := min(max(int((v-b.lo)*b.rate), 0), last-1) // nearly: the edges decide
	for p > 0 && v < b.edges[p] {
		p--
	}
	for p < last-1 && v >= b.edges[p+1] {
		p++
	}
	return p
}

// counts adds up the weights (ones without) of the points x in the bins between edges. The points are counted in parts,
// which do not depend on the number of threads.
func counts[E float32 | float64](hist []E, x, weight []E, edges [][]E, even bool) {
	dims := len(edges)
	if dims == 0 {
		return
	}
	n := len(x) / dims
	const most = 16
	parts := max(1, min(most, n/max(4096, 4*len(hist))))
	part := (n + parts - 1) / parts
	more := make([]E, (parts-1)*len(hist))
	bins := make([]binner[E], dims)
	for d, e := range edges {
		bins[d] = newBinner(e, even)
	}
	par.For(parts, 1, func(first, end int) {
		for k := first; k < end; k++ {
			h := hist
			if k > 0 {
				h = more[(k-1)*len(hist):][:len(hist)]
			}
			for i := k * part; i < min(n, (k+1)*part); i++ {
				at := 0
				for d := range bins {
					b := &bins[d]
					p := b.of(x[i*dims+d])
					if p < 0 {
						at = -1
						break
					}
					at = at*(len(b.edges)-1) + p
				}
				switch {
				case at < 0:
				case weight == nil:
					h[at]++
				default:
					h[at] += weight[i]
				}
			}
		}
	})
	for ; len(more) > 0; more = more[len(hist):] {
		for i, v := range more[:len(hist)] {
			hist[i] += v
		}
	}
}

// density makes counts a density, whose integral over the bins is 1.
func density[E float32 | float64](hist []E, edges [][]E) {
	total := E(0)
	for _, v := range hist {
		total += v
	}
	for i := range hist {
		hist[i] /= total
	}
	inner := len(hist)
	for _, e := range edges {
		inner /= len(e) - 1
		for i := range hist {
			p := i / inner % (len(e) - 1)
			hist[i] /= e[p+1] - e[p]
		}
	}
}

// histogramOf computes the counts, and the edges where the arguments give numbers of bins.
func histogramOf[E float32 | float64](c *Ctx, a histogramArgs, hist *T) (edges [][]E) {
	_, dims := a.points(c)
	x := op.Raw[E](tensor.Dense(c.T(0)))
	if a.numbered() {
		for d, n := range a.numbers(c, dims) {
			edges = append(edges, evenEdges(c, a, x, dims, d, n))
		}
	} else {
		for _, e := range a.edges(c) {
			edges = append(edges, op.Raw[E](tensor.Dense(e)))
		}
	}
	if hist == nil {
		return edges
	}
	var w []E
	if c.Has(a.weight) {
		w = op.Raw[E](tensor.Dense(c.T(a.weight)))
	}
	h := op.Raw[E](hist)
	clear(h)
	counts(h, x, w, edges, a.numbered())
	if c.Bool(a.density) {
		density(h, edges)
	}
	return edges
}

// kernel computes the counts into hist, unless that is nil, and the edges into the results from number first on.
func (a histogramArgs) kernel(c *Ctx, hist *T, first int) {
	if c.ArgDType(0) == tensor.Float32 {
		for i, e := range histogramOf[float32](c, a, hist) {
			if first >= 0 {
				tensor.CopyRaw(c.Out(first+i), tensor.FromSlice(e))
			}
		}
		return
	}
	for i, e := range histogramOf[float64](c, a, hist) {
		if first >= 0 {
			tensor.CopyRaw(c.Out(first+i), tensor.FromSlice(e))
		}
	}
}

func init() {
	const doc = "counts the elements in bins, or adds up Weight of the same shape. Bin i holds what is at least edge " +
		"i and " +
		"less than edge i+1, the last bin also what equals the last edge; other elements and NaN do not count. With " +
		"Density " +
		"the result is divided so that its integral is 1. Input, weight and edges are float32 or float64 alike."
	const site = "\nhttps://pytorch.org/docs/stable/generated/torch.histogram.html"
	numbers := histogramArgs{bins: 1, ends: 2, weight: 3, density: 4, flat: true}
	tensor.Register(tensor.Def{
		Schema: "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
		Doc: doc + " There are Bins bins of equal width between the two numbers of Range, or else between the least " +
			"and the " +
			"greatest element. The results are the counts, [Bins], and the edges, [Bins+1]." + site,
		Go: "Histogram", Out: true, NoGrad: "counts", FormNames: ".bin_ct_out=.bin_ct_out(hist,bin_edges)",
		Infer: func(c *Ctx) {
			n := numbers.check(c)[0]
			c.Alloc(0, []int{n}, c.ArgDType(0))
			c.Alloc(1, []int{n + 1}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) { numbers.kernel(c, c.Out(0), 1) },
	})
	edges := histogramArgs{bins: 1, ends: -1, weight: 2, density: 3, flat: true}
	tensor.Register(tensor.Def{
		Schema: "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
		Doc:    doc + " The edges are those in bins, in rising order; they are the second result, too." + site,
		Go:     "HistogramBins", Out: true, NoGrad: "counts",
		FormNames: ".bins_tensor_out=.bins_tensor_out(hist,bin_edges)",
		Infer: func(c *Ctx) {
			n := edges.check(c)[0]
			c.Alloc(0, []int{n}, c.ArgDType(0))
			c.Alloc(1, []int{n + 1}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) { edges.kernel(c, c.Out(0), 1) },
	})

	many := histogramArgs{bins: 1, ends: 2, weight: 3, density: 4}
	tensor.Register(tensor.Def{
		Schema: "_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor[]",
		Doc:    "gives the edges that histogramdd computes.", Go: "-", NoGrad: "edges of bins",
		Infer: func(c *Ctx) {
			for d, n := range many.check(c) {
				c.Alloc(d, []int{n + 1}, c.ArgDType(0))
			}
		},
		CPU: func(c *Ctx) { many.kernel(c, nil, 0) },
	})
	tensor.Register(tensor.Def{
		Schema: "_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor",
		Doc:    "gives the counts of histogramdd for numbers of bins.", Go: "-", Out: true, NoGrad: "counts",
		Infer: func(c *Ctx) { c.Alloc(0, many.check(c), c.ArgDType(0)) },
		CPU:   func(c *Ctx) { many.kernel(c, c.Out(0), -1) },
	})
	lists := histogramArgs{bins: 1, ends: -1, weight: 2, density: 3}
	tensor.Register(tensor.Def{
		Schema: "_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor",
		Doc:    "gives the counts of histogramdd for edges.", Go: "-", Out: true, NoGrad: "counts",
		Infer: func(c *Ctx) { c.Alloc(0, lists.check(c), c.ArgDType(0)) },
		CPU:   func(c *Ctx) { lists.kernel(c, c.Out(0), -1) },
	})

	const manyDoc = "counts points, the rows of self, [..., N], in boxes of N dimensions, or adds up Weight, of shape " +
		"self.shape[:-1]. See Histogram for the meaning of bins, Range (two numbers for each dimension) and Density. " +
		"The " +
		"results are the counts, with a dimension for each of the N, and the edges."
	const manySite = "\nhttps://pytorch.org/docs/stable/generated/torch.histogramdd.html"
	byNumbers := func(c *Ctx, bins []int) {
		x := c.T(0)
		h := op.Call1("aten::_histogramdd_from_bin_cts", x, bins, c.Value(2), c.Value(3), c.Value(4))
		e := op.Call("aten::_histogramdd_bin_edges", x, bins, c.Value(2), c.Value(3), c.Value(4))
		c.ReturnValue(tensor.TensorValue(h), tensor.TensorsValue(e))
	}
	tensor.Register(tensor.Def{
		Schema: "histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
		Doc:    manyDoc + manySite,
		Body:   func(c *Ctx) { byNumbers(c, c.Ints(1)) },
	})
	tensor.Register(tensor.Def{
		Schema: "histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
		Doc:    manyDoc + manySite, Go: "-",
		Body: func(c *Ctx) {
			_, dims := many.points(c)
			byNumbers(c, slices.Repeat([]int{c.Int(1)}, dims))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
		Doc:    manyDoc + " Here bins holds the edges." + manySite, Go: "HistogramddBins",
		Body: func(c *Ctx) {
			h := op.Call1("aten::_histogramdd_from_bin_tensors", c.T(0), c.Tensors(1), c.Value(3), c.Value(4))
			c.ReturnValue(tensor.TensorValue(h), tensor.TensorsValue(slices.Clone(c.Tensors(1))))
		},
	})
}
