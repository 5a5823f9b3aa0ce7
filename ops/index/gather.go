package index

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// walkAlong checks the shapes of a gather or scatter and describes the walk. self is argument 0, dim 1, index 2; src may be nil.
func walkAlong(c *Ctx, self, ix, src *T) (*along, []int64) {
	name := c.Op().Sch.Name
	if dt := ix.DType(); ix.Numel() > 0 && dt != tensor.Int64 && dt != tensor.Int32 {
		c.Fail(tensor.ErrDType, "%s(): Expected dtype int32/int64 for index", name)
	}
	d := tensor.WrapDim(c.Int(1), self.Dim())
	sh := ix.Shape()
	if ix.Numel() > 0 {
		if max(1, len(sh)) != max(1, self.Dim()) {
			c.Fail(tensor.ErrShape, "Index tensor must have the same number of dimensions as %s tensor", map[bool]string{true: "input", false: "self"}[src == nil && name == "gather"])
		}
		if src != nil && max(1, len(sh)) != max(1, src.Dim()) {
			c.Fail(tensor.ErrShape, "Index tensor must have the same number of dimensions as src tensor")
		}
		for k := range sh {
			if k != d && k < self.Dim() && sh[k] > self.Shape()[k] {
				if src == nil {
					c.Fail(tensor.ErrShape, "Size does not match at dimension %d expected index %s to be no larger than self %s apart from dimension %d", k, tensor.ShapeString(sh), tensor.ShapeString(self.Shape()), d)
				}
				c.Fail(tensor.ErrShape, "Expected index %s to be no larger than self %s apart from dimension %d", tensor.ShapeString(sh), tensor.ShapeString(self.Shape()), d)
			}
			if src != nil && (k < src.Dim() && sh[k] > src.Shape()[k] || src.Dim() == 0 && sh[k] > 1) {
				c.Fail(tensor.ErrShape, "Expected index %s to be no larger than self %s apart from dimension %d and to be no larger size than src %s", tensor.ShapeString(sh), tensor.ShapeString(self.Shape()), d, tensor.ShapeString(src.Shape()))
			}
		}
	}
	n := 1
	if self.Dim() > 0 {
		n = self.Shape()[d]
	}
	x := longs(ix)
	checkRange(c, x, d, n)
	a := &along{shape: slices.Clone(sh), dim: d, n: n, idx: strideOf(sh)}
	if len(a.shape) == 0 && ix.Numel() > 0 {
		a.shape, a.idx = []int{1}, []int{1}
	}
	return a, x
}

// atLeast1 gives strides of a 0-d tensor as those of a 1-d one.
func atLeast1(st []int) []int {
	if len(st) == 0 {
		return []int{1}
	}
	return st
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
		Doc:    "picks, for every position of index, the element of self at that position with the index in place of dim.\nhttps://pytorch.org/docs/stable/generated/torch.gather.html",
		Out:    true,
		Infer: func(c *Ctx) {
			if g := c.GivenOut(0); g != nil {
				if g.DType() != c.ArgDType(0) {
					c.Fail(tensor.ErrDType, "Expected out tensor to have dtype %s, but got %s instead", c.ArgDType(0), g.DType())
				}
				noOverlap(c, g)
			}
			c.Alloc(0, c.Shape(2), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			self, o := c.T(0), c.Out(0)
			a, ix := walkAlong(c, self, c.T(2), nil)
			a.big, a.small = atLeast1(self.Strides()), a.idx
			if o.Numel() == 0 {
				return
			}
			bySize(o, func() { gatherRows(raw[uint8](o), raw[uint8](self), ix, a) }, func() { gatherRows(raw[uint16](o), raw[uint16](self), ix, a) },
				func() { gatherRows(raw[uint32](o), raw[uint32](self), ix, a) }, func() { gatherRows(raw[uint64](o), raw[uint64](self), ix, a) },
				func() { gatherRows(raw[wide](o), raw[wide](self), ix, a) })
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{call1("scatter_add", zeros(c.Shape(0), g.DType()), c.Int(1), c.T(2), g), nil}
		},
	})

	// scatter in its forms: src at argument 3, or a number
	same := func(c *Ctx) {
		self := c.T(0)
		if c.Op().Sch.Params[3].Kind == tensor.KTensor && c.T(3).DType() != self.DType() {
			c.Fail(tensor.ErrDType, "%s(): Expected self.dtype to be equal to src.dtype", c.Op().Sch.Name)
		}
		if g := c.GivenOut(0); g != nil {
			noOverlap(c, g)
		}
		c.AllocStrided(0, self.Shape(), likeStrides(self), self.DType())
	}
	prepare := func(c *Ctx, src *T) (o *T, a *along, ix []int64, srcD *T) {
		self := c.T(0)
		o = c.Out(0)
		a, ix = walkAlong(c, self, c.T(2), src)
		if o != self {
			tensor.CopyRaw(o, self)
		}
		a.big = atLeast1(o.Strides())
		a.small = make([]int, len(a.shape))
		if src != nil {
			srcD = src.Dense()
			a.small = atLeast1(srcD.Strides())
		}
		return
	}
	write := func(c *Ctx, src *T, fixed bool) {
		o, a, ix, s := prepare(c, map[bool]*T{false: src}[fixed])
		if fixed {
			s = src
		}
		if len(ix) == 0 {
			return
		}
		bySize(o, func() { scatterRows(raw[uint8](o), raw[uint8](s), ix, a, fixed) }, func() { scatterRows(raw[uint16](o), raw[uint16](s), ix, a, fixed) },
			func() { scatterRows(raw[uint32](o), raw[uint32](s), ix, a, fixed) }, func() { scatterRows(raw[uint64](o), raw[uint64](s), ix, a, fixed) },
			func() { scatterRows(raw[wide](o), raw[wide](s), ix, a, fixed) })
	}
	number := func(c *Ctx, arg int) *T { // the value in self's dtype
		v := tensor.New(nil, c.ArgDType(0))
		tensor.CopyRaw(v, c.Num(arg).Tensor())
		return v
	}
	zeroAt := func(c *Ctx, g *T) *T { return call1("scatter.value", g, c.Int(1), c.T(2), 0) }
	tensor.Register(tensor.Def{
		Schema:  "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
		Doc:     "is self with the elements of src written to the places that index names along dim.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
		Go:      "Scatter", // the plain one
		InPlace: true, Out: true, Infer: same,
		CPU:  func(c *Ctx) { write(c, c.T(3), false) },
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, nil, nil}
			if c.Needs(0) {
				r[0] = zeroAt(c, g)
			}
			if c.Needs(3) {
				r[2] = fitTo(g.Gather(c.Int(1), c.T(2)), c.Shape(3))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
		Doc:     "is self with a number written to the places that index names along dim.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
		InPlace: true, Out: true, Infer: same,
		CPU:  func(c *Ctx) { write(c, number(c, 3), true) },
		Save: "index",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{zeroAt(c, g), nil} },
	})
	reduce := func(c *Ctx, src *T, fixed bool, how string) {
		o, a, ix, s := prepare(c, map[bool]*T{false: src}[fixed])
		if fixed {
			s = src
		}
		if len(ix) == 0 {
			return
		}
		scatterReduce(o, s, ix, a, fixed, how)
	}
	tensor.Register(tensor.Def{
		Schema:  "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
		Doc:     "is self with the elements of src added to, or multiplied into, the places that index names; reduce is \"add\" or \"multiply\".",
		Go:      "ScatterWith",
		InPlace: true, Out: true, Infer: same, NoGrad: "use ScatterAdd or ScatterReduce",
		CPU: func(c *Ctx) { reduce(c, c.T(3), false, reduceName(c, c.Str(4))) },
	})
	tensor.Register(tensor.Def{
		Schema:  "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
		Doc:     "is self with a number added to, or multiplied into, the places that index names.",
		Go:      "ScatterValueWith",
		InPlace: true, Out: true, Infer: same, NoGrad: "use ScatterAdd or ScatterReduce",
		CPU: func(c *Ctx) { reduce(c, number(c, 3), true, reduceName(c, c.Str(4))) },
	})
	tensor.Register(tensor.Def{
		Schema:  "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
		Doc:     "is self with the elements of src added to the places that index names along dim.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_add_.html",
		InPlace: true, Out: true, Infer: same,
		CPU:  func(c *Ctx) { reduce(c, c.T(3), false, "sum") },
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil, nil}
			if c.Needs(3) {
				r[2] = fitTo(g.Gather(c.Int(1), c.T(2)), c.Shape(3))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
		Doc:     "reduces the elements of src into the places that index names; reduce is \"sum\", \"prod\", \"mean\", \"amax\" or \"amin\".\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",
		Go:      "ScatterReduce",
		InPlace: true, Out: true, Infer: same,
		CPU: func(c *Ctx) {
			how := c.Str(4)
			checkReduce(c, how)
			o, a, ix, s := prepare(c, c.T(3))
			if len(ix) == 0 {
				return
			}
			if !c.Bool(5) {
				neutral := tensor.New(nil, o.DType())
				tensor.CopyRaw(neutral, neutralOf(how, o.DType()))
				bySize(o, func() { scatterRows(raw[uint8](o), raw[uint8](neutral), ix, a, true) }, func() { scatterRows(raw[uint16](o), raw[uint16](neutral), ix, a, true) },
					func() { scatterRows(raw[uint32](o), raw[uint32](neutral), ix, a, true) }, func() { scatterRows(raw[uint64](o), raw[uint64](neutral), ix, a, true) },
					func() { scatterRows(raw[wide](o), raw[wide](neutral), ix, a, true) })
			}
			if how != "mean" {
				scatterReduce(o, s, ix, a, false, how)
				return
			}
			// the sum in a wide type, then divided by the number of summands
			dt := computeType(o.DType())
			w := as(o, dt)
			if w == o {
				w = o.CloneRaw().Dense()
			}
			a.big = atLeast1(strideOf(o.Shape()))
			scatterReduce(w, as(s, dt), ix, a, false, "sum")
			count := zeros(o.Shape(), tensor.Int64)
			if c.Bool(5) {
				n := tensor.Data[int64](count)
				for i := range n {
					n[i] = 1
				}
			}
			countAlong(raw[int64](count), ix, a)
			divide(w, tensor.Data[int64](count))
			tensor.CopyRaw(o, w)
		},
		Save: "self index src result",
		VJP:  scatterReduceVJP,
		Grad: "ScatterReduceBackward0",
	})
}

// divide divides each element by its count where that is more than 1; integers are floored.
func divide(w *T, count []int64) {
	switch w.DType() {
	case tensor.Int64:
		d := tensor.Data[int64](w)
		for i, n := range count {
			if n > 1 {
				q := d[i] / n
				if d[i]%n < 0 {
					q--
				}
				d[i] = q
			}
		}
	case tensor.Float32:
		d := tensor.Data[float32](w)
		for i, n := range count {
			if n > 1 {
				d[i] /= float32(n)
			}
		}
	case tensor.Float64:
		d := tensor.Data[float64](w)
		for i, n := range count {
			if n > 1 {
				d[i] /= float64(n)
			}
		}
	case tensor.Complex64:
		d := tensor.Data[complex64](w)
		for i, n := range count {
			if n > 1 {
				d[i] /= complex(float32(n), 0)
			}
		}
	default:
		d := tensor.Data[complex128](w)
		for i, n := range count {
			if n > 1 {
				d[i] /= complex(float64(n), 0)
			}
		}
	}
}

func reduceName(c *Ctx, s string) string {
	switch s {
	case "add":
		return "sum"
	case "multiply":
		return "prod"
	}
	c.Fail(tensor.ErrValue, "reduce argument must be either add or multiply.")
	return ""
}

func checkReduce(c *Ctx, s string) {
	switch s {
	case "sum", "prod", "mean", "amax", "amin":
		return
	}
	c.Fail(tensor.ErrValue, "reduce argument must be either sum, prod, mean, amax or amin, got %s", s)
}

// scatterReduce combines src into o, both seen in a type that can be computed with.
func scatterReduce(o, src *T, ix []int64, a *along, fixed bool, how string) {
	dt := computeType(o.DType())
	w, s := o, src
	if dt != o.DType() {
		w, s = as(o, dt), as(src, dt)
		a.big = atLeast1(strideOf(o.Shape()))
	}
	switch dt {
	case tensor.Float32:
		switch {
		case fixed:
			reduceRows(raw[float32](w), raw[float32](s), ix, a, fixed, realReduce[float32](how))
		case how == "sum":
			addRowsAlong(raw[float32](w), raw[float32](s), ix, a)
		default:
			reduceReal(raw[float32](w), raw[float32](s), ix, a, how)
		}
	case tensor.Float64:
		switch {
		case fixed:
			reduceRows(raw[float64](w), raw[float64](s), ix, a, fixed, realReduce[float64](how))
		case how == "sum":
			addRowsAlong(raw[float64](w), raw[float64](s), ix, a)
		default:
			reduceReal(raw[float64](w), raw[float64](s), ix, a, how)
		}
	case tensor.Int64:
		if fixed {
			reduceRows(raw[int64](w), raw[int64](s), ix, a, fixed, realReduce[int64](how))
		} else {
			reduceReal(raw[int64](w), raw[int64](s), ix, a, how)
		}
	case tensor.Complex64:
		reduceRows(raw[complex64](w), raw[complex64](s), ix, a, fixed, complexReduce[complex64](how))
	default:
		reduceRows(raw[complex128](w), raw[complex128](s), ix, a, fixed, complexReduce[complex128](how))
	}
	if w != o {
		tensor.CopyRaw(o, w)
	}
}

func realReduce[E int64 | float32 | float64](how string) func(d *E, s E) {
	switch how {
	case "prod":
		return mul[E]
	case "amax":
		return maxOf[E]
	case "amin":
		return minOf[E]
	}
	return add[E]
}

func complexReduce[E complex64 | complex128](how string) func(d *E, s E) {
	if how == "prod" {
		return mul[E]
	}
	return add[E]
}

// fitTo brings a gradient of the index's shape to the shape of src, which may be larger.
func fitTo(g *T, shape []int) *T {
	if tensor.SameShape(g.Shape(), shape) {
		return g
	}
	for d := range shape {
		if g.Dim() > d && g.Shape()[d] < shape[d] {
			z := append([]int{}, g.Shape()...)
			z[d] = shape[d] - g.Shape()[d]
			g = call1("cat", []*T{g, zeros(z, g.DType())}, d)
		}
	}
	return g.Reshape(shape)
}

// noOverlap refuses an out tensor that holds a place twice.
func noOverlap(c *Ctx, g *T) {
	for i, s := range g.Strides() {
		if s == 0 && g.Shape()[i] > 1 {
			c.Fail(tensor.ErrShape, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")
		}
	}
	for i := 0; i < c.NumArgs(); i++ {
		v := c.Value(i)
		if p := c.Op().Sch.Params[i]; v.K == tensor.KTensor && !p.Writes && !(c.Op().IsInPlace() && i == 0) && v.T != g && v.T.Storage() == g.Storage() && v.T.Numel() > 0 && g.Numel() > 0 && meets(v.T, g) {
			c.Fail(tensor.ErrValue, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.")
		}
		if p := c.Op().Sch.Params[i]; v.K == tensor.KTensor && !p.Writes && !(c.Op().IsInPlace() && i == 0) && v.T == g && g.Numel() > 0 && !c.Op().Elementwise {
			c.Fail(tensor.ErrValue, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.")
		}
	}
}

// meets reports that the memory ranges of two tensors of one storage overlap.
func meets(a, b *T) bool {
	end := func(t *T) int {
		e := t.StorageOffset()
		for i, s := range t.Shape() {
			e += (s - 1) * t.Strides()[i]
		}
		return e
	}
	return a.StorageOffset() <= end(b) && b.StorageOffset() <= end(a)
}
