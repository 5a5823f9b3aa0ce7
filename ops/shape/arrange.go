package shape

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// flipRaw copies t with some dimensions reversed.
func flipRaw(o, t *T, rev []bool) {
	if t.Numel() == 0 {
		return
	}
	st := slices.Clone(t.Strides())
	off := t.StorageOffset()
	for d, r := range rev {
		if r {
			off += (t.Shape()[d] - 1) * st[d]
			st[d] = -st[d]
		}
	}
	p := tensor.Ptr(tensor.Alias(t, t.Shape(), t.Strides(), off))
	iter.Copy(o.Shape(), iter.Operand{P: tensor.Ptr(o), Strides: o.Strides(), Mem: o.DType()},
		iter.Operand{P: p, Strides: st, Mem: t.DType()})
}

func triangle(c *Ctx, upper bool) {
	t, o := c.T(0), c.Out(0)
	k := c.Int(1)
	if o.Numel() == 0 {
		return
	}
	src := o
	if o != t {
		if src = t; !t.IsContiguous() {
			tensor.CopyRaw(o, t)
			src = o
		}
	}
	nd := o.Dim()
	rows, cols := o.Shape()[nd-2], o.Shape()[nd-1]
	es := o.ElementSize()
	to, from := bytesFrom(o, o.Numel()), bytesFrom(src, o.Numel())
	// Rows of each matrix before the first that is cut, and from the last on, are kept or cleared as a whole: all kept
	// ones at once.
	k = min(max(k, -rows), cols)
	before := min(max(op.Pick(upper, 1-k, -k), 0), rows)
	after := min(max(op.Pick(upper, cols-k, cols-k-1), before), rows)
	par.For(o.Numel()/cols, max(1, 256<<10/(cols*es)), func(lo, hi int) {
		n := 0 // rows
		for i := lo; i < hi; i += n {
			r := i % rows
			var kept, lost int // from kept to lost elements stay
			switch {
			case r < before:
				n, lost = before-r, op.Pick(upper, cols, 0)
			case r >= after:
				n, lost = rows-r, op.Pick(upper, 0, cols)
			case upper:
				n, kept, lost = 1, r+k, cols
			default:
				n, lost = 1, r+k+1
			}
			n = min(n, hi-i)
			if n > 1 {
				lost *= n
			}
			d, s := to[i*cols*es:][:n*cols*es], from[i*cols*es:][:n*cols*es]
			clear(d[:kept*es])
			if src != o {
				copy(d[kept*es:lost*es], s[kept*es:])
			}
			clear(d[lost*es:])
		}
	})
}

// rollRaw copies t to o with its entries shifted by shifts[d] places in each dimension d.
func rollRaw(o, t *T, shifts []int) {
	// Every dimension that is shifted is cut in two, each part of which has a place of its own.
	var part func(d int, shape []int, from, to int)
	part = func(d int, shape []int, from, to int) {
		if d == len(shape) {
			tensor.CopyRaw(tensor.Alias(o, shape, o.Strides(), to), tensor.Alias(t, shape, t.Strides(), from))
			return
		}
		n := shape[d]
		s := ((shifts[d] % n) + n) % n
		for _, p := range [2][3]int{{n - s, 0, s}, {s, n - s, 0}} { // length, where from, where to
			if p[0] > 0 {
				sh := slices.Clone(shape)
				sh[d] = p[0]
				part(d+1, sh, from+p[1]*t.Strides()[d], to+p[2]*o.Strides()[d])
			}
		}
	}
	if o.Numel() > 0 {
		part(0, o.Shape(), t.StorageOffset(), o.StorageOffset())
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
		Doc: "surrounds the last dimensions with a number: pad holds two sizes per dimension, the last dimension " +
			"first; negative ones cut.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
		Out: true,
		Infer: func(c *Ctx) {
			t, pad := c.T(0), c.Ints(1)
			if len(pad)%2 != 0 {
				c.Fail(tensor.ErrShape, "Length of pad must be even but instead it equals %d", len(pad))
			}
			if len(pad) > 2*t.Dim() {
				c.Fail(tensor.ErrShape, "Length of pad should be no more than twice the number of dimensions of the "+
					"input. Pad length is %d while the input has %d dimensions.", len(pad), t.Dim())
			}
			sh := slices.Clone(t.Shape())
			for i := 0; i < len(pad)/2; i++ {
				d := t.Dim() - 1 - i
				sh[d] += pad[2*i] + pad[2*i+1]
				if sh[d] < 0 {
					c.Fail(tensor.ErrShape,
						"The input size %d, plus negative padding %d and %d resulted in a negative output size, "+
							"which is invalid. Check dimension %d of your input.", t.Shape()[d], pad[2*i], pad[2*i+1], d)
				}
				if t.Shape()[d]+min(pad[2*i], 0)+min(pad[2*i+1], 0) < 0 {
					c.Fail(tensor.ErrShape, "narrow(): length must be non-negative.")
				}
			}
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, t.SuggestFormat()), t.DType())
		},
		CPU: func(c *Ctx) {
			t, o, pad := c.T(0), c.Out(0), c.Ints(1)
			if padConstant(o, t, pad, c.Num(2)) {
				return
			}
			fillNum(o, c.Num(2))
			// the part that both have
			sh := slices.Clone(t.Shape())
			from, to := t.StorageOffset(), o.StorageOffset()
			for i := 0; i < len(pad)/2; i++ {
				d := t.Dim() - 1 - i
				lo, hi := pad[2*i], pad[2*i+1]
				sh[d] += min(lo, 0) + min(hi, 0)
				if sh[d] <= 0 {
					return
				}
				from += max(-lo, 0) * t.Strides()[d]
				to += max(lo, 0) * o.Strides()[d]
			}
			tensor.CopyRaw(tensor.Alias(o, sh, o.Strides(), to), tensor.Alias(t, sh, t.Strides(), from))
		},
		VJP: func(c *Ctx, g *T) []*T {
			neg := make([]int, len(c.Ints(1)))
			for i, p := range c.Ints(1) {
				neg[i] = -p
			}
			return []*T{op.Call1("aten::constant_pad_nd", g, neg)}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "flip(Tensor self, int[] dims) -> Tensor",
		Doc: "reverses the order of the entries along dimensions (a " +
			"copy).\nhttps://pytorch.org/docs/stable/generated/torch.flip.html",
		Infer: func(c *Ctx) {
			dimSet(c, c.Ints(1), c.T(0).Dim())
			c.AllocStrided(0, c.Shape(0), likeStrides(c, c.T(0), tensor.NoFormat), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			rev := make([]bool, t.Dim())
			set := dimSet(c, c.Ints(1), t.Dim())
			for d := range rev {
				rev[d] = set(d)
			}
			flipRaw(c.Out(0), t, rev)
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Flip(c.Ints(1))} },
	})
	tensor.Register(tensor.Def{
		Schema: "fliplr(Tensor self) -> Tensor",
		Doc:    "reverses dimension 1.\nhttps://pytorch.org/docs/stable/generated/torch.fliplr.html",
		Body: func(c *Ctx) {
			if c.T(0).Dim() < 2 {
				c.Fail(tensor.ErrShape, "Input must be >= 2-d.")
			}
			c.Return(c.T(0).Flip([]int{1}))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "flipud(Tensor self) -> Tensor",
		Doc:    "reverses dimension 0.\nhttps://pytorch.org/docs/stable/generated/torch.flipud.html",
		Body: func(c *Ctx) {
			if c.T(0).Dim() < 1 {
				c.Fail(tensor.ErrShape, "Input must be >= 1-d.")
			}
			c.Return(c.T(0).Flip([]int{0}))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
		Doc: "shifts the entries along dimensions; what leaves at one end comes in at the other. Without Dims the " +
			"tensor is flattened first.\nhttps://pytorch.org/docs/stable/generated/torch.roll.html",
		Infer: func(c *Ctx) {
			t, shifts, dims := c.T(0), c.Ints(1), c.Ints(2)
			if len(shifts) == 0 {
				c.Fail(tensor.ErrValue, "`shifts` required")
			}
			if len(dims) == 0 && len(shifts) == 1 {
				c.Alloc(0, t.Shape(), t.DType())
				return
			}
			if len(dims) != len(shifts) {
				c.Fail(tensor.ErrShape, "shifts and dimensions must align. shifts: %d, dims:%d", len(shifts), len(dims))
			}
			for _, d := range dims {
				wrapNonZero(c, d, t.Dim())
			}
			c.AllocStrided(0, t.Shape(), tensor.FormatStrides(t.Shape(), t.SuggestFormat()), t.DType())
		},
		CPU: func(c *Ctx) {
			t, o, dims := c.T(0), c.Out(0), c.Ints(2)
			if len(dims) == 0 {
				one := []int{t.Numel()}
				t = tensor.Dense(t)
				rollRaw(tensor.Alias(o, one, []int{1}, o.StorageOffset()),
					tensor.Alias(t, one, []int{1}, t.StorageOffset()), c.Ints(1))
				return
			}
			shifts := make([]int, t.Dim())
			for i, d := range dims {
				shifts[tensor.WrapDim(d, t.Dim())] += c.Ints(1)[i]
			}
			rollRaw(o, t, shifts)
		},
		VJP: func(c *Ctx, g *T) []*T {
			back := slices.Clone(c.Ints(1))
			for i := range back {
				back[i] = -back[i]
			}
			return []*T{op.Call1("aten::roll", g, back, c.Ints(2))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
		Doc: "turns by k quarter turns in the plane of two dimensions, from the first towards the " +
			"second.\nhttps://pytorch.org/docs/stable/generated/torch.rot90.html",
		Body: func(c *Ctx) {
			t, dims := c.T(0), c.Ints(2)
			if len(dims) != 2 {
				c.Fail(tensor.ErrShape, "expected total rotation dims == 2, but got dims = %d", len(dims))
			}
			if t.Dim() < 2 {
				c.Fail(tensor.ErrShape, "expected total dims >= 2, but got total dims = %d", t.Dim())
			}
			for _, d := range dims {
				if d >= t.Dim() || d < -t.Dim() {
					c.Fail(tensor.ErrIndex, "Rotation dim out of range, dim = %d", d)
				}
			}
			a, b := tensor.WrapDim(dims[0], t.Dim()), tensor.WrapDim(dims[1], t.Dim())
			if a == b {
				c.Fail(tensor.ErrShape, "expected rotation dims to be different, but got dim0 = %d and dim1 = %d",
					dims[0], dims[1])
			}
			switch ((c.Int(1) % 4) + 4) % 4 {
			case 1:
				c.Return(t.Flip([]int{b}).Transpose(a, b))
			case 2:
				c.Return(t.Flip([]int{a, b}))
			case 3:
				c.Return(t.Flip([]int{a}).Transpose(a, b))
			default:
				c.Return(copyOf(t))
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "repeat(Tensor self, SymInt[] repeats) -> Tensor",
		Doc: "repeats the tensor along its dimensions; new ones come " +
			"first.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.repeat.html",
		Body: func(c *Ctx) {
			t, r := c.T(0), c.Ints(1)
			if len(r) < t.Dim() {
				c.Fail(tensor.ErrShape, "Number of dimensions of repeat dims can not be smaller than number of "+
					"dimensions of tensor")
			}
			lead := len(r) - t.Dim()
			var pre, wide, out []int // each dimension becomes (1, n), expanded to (r, n)
			for i, k := range r {
				n := 1
				if i >= lead {
					n = t.Shape()[i-lead]
				}
				if k < 0 {
					c.Fail(tensor.ErrShape, "Trying to create tensor with negative dimension %d: %s", k*n,
						tensor.ShapeString(r))
				}
				pre, wide, out = append(pre, 1, n), append(wide, k, n), append(out, k*n)
			}
			c.ReturnNamed(t.Reshape(pre).Expand(wide).Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat}).View(out))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "tile(Tensor self, SymInt[] dims) -> Tensor",
		Doc:    "is Repeat; missing leading counts are 1.\nhttps://pytorch.org/docs/stable/generated/torch.tile.html",
		Grad:   "RepeatBackward0",
		Body: func(c *Ctx) {
			r := c.Ints(1)
			for len(r) < c.T(0).Dim() {
				r = append([]int{1}, r...)
			}
			c.ReturnNamed(c.T(0).Repeat(r))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
		Doc: "repeats every entry along Dim (of the flattened tensor without " +
			"it).\nhttps://pytorch.org/docs/stable/generated/torch.repeat_interleave.html",
		Go: "RepeatInterleave",
		Body: func(c *Ctx) {
			if c.Int(1) < 0 {
				c.Fail(tensor.ErrValue, "Repeats must be non-negative")
			}
			t, d, k := c.T(0), 0, c.Int(1)
			if c.Has(2) {
				d = tensor.WrapDim(c.Int(2), t.Dim())
			} else {
				t = t.Reshape([]int{-1})
			}
			if t.Dim() == 0 {
				t = t.Reshape([]int{1})
			}
			sh := slices.Clone(t.Shape())
			wide := slices.Insert(slices.Clone(sh), d+1, k)
			sh[d] *= k
			c.Return(t.Unsqueeze(d + 1).Expand(wide).Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat}).View(sh))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
		Doc: "repeats every entry along Dim as often as repeats " +
			"says.\nhttps://pytorch.org/docs/stable/generated/torch.repeat_interleave.html",
		Go: "RepeatInterleaveTensor", DataDependent: true,
		Body: func(c *Ctx) {
			t, r, d := c.T(0), c.T(1), 0
			if c.Has(2) {
				d = tensor.WrapDim(c.Int(2), t.Dim())
			} else {
				t = t.Reshape([]int{-1})
			}
			if t.Dim() == 0 {
				t = t.Reshape([]int{1})
			}
			checkRepeats(c, r)
			size := t.Size(d)
			if r.Numel() == 1 && size != 1 {
				r = r.Reshape([]int{1}).Expand([]int{size})
			}
			if r.Numel() != size {
				c.Fail(tensor.ErrShape, "repeats must have the same size as input along dim, but got repeats.size(0) "+
					"= %d and input.size(0) = %d", r.Numel(), size)
			}
			c.Return(t.IndexSelect(d, op.Call1("aten::repeat_interleave.Tensor", r, c.Value(3))))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
		Doc:    "lists every number from 0 on as often as repeats says.",
		Go:     "-", NoGrad: "integer result", DataDependent: true,
		Infer: func(c *Ctx) { checkRepeats(c, c.T(0)) },
		CPU: func(c *Ctx) {
			x := tensor.Data[int64](tensor.DenseAs(c.T(0), tensor.Int64))
			ends := repeatEnds(c, x)
			total := ends[len(ends)-1]
			if c.Has(1) && c.Int(1) != total {
				c.Fail(tensor.ErrShape, "allocated size does not match required size")
			}
			o := c.Alloc(0, []int{total}, c.ArgDType(0))
			list := o
			if o.DType() != tensor.Int64 {
				list = tensor.New([]int{total}, tensor.Int64)
			}
			d := op.Raw[int64](list)
			par.For(len(ends)-1, 1, func(lo, hi int) {
				for b := lo; b < hi; b++ {
					from := b * repeatRun
					repeatNumbers(d[ends[b]:ends[b+1]], x[from:min(from+repeatRun, len(x))], from)
				}
			})
			if list == o {
				return
			}
			tensor.CopyRaw(o, list)
		},
	})
	tri := func(c *Ctx) {
		if c.T(0).Dim() < 2 {
			c.Fail(tensor.ErrShape, "%s: input tensor must have at least 2 dimensions", c.Op().Sch.Name[:4])
		}
		c.Alloc(0, c.Shape(0), c.ArgDType(0))
	}
	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapTaken,
		Schema:  "tril(Tensor self, SymInt diagonal=0) -> Tensor",
		Doc: "keeps the lower triangle of matrices, up to a diagonal, and sets the rest to " +
			"0.\nhttps://pytorch.org/docs/stable/generated/torch.tril.html",
		InPlace: true, Out: true, Infer: tri,
		CPU: func(c *Ctx) { triangle(c, false) },
		VJP: func(c *Ctx, g *T) []*T { return []*T{op.Call1("aten::tril", g, c.Int(1))} },
	})
	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapTaken,
		Schema:  "triu(Tensor self, SymInt diagonal=0) -> Tensor",
		Doc: "keeps the upper triangle of matrices, from a diagonal on, and sets the rest to " +
			"0.\nhttps://pytorch.org/docs/stable/generated/torch.triu.html",
		InPlace: true, Out: true, Infer: tri,
		CPU: func(c *Ctx) { triangle(c, true) },
		VJP: func(c *Ctx, g *T) []*T { return []*T{op.Call1("aten::triu", g, c.Int(1))} },
	})
	tensor.Register(tensor.Def{
		Schema: "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
		Doc: "makes matrices whose diagonal is the last " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.diag_embed.html",
		Infer: func(c *Ctx) {
			t := c.T(0)
			nd := t.Dim() + 1
			a, b := tensor.WrapDim(c.Int(2), nd), tensor.WrapDim(c.Int(3), nd)
			if a == b {
				c.Fail(tensor.ErrShape, "diagonal dimensions cannot be identical %d, %d", c.Int(2), c.Int(3))
			}
			n := t.Size(-1) + max(c.Int(1), -c.Int(1))
			sh := make([]int, 0, nd)
			k := 0
			for d := 0; d < nd; d++ {
				if d == a || d == b {
					sh = append(sh, n)
					continue
				}
				sh = append(sh, t.Shape()[k])
				k++
			}
			c.Alloc(0, sh, t.DType())
		},
		CPU: func(c *Ctx) {
			spread(c, func(t *T) *T { return diagonalView(c, t, c.Int(1), c.Int(2), c.Int(3)) })
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{op.Call1("aten::diagonal", g, c.Int(1), c.Int(2), c.Int(3))} },
	})
	tensor.Register(tensor.Def{
		Schema: "diag(Tensor self, int diagonal=0) -> Tensor",
		Doc: "makes a diagonal matrix from a vector, or copies the diagonal of a " +
			"matrix.\nhttps://pytorch.org/docs/stable/generated/torch.diag.html",
		Out: true,
		Body: func(c *Ctx) {
			switch t := c.T(0); t.Dim() {
			case 1:
				c.Return(op.Call1("aten::diag_embed", t, c.Int(1)))
			case 2:
				c.Return(copyOf(op.Call1("aten::diagonal", t, c.Int(1))))
			default:
				c.Fail(tensor.ErrShape, "diag(): Supports 1D or 2D tensors. Got %dD", t.Dim())
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "diagflat(Tensor self, int offset=0) -> Tensor",
		Doc: "makes a diagonal matrix from the flattened " +
			"tensor.\nhttps://pytorch.org/docs/stable/generated/torch.diagflat.html",
		Body: func(c *Ctx) { c.Return(op.Call1("aten::diag", c.T(0).Reshape([]int{-1}), c.Int(1))) },
	})
}

// checkRepeats refuses numbers of repetitions that are no vector of int32 or int64.
func checkRepeats(c *Ctx, r *T) {
	if r.DType() != tensor.Int64 && r.DType() != tensor.Int32 {
		c.Fail(tensor.ErrDType, "repeats has to be Long or Int tensor")
	}
	if r.Dim() > 1 {
		c.Fail(tensor.ErrShape, "repeat_interleave only accept 1D vector as repeat")
	}
}

// repeatRun is the number of repeats that a task handles.
const repeatRun = 1 << 14

// repeatEnds adds up repeats: element b is the sum of the first b runs of them. It refuses negative repeats, and those
// whose sum no memory holds.
func repeatEnds(c *Ctx, x []int64) []int {
	ends := []int{0}
	total := 0
	for len(x) > 0 {
		n := min(repeatRun, len(x))
		var bits, sum int64
		for _, v := range x[:n] {
			bits |= v
			sum += v
		}
		if bits < 0 {
			c.Fail(tensor.ErrValue, "repeats can not be negative")
		}
		const most = 1 << 47 // of one number: the sum of a run does not overflow
		if bits >= most || int(sum) > math.MaxInt-total {
			c.Fail(tensor.ErrShape, "the repeats have %d elements or more together", int64(most))
		}
		total += int(sum)
		ends, x = append(ends, total), x[n:]
	}
	return ends
}

// repeatNumbers fills d with the numbers from first on, each as often as x says. Two of each are written in any case:
// the next number overwrites what is too much, which costs less than a branch that cannot be predicted.
func repeatNumbers(d, x []int64, first int) {
	at := 0
	for i, n := range x {
		v, k := int64(first+i), 0
		if at+2 <= len(d) {
			d[at], d[at+1] = v, v
			k = 2
		}
		for ; k < int(n); k++ {
			d[at+k] = v
		}
		at += int(n)
	}
}
