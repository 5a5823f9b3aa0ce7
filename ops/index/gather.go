package index

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// checkAlong checks the shapes of a gather or scatter and gives the dimension and its size. self is argument 0, dim 1,
// index 2; src may be nil.
func checkAlong(c *Ctx, self, ix, src *T) (d, n int) {
	name := c.Op().Sch.Name
	if dt := ix.DType(); ix.Numel() > 0 && dt != tensor.Int64 && dt != tensor.Int32 {
		c.Fail(tensor.ErrDType, "%s(): Expected dtype int32/int64 for index", name)
	}
	d = tensor.WrapDim(c.Int(1), self.Dim())
	sh := ix.Shape()
	if ix.Numel() > 0 {
		if max(1, len(sh)) != max(1, self.Dim()) {
			c.Fail(tensor.ErrShape, "Index tensor must have the same number of dimensions as %s tensor",
				map[bool]string{true: "input", false: "self"}[src == nil && name == "gather"])
		}
		if src != nil && max(1, len(sh)) != max(1, src.Dim()) {
			c.Fail(tensor.ErrShape, "Index tensor must have the same number of dimensions as src tensor")
		}
		for k := range sh {
			if k != d && k < self.Dim() && sh[k] > self.Shape()[k] {
				if src == nil {
					c.Fail(tensor.ErrShape,
						"Size does not match at dimension %d expected index %s to be no larger than self %s apart "+
							"from dimension %d", k, tensor.ShapeString(sh), tensor.ShapeString(self.Shape()), d)
				}
				c.Fail(tensor.ErrShape, "Expected index %s to be no larger than self %s apart from dimension %d",
					tensor.ShapeString(sh), tensor.ShapeString(self.Shape()), d)
			}
			if src != nil && (k < src.Dim() && sh[k] > src.Shape()[k] || src.Dim() == 0 && sh[k] > 1) {
				c.Fail(tensor.ErrShape, "Expected index %s to be no larger than self %s apart from dimension %d and "+
					"to be no larger size than src %s", tensor.ShapeString(sh), tensor.ShapeString(self.Shape()), d,
					tensor.ShapeString(src.Shape()))
			}
		}
	}
	n = 1
	if self.Dim() > 0 {
		n = self.Shape()[d]
	}
	return d, n
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
		Doc: "picks, for every position of index, the element of self at that position with the index in place of " +
			"dim.\nhttps://pytorch.org/docs/stable/generated/torch.gather.html",
		Out: true,
		Infer: func(c *Ctx) {
			if g := c.GivenOut(0); g != nil {
				if g.DType() != c.ArgDType(0) {
					c.Fail(tensor.ErrDType, "Expected out tensor to have dtype %s, but got %s instead",
						c.ArgDType(0).CName(), g.DType().CName())
				}
				noOverlap(c, g)
			}
			c.Alloc(0, c.Shape(2), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			self, o := c.T(0), c.Out(0)
			ix := c.T(2)
			d, n := checkAlong(c, self, ix, nil)
			if o.Numel() == 0 {
				return
			}
			if !gatherAlong(newAlong(ix, d, n, self.Strides(), strideOf(ix.Shape())), o, self) {
				checkRange(c, longs(ix), d, n)
			}
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::scatter_add_", op.Zeros(g, c.Shape(0), g.DType()), c.Int(1), c.T(2), g), nil}
		},
	})

	// scatter in its forms: src at argument 3, or a number
	same := func(c *Ctx) {
		self := c.T(0)
		if c.Op().Sch.Params[3].Kind == tensor.KTensor && c.T(3).DType() != self.DType() {
			c.Fail(tensor.ErrDType, "scatter(): Expected self.dtype to be equal to src.dtype")
		}
		if g := c.GivenOut(0); g != nil {
			noOverlap(c, g)
		}
		c.AllocStrided(0, self.Shape(), likeStrides(self), self.DType())
	}
	// write scatters src; a number, which has no dimensions, goes to all places.
	write := func(c *Ctx, src *T, number bool) {
		self, o, ix := c.T(0), c.Out(0), c.T(2)
		d, n, s := sourceAlong(c, src, number)
		if o != self {
			tensor.CopyRaw(o, self)
		}
		if ix.Numel() > 0 && !scatterAlong(newAlong(ix, d, n, o.Strides(), s.Strides()), o, s) {
			checkRange(c, longs(ix), d, n)
		}
	}
	number := func(c *Ctx, arg int) *T { // the value in self's dtype
		v := tensor.New(nil, c.ArgDType(0))
		tensor.CopyRaw(v, c.Num(arg).Tensor())
		return v
	}
	zeroAt := func(c *Ctx, g *T) *T { return op.Call1("aten::scatter.value", g, c.Int(1), c.T(2), 0) }
	tensor.Register(tensor.Def{
		Schema: "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
		Doc: "is self with the elements of src written to the places that index names along " +
			"dim.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
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
		Schema: "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
		Doc: "is self with a number written to the places that index names along " +
			"dim.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
		Go: "ScatterScalar", InPlace: true, Out: true, Infer: same,
		CPU:  func(c *Ctx) { write(c, number(c, 3), true) },
		Save: "index",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{zeroAt(c, g), nil} },
	})
	reduce := func(c *Ctx, src *T, number bool, how string) {
		d, n, s := sourceAlong(c, src, number)
		reduceInto(c, d, n, s, how, true)
	}
	// adviseReduce is for the old form of scatter_reduce.
	adviseReduce := func(c *Ctx) {
		tensor.Warn("The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future " +
			"PyTorch release. Use torch.scatter_reduce instead for more reduction options.")
		same(c)
	}
	tensor.Register(tensor.Def{
		Schema: "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
		Doc: "is self with the elements of src added to, or multiplied into, the places that index names; reduce " +
			"is \"add\" or \"multiply\".",
		Go:      "ScatterWith",
		InPlace: true, Out: true, Infer: adviseReduce, NoGrad: "use ScatterAdd or ScatterReduce",
		CPU: func(c *Ctx) { reduce(c, c.T(3), false, reduceName(c, c.Str(4))) },
	})
	tensor.Register(tensor.Def{
		Schema:  "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
		Doc:     "is self with a number added to, or multiplied into, the places that index names.",
		Go:      "ScatterWithScalar",
		InPlace: true, Out: true, Infer: same, NoGrad: "use ScatterAdd or ScatterReduce",
		CPU: func(c *Ctx) { reduce(c, number(c, 3), true, reduceName(c, c.Str(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
		Doc: "is self with the elements of src added to the places that index names along " +
			"dim.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_add_.html",
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
		Schema: "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
		Doc: "reduces the elements of src into the places that index names; reduce is \"sum\", \"prod\", " +
			"\"mean\", \"amax\" or \"amin\".\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",
		Go:      "ScatterReduce",
		InPlace: true, Out: true, Infer: same,
		CPU: func(c *Ctx) {
			how := c.Str(4)
			checkReduce(c, how)
			d, n, s := sourceAlong(c, c.T(3), false)
			reduceInto(c, d, n, s, how, c.Bool(5))
		},
		Save: "self index src result",
		VJP:  scatterReduceVJP,
		Grad: "ScatterReduceBackward0",
	})
}

// divide divides each element by its count, those without a count by 1; integers are floored. Both tensors are
// contiguous. Sums and counts of integers that are narrower than w wrap around in their own type dt first, as in
// PyTorch.
func divide(w, count *T, dt tensor.DType) {
	n := tensor.Data[int64](count)
	switch w.DType() {
	case tensor.Int32:
		divideInts(raw[int32](w), n, wrap(dt))
	case tensor.Int64:
		divideInts(raw[int64](w), n, wrap(dt))
	case tensor.Float32:
		divideReal(raw[float32](w), n)
	case tensor.Float64:
		divideReal(raw[float64](w), n)
	case tensor.Complex64:
		d := raw[complex64](w)
		for i, n := range n {
			if n > 1 {
				d[i] /= complex(float32(n), 0)
			}
		}
	default:
		d := raw[complex128](w)
		for i, n := range n {
			if n > 1 {
				d[i] /= complex(float64(n), 0)
			}
		}
	}
}

// wrap keeps the low bits of an integer, as a type of that size does.
func wrap(dt tensor.DType) func(int64) int64 {
	switch dt {
	case tensor.Uint8:
		return func(n int64) int64 { return int64(uint8(n)) }
	case tensor.Int8:
		return func(n int64) int64 { return int64(int8(n)) }
	case tensor.Int16:
		return func(n int64) int64 { return int64(int16(n)) }
	case tensor.Int32:
		return func(n int64) int64 { return int64(int32(n)) }
	}
	return func(n int64) int64 { return n }
}

func divideInts[E int32 | int64](d []E, count []int64, wrap func(int64) int64) {
	for i, n := range count {
		if n = wrap(n); n == 0 {
			n = 1
		}
		sum := wrap(int64(d[i]))
		q := sum / n
		if r := sum % n; r != 0 && r < 0 != (n < 0) {
			q--
		}
		d[i] = E(q)
	}
}

func divideReal[E float32 | float64](d []E, count []int64) {
	par.For(len(count), walkTask, func(lo, hi int) {
		d := d[lo:hi]
		for i, n := range count[lo:hi] {
			d[i] /= E(max(1, n))
		}
	})
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

// sourceAlong checks a scatter's arguments and makes src dense.
func sourceAlong(c *Ctx, src *T, number bool) (d, n int, s *T) {
	if number {
		d, n = checkAlong(c, c.T(0), c.T(2), nil)
		return d, n, src
	}
	d, n = checkAlong(c, c.T(0), c.T(2), src)
	return d, n, tensor.Dense(src)
}

// reduceInto combines src, whose places are those of the index (argument 2), into a copy of self along dimension d of
// size n. Without include only what the index names counts, not self.
func reduceInto(c *Ctx, d, n int, src *T, how string, include bool) {
	intoWide(c.Out(0), c.T(0), func(w *T) {
		if c.T(2).Numel() > 0 {
			reduceWalk(c, w, c.T(2), as(src, w.DType()), d, n, how, include)
		}
	})
}

// intoWide sets o to what f makes of a copy of self. Small types are widened for it, so that only results are rounded.
func intoWide(o, self *T, f func(w *T)) {
	w := o
	if dt := computeType(o.DType()); dt != o.DType() {
		w = tensor.New(o.Shape(), dt)
	}
	if w != self {
		tensor.CopyRaw(w, self)
	}
	f(w)
	if w != o {
		tensor.CopyRaw(o, w)
		tensor.ReleaseRaw(w)
	}
}

// reduceWalk combines src into w at the places that ix names.
func reduceWalk(c *Ctx, w, ix, src *T, d, n int, how string, include bool) {
	check := func(ok bool) {
		if !ok {
			checkRange(c, longs(ix), d, n)
		}
	}
	if !include {
		neutral := tensor.New(nil, w.DType())
		tensor.CopyRaw(neutral, neutralOf(how, c.Out(0).DType()))
		check(scatterAlong(newAlong(ix, d, n, w.Strides(), nil), w, neutral))
	}
	check(reduceAlong(newAlong(ix, d, n, w.Strides(), src.Strides()), w, src, how))
	if how != "mean" {
		return
	}
	// divided by the number of summands
	count := tensor.New(w.Shape(), tensor.Int64)
	one := tensor.IntValue(1).Num().Tensor()
	if include {
		tensor.CopyRaw(count, one)
	} else {
		tensor.ZeroRaw(count)
	}
	check(reduceAlong(newAlong(ix, d, n, count.Strides(), nil), count, one, "sum"))
	if t := tensor.Dense(w); t == w {
		divide(w, count, c.Out(0).DType())
	} else {
		divide(t, count, c.Out(0).DType())
		tensor.CopyRaw(w, t)
	}
	tensor.ReleaseRaw(count)
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
			g = op.Call1("aten::cat", []*T{g, op.Zeros(g, z, g.DType())}, d)
		}
	}
	return g.Reshape(shape)
}

// noOverlap refuses an out tensor that holds a place twice.
func noOverlap(c *Ctx, g *T) {
	for i, s := range g.Strides() {
		if s == 0 && g.Shape()[i] > 1 && g.Numel() > 0 {
			c.Fail(tensor.ErrShape, "unsupported operation: more than one element of the written-to tensor refers to "+
				"a single memory location. Please clone() the tensor before performing the operation.")
		}
	}
	for i := 0; i < c.NumArgs(); i++ {
		v := c.Value(i)
		if p := c.Op().Sch.Params[i]; v.K == tensor.KTensor && !p.Writes && !(c.Op().IsInPlace() && i == 0) &&
			v.T != g && op.Overlap(v.T, g) {
			c.Fail(tensor.ErrValue, "unsupported operation: some elements of the input tensor and the written-to "+
				"tensor refer to a single memory location. Please clone() the tensor before performing the operation.")
		}
		if p := c.Op().Sch.Params[i]; v.K == tensor.KTensor && !p.Writes && !(c.Op().IsInPlace() && i == 0) &&
			v.T == g && g.Numel() > 0 && !c.Op().Elementwise {
			c.Fail(tensor.ErrValue, "unsupported operation: some elements of the input tensor and the written-to "+
				"tensor refer to a single memory location. Please clone() the tensor before performing the operation.")
		}
	}
}
