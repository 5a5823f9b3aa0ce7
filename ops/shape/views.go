package shape

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
		Doc:    "returns the same memory seen with another shape; one size may be -1. It fails where the strides do not allow it: use Reshape there.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.view.html",
		View: func(c *Ctx) *T {
			t := c.T(0)
			size := tensor.InferSize(c.Ints(1), t.Numel())
			st, ok := tensor.ViewStrides(t.Shape(), t.Strides(), size)
			if !ok {
				c.Fail(tensor.ErrShape, "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
			}
			return t.Alias(size, st, t.StorageOffset())
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Reshape(c.Shape(0))} },
	})
	tensor.Register(tensor.Def{
		Schema: "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
		Doc:    "returns the elements with another shape: a view where the strides allow it, a copy otherwise. One size may be -1.\nhttps://pytorch.org/docs/stable/generated/torch.reshape.html",
		Body: func(c *Ctx) {
			t := c.T(0)
			size := tensor.InferSize(c.Ints(1), t.Numel())
			if _, ok := tensor.ViewStrides(t.Shape(), t.Strides(), size); ok {
				c.Return(t.View(size))
				return
			}
			c.Return(t.Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat}).View(size))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
		Doc:    "repeats dimensions of size 1 without copying; -1 keeps a size.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.expand.html",
		View:   expand,
		VJP:    func(c *Ctx, g *T) []*T { return []*T{g} }, // the engine sums over repeated dimensions
	})
	tensor.Register(tensor.Def{
		Schema: "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
		Doc:    "reorders the dimensions.\nhttps://pytorch.org/docs/stable/generated/torch.permute.html",
		View: func(c *Ctx) *T {
			t, dims := c.T(0), c.Ints(1)
			if len(dims) != t.Dim() {
				c.Fail(tensor.ErrShape, "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d", t.Dim(), len(dims))
			}
			sh, st := make([]int, len(dims)), make([]int, len(dims))
			seen := make([]bool, len(dims))
			for i, d := range dims {
				d = tensor.WrapDim(d, t.Dim())
				if seen[d] {
					c.Fail(tensor.ErrShape, "permute(): duplicate dims are not allowed.")
				}
				seen[d] = true
				sh[i], st[i] = t.Shape()[d], t.Strides()[d]
			}
			return t.Alias(sh, st, t.StorageOffset())
		},
		VJP: func(c *Ctx, g *T) []*T {
			dims := c.Ints(1)
			inv := make([]int, len(dims))
			for i, d := range dims {
				inv[tensor.WrapDim(d, len(dims))] = i
			}
			return []*T{g.Permute(inv)}
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
		Doc:     "swaps two dimensions.\nhttps://pytorch.org/docs/stable/generated/torch.transpose.html",
		Aliases: []string{"swapaxes", "swapdims"},
		View: func(c *Ctx) *T {
			t := c.T(0)
			a, b := tensor.WrapDim(c.Int(1), t.Dim()), tensor.WrapDim(c.Int(2), t.Dim())
			sh, st := slices.Clone(t.Shape()), slices.Clone(t.Strides())
			if t.Dim() > 0 {
				sh[a], sh[b], st[a], st[b] = sh[b], sh[a], st[b], st[a]
			}
			return t.Alias(sh, st, t.StorageOffset())
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Transpose(c.Int(1), c.Int(2))} },
	})
	tensor.Register(tensor.Def{
		Schema: "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
		Doc:    "looks at the storage with any shape, strides and offset (in elements). It fails when they reach outside the storage.\nhttps://pytorch.org/docs/stable/generated/torch.as_strided.html",
		View:   asStrided,
		Save:   "self",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{stridedAccumulate(c.T(0), g, c.Ints(1), c.Ints(2), offsetArg(c))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
		Doc:    "is a copy of self in which the view that AsStrided would give holds src.",
		Infer: func(c *Ctx) {
			if !tensor.SameShape(c.Shape(1), c.Ints(2)) {
				c.Fail(tensor.ErrShape, "expected src to have a size equal to the slice of self. src size = %s, slice size = %s", tensor.ShapeString(c.Shape(1)), tensor.ShapeString(c.Ints(2)))
			}
			t := c.T(0)
			if t.IsDense() {
				c.AllocStrided(0, t.Shape(), t.Strides(), t.DType())
			} else {
				c.Alloc(0, t.Shape(), t.DType())
			}
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			off := t.StorageOffset()
			if c.Has(4) {
				off = c.Int(4)
			}
			tensor.CopyRaw(o, t)
			tensor.CopyRaw(o.Alias(c.Ints(2), c.Ints(3), off-t.StorageOffset()), c.T(1))
		},
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			off := c.T(0).StorageOffset()
			if c.Has(4) {
				off = c.Int(4)
			}
			off -= c.T(0).StorageOffset()
			full := g
			if !tensor.SameShape(g.Strides(), c.T(0).Strides()) || g.StorageOffset() != 0 {
				full = g.Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat})
			}
			sl := full.AsStrided(c.Ints(2), c.Ints(3), tensor.AsStridedOptions{StorageOffset: tensor.Some(off + full.StorageOffset())})
			zero := sl.MulScalar(0)
			return []*T{full.AsStridedScatter(zero, c.Ints(2), c.Ints(3), tensor.AsStridedScatterOptions{StorageOffset: tensor.Some(off + full.StorageOffset())}), sl}
		},
	})
}

func offsetArg(c *Ctx) int {
	if c.Has(3) {
		return c.Int(3)
	}
	return c.T(0).StorageOffset()
}

func expand(c *Ctx) *T {
	t, size := c.T(0), slices.Clone(c.Ints(1))
	lead := len(size) - t.Dim()
	if lead < 0 {
		c.Fail(tensor.ErrShape, "expand(%s{%s}, size=%s): the number of sizes provided (%d) must be greater or equal to the number of dimensions in the tensor (%d)",
			"torch."+t.DType().ClassName()+"Tensor", tensor.ShapeString(t.Shape()), tensor.ShapeString(size), len(size), t.Dim())
	}
	st := make([]int, len(size))
	for i := range size {
		n, s := 1, 0
		if i >= lead {
			n, s = t.Shape()[i-lead], t.Strides()[i-lead]
		}
		switch {
		case size[i] == -1 && i < lead:
			c.Fail(tensor.ErrShape, "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension %d", i)
		case size[i] == -1 || size[i] == n:
			size[i], st[i] = n, s
			if i < lead { // a new dimension of size 1
				st[i] = 0
			}
		case size[i] < 0:
			c.Fail(tensor.ErrShape, "expand: size %d at dimension %d is negative", size[i], i)
		case n == 1:
			st[i] = 0
		default:
			c.Fail(tensor.ErrShape, "The expanded size of the tensor (%d) must match the existing size (%d) at non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
				size[i], n, i, tensor.ShapeString(size), tensor.ShapeString(t.Shape()))
		}
	}
	// new leading dimensions of size 1 get the stride that keeps the tensor contiguous
	for i := len(size) - 1; i >= 0; i-- {
		if size[i] == 1 && (i < lead) {
			st[i] = 1
			if i+1 < len(size) {
				st[i] = size[i+1] * st[i+1]
			}
		}
	}
	return t.Alias(size, st, t.StorageOffset())
}

func asStrided(c *Ctx) *T {
	t, size, stride, off := c.T(0), c.Ints(1), c.Ints(2), offsetArg(c)
	if len(size) != len(stride) {
		c.Fail(tensor.ErrShape, "mismatch in length of strides and shape")
	}
	last := off
	empty := false
	for i, s := range stride {
		if s < 0 {
			c.Fail(tensor.ErrShape, "as_strided: Negative strides are not supported at the moment, got strides: %s", tensor.ShapeString(stride))
		}
		last += (size[i] - 1) * s
		empty = empty || size[i] == 0
	}
	if need := (last + 1) * t.ElementSize(); !empty && need > t.Storage().NumBytes() || off < 0 {
		c.Fail(tensor.ErrShape, "setStorage: sizes %s, strides %s, storage offset %d, and itemsize %d requiring a storage size of %d are out of bounds for storage of size %d",
			tensor.ShapeString(size), tensor.ShapeString(stride), off, t.ElementSize(), need, t.Storage().NumBytes())
	}
	return t.Alias(size, stride, off)
}

// stridedAccumulate is the gradient of AsStrided: every element of g is added to the place in self's geometry that the view read it from.
// Where the view (or self) reads a place more than once its gradients add up, and are shared out again among self's own copies.
func stridedAccumulate(self, g *T, size, stride []int, off int) *T {
	base := min(off, self.StorageOffset())
	n := max(extent(self.Shape(), self.Strides())+self.StorageOffset(), extent(size, stride)+off) - base
	idx := linearIndex(size, stride, off-base)
	flat := tensor.New([]int{n}, g.DType())
	flat.ZeroRaw()
	acc := flat.IndexAdd(0, idx, g.Reshape([]int{-1}))
	own := linearIndex(self.Shape(), self.Strides(), self.StorageOffset()-base)
	if !self.IsDense() { // self may hold a place several times
		count := tensor.New([]int{n}, g.DType())
		count.ZeroRaw()
		ones := tensor.New([]int{self.Numel()}, g.DType())
		tensor.CopyRaw(ones, tensor.Num{K: tensor.KInt, I: 1, F: 1, C: 1}.Tensor())
		count = count.IndexAdd(0, own, ones)
		return acc.IndexSelect(0, own).Mul(inverse(count.IndexSelect(0, own))).View(self.Shape())
	}
	return acc.IndexSelect(0, own).View(self.Shape())
}

func extent(shape, stride []int) int {
	n := 1
	for i, s := range shape {
		if s == 0 {
			return 0
		}
		n += (s - 1) * stride[i]
	}
	return n
}

// linearIndex lists the storage positions of a strided view in logical order.
func linearIndex(shape, stride []int, off int) *T {
	n := 1
	for _, s := range shape {
		n *= s
	}
	out := make([]int64, n)
	pos := make([]int, len(shape))
	p := off
	for i := range out {
		out[i] = int64(p)
		for d := len(shape) - 1; d >= 0; d-- {
			pos[d]++
			p += stride[d]
			if pos[d] < shape[d] {
				break
			}
			p -= pos[d] * stride[d]
			pos[d] = 0
		}
	}
	return tensor.FromSlice(out)
}

// inverse is 1/x of a real tensor that needs no gradient.
func inverse(t *T) *T {
	f := t.DenseAs(tensor.Float64).CloneRaw()
	for i, v := range tensor.Data[float64](f) {
		tensor.Data[float64](f)[i] = 1 / v
	}
	return f.ToDType(t.DType())
}
