package pointwise

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// fillNum sets every element of t.
func fillNum(t *T, n tensor.Num) { tensor.CopyRaw(t, n.Tensor()) }

func clampK[E integer](d, x, lo, hi []E) {
	run := runs.Get().(*run4K)
	defer runs.Put(run)
	buf := elements[E](run) // d may be hi
	for len(d) > 0 {
		n := min(len(d), len(buf))
		vec.MaxInt(buf[:n], x[:n], lo[:n])
		vec.MinInt(d[:n], buf[:n], hi[:n])
		d, x, lo, hi = d[n:], x[n:], lo[n:], hi[n:]
	}
}

func bound[E any](c *Ctx, i int, f func(n tensor.Num) E) *E {
	if !c.Has(i) {
		return nil
	}
	e := f(c.Num(i))
	return &e
}

// clampNumbers computes result 0 from argument 0 and the bounds that arguments lo and hi are; -1: none.
func clampNumbers(c *Ctx, ilo, ihi int) {
	out, a := c.Out(0), c.T(0)
	dt := out.DType()
	as := dt.Compute()
	num := func(i int, def float64) float64 {
		if i < 0 || !c.Has(i) {
			return def
		}
		return c.Num(i).F
	}
	if as == tensor.Float32 || as == tensor.Float64 {
		lo, hi := num(ilo, math.Inf(-1)), num(ihi, math.Inf(1))
		if lo != lo || hi != hi {
			fillNum(out, tensor.FloatValue(math.NaN()).Num())
			return
		}
		if as == tensor.Float32 {
			l, h := float32(lo), float32(hi)
			if i := half16(dt, out, a); i >= 0 {
				k := [2]func(d, x []uint16, l, h float32){vec.ClampF16, vec.ClampBF16}[i]
				run1(out, a, dt, dt, func(d, x []uint16) { k(d, x, l, h) })
				return
			}
			if n := out.Numel(); n <= direct && n > 0 && plain(out, n, as) && plain(a, n, as) {
				vec.ClampF32(slice[float32](tensor.Ptr(out), n), slice[float32](tensor.Ptr(a), n), l, h)
				return
			}
			run1(out, a, as, as, func(d, x []float32) { vec.ClampF32(d, x, l, h) })
			return
		}
		run1(out, a, as, as, func(d, x []float64) { vec.ClampF64(d, x, lo, hi) })
		return
	}
	switch as {
	case tensor.Int64:
		clampAs(c, ilo, ihi, as, func(n tensor.Num) int64 { return n.I })
	case tensor.Int32:
		clampAs(c, ilo, ihi, as, saturate[int32])
	case tensor.Int16:
		clampAs(c, ilo, ihi, as, saturate[int16])
	case tensor.Int8:
		clampAs(c, ilo, ihi, as, saturate[int8])
	case tensor.Uint8:
		clampAs(c, ilo, ihi, as, saturate[uint8])
	default:
		missing(c, "clamp", dt)
	}
}

// saturate is a bound in a narrow type: one that the type cannot hold limits nothing, and must not wrap around.
func saturate[E int32 | int16 | int8 | uint8](n tensor.Num) E {
	e := E(n.I)
	if int64(e) == n.I {
		return e
	}
	var lo, hi E
	lo--
	if lo > 0 { // unsigned
		hi, lo = lo, 0
	} else {
		lo = E(1) << (width[E]() - 1)
		hi = ^lo
	}
	if n.I < 0 {
		return lo
	}
	return hi
}

func clampAs[E integer](c *Ctx, ilo, ihi int, as DType, f func(n tensor.Num) E) {
	var lo, hi *E
	if ilo >= 0 {
		lo = bound(c, ilo, f)
	}
	if ihi >= 0 {
		hi = bound(c, ihi, f)
	}
	run1(c.Out(0), c.T(0), as, as, clampI(lo, hi))
}

func clamp3[E integer](c *Ctx, as DType) {
	run3(c.Out(0), c.T(0), c.T(1), c.T(2), as, as, as, as, clampK[E])
}

// whereC has no branch: whether the condition holds is seldom foreseeable.
func whereC(d []complex128, m []uint8, a, b []complex128) {
	m, a, b = m[:len(d)], a[:len(d)], b[:len(d)]
	for i := range d {
		either := [2]complex128{b[i], a[i]}
		d[i] = either[b2u(m[i] != 0)&1]
	}
}

func whereAs[E any](c *Ctx, dt DType, k func(d []E, m []uint8, a, b []E)) {
	run3(c.Out(0), c.T(0), c.T(1), c.T(2), dt, tensor.Bool, dt, dt, k)
}

func registerClamp() {
	const doc = "https://pytorch.org/docs/stable/generated/torch.clamp.html"
	noBounds := func(c *Ctx) {
		if !c.Has(1) && !c.Has(2) {
			c.Fail(tensor.ErrValue, "torch.clamp: At least one of 'min' or 'max' must not be None")
		}
		refuseClamp(c)
	}
	tensor.Register(tensor.Def{
		Schema: "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
		Doc: "limits every element to the numbers [min, max]; a bound that is not given does not limit. When min > max the " +
			"result is max. The gradient of an element on a bound is zero.\n" + doc,
		Go: "ClampScalar", Aliases: []string{"clip"},
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			noBounds(c)
			c.Alloc(0, c.Shape(0), c.PromoteArgs(0, 1, 2))
		},
		CPU:  func(c *Ctx) { clampNumbers(c, 1, 2) },
		Save: "self",
		VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			var cond *T
			if c.Has(1) {
				cond = x.GtScalar(c.Num(1))
			}
			if c.Has(2) {
				if lt := x.LtScalar(c.Num(2)); cond == nil {
					cond = lt
				} else {
					cond = cond.LogicalAnd(lt)
				}
			}
			return keepIf(cond, g)
		}),
	})
	tensor.Register(tensor.Def{
		Schema: "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
		Doc: "limits every element to the bounds in the tensors min and max, which are broadcast; a bound that is " +
			"not given does not limit. An element on a bound shares the gradient with it.\n" + doc,
		Go: "Clamp", Aliases: []string{"clip"},
		InPlace: true, Out: true, FormNames: ".out=.Tensor_out", Elementwise: true,
		Infer: func(c *Ctx) {
			noBounds(c)
			c.Alloc(0, c.BroadcastArgs(0, 1, 2), c.PromoteArgs(0, 1, 2))
		},
		CPU: func(c *Ctx) {
			switch {
			case !c.Has(2):
				maximumKernels.run(c, 0, 1)
				return
			case !c.Has(1):
				minimumKernels.run(c, 0, 2)
				return
			}
			switch as := c.Out(0).DType().Compute(); as {
			case tensor.Float32:
				tern(c, as, vec.ClampToF32)
			case tensor.Float64:
				tern(c, as, vec.ClampToF64)
			case tensor.Int64:
				clamp3[int64](c, as)
			case tensor.Int32:
				clamp3[int32](c, as)
			case tensor.Int16:
				clamp3[int16](c, as)
			case tensor.Int8:
				clamp3[int8](c, as)
			default:
				clamp3[uint8](c, as)
			}
		},
		Save: "self min max",
		VJP: func(c *Ctx, g *T) []*T {
			switch {
			case !c.Has(2):
				self, lo := extremumShares(c, g, 1, false)
				return []*T{self, lo, nil}
			case !c.Has(1):
				self, hi := extremumShares(c, g, 2, true)
				return []*T{self, nil, hi}
			}
			x, lo, hi := c.T(0), c.T(1), c.T(2)
			// an element on a bound shares the gradient with it, unless nothing lies between the bounds
			apart := lo.Lt(hi)
			onLo, onHi := x.Eq(lo).LogicalAnd(apart), x.Eq(hi).LogicalAnd(apart)
			part := call(opWhere, tv(onLo.LogicalOr(onHi)), tv(g.DivScalar(2)), tv(g))
			ordered, below, above := lo.Le(hi), x.Lt(lo), x.Gt(hi)
			return []*T{
				dropIf(below.LogicalOr(above), part),
				keepIf(below.LogicalAnd(ordered).LogicalOr(onLo), part),
				keepIf(above.LogicalAnd(ordered).LogicalOr(onHi).LogicalOr(lo.Gt(hi)), part),
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "clamp_min(Tensor self, Scalar min) -> Tensor", Doc: "limits every element from below by a number.",
		Go:      "ClampMinScalar",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { refuseClamp(c); c.Alloc(0, c.Shape(0), c.PromoteArgs(0, 1)) },
		CPU:   func(c *Ctx) { clampNumbers(c, 1, -1) },
		Save:  "self", VJP: rule(func(c *Ctx, g *T) *T { return keepIf(c.T(0).GtScalar(c.Num(1)), g) }),
	})
	tensor.Register(tensor.Def{
		Schema: "clamp_max(Tensor self, Scalar max) -> Tensor", Doc: "limits every element from above by a number.",
		Go:      "ClampMaxScalar",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { refuseClamp(c); c.Alloc(0, c.Shape(0), c.PromoteArgs(0, 1)) },
		CPU:   func(c *Ctx) { clampNumbers(c, -1, 1) },
		Save:  "self", VJP: rule(func(c *Ctx, g *T) *T { return keepIf(c.T(0).LtScalar(c.Num(1)), g) }),
	})
	tensor.Register(tensor.Def{
		Schema: "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
		Doc:    "limits every element from below by a tensor.", FormNames: ".out=.Tensor_out",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { refuseClamp(c); binaryInfer(c) },
		CPU:   func(c *Ctx) { maximumKernels.run(c, 0, 1) },
		Save:  "self min",
		VJP:   func(c *Ctx, g *T) []*T { return extremumGrads(c, g, false) },
	})
	tensor.Register(tensor.Def{
		Schema: "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
		Doc:    "limits every element from above by a tensor.", FormNames: ".out=.Tensor_out",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { refuseClamp(c); binaryInfer(c) },
		CPU:   func(c *Ctx) { minimumKernels.run(c, 0, 1) },
		Save:  "self max",
		VJP:   func(c *Ctx, g *T) []*T { return extremumGrads(c, g, true) },
	})
}

func refuseClamp(c *Ctx) {
	for i := range c.NumArgs() {
		if v := c.Value(i); v.K == tensor.KComplex || v.K == tensor.KTensor && v.T.IsComplex() {
			c.Fail(tensor.ErrDType, "clamp is not supported for complex types")
		}
	}
}

func registerWhere() {
	const doc = "https://pytorch.org/docs/stable/generated/torch.where.html"
	tensor.Register(tensor.Def{
		Schema: "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
		Doc: "takes the elements of self where the condition (a bool tensor) holds and those of other elsewhere, " +
			"broadcasting and promoting dtypes.\n" + doc,
		Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(0); dt != tensor.Bool && dt != tensor.Uint8 {
				c.Fail(tensor.ErrDType, "where expected condition to be a boolean tensor, but got a tensor with "+
					"dtype %s", dt.ClassName())
			} else if dt == tensor.Uint8 {
				tensor.Warn("where received a uint8 condition tensor. This behavior is deprecated and will be " +
					"removed in a future version of PyTorch. Use a boolean condition instead.")
			}
			c.Alloc(0, c.BroadcastArgs(0, 1, 2), c.PromoteArgs(1, 2))
		},
		CPU: func(c *Ctx) {
			dt := c.Out(0).DType()
			switch dt.Size() { // bits are moved, whatever they mean
			case 1:
				whereAs(c, dt, vec.WhereU8)
			case 2:
				whereAs(c, dt, vec.WhereU16)
			case 4:
				whereAs(c, dt, vec.WhereF32)
			case 8:
				whereAs(c, dt, vec.WhereF64)
			default:
				whereAs(c, dt, whereC)
			}
		},
		Save: "condition",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 3)
			if c.Needs(1) {
				r[1] = keepIf(c.T(0), g)
			}
			if c.Needs(2) {
				r[2] = dropIf(c.T(0), g)
			}
			return r
		},
	})
	body := func(c *Ctx) { c.Return(call(opWhere, c.Value(0), c.Value(1), c.Value(2))) }
	tensor.Register(tensor.Def{Schema: "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
		Doc: "is Where with a number for self.", Go: "WhereScalarSelf", Body: body})
	tensor.Register(tensor.Def{Schema: "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
		Doc: "is Where with a number for other.", Go: "WhereScalar", Body: body})
	tensor.Register(tensor.Def{Schema: "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
		Doc: "is Where with two numbers.", Go: "WhereScalars", Body: body})
}
