package shape

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

func unsqueezeView(t *T, dim int) *T {
	d := tensor.WrapDim(dim, t.Dim()+1)
	st := 1
	if d < t.Dim() {
		st = t.Shape()[d] * t.Strides()[d]
	}
	return tensor.Alias(t, slices.Insert(slices.Clone(t.Shape()), d, 1),
		slices.Insert(slices.Clone(t.Strides()), d, st), t.StorageOffset())
}

// squeezeView removes the dimensions of size 1 among those that drop names.
func squeezeView(t *T, drop func(d int) bool) *T {
	sh, st := make([]int, 0, t.Dim()), make([]int, 0, t.Dim())
	for d, s := range t.Shape() {
		if s == 1 && drop(d) {
			continue
		}
		sh, st = append(sh, s), append(st, t.Strides()[d])
	}
	return tensor.Alias(t, sh, st, t.StorageOffset())
}

func dimSet(c *Ctx, dims []int, nd int) func(d int) bool {
	set := make([]bool, max(nd, 1))
	for _, d := range dims {
		w := tensor.WrapDim(d, nd)
		if set[w] {
			c.Fail(tensor.ErrShape, "dim %d appears multiple times in the list of dims", w)
		}
		set[w] = true
	}
	return func(d int) bool { return set[d] }
}

func moveDims(c *Ctx, t *T, src, dst []int) *T {
	if len(src) != len(dst) {
		c.Fail(tensor.ErrShape, "movedim: Invalid source or destination dims: source (%s dims) should contain the "+
			"same number of dims as destination (%s dims)", tensor.ShapeString(src), tensor.ShapeString(dst))
	}
	nd := t.Dim()
	wrap := func(what string, l []int) []int {
		out, seen := make([]int, len(l)), map[int]bool{}
		for i, d := range l {
			out[i] = tensor.WrapDim(d, nd)
		}
		for _, d := range out {
			if seen[d] {
				c.Fail(tensor.ErrShape, "movedim: repeated dim in `%s` (%s)", what, tensor.ShapeString(l))
			}
			seen[d] = true
		}
		return out
	}
	s, d := wrap("source", src), wrap("destination", dst)
	if nd == 0 {
		return t.AliasView()
	}
	perm := make([]int, nd)
	for i := range perm {
		perm[i] = -1
	}
	for i := range s {
		perm[d[i]] = s[i]
	}
	next := 0
	for i := range perm {
		if perm[i] >= 0 {
			continue
		}
		for slices.Contains(s, next) {
			next++
		}
		perm[i] = next
		next++
	}
	return t.Permute(perm)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "alias(Tensor(a) self) -> Tensor(a)",
		Doc:    "is a view of the whole tensor.",
		Go:     "AliasView",
		View:   func(c *Ctx) *T { t := c.T(0); return tensor.Alias(t, t.Shape(), t.Strides(), t.StorageOffset()) },
		VJP:    func(c *Ctx, g *T) []*T { return []*T{g} },
	})
	tensor.Register(tensor.Def{
		Schema: "detach(Tensor(a) self) -> Tensor(a)",
		Go:     "-", NoGrad: "cut off from the tape",
		View: func(c *Ctx) *T { return c.T(0).Detach() },
	})
	tensor.Register(tensor.Def{
		Schema: "detach_copy(Tensor self) -> Tensor",
		Doc:    "is a copy that is not connected to the tape.",
		Go:     "-", Body: func(c *Ctx) { c.Return(copyOf(c.T(0).Detach())) },
	})
	for _, schema := range []string{"lift(Tensor self) -> Tensor", "lift_fresh(Tensor(a) self) -> Tensor(a)"} {
		tensor.Register(tensor.Def{Schema: schema, Go: "-", Body: func(c *Ctx) { c.Return(c.T(0)) }})
	}
	tensor.Register(tensor.Def{
		Schema: "lift_fresh_copy(Tensor self) -> Tensor",
		Doc:    "is a copy of a constant of a program.",
		Go:     "-", Out: true, Body: func(c *Ctx) { c.Return(copyOf(c.T(0))) },
	})
	tensor.Register(tensor.Def{
		Schema: "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
		Doc:    "is Expand to the shape of other.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.expand_as.html",
		Body:   func(c *Ctx) { c.Return(c.T(0).Expand(c.Shape(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)",
		Doc:    "is Expand.\nhttps://pytorch.org/docs/stable/generated/torch.broadcast_to.html",
		Body:   func(c *Ctx) { c.Return(c.T(0).Expand(c.Ints(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
		Doc:    "is View with the shape of other.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.view_as.html",
		Body:   func(c *Ctx) { c.Return(c.T(0).View(c.Shape(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
		Doc:    "is Reshape to the shape of other.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.reshape_as.html",
		Body:   func(c *Ctx) { c.Return(c.T(0).Reshape(c.Shape(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "sum_to_size(Tensor self, SymInt[] size) -> Tensor",
		Doc: "sums over the dimensions along which size was broadcast to self's shape. If there are none, the result is " +
			"self itself, as in PyTorch.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.sum_to_size.html",
		Body: func(c *Ctx) {
			if !tensor.Broadcastable(c.Ints(1), c.Shape(0)) {
				c.Fail(tensor.ErrShape, "size {%s} is not expandable to size {%s}.", tensor.ShapeString(c.Ints(1)),
					tensor.ShapeString(c.Shape(0)))
			}
			if len(c.Ints(1)) == 0 {
				c.Return(c.T(0).SumDim(nil)) // a new tensor, even of a 0-d one
				return
			}
			c.Return(tensor.SumTo(c.T(0), c.Ints(1)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "t(Tensor(a) self) -> Tensor(a)",
		Go:     "-", Body: func(c *Ctx) { c.ReturnNamed(matrixT(c)) },
	})
	tensor.Register(tensor.Def{
		Schema: "t_(Tensor(a!) self) -> Tensor(a!)",
		Doc:    "transposes the tensor itself, a matrix.",
		Body:   func(c *Ctx) { c.Return(tensor.BecomeView(c.T(0), matrixT(c))) },
	})
	tensor.Register(tensor.Def{
		Schema: "numpy_T(Tensor(a) self) -> Tensor(a)",
		Doc: "reverses the order of the dimensions: the transpose of a matrix. It stands for Python's x.T and " +
			"x.t().\nhttps://pytorch.org/docs/stable/generated/torch.t.html",
		Go:      "NumpyT",
		Aliases: []string{"Tensor::T"},
		Body: func(c *Ctx) {
			t := c.T(0)
			switch t.Dim() {
			case 0:
				tensor.Warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
			case 1, 2:
			default:
				tensor.Warn("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is " +
					"deprecated and it will throw an error in a future release. Consider `x.mT` to transpose " +
					"batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the " +
					"dimensions of a tensor.")
			}
			p := make([]int, t.Dim())
			for i := range p {
				p[i] = t.Dim() - 1 - i
			}
			c.Return(t.Permute(p))
		},
	})
	lastTwo := func(c *Ctx, what string) *T {
		t := c.T(0)
		if t.Dim() == 0 {
			return t
		}
		if t.Dim() < 2 {
			c.Fail(tensor.ErrShape, "tensor.%s is only supported on matrices or batches of matrices. Got %d-D tensor.",
				what, t.Dim())
		}
		return t.Transpose(-2, -1)
	}
	conj := func(t *T) *T {
		if t.IsComplex() {
			return t.Conj()
		}
		return t
	}
	tensor.Register(tensor.Def{
		Schema: "mT(Tensor(a) self) -> Tensor(a)",
		Doc:    "swaps the last two dimensions.",
		Body:   func(c *Ctx) { c.Return(lastTwo(c, "mT")) },
	})
	tensor.Register(tensor.Def{
		Schema:  "mH(Tensor(a) self) -> Tensor(a)",
		Doc:     "swaps the last two dimensions and conjugates.",
		Aliases: []string{"adjoint"},
		Body:    func(c *Ctx) { c.Return(conj(lastTwo(c, "mH"))) },
	})
	tensor.Register(tensor.Def{
		Schema:  "matrix_H(Tensor(a) self) -> Tensor(a)",
		Doc:     "is the conjugate transpose of a matrix.",
		Aliases: []string{"Tensor::H"},
		Body: func(c *Ctx) {
			t := c.T(0)
			switch t.Dim() {
			case 0:
				c.Return(conj(t))
			case 2:
				c.Return(conj(t.Transpose(0, 1)))
			default:
				c.Fail(tensor.ErrShape, "tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor.",
					t.Dim())
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
		Doc:    "swaps two dimensions of the tensor itself.", Aliases: []string{"swapdims_"},
		Body: func(c *Ctx) { t := c.T(0); c.Return(tensor.BecomeView(t, t.Transpose(c.Int(1), c.Int(2)))) },
	})
	tensor.Register(tensor.Def{
		Schema: "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
		Doc:    "swaps two dimensions of the tensor itself.",
		Body:   func(c *Ctx) { t := c.T(0); c.Return(tensor.BecomeView(t, t.Transpose(c.Int(1), c.Int(2)))) },
	})
	tensor.Register(tensor.Def{
		Schema: "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
		Doc:    "swaps two dimensions.\nhttps://pytorch.org/docs/stable/generated/torch.swapaxes.html",
		Body:   func(c *Ctx) { c.Return(c.T(0).Transpose(c.Int(1), c.Int(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
		Doc:    "inserts a dimension of size 1.\nhttps://pytorch.org/docs/stable/generated/torch.unsqueeze.html",
		View:   func(c *Ctx) *T { return unsqueezeView(c.T(0), c.Int(1)) },
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{g.SqueezeDim(tensor.WrapDim(c.Int(1), len(c.Shape(0))+1))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
		Doc:    "inserts a dimension of size 1 into the tensor itself.",
		Body:   func(c *Ctx) { t := c.T(0); c.Return(tensor.BecomeView(t, t.Unsqueeze(c.Int(1)))) },
	})
	restore := func(c *Ctx, g *T) []*T { return []*T{g.Reshape(c.Shape(0))} }
	tensor.Register(tensor.Def{
		Schema: "squeeze(Tensor(a) self) -> Tensor(a)",
		Doc:    "removes all dimensions of size 1.\nhttps://pytorch.org/docs/stable/generated/torch.squeeze.html",
		View:   func(c *Ctx) *T { return squeezeView(c.T(0), func(int) bool { return true }) },
		VJP:    restore,
	})
	tensor.Register(tensor.Def{
		Schema: "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
		Doc:    "removes one dimension if its size is 1.\nhttps://pytorch.org/docs/stable/generated/torch.squeeze.html",
		View: func(c *Ctx) *T {
			t := c.T(0)
			d := tensor.WrapDim(c.Int(1), t.Dim())
			return squeezeView(t, func(k int) bool { return k == d })
		},
		VJP: restore, Grad: "SqueezeBackward1",
	})
	tensor.Register(tensor.Def{
		Schema: "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
		Doc: "removes those of the given dimensions whose size is " +
			"1.\nhttps://pytorch.org/docs/stable/generated/torch.squeeze.html",
		View: func(c *Ctx) *T { t := c.T(0); return squeezeView(t, dimSet(c, c.Ints(1), t.Dim())) },
		VJP:  restore, Grad: "SqueezeBackward2",
	})
	tensor.Register(tensor.Def{
		Schema: "squeeze_(Tensor(a!) self) -> Tensor(a!)",
		Doc:    "removes all dimensions of size 1 from the tensor itself.",
		Body:   func(c *Ctx) { t := c.T(0); c.Return(tensor.BecomeView(t, t.Squeeze())) },
	})
	tensor.Register(tensor.Def{
		Schema: "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
		Go:     "SqueezeDimInPlace", Doc: "removes one dimension of size 1 from the tensor itself.",
		Body: func(c *Ctx) { t := c.T(0); c.Return(tensor.BecomeView(t, t.SqueezeDim(c.Int(1)))) },
	})
	tensor.Register(tensor.Def{
		Schema: "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
		Go:     "SqueezeDimsInPlace", Doc: "removes dimensions of size 1 from the tensor itself.",
		Body: func(c *Ctx) { t := c.T(0); c.Return(tensor.BecomeView(t, t.SqueezeDims(c.Ints(1)))) },
	})
	tensor.Register(tensor.Def{
		Schema: "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
		Doc: "moves dimensions to other places; the rest keep their " +
			"order.\nhttps://pytorch.org/docs/stable/generated/torch.movedim.html",
		Go:      "MoveDims",
		Aliases: []string{"moveaxis"},
		Body:    func(c *Ctx) { c.Return(moveDims(c, c.T(0), c.Ints(1), c.Ints(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
		Doc: "moves one dimension to another place; the rest keep their " +
			"order.\nhttps://pytorch.org/docs/stable/generated/torch.movedim.html",
		Go:      "MoveDim",
		Aliases: []string{"moveaxis"},
		Body:    func(c *Ctx) { c.Return(moveDims(c, c.T(0), []int{c.Int(1)}, []int{c.Int(2)})) },
	})
	tensor.Register(tensor.Def{
		Schema: "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
		Doc: "joins the dimensions from StartDim to EndDim into " +
			"one.\nhttps://pytorch.org/docs/stable/generated/torch.flatten.html",
		Go: "Flatten",
		Body: func(c *Ctx) {
			t := c.T(0)
			a, b := tensor.WrapDim(c.Int(1), t.Dim()), tensor.WrapDim(c.Int(2), t.Dim())
			if a > b {
				c.Fail(tensor.ErrShape, "flatten() has invalid args: start_dim cannot come after end_dim")
			}
			if t.Dim() == 0 {
				c.Return(t.Reshape([]int{1}))
				return
			}
			if a == b {
				c.Return(t)
				return
			}
			n := 1
			for _, s := range t.Shape()[a : b+1] {
				n *= s
			}
			sh := slices.Clone(t.Shape()[:a])
			c.Return(t.Reshape(append(append(sh, n), t.Shape()[b+1:]...)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
		Doc: "splits one dimension into several; one size may be " +
			"-1.\nhttps://pytorch.org/docs/stable/generated/torch.unflatten.html",
		Body: func(c *Ctx) {
			t := c.T(0)
			if t.Dim() == 0 {
				c.Fail(tensor.ErrIndex, "Dimension specified as %d but tensor has no dimensions", c.Int(1))
			}
			d := tensor.WrapDim(c.Int(1), t.Dim())
			sizes := c.Ints(2)
			if len(sizes) == 0 {
				c.Fail(tensor.ErrShape, "unflatten: sizes must be non-empty")
			}
			n, at := 1, -1
			sizes = slices.Clone(sizes)
			for i, s := range sizes {
				if s == -1 {
					at = i
				} else {
					n *= s
				}
			}
			if at >= 0 && n > 0 && t.Shape()[d]%n == 0 {
				sizes[at] = t.Shape()[d] / n
				n *= sizes[at]
			}
			if n != t.Shape()[d] {
				c.Fail(tensor.ErrShape, "unflatten: Provided sizes %s don't multiply up to the size of dim %d (%d) "+
					"in the input tensor", tensor.ShapeString(c.Ints(2)), d, t.Shape()[d])
			}
			c.Return(t.View(slices.Replace(slices.Clone(t.Shape()), d, d+1, sizes...)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "ravel(Tensor(a) self) -> Tensor(a)",
		Doc:    "is the elements in one dimension.\nhttps://pytorch.org/docs/stable/generated/torch.ravel.html",
		Body:   func(c *Ctx) { c.Return(c.T(0).Contiguous().View([]int{-1})) },
	})
	at1 := func(t *T) *T {
		if t.Dim() == 0 {
			return t.Reshape([]int{1})
		}
		return t
	}
	at2 := func(t *T) *T {
		switch t.Dim() {
		case 0:
			return t.Reshape([]int{1, 1})
		case 1:
			return t.Unsqueeze(0)
		}
		return t
	}
	at3 := func(t *T) *T {
		switch t.Dim() {
		case 0:
			return t.Reshape([]int{1, 1, 1})
		case 1:
			return t.Unsqueeze(0).Unsqueeze(-1)
		case 2:
			return t.Unsqueeze(-1)
		}
		return t
	}
	tensor.Register(tensor.Def{
		Schema: "atleast_1d(Tensor self) -> Tensor",
		Doc:    "makes a 0-d tensor 1-d.\nhttps://pytorch.org/docs/stable/generated/torch.atleast_1d.html",
		Body:   func(c *Ctx) { c.Return(at1(c.T(0))) },
	})
	tensor.Register(tensor.Def{
		Schema: "atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]",
		Go:     "-", Body: func(c *Ctx) { c.Return(each(c.Tensors(0), at1)...) },
	})
	tensor.Register(tensor.Def{
		Schema: "atleast_2d(Tensor self) -> Tensor",
		Doc: "gives a tensor at least two dimensions; new ones come " +
			"first.\nhttps://pytorch.org/docs/stable/generated/torch.atleast_2d.html",
		Body: func(c *Ctx) { c.Return(at2(c.T(0))) },
	})
	tensor.Register(tensor.Def{
		Schema: "atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]",
		Go:     "-", Body: func(c *Ctx) { c.Return(each(c.Tensors(0), at2)...) },
	})
	tensor.Register(tensor.Def{
		Schema: "atleast_3d(Tensor self) -> Tensor",
		Doc: "gives a tensor at least three " +
			"dimensions.\nhttps://pytorch.org/docs/stable/generated/torch.atleast_3d.html",
		Body: func(c *Ctx) { c.Return(at3(c.T(0))) },
	})
	tensor.Register(tensor.Def{
		Schema: "atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]",
		Go:     "-", Body: func(c *Ctx) { c.Return(each(c.Tensors(0), at3)...) },
	})
}

// matrixT is the view of a matrix with its dimensions exchanged; vectors and numbers are shown as they are.
func matrixT(c *Ctx) *T {
	t := c.T(0)
	if t.Dim() > 2 {
		c.Fail(tensor.ErrShape, "t() expects a tensor with <= 2 dimensions, but self is %dD", t.Dim())
	}
	if t.Dim() < 2 {
		return t.AliasView()
	}
	return t.Transpose(0, 1)
}
