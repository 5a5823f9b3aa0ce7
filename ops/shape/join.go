package shape

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// skipCat reports the 1-d empty tensor that cat passes over for old times' sake.
func skipCat(t *T) bool { return len(t.Shape()) == 1 && t.Shape()[0] == 0 }

// catDim finds the wrapped dimension of a cat; -1 when nothing but empty 1-d tensors is there.
func catDim(ts []*T, dim int) int {
	for _, t := range ts {
		if !skipCat(t) {
			return tensor.WrapDim(dim, t.Dim())
		}
	}
	return -1
}

// stackedBytes is the size up to which stack copies tensors one after the other: larger ones are worth all threads, as
// cat uses them.
const stackedBytes = 1 << 18

// stacksRows reports tensors of one shape and dtype, each contiguous, that become the rows of a matrix: then stack is
// one copy for each.
func stacksRows(c *Ctx) bool {
	ts := c.Tensors(0)
	if c.Int(1) != 0 || len(ts) == 0 || ts[0] == nil || ts[0].Numel()*ts[0].ElementSize()*len(ts) > stackedBytes {
		return false
	}
	for _, t := range ts {
		if t == nil || t.DType() != ts[0].DType() || !t.IsContiguous() || !tensor.SameShape(t.Shape(), ts[0].Shape()) {
			return false
		}
	}
	return true
}

func catInfer(c *Ctx) {
	ts := c.Tensors(0)
	if len(ts) == 0 {
		c.Fail(tensor.ErrValue, "torch.cat(): expected a non-empty list of Tensors")
	}
	var first *T
	for i, t := range ts {
		if t == nil {
			c.Fail(tensor.ErrType, "cat(): expected Tensor as element %d in argument 0, but got None", i)
		}
		if t.Dim() == 0 {
			c.Fail(tensor.ErrShape, "zero-dimensional tensor (at position %d) cannot be concatenated", i)
		}
		if first == nil && !skipCat(t) {
			first = t
		}
	}
	if g := c.GivenOut(0); g != nil {
		for i, s := range g.Strides() {
			if s == 0 && g.Shape()[i] > 1 {
				c.Fail(tensor.ErrShape, "unsupported operation: more than one element of the written-to tensor refer "+
					"to a single memory location. Please clone() the tensor before performing the operation.")
			}
		}
		for _, t := range ts {
			if t == g || t.Storage() == g.Storage() && t.Numel() > 0 && g.Numel() > 0 {
				c.Fail(tensor.ErrValue, "unsupported operation: some elements of the input tensor and the written-to "+
					"tensor refer to a single memory location. Please clone() the tensor before performing the "+
					"operation.")
			}
		}
	}
	dt := c.PromoteArgs(0)
	if first == nil {
		c.Alloc(0, []int{0}, dt)
		return
	}
	d := tensor.WrapDim(c.Int(1), first.Dim())
	sh := slices.Clone(first.Shape())
	sh[d] = 0
	format, seen := tensor.ContiguousFormat, 0 // that of all inputs, if they agree
	for i, t := range ts {
		if skipCat(t) {
			continue
		}
		if t.Dim() != first.Dim() {
			c.Fail(tensor.ErrShape, "Tensors must have same number of dimensions: got %d and %d", first.Dim(), t.Dim())
		}
		for k, s := range t.Shape() {
			if k != d && s != sh[k] {
				c.Fail(tensor.ErrShape, "Sizes of tensors must match except in dimension %d. Expected size %d but "+
					"got size %d for tensor number %d in the list.", d, sh[k], s, i)
			}
		}
		sh[d] += t.Shape()[d]
		if f := t.SuggestFormat(); seen == 0 {
			format = f
		} else if f != format {
			format = tensor.ContiguousFormat
		}
		seen++
	}
	c.AllocStrided(0, sh, tensor.FormatStrides(sh, format), dt)
}

func catCPU(c *Ctx) {
	ts, o := c.Tensors(0), c.Out(0)
	if o.Numel() == 0 {
		return
	}
	d := catDim(ts, c.Int(1))
	if !o.IsContiguous() {
		at := 0
		for _, t := range ts {
			if skipCat(t) {
				continue
			}
			n := t.Shape()[d]
			tensor.CopyRaw(tensor.Alias(o, t.Shape(), o.Strides(), o.StorageOffset()+at*o.Strides()[d]), t)
			at += n
		}
		return
	}
	// rows of the result: everything from dimension d on, one piece of every input after the other
	outer := 1
	for _, s := range o.Shape()[:d] {
		outer *= s
	}
	es := o.ElementSize()
	row := o.Numel() / outer * es
	dst := bytesFrom(o, o.Numel())
	at := 0
	for _, t := range ts {
		if skipCat(t) || t.Numel() == 0 {
			continue
		}
		n := t.Numel() / outer * es
		if t.DType() != o.DType() || !t.IsContiguous() || outer > 1 && n < 32 {
			tensor.CopyRaw(tensor.Alias(o, t.Shape(), o.Strides(), o.StorageOffset()+at/es), t)
			at += n
			continue
		}
		src := bytesFrom(t, t.Numel())
		from := at
		const block = 256 << 10
		switch {
		case outer == 1:
			par.For(n, block, func(lo, hi int) { copy(dst[from+lo:from+hi], src[lo:hi]) })
		case n*outer < block:
			copyRows(dst[from:], src, outer, n, row)
		default:
			par.For(outer, max(1, block/n), func(lo, hi int) { copyRows(dst[lo*row+from:], src[lo*n:], hi-lo, n, row) })
		}
		at += n
	}
}

// copyRows copies rows of n bytes to places that lie stride bytes apart.
func copyRows(dst, src []byte, rows, n, stride int) {
	if vec.MoveRows(unsafe.Pointer(&dst[0]), stride, unsafe.Pointer(&src[0]), n, rows, n) {
		return
	}
	for r := 0; r < rows; r++ {
		copy(dst[r*stride:][:n], src[r*n:][:n])
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "cat(Tensor[] tensors, int dim=0) -> Tensor",
		Doc: "joins tensors along a dimension; the other sizes must agree. Dtypes are " +
			"promoted.\nhttps://pytorch.org/docs/stable/generated/torch.cat.html",
		Aliases: []string{"concat", "concatenate"},
		Out:     true,
		Infer:   catInfer, CPU: catCPU,
		VJP: func(c *Ctx, g *T) []*T {
			ts := c.Tensors(0)
			out := make([]*T, len(ts))
			d, at := catDim(ts, c.Int(1)), 0
			for i, t := range ts {
				if skipCat(t) {
					out[i] = op.Zeros(g, []int{0}, t.DType())
					continue
				}
				n := t.Shape()[d]
				out[i] = g.Narrow(d, at, n)
				at += n
			}
			return out
		},
	})
	tensor.Register(tensor.Def{
		Schema: "stack(Tensor[] tensors, int dim=0) -> Tensor",
		Doc: "joins tensors of one shape along a new " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.stack.html",
		Out:   true,
		Fuses: stacksRows,
		Infer: func(c *Ctx) {
			ts := c.Tensors(0)
			c.Alloc(0, append([]int{len(ts)}, ts[0].Shape()...), ts[0].DType())
		},
		CPU: func(c *Ctx) {
			ts, o := c.Tensors(0), c.Out(0)
			if o.Numel() == 0 {
				return
			}
			n := ts[0].Numel() * o.ElementSize()
			to := bytesFrom(o, o.Numel())
			for i, t := range ts {
				copy(to[i*n:][:n], bytesFrom(t, t.Numel()))
			}
		},
		VJP: func(c *Ctx, g *T) []*T { return op.Call("aten::unbind.int", g, 0) },
		Body: func(c *Ctx) {
			ts := c.Tensors(0)
			if len(ts) == 0 {
				c.Fail(tensor.ErrValue, "stack expects a non-empty TensorList")
			}
			d := tensor.WrapDim(c.Int(1), ts[0].Dim()+1)
			us := make([]*T, len(ts))
			for i, t := range ts {
				if !tensor.SameShape(t.Shape(), ts[0].Shape()) {
					c.Fail(tensor.ErrShape,
						"stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d",
						tensor.ShapeString(ts[0].Shape()), tensor.ShapeString(t.Shape()), i)
				}
				us[i] = t.Unsqueeze(d)
			}
			c.ReturnNamed(cat(us, d))
		},
	})
	nonEmpty := func(c *Ctx) []*T {
		ts := c.Tensors(0)
		if len(ts) == 0 {
			c.Fail(tensor.ErrValue, "%s expects a non-empty TensorList", c.Op().Sch.Name)
		}
		return ts
	}
	tensor.Register(tensor.Def{
		Schema: "hstack(Tensor[] tensors) -> Tensor",
		Doc: "joins along dimension 1, 1-d tensors along dimension " +
			"0.\nhttps://pytorch.org/docs/stable/generated/torch.hstack.html",
		Out: true,
		Body: func(c *Ctx) {
			ts := each(nonEmpty(c), (*T).Atleast1d)
			if ts[0].Dim() == 1 {
				c.Return(cat(ts, 0))
				return
			}
			c.Return(cat(ts, 1))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "vstack(Tensor[] tensors) -> Tensor",
		Doc: "joins along dimension 0 after 1-d tensors became " +
			"rows.\nhttps://pytorch.org/docs/stable/generated/torch.vstack.html",
		Aliases: []string{"row_stack"},
		Out:     true,
		Body:    func(c *Ctx) { c.Return(cat(each(nonEmpty(c), (*T).Atleast2d), 0)) },
	})
	tensor.Register(tensor.Def{
		Schema: "dstack(Tensor[] tensors) -> Tensor",
		Doc: "joins along dimension 2 after all became " +
			"3-d.\nhttps://pytorch.org/docs/stable/generated/torch.dstack.html",
		Out:  true,
		Body: func(c *Ctx) { c.Return(cat(each(nonEmpty(c), (*T).Atleast3d), 2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "column_stack(Tensor[] tensors) -> Tensor",
		Doc: "joins along dimension 1 after 1-d tensors became " +
			"columns.\nhttps://pytorch.org/docs/stable/generated/torch.column_stack.html",
		Out: true,
		Body: func(c *Ctx) {
			c.Return(op.Call1("aten::hstack", each(nonEmpty(c), func(t *T) *T {
				if t.Dim() <= 1 {
					return t.Reshape([]int{t.Numel(), 1})
				}
				return t
			})))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "block_diag(Tensor[] tensors) -> Tensor",
		Doc: "puts matrices on the diagonal of a larger one. Vectors count as " +
			"rows.\nhttps://pytorch.org/docs/stable/generated/torch.block_diag.html",
		Fuses: func(c *Ctx) bool { return len(c.Tensors(0)) > 0 },
		Infer: func(c *Ctx) {
			rows, cols := 0, 0
			var dt tensor.Promoter
			for i, t := range c.Tensors(0) {
				r, n := blockSize(c, i, t)
				rows, cols = rows+r, cols+n
				dt.Add(t)
			}
			c.Alloc(0, []int{rows, cols}, dt.Result())
		},
		CPU:  blockDiag,
		Save: "tensors",
		VJP: func(c *Ctx, g *T) []*T {
			var out []*T
			row, col := 0, 0
			for _, t := range c.Tensors(0) {
				r, n := matrixSize(t.Shape())
				out = append(out, g.Narrow(0, row, r).Narrow(1, col, n).Reshape(t.Shape()))
				row, col = row+r, col+n
			}
			return out
		},
		Body: func(c *Ctx) {
			ts := c.Tensors(0)
			if len(ts) == 0 { // as PyTorch: an empty row
				c.ReturnNamed(op.Call1("aten::zeros", []int{1, 0}))
				return
			}
			cols := 0
			ms := make([]*T, len(ts))
			var dt tensor.Promoter // in which a number counts less than a matrix
			for i, t := range ts {
				dt.Add(t)
				_, n := blockSize(c, i, t)
				ms[i] = t.Atleast2d()
				cols += n
			}
			at := 0
			for i, m := range ms {
				n := m.Shape()[1]
				ms[i] = op.Call1("aten::constant_pad_nd", m.ToDType(dt.Result()), []int{at, cols - at - n})
				at += n
			}
			c.Return(cat(ms, 0))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
		Doc:    "cuts every tensor into chunks (padded with zeros), flattens each chunk and joins them chunk by chunk.",
		Go:     "-", Out: true,
		Body: func(c *Ctx) {
			ts, dim, n := c.Tensors(0), c.Int(1), c.Int(2)
			if n < 1 {
				c.Fail(tensor.ErrValue, "_chunk_cat expects positive num_chunks, got %d", n)
			}
			if len(ts) == 0 {
				c.Fail(tensor.ErrValue, "_chunk_cat expects a non-empty input tensor list")
			}
			same := true
			for _, t := range ts {
				same = same && t.Dim() == ts[0].Dim()
				if t.Numel() == 0 {
					c.Fail(tensor.ErrShape, "_chunk_cat expects non-empty tensor")
				}
				if t.DType() != ts[0].DType() {
					c.Fail(tensor.ErrDType, "_chunk_cat expects all input tensors with the same dtype")
				}
			}
			if dim < 0 {
				if !same {
					c.Fail(tensor.ErrShape,
						"_chunk_cat expects non-negative dim when input tensors have different ndims")
				}
				dim = tensor.WrapDim(dim, ts[0].Dim())
			}
			var parts []*T
			for _, t := range ts {
				if dim >= t.Dim() {
					c.Fail(tensor.ErrShape, "_chunk_cat expects dim < ndim for all input tensors")
				}
				if !tensor.SameShape(t.Shape()[:dim], ts[0].Shape()[:dim]) {
					c.Fail(tensor.ErrShape, "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
				}
				size := t.Shape()[dim]
				per := (size + n - 1) / n
				if extra := per*n - size; extra > 0 {
					pad := make([]int, 2*(t.Dim()-dim))
					pad[len(pad)-1] = extra
					t = op.Call1("aten::constant_pad_nd", t, pad)
				}
				sh := append(slices.Clone(t.Shape()[:dim]), n, -1)
				parts = append(parts, t.Reshape(sh))
			}
			c.Return(cat(parts, dim+1))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
		Doc: "expands tensors to their common " +
			"shape.\nhttps://pytorch.org/docs/stable/generated/torch.broadcast_tensors.html",
		Body: func(c *Ctx) {
			ts := c.Tensors(0)
			sh := commonShape(ts)
			c.Return(each(ts, func(t *T) *T {
				if tensor.SameShape(t.Shape(), sh) {
					return t
				}
				return t.Expand(sh)
			})...)
		},
	})
	mesh := func(c *Ctx, indexing string) {
		ts := c.Tensors(0)
		if len(ts) == 0 {
			c.Fail(tensor.ErrValue, "meshgrid expects a non-empty TensorList")
		}
		sh := make([]int, len(ts))
		for i, t := range ts {
			if t.Dim() > 1 {
				c.Fail(tensor.ErrShape, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: %d-D",
					t.Dim())
			}
			if t.DType() != ts[0].DType() {
				c.Fail(tensor.ErrDType, "torch.meshgrid expects all tensors to have the same dtype")
			}
			sh[i] = t.Numel()
		}
		swap := false
		switch indexing {
		case "ij":
		case "xy":
			swap = len(ts) >= 2
		default:
			c.Fail(tensor.ErrValue, "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: %s",
				indexing)
		}
		if swap {
			sh[0], sh[1] = sh[1], sh[0]
		}
		out := make([]*T, len(ts))
		for i, t := range ts {
			k := i
			if swap && i < 2 {
				k = 1 - i
			}
			v := make([]int, len(ts))
			for d := range v {
				v[d] = 1
			}
			v[k] = t.Numel()
			if swap { // PyTorch makes the ij grid and swaps its first two dimensions
				v[0], v[1] = v[1], v[0]
				ij := slices.Clone(sh)
				ij[0], ij[1] = ij[1], ij[0]
				out[i] = t.View(v).Expand(ij).Transpose(0, 1)
				continue
			}
			out[i] = t.Reshape(v).Expand(sh)
		}
		c.Return(out...)
	}
	tensor.Register(tensor.Def{
		Schema: "meshgrid(Tensor[] tensors) -> Tensor[]",
		Doc: "makes grids of coordinates from 1-d tensors, indexed " +
			"ij.\nhttps://pytorch.org/docs/stable/generated/torch.meshgrid.html",
		Body: func(c *Ctx) {
			tensor.Warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
			mesh(c, "ij")
		},
	})
	tensor.Register(tensor.Def{
		Schema: "meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
		Doc: "makes grids of coordinates from 1-d tensors, indexed \"ij\" or " +
			"\"xy\".\nhttps://pytorch.org/docs/stable/generated/torch.meshgrid.html",
		Body: func(c *Ctx) { mesh(c, c.Str(1)) },
	})
	tensor.Register(tensor.Def{
		Schema: "cartesian_prod(Tensor[] tensors) -> Tensor",
		Doc: "lists all tuples with one element of every 1-d tensor, one per " +
			"row.\nhttps://pytorch.org/docs/stable/generated/torch.cartesian_prod.html",
		Body: func(c *Ctx) {
			ts := c.Tensors(0)
			for _, t := range ts {
				if t.Dim() != 1 {
					c.Fail(tensor.ErrShape, "Expect a 1D vector, but got shape %s", tensor.ShapeString(t.Shape()))
				}
			}
			if len(ts) == 1 {
				c.Return(ts[0])
				return
			}
			g := op.Call("aten::meshgrid.indexing", ts, "ij")
			for i := range g {
				g[i] = g[i].Reshape([]int{-1})
			}
			c.Return(stack(g, 1))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
		Doc: "lists the combinations of r elements of a 1-d tensor, one per " +
			"row.\nhttps://pytorch.org/docs/stable/generated/torch.combinations.html",
		Body: func(c *Ctx) {
			t, r := c.T(0), c.Int(1)
			if t.Dim() != 1 {
				c.Fail(tensor.ErrShape, "Expect a 1D vector, but got shape %s", tensor.ShapeString(t.Shape()))
			}
			if r < 0 {
				c.Fail(tensor.ErrValue, "Expect a non-negative number, but got %d", r)
			}
			if r == 0 {
				c.Return(t.NewEmpty([]int{0}))
				return
			}
			n := int64(t.Numel())
			ix := mem.Make[int64](tuples(t.Numel(), r, c.Bool(2)))[:0]
			pick := mem.Make[int64](r)
			var rec func(k int, from int64)
			rec = func(k int, from int64) {
				if k == r {
					ix = append(ix, pick...)
					return
				}
				for i := from; i < n; i++ {
					pick[k] = i
					if c.Bool(2) {
						rec(k+1, i)
					} else {
						rec(k+1, i+1)
					}
				}
			}
			rec(0, 0)
			c.Return(t.IndexSelect(0, op.Numbers(t, ix)).View([]int{len(ix) / r, r}))
		},
	})
}

// tuples is the number of numbers in all combinations of r of n things, math.MaxInt if it is larger than any int.
func tuples(n, r int, repeated bool) int {
	if repeated && n > 0 {
		n += r - 1
	}
	if r > n {
		return 0
	}
	count := 1 // n over k, for k up to r or n-r
	for k := range min(r, n-r) {
		hi, lo := bits.Mul(uint(count), uint(n-k))
		if hi > uint(k) {
			return math.MaxInt
		}
		q, _ := bits.Div(hi, lo, uint(k+1))
		if q > math.MaxInt/uint(r) {
			return math.MaxInt
		}
		count = int(q)
	}
	return count * r
}

func each(ts []*T, f func(*T) *T) []*T {
	out := make([]*T, len(ts))
	for i, t := range ts {
		out[i] = f(t)
	}
	return out
}

func commonShape(ts []*T) []int {
	shapes := make([][]int, len(ts))
	for i, t := range ts {
		shapes[i] = t.Shape()
	}
	return tensor.BroadcastShapes(shapes...)
}

// matrixSize is the number of rows and columns of a matrix, of a vector as a row, or of a number.
func matrixSize(sh []int) (rows, cols int) {
	switch len(sh) {
	case 0:
		return 1, 1
	case 1:
		return 1, sh[0]
	}
	return sh[0], sh[1]
}

// blockSize is the size of tensor i of block_diag.
func blockSize(c *Ctx, i int, t *T) (rows, cols int) {
	if t.Dim() > 2 {
		c.Fail(tensor.ErrShape,
			"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %d has %d dimensions", i, t.Dim())
	}
	return matrixSize(t.Shape())
}

// blockDiag fills the rows of one block after the other, with zeros on both sides.
func blockDiag(c *Ctx) {
	o := c.Out(0)
	cols := o.Size(1)
	part := func(row, col, rows, n int) *T {
		return tensor.Alias(o, []int{rows, n}, o.Strides(), o.StorageOffset()+row*o.Strides()[0]+col*o.Strides()[1])
	}
	zero := tensor.IntValue(0).Num()
	row, col := 0, 0
	for _, t := range c.Tensors(0) {
		r, n := matrixSize(t.Shape())
		fillNum(part(row, 0, r, col), zero)
		fillNum(part(row, col+n, r, cols-col-n), zero)
		st := make([]int, 2)
		copy(st[2-t.Dim():], t.Strides())
		tensor.CopyRaw(part(row, col, r, n), tensor.Alias(t, []int{r, n}, st, t.StorageOffset()))
		row, col = row+r, col+n
	}
}
