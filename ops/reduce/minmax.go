package reduce

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type real interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64
}

func maxOf[E real](a, b E) E {
	if a > b || a != a {
		return a
	}
	return b
}

func minOf[E real](a, b E) E {
	if a < b || a != a {
		return a
	}
	return b
}

// Kernels of the extrema; NaN wins, as in PyTorch. Each pair is that of the largest and that of the smallest.
var (
	extF32 = [2]*kern[float32, float32]{
		{init: float32(math.Inf(-1)), row: func(acc float32, s []float32) float32 { return maxOf(acc, vec.MaxF32(s)) },
			rows: rowsOf(vec.MaxRowsF32, maxOf[float32]), block: vec.MaxDownF32, merge: maxOf[float32],
			joins: vec.MaximumF32},
		{init: float32(math.Inf(1)), row: func(acc float32, s []float32) float32 { return minOf(acc, vec.MinF32(s)) },
			rows: rowsOf(vec.MinRowsF32, minOf[float32]), block: vec.MinDownF32, merge: minOf[float32],
			joins: vec.MinimumF32},
	}
	extF64 = [2]*kern[float64, float64]{
		{init: math.Inf(-1), row: func(acc float64, s []float64) float64 { return maxOf(acc, vec.MaxF64(s)) },
			rows: rowsOf(vec.MaxRowsF64, maxOf[float64]), block: vec.MaxDownF64, merge: maxOf[float64],
			joins: vec.MaximumF64},
		{init: math.Inf(1), row: func(acc float64, s []float64) float64 { return minOf(acc, vec.MinF64(s)) },
			rows: rowsOf(vec.MinRowsF64, minOf[float64]), block: vec.MinDownF64, merge: minOf[float64],
			joins: vec.MinimumF64},
	}
	extF16  = extHalf(0, vec.F16ToF32s)
	extBF16 = extHalf(1, vec.BF16ToF32s)
	extU8   = extInt[uint8](0, math.MaxUint8)
	extI8   = extInt[int8](math.MinInt8, math.MaxInt8)
	extI16  = extInt[int16](math.MinInt16, math.MaxInt16)
	extI32  = extInt[int32](math.MinInt32, math.MaxInt32)
	extI64  = extInt[int64](math.MinInt64, math.MaxInt64)
)

func extInt[E vec.Integer](least, most E) [2]*kern[E, E] {
	larger, smaller := func(a, b E) E { return max(a, b) }, func(a, b E) E { return min(a, b) }
	one := func(rows func(dst, a []E, rows, cols, lda int), join func(a, b E) E) func(acc E, s []E) E {
		return func(acc E, s []E) E {
			r := [1]E{acc}
			rows(r[:], s, 1, len(s), 0)
			return join(acc, r[0])
		}
	}
	return [2]*kern[E, E]{
		{init: least, row: one(vec.MaxRowsInt[E], larger), rows: rowsOf(vec.MaxRowsInt[E], larger),
			block: func(acc, s []E, rows, stride int) { vec.MaxColumnsInt(acc, s, rows, len(acc), stride) },
			merge: larger, joins: vec.MaxInt[E]},
		{init: most, row: one(vec.MinRowsInt[E], smaller), rows: rowsOf(vec.MinRowsInt[E], smaller),
			block: func(acc, s []E, rows, stride int) { vec.MinColumnsInt(acc, s, rows, len(acc), stride) },
			merge: smaller, joins: vec.MinInt[E]},
	}
}

// extHalf makes the kernels of a 16-bit float; columns are widened.
func extHalf(i int, widen func(dst []float32, s []uint16)) [2]*kern[uint16, float32] {
	columns := func(down func(dst, a []float32, rows, lda int)) func(acc []float32, s []uint16, rows, stride int) {
		return func(acc []float32, s []uint16, rows, stride int) {
			buf, n := columnBuffers.Get().(*[colTile]float32), len(acc)
			for r, m := 0, 0; r < rows; r += m {
				m = min(rows-r, colTile/n)
				if stride == n {
					widen(buf[:m*n], s[r*n:][:m*n])
				} else {
					for i := range m {
						widen(buf[i*n:][:n], s[(r+i)*stride:][:n])
					}
				}
				down(acc, buf[:], m, n)
			}
			columnBuffers.Put(buf)
		}
	}
	return [2]*kern[uint16, float32]{
		{init: float32(math.Inf(-1)), row: func(acc float32, s []uint16) float32 { return maxOf(acc, vec.Max16[i](s)) },
			rows: rowsOf(vec.MaxRows16[i], maxOf[float32]), block: columns(vec.MaxDownF32), merge: maxOf[float32],
			joins: vec.MaximumF32},
		{init: float32(math.Inf(1)), row: func(acc float32, s []uint16) float32 { return minOf(acc, vec.Min16[i](s)) },
			rows: rowsOf(vec.MinRows16[i], minOf[float32]), block: columns(vec.MinDownF32), merge: minOf[float32],
			joins: vec.MinimumF32},
	}
}

func noComplex(c *Ctx, kernel string, dt tensor.DType) {
	if dt.IsComplex() {
		c.FailDType(tensor.ErrNotImpl, kernel, dt)
	}
}

func extInto(o, t *T, red []bool, isMax bool) {
	switch t.DType() {
	case tensor.Float64:
		extTyped(o, t, red, isMax, extF64)
	case tensor.Float32:
		extTyped(o, t, red, isMax, extF32)
	case tensor.Float16:
		extTyped(o, t, red, isMax, extF16)
	case tensor.BFloat16:
		extTyped(o, t, red, isMax, extBF16)
	case tensor.Uint8:
		extTyped(o, t, red, isMax, extU8)
	case tensor.Bool: // 1 is larger than 0
		ask(o, t, red, op.Pick(isMax, isAny, isAll))
	case tensor.Int8:
		extTyped(o, t, red, isMax, extI8)
	case tensor.Int16:
		extTyped(o, t, red, isMax, extI16)
	case tensor.Int32:
		extTyped(o, t, red, isMax, extI32)
	default:
		extTyped(o, cast(t, tensor.Int64), red, isMax, extI64)
	}
}

func extTyped[E any, A storable](o, t *T, red []bool, isMax bool, k [2]*kern[E, A]) {
	into(o, t, red, op.Pick(isMax, k[0], k[1]), nil)
}

// better reports that v takes the place of the extremum so far, which stands before it.
func better[E real](v, best E, isMax bool) bool {
	if best != best {
		return false
	}
	return v != v || isMax && v > best || !isMax && v < best
}

// needSize refuses to reduce a dimension without elements, when the operator has no value for that.
func needSize(c *Ctx, t *T, dim int) {
	if t.Dim() > 0 && t.Size(dim) == 0 {
		c.Fail(tensor.ErrIndex, "%s(): Expected reduction dim %d to have non-zero size.", c.Op().Sch.Name, dim)
	}
}

// share divides a gradient evenly among equal extrema.
func share(g, y, x *T, list []int) *T {
	m := x.Eq(y)
	return m.Mul(g.Div(m.SumDim(list, tensor.SumDimOptions{KeepDim: true})))
}

// extAll declares max or min over all elements.
//
//gen:extAll Out
func extAll(schema, doc string, isMax bool) {
	name := op.Pick(isMax, "max", "min")
	kernel := name + "_all"
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, Out: true, FormNames: ".out=.unary_out",
		Infer: func(c *Ctx) {
			t := c.T(0)
			if t.Numel() == 0 {
				c.Fail(tensor.ErrValue, "%s(): Expected reduction dim to be specified for input.numel() == 0. "+
					"Specify the reduction dim with the 'dim' argument.", name)
			}
			noComplex(c, kernel, t.DType())
			c.Alloc(0, nil, t.DType())
		},
		CPU:  func(c *Ctx) { extInto(c.Out(0), c.T(0), allDims(c.T(0)), isMax) },
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			x, y := c.T(0), c.Out(0)
			// where reading an element would mean waiting; PyTorch makes the same distinction
			if x.Device().Type != tensor.CPUDevice || y.IsBatched() {
				return []*T{op.Evenly(g, x.Eq(y).LogicalOr(x.IsNaN().LogicalAnd(y.IsNaN())))}
			}
			if y.Num().IsNaN() { // which equals nothing
				return []*T{op.Evenly(g, x.IsNaN())}
			}
			return []*T{op.Evenly(g, x.Eq(y))}
		},
		Grad: op.Pick(isMax, "MaxBackward1", "MinBackward1"),
	})
}

// extDim declares max or min over one dimension, with indices.
//
//gen:extDim Out
func extDim(schema, doc string, isMax bool) {
	name := op.Pick(isMax, "max", "min")
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, Out: true,
		FormNames: op.Pick(isMax, ".dim_out=.dim_max(max,max_values)", ".dim_out=.dim_min(min,min_indices)"),
		Infer: func(c *Ctx) {
			t := c.T(0)
			d := op.Wrap(c, c.Int(1), t.Dim())
			noComplex(c, name, t.DType())
			needSize(c, t, d)
			_, sh := dims(c, t, []int{d}, c.Bool(2))
			if g := c.GivenOut(0); g != nil && g.DType() != t.DType() {
				c.Fail(tensor.ErrDType, "Expected out tensor to have dtype %s, but got %s instead", t.DType().CName(),
					g.DType().CName())
			}
			c.Alloc(0, sh, t.DType())
			c.Alloc(1, sh, tensor.Int64)
		},
		CPU:  func(c *Ctx) { argInto(c.Out(0), c.Out(1), c.T(0), op.Wrap(c, c.Int(1), c.T(0).Dim()), isMax) },
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::value_selecting_reduction_backward", g, c.Int(1), c.Out(1), c.Shape(0),
				c.Bool(2))}
		},
	})
}

// extDims declares amax or amin.
//
//gen:extDims Out
func extDims(schema, doc string, isMax bool) {
	name := op.Pick(isMax, "max", "min")
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, Out: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			list := c.Ints(1)
			noComplex(c, name+"_values_cpu", t.DType())
			if g := c.GivenOut(0); g != nil && g.DType() != t.DType() {
				c.Fail(tensor.ErrDType, "Expected the dtype for input and out to match, but got %s for input's dtype "+
					"and %s for out's dtype.", t.DType().ClassName(), g.DType().ClassName())
			}
			_, sh := dims(c, t, list, c.Bool(2))
			if t.Numel() == 0 {
				if len(list) == 0 {
					c.Fail(tensor.ErrIndex,
						"%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "+
							"dim with the 'dim' argument.", c.Op().Sch.Name)
				}
				for _, d := range list {
					needSize(c, t, op.Wrap(c, d, t.Dim()))
				}
			}
			c.Alloc(0, sh, t.DType())
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			extInto(c.Out(0), c.T(0), red, isMax)
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			l, k := c.Ints(1), c.Bool(2)
			return []*T{share(unreduce(c, g, l, k), unreduce(c, c.Out(0), l, k), c.T(0), l)}
		},
	})
}

// argExtreme declares argmax or argmin.
//
//gen:argExtreme Out
func argExtreme(schema, doc string, isMax bool) {
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, Out: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			noComplex(c, c.Op().Sch.Name+"_cpu", t.DType())
			if t.DType() == tensor.Bool {
				c.Fail(tensor.ErrNotImpl, "%s(): does not support bool input", c.Op().Sch.Name)
			}
			if !c.Has(1) {
				if t.Numel() == 0 {
					c.Fail(tensor.ErrIndex,
						"%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "+
							"dim with the 'dim' argument.", c.Op().Sch.Name)
				}
				_, sh := dims(c, t, nil, c.Bool(2))
				c.Alloc(0, sh, tensor.Int64)
				return
			}
			d := op.Wrap(c, c.Int(1), t.Dim())
			needSize(c, t, d)
			_, sh := dims(c, t, []int{d}, c.Bool(2))
			c.Alloc(0, sh, tensor.Int64)
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			if c.Has(1) {
				argInto(nil, c.Out(0), t, op.Wrap(c, c.Int(1), t.Dim()), isMax)
				return
			}
			d := tensor.Dense(t)
			argInto(nil, c.Out(0), tensor.Alias(d, []int{d.Numel()}, []int{1}, d.StorageOffset()), 0, isMax)
		},
		NoGrad: "integer result",
	})
}

func init() {
	extAll("max(Tensor self) -> Tensor",
		"is the largest element; NaN if there is one. Equal ones share the gradient "+
			"evenly.\nhttps://pytorch.org/docs/stable/generated/torch.max.html", true)
	extDim("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"gives the largest elements along a dimension and where they are (the first of equal ones; NaN before "+
			"all).\nhttps://pytorch.org/docs/stable/generated/torch.max.html", true)
	extDims("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
		"is the largest element over dimensions (none given: all). Equal ones share the gradient "+
			"evenly.\nhttps://pytorch.org/docs/stable/generated/torch.amax.html", true)
	argExtreme("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
		"is the index of the largest element along a dimension, or in the flattened tensor: the first of equal ones, "+
			"NaN before all.\nhttps://pytorch.org/docs/stable/generated/torch.argmax.html", true)
	extAll("min(Tensor self) -> Tensor",
		"is the smallest element; NaN if there is one. Equal ones share the gradient "+
			"evenly.\nhttps://pytorch.org/docs/stable/generated/torch.min.html", false)
	extDim("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"gives the smallest elements along a dimension and where they are (the first of equal ones; NaN before "+
			"all).\nhttps://pytorch.org/docs/stable/generated/torch.min.html", false)
	extDims("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
		"is the smallest element over dimensions (none given: all). Equal ones share the gradient "+
			"evenly.\nhttps://pytorch.org/docs/stable/generated/torch.amin.html", false)
	argExtreme("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
		"is the index of the smallest element along a dimension, or in the flattened tensor: the first of equal "+
			"ones, NaN before all.\nhttps://pytorch.org/docs/stable/generated/torch.argmin.html", false)
	tensor.Register(tensor.Def{
		Schema: "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
		Doc: "gives the smallest and the largest elements, over a dimension or over " +
			"all.\nhttps://pytorch.org/docs/stable/generated/torch.aminmax.html",
		Out: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			noComplex(c, "aminmax_kernel", t.DType())
			list := aminmaxDims(c)
			if list != nil {
				needSize(c, t, list[0])
			} else if t.Numel() == 0 {
				c.Fail(tensor.ErrIndex, "aminmax(): cannot compute aminmax over an empty dimension as the operation "+
					"has no identity.")
			}
			_, sh := dims(c, t, list, c.Bool(2))
			for i := range 2 {
				if g := c.GivenOut(i); g != nil && g.DType() != t.DType() {
					c.Fail(tensor.ErrDType, "Expected out tensor to have dtype %s, but got %s instead",
						t.DType().CName(), g.DType().CName())
				}
			}
			if a, b := c.GivenOut(0), c.GivenOut(1); a != nil && op.Overlap(a, b) {
				c.Fail(tensor.ErrValue, "aminmax(): the `min` and `max` out= tensors must not overlap.")
			}
			c.Alloc(0, sh, t.DType())
			c.Alloc(1, sh, t.DType())
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), aminmaxDims(c), c.Bool(2))
			extInto(c.Out(0), c.T(0), red, false)
			extInto(c.Out(1), c.T(0), red, true)
		},
		Save: "self min max",
		VJP: func(c *Ctx, _ *T) []*T {
			l, k := aminmaxDims(c), c.Bool(2)
			var sum *T
			for i := range 2 {
				g := c.G(i)
				if g == nil {
					continue
				}
				g = share(unreduce(c, g, l, k), unreduce(c, c.Out(i), l, k), c.T(0), l)
				if sum != nil {
					g = sum.Add(g)
				}
				sum = g
			}
			return []*T{sum}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, int[] sizes, bool keepdim) -> Tensor", Go: "-",
		Doc: "puts gradients to the places that a reduction by selection took its values from.",
		Infer: func(c *Ctx) {
			if ix := c.T(2).DType(); ix != tensor.Int64 {
				c.Fail(tensor.ErrDType, "Expected dtype int64 for index, got %s", ix)
			}
			sh := c.Ints(3)
			if len(sh) > 0 {
				d, lines := op.Wrap(c, c.Int(1), len(sh)), c.Shape(2)
				if !c.Bool(4) { // as if the dimension had been kept
					if len(lines) != len(sh)-1 {
						c.WantDim(2, len(sh)-1)
					}
					lines = slices.Insert(slices.Clone(lines), d, 1)
				}
				c.WantDim(2, len(sh)-op.Pick(c.Bool(4), 0, 1))
				for i, n := range lines {
					if i != d && n != sh[i] {
						c.Fail(tensor.ErrShape, "%s(): indices of shape %s do not fit sizes %s", c.Op().Sch.Name,
							tensor.ShapeString(c.Shape(2)), tensor.ShapeString(sh))
					}
				}
			}
			c.WantShape(0, c.Shape(2)...)
			c.Alloc(0, sh, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			tensor.ZeroRaw(o)
			sh := c.Ints(3)
			if len(sh) == 0 {
				tensor.CopyRaw(o, c.T(0))
				return
			}
			d := op.Wrap(c, c.Int(1), len(sh))
			_, n, inner := iter.Split(sh, d)
			m := 1 // selected elements per line
			if c.Bool(4) {
				m = c.T(2).Size(d)
			}
			ix := op.Raw[int64](tensor.Dense(c.T(2)))
			for _, k := range ix {
				if uint64(k) >= uint64(n) {
					c.Fail(tensor.ErrIndex, "index %d is out of bounds for dimension %d with size %d", k, d, n)
				}
			}
			g := tensor.Dense(c.T(0))
			switch o.ElementSize() {
			case 1:
				putLines(op.Raw[uint8](o), op.Raw[uint8](g), ix, n, m, inner)
			case 2:
				putLines(op.Raw[uint16](o), op.Raw[uint16](g), ix, n, m, inner)
			case 4:
				putLines(op.Raw[uint32](o), op.Raw[uint32](g), ix, n, m, inner)
			case 8:
				putLines(op.Raw[uint64](o), op.Raw[uint64](g), ix, n, m, inner)
			default:
				putLines(op.Raw[complex128](o), op.Raw[complex128](g), ix, n, m, inner)
			}
		},
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			d, ix := c.Int(1), c.T(2)
			if len(c.Ints(3)) == 0 {
				return []*T{g, nil}
			}
			if !c.Bool(4) {
				ix = op.Call1("aten::unsqueeze", ix, d)
			}
			r := op.Call1("aten::gather", g, d, ix)
			if !c.Bool(4) {
				r = op.Call1("aten::squeeze.dim", r, d)
			}
			return []*T{r, nil}
		},
	})
}

// aminmaxDims lists the dimension that aminmax reduces, nil for all.
func aminmaxDims(c *Ctx) []int {
	if !c.Has(1) {
		return nil
	}
	return []int{op.Wrap(c, c.Int(1), c.T(0).Dim())}
}

func putLines[E any](dst, g []E, ix []int64, n, m, inner int) {
	for i, v := range g {
		dst[(i/inner/m*n+int(ix[i]))*inner+i%inner] = v
	}
}
