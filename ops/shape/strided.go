package shape

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// geometry is where a tensor's elements lie in its storage.
type geometry struct {
	shape, stride []int
	off           int
}

func geometryOf(t *T) geometry {
	return geometry{append([]int{}, t.Shape()...), append([]int{}, t.Strides()...), t.StorageOffset()}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
		Doc: "looks at the storage with any shape, strides and offset (in elements). It fails when they reach " +
			"outside the storage.\nhttps://pytorch.org/docs/stable/generated/torch.as_strided.html",
		View: func(c *Ctx) *T {
			t := c.T(0)
			c.Keep(geometryOf(t)) // self may get another shape in place (unsqueeze_) before the gradient comes
			return asStrided(c, t, c.Ints(1), c.Ints(2), offsetArg(c, 3, t.StorageOffset()))
		},
		VJP: func(c *Ctx, g *T) []*T {
			self := c.Kept().(geometry)
			view := geometry{c.Ints(1), c.Ints(2), offsetArg(c, 3, self.off)}
			return []*T{stridedAccumulate(self, view, g)}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
		Doc:    "gives the tensor itself another shape, strides and offset.",
		Body: func(c *Ctx) {
			t := c.T(0)
			c.Return(tensor.BecomeView(t,
				t.AsStrided(c.Ints(1), c.Ints(2),
					tensor.AsStridedOptions{StorageOffset: tensor.Some(offsetArg(c, 3, t.StorageOffset()))})))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
		Doc:    "is a copy of AsStrided.",
		Out:    true,
		Body: func(c *Ctx) {
			t := c.T(0)
			c.Return(copyOf(op.Call1("aten::as_strided", t, c.Ints(1), c.Ints(2), offsetArg(c, 3, t.StorageOffset()))))
		},
	})
	infer := func(c *Ctx) {
		if !tensor.SameShape(c.Shape(1), c.Ints(2)) {
			c.Fail(tensor.ErrShape, "expected src to have a size equal to the slice of self. src size = %s, slice "+
				"size = %s", tensor.ShapeString(c.Shape(1)), tensor.ShapeString(c.Ints(2)))
		}
		t := c.T(0)
		c.Keep(geometryOf(t))
		c.SetOut(0, tensor.FromStorage(newStorage(c.Device(), t.Storage().NumBytes()), t.DType(), t.Shape(),
			t.Strides(), t.StorageOffset()))
	}
	cpu := func(c *Ctx) {
		o := c.Out(0)
		tensor.CopyRaw(bytesOf(o), bytesOf(c.T(0)))
		tensor.CopyRaw(asStrided(c, o, c.Ints(2), c.Ints(3), offsetArg(c, 4, o.StorageOffset())), c.T(1))
	}
	// parts gives the gradient's elements with a zero behind them, and where in them the view's elements lie
	parts := func(c *Ctx, g *T) (padded, at *T) {
		self := c.Kept().(geometry)
		if list := places(self, offsetArg(c, 4, self.off), c.Ints(2), c.Ints(3)); list != nil {
			at = op.Numbers(g, list)
		}
		return cat([]*T{g.Reshape([]int{-1}), op.Zeros(g, []int{1}, g.DType())}, 0), at
	}
	tensor.Register(tensor.Def{
		Schema: "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
		Doc: "is a copy of self in which the view that AsStrided would give holds src. As in PyTorch the gradient of " +
			"self is that of the view's " +
			"elements alone.\nhttps://pytorch.org/docs/stable/generated/torch.as_strided_scatter.html",
		Infer: infer, CPU: cpu,
		VJP: func(c *Ctx, g *T) []*T {
			padded, at := parts(c, g)
			if at == nil {
				return []*T{op.Zeros(g, c.Shape(0), g.DType()), op.Zeros(g, c.Ints(2), g.DType())}
			}
			sl := padded.IndexSelect(0, at)
			r := []*T{nil, sl.View(c.Ints(2))}
			if c.Needs(0) {
				r[0] = op.Call1("aten::index_copy", op.Zeros(g, []int{g.Numel() + 1}, g.DType()), 0, at, sl).Narrow(0,
					0, g.Numel()).View(c.Shape(0))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
		Doc: "is as_strided_scatter with the mathematical gradient: that of self is zero where src took its place. " +
			"The gradient of a tensor whose view " +
			"was changed in place is made of it.",
		Go:    "-",
		Infer: infer, CPU: cpu,
		Storage: tensor.TakesStorage | tensor.Moves,
		VJP: func(c *Ctx, g *T) []*T {
			padded, at := parts(c, g)
			if at == nil {
				return []*T{g, op.Zeros(g, c.Ints(2), g.DType())}
			}
			r := []*T{nil, padded.IndexSelect(0, at).View(c.Ints(2))}
			if c.Needs(0) {
				r[0] = op.Call1("aten::index_fill.int_Scalar", padded, 0, at, 0).Narrow(0, 0,
					g.Numel()).View(c.Shape(0))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::strided_place(Tensor src, SymInt n, SymInt[] size, SymInt[] stride, SymInt offset) -> Tensor",
		Doc:    "is a row of n zeros in which the view with this size, strides and offset holds src.",
		Go:     "-", Storage: tensor.TakesStorage | tensor.Moves,
		Infer: func(c *Ctx) {
			c.WantShape(0, c.Ints(2)...)
			c.Alloc(0, []int{c.Int(1)}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			view := asStrided(c, o, c.Ints(2), c.Ints(3), c.Int(4)) // fails where it reaches outside
			o.ZeroInPlace()
			tensor.CopyRaw(view, c.T(0))
		},
		VJP: func(c *Ctx, g *T) []*T {
			g = g.Contiguous()
			return []*T{op.Call1("aten::as_strided", g, c.Ints(2), c.Ints(3), g.StorageOffset()+c.Int(4))}
		},
	})
}

// places finds, for every element of the view (size, stride, off), which element of self lies there; self.numel where
// none does. nil when the view is empty.
func places(self geometry, off int, size, stride []int) []int64 {
	own, view := linearIndex(self.shape, self.stride, self.off), linearIndex(size, stride, off)
	if len(view) == 0 {
		return nil
	}
	at := make(map[int64]int64, len(own))
	for i, p := range own {
		at[p] = int64(i)
	}
	for i, p := range view {
		k, ok := at[p]
		if !ok {
			k = int64(len(own))
		}
		view[i] = k
	}
	return view
}

func offsetArg(c *Ctx, arg, def int) int {
	if c.Has(arg) {
		return c.Int(arg)
	}
	return def
}

// newStorage is a storage of n bytes on a device.
func newStorage(d tensor.Device, n int) *tensor.Storage {
	return tensor.NewOn(d, []int{n}, nil, tensor.Uint8).Storage()
}

// bytesOf sees all of a tensor's storage as bytes.
func bytesOf(t *T) *T {
	s := t.Storage()
	return tensor.FromStorage(s, tensor.Uint8, []int{s.NumBytes()}, []int{1}, 0)
}

func asStrided(c *Ctx, t *T, size, stride []int, off int) *T {
	if len(size) != len(stride) {
		c.Fail(tensor.ErrShape, "mismatch in length of strides and shape")
	}
	last := off
	empty := slices.Contains(size, 0)
	for i, s := range stride {
		if s < 0 {
			c.Fail(tensor.ErrShape, "as_strided: Negative strides are not supported at the moment, got strides: %s",
				tensor.ShapeString(stride))
		}
		if size[i] < 0 {
			c.Fail(tensor.ErrShape, "as_strided: negative dimension %d in %s", size[i], tensor.ShapeString(size))
		}
		if !empty && size[i] > 1 && s > 0 {
			if size[i]-1 > (math.MaxInt>>5-max(last, 0))/s { // elements have up to 16 bytes
				c.Fail(tensor.ErrShape, "setStorage: sizes %s and strides %s are out of bounds for storage of size %d",
					tensor.ShapeString(size), tensor.ShapeString(stride), t.Storage().NumBytes())
			}
			last += (size[i] - 1) * s
		}
	}
	if off > math.MaxInt>>5 {
		c.Fail(tensor.ErrShape, "as_strided: storage offset %d is out of bounds", off)
	}
	if need := (last + 1) * t.ElementSize(); !empty && need > t.Storage().NumBytes() || off < 0 {
		c.Fail(tensor.ErrShape, "setStorage: sizes %s, strides %s, storage offset %d, and itemsize %d requiring a "+
			"storage size of %d are out of bounds for storage of size %d",
			tensor.ShapeString(size), tensor.ShapeString(stride), off, t.ElementSize(), need, t.Storage().NumBytes())
	}
	return tensor.Alias(t, size, stride, off)
}

// stridedAccumulate is the gradient of AsStrided: every element of g is added to the place in self's geometry that the
// view read it from. Where the view reads a place more than once its gradients add up; where self holds a place several
// times each of its elements gets an equal share.
func stridedAccumulate(self, view geometry, g *T) *T {
	base := min(view.off, self.off)
	n := max(extent(self.shape, self.stride)+self.off, extent(view.shape, view.stride)+view.off) - base
	shared := overlaps(self.shape, self.stride)
	if d, size := disjoint(view); !shared && size > 0 {
		part := func(lo int) *T {
			sh, off, piece := slices.Clone(view.shape), view.off-base, g
			if len(sh) > 0 && size < sh[d] {
				sh[d] = min(size, sh[d]-lo)
				off, piece = off+lo*view.stride[d], g.Narrow(d, lo, sh[d])
			}
			return op.Call1("gotorch::strided_place", piece, n, sh, view.stride, off)
		}
		all := part(0)
		for lo := size; size < math.MaxInt && lo < view.shape[d]; lo += size {
			all = all.Add(part(lo))
		}
		r := op.Call1("aten::as_strided", all, self.shape, self.stride, self.off-base)
		if n > 2*r.Numel() {
			r = r.Contiguous() // without the gaps
		}
		return r
	}
	acc := op.Zeros(g, []int{n}, g.DType()).IndexAdd(0,
		op.Numbers(g, linearIndex(view.shape, view.stride, view.off-base)), g.Reshape([]int{-1}))
	own := linearIndex(self.shape, self.stride, self.off-base)
	if shared {
		holders := mem.Make[int64](n) // of each place
		for _, p := range own {
			holders[p]++
		}
		for i, k := range holders {
			holders[i] = max(k, 1)
		}
		acc = acc.Div(op.Numbers(g, holders))
	}
	return acc.IndexSelect(0, op.Numbers(g, own)).View(self.shape)
}

// disjoint finds a dimension and a size of pieces of it, few, each of which holds no place twice: a view of frames that
// lie closer together than they are long falls into pieces as long as the frames are apart. The size is 0 where there is
// no such dimension.
func disjoint(view geometry) (d, size int) {
	const most = 16 // pieces
	if !overlaps(view.shape, view.stride) {
		return 0, math.MaxInt // the whole
	}
	for d, inner := range view.stride {
		for _, outer := range view.stride {
			if inner == 0 || outer <= inner || outer%inner != 0 || view.shape[d] > most*(outer/inner) {
				continue
			}
			sh := slices.Clone(view.shape)
			sh[d] = min(outer/inner, sh[d])
			if !overlaps(sh, view.stride) {
				return d, outer / inner
			}
		}
	}
	return 0, 0
}

// overlaps reports that two elements of a geometry may share a place. As in PyTorch a geometry whose sorted strides
// nest does not.
func overlaps(shape, stride []int) bool {
	t := append([]int{}, stride...)
	s := append([]int{}, shape...)
	for i := range t {
		for j := i; j > 0 && t[j] < t[j-1]; j-- {
			t[j], t[j-1], s[j], s[j-1] = t[j-1], t[j], s[j-1], s[j]
		}
	}
	reach := 0
	for i := range t {
		if s[i] == 1 {
			continue
		}
		if t[i] <= reach {
			return true
		}
		reach += t[i] * (s[i] - 1)
	}
	return false
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
func linearIndex(shape, stride []int, off int) []int64 {
	n := 1
	for _, s := range shape {
		n *= s
	}
	out := mem.Make[int64](n)
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
	return out
}
