package pointwise

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	angle := &unK{name: "angle", h: vec.Angle16, f32: vec.AngleF32, f64: vec.AngleF64}
	tensor.Register(tensor.Def{
		Schema: "angle(Tensor self) -> Tensor",
		Doc:    "is the angle of complex numbers; that of negative real ones is pi.", Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), floatType(c.ArgDType(0)).Real()) },
		CPU: func(c *Ctx) {
			out, a := c.Out(0), c.T(0)
			switch a.DType() {
			case tensor.Complex64:
				run1(out, a, tensor.Float32, a.DType(),
					planesReal[float32, complex64](func(d, re, im []float32) { vec.Atan2F32(d, im, re) }))
			case tensor.Complex128:
				run1(out, a, tensor.Float64, a.DType(),
					planesReal[float64, complex128](func(d, re, im []float64) { vec.Atan2F64(d, im, re) }))
			default:
				angle.run(c, out, a, out.DType())
			}
		},
		Save: "self",
		VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			if !x.IsComplex() {
				return g.ZerosLike()
			}
			re, im := call(opReal, tv(x)), x.Imag()
			m := re.Mul(re).Add(im.Mul(im))
			return dropIf(x.EqScalar(0), call(opComplex, tv(g.Mul(im.Neg().Div(m))), tv(g.Mul(re.Div(m)))))
		}),
	})
	tensor.Register(tensor.Def{
		Schema: "polar(Tensor abs, Tensor angle) -> Tensor", Doc: "makes complex numbers of magnitude and angle.",
		Out: true, Elementwise: true, Storage: tensor.TakesComplexHalf,
		Infer: func(c *Ctx) { complexInfer(c, "abs", "angle") },
		CPU: func(c *Ctx) {
			out := c.Out(0)
			if out.DType() == tensor.Complex64 {
				run2(out, c.T(0), c.T(1), tensor.Complex64, tensor.Float32, tensor.Float32,
					polarPlanes[float32, complex64](&real32))
				return
			}
			run2(out, c.T(0), c.T(1), tensor.Complex128, tensor.Float64, tensor.Float64,
				polarPlanes[float64, complex128](&real64))
		},
		Save: "abs angle",
		VJP: func(c *Ctx, g *T) []*T {
			r, p := c.T(0), c.T(1)
			s, co := p.Sin(), p.Cos()
			gr, gi := call(opReal, tv(g)), g.Imag()
			return []*T{gr.Mul(co).Add(gi.Mul(s)), r.Mul(gi.Mul(co).Sub(gr.Mul(s)))}
		},
	})
}
