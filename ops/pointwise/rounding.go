package pointwise

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	const deg = math.Pi / 180
	scaled := func(s float32) (h vec.Unary16) {
		for i, k := range vec.MulScalar16 {
			h[i] = func(d, a []uint16) { k(d, a, s) }
		}
		return h
	}
	floatUnary("deg2rad(Tensor self) -> Tensor", "turns degrees into radians.",
		&unK{name: "deg2rad", h: scaled(deg), f32: func(d, a []float32) { vec.MulScalarF32(d, a, deg) },
			f64: func(d, a []float64) { vec.MulScalarF64(d, a, deg) }},
		tensor.Def{VJP: rule(func(c *Ctx, g *T) *T { return g.MulScalar(deg) })})
	floatUnary("rad2deg(Tensor self) -> Tensor", "turns radians into degrees.",
		&unK{name: "rad2deg", h: scaled(1 / deg), f32: func(d, a []float32) { vec.MulScalarF32(d, a, 1/deg) },
			f64: func(d, a []float64) { vec.MulScalarF64(d, a, 1/deg) }},
		tensor.Def{VJP: rule(func(c *Ctx, g *T) *T { return g.MulScalar(1 / deg) })})
	tensor.Register(tensor.Def{
		Schema: "round.decimals(Tensor self, *, int decimals) -> Tensor",
		Doc:    "rounds to a number of decimals, halves to even; negative numbers round before the point.",
		Go:     "RoundDecimals", InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(0); dt.IsIntOrBool() {
				c.Fail(tensor.ErrNotImpl, "\"%s\" not implemented for '%s'", op.Pick(c.Int(1) == 0, "round_vml_cpu", "round_cpu"),
					dt.ClassName())
			}
			sameInfer(0)(c)
		},
		CPU: func(c *Ctx) {
			n := c.Int(1)
			neg := n < 0
			if neg {
				n = -n
			}
			ten := math.Pow(10, float64(n))
			switch {
			case c.Int(1) == 0:
				floats1(c, "round", 0, none1, vec.RoundF32, vec.RoundF64)
			default:
				f32 := roundDecimals(float32(ten), vec.MulScalarF32, vec.DivScalarF32, vec.RoundF32)
				f64 := roundDecimals(ten, vec.MulScalarF64, vec.DivScalarF64, vec.RoundF64)
				if neg {
					f32 = roundDecimals(float32(ten), vec.DivScalarF32, vec.MulScalarF32, vec.RoundF32)
					f64 = roundDecimals(ten, vec.DivScalarF64, vec.MulScalarF64, vec.RoundF64)
				}
				floats1(c, "round", 0, none1, f32, f64)
			}
		},
		VJP: rule(func(c *Ctx, g *T) *T { return g.ZerosLike() }),
	})
	tensor.Register(tensor.Def{
		Schema: "special_round(Tensor self, *, int decimals=0) -> Tensor",
		Doc:    "rounds to a number of decimals, halves to even.", Out: true,
		Body: func(c *Ctx) { c.Return(c.T(0).RoundDecimals(c.Int(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", FormNames: ".out=.Tensor_out",
		Doc: "splits numbers into mantissa, of magnitude [0.5, 1), and power of 2 (int32).", Out: true,
		Elementwise: true,
		Infer: func(c *Ctx) {
			if !c.ArgDType(0).IsFloat() {
				c.Fail(tensor.ErrDType, "torch.frexp() only supports floating-point dtypes")
			}
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
			c.Alloc(1, c.Shape(0), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			m, e, a := c.Out(0), c.Out(1), c.T(0)
			shape := m.Shape()
			ops := [...]iter.Operand{operand(m, shape, tensor.Float64), operand(e, shape, tensor.Int32),
				operand(a, shape, tensor.Float64)}
			iter.Run(shape, 2, ops[:], func(p *iter.Ptrs, n int) {
				m, e := slice[float64](p[0], n), slice[int32](p[1], n)
				for i, x := range slice[float64](p[2], n) {
					const most, shift, half = 0x7ff, 52, 1022 // of the exponent: its bits, their place, that of 1/2
					b := math.Float64bits(x)
					if k := b >> shift & most; k-1 < most-1 { // neither 0, subnormal, infinite nor NaN
						m[i], e[i] = math.Float64frombits(b&^(most<<shift)|half<<shift), int32(k)-half
						continue
					}
					f, k := math.Frexp(x)
					m[i], e[i] = f, int32(k)
				}
			})
		},
		Save: "exponent",
		VJP:  rule(func(c *Ctx, g *T) *T { return g.Div(c.Out(1).Exp2()) }),
	})
	tensor.Register(tensor.Def{
		Schema: "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
		Doc: "replaces NaN (by 0) and infinities (by the largest and smallest number of the dtype), or by the " +
			"numbers given.", InPlace: true, Out: true, Elementwise: true,
		Infer: sameInfer(0),
		CPU: func(c *Ctx) {
			out, a := c.Out(0), c.T(0)
			dt := a.DType()
			if dt.IsIntOrBool() {
				tensor.CopyRaw(out, a)
				return
			}
			if dt.IsComplex() {
				out, a = op.Parts(out, true), op.Parts(a, true)
				dt = a.DType()
			}
			get := func(i int, def float64) float64 {
				if c.Has(i) {
					return c.Float(i)
				}
				return def
			}
			nan, pos, neg := get(1, 0), get(2, maxFinite(dt)), get(3, -maxFinite(dt))
			if as := dt.Compute(); as == tensor.Float32 {
				x, y, z := float32(nan), float32(pos), float32(neg)
				run1(out, a, as, as, func(d, a []float32) { vec.NaNToNumF32(d, a, x, y, z) })
			} else {
				run1(out, a, as, as, func(d, a []float64) { vec.NaNToNumF64(d, a, nan, pos, neg) })
			}
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return keepIf(c.T(0).IsFinite(), g) }),
	})
}

// maxFinite is the largest number of a float type.
func maxFinite(dt DType) float64 {
	switch dt {
	case tensor.Float16:
		return 65504
	case tensor.BFloat16:
		return 0x1.fep127
	case tensor.Float32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// roundDecimals rounds between two changes of scale.
func roundDecimals[E float](ten E, there, back func(d, a []E, s E), round func(d, a []E)) func(d, a []E) {
	return func(d, a []E) {
		inBlocks(d, a, func(d, a, buf []E) {
			there(buf, a, ten)
			round(buf, buf)
			back(d, buf, ten)
		})
	}
}
