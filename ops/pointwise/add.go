package pointwise

import "github.com/gotorch-dev/torch/tensor"

func addK[E number](alpha E) func(d, a, b []E) {
	if alpha == 1 {
		return func(d, a, b []E) {
			a, b = a[:len(d)], b[:len(d)]
			for i := range d {
				d[i] = a[i] + b[i]
			}
		}
	}
	return func(d, a, b []E) {
		a, b = a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = a[i] + alpha*b[i]
		}
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
		Doc: "is self + alpha * other, broadcasting and promoting dtypes.\n" +
			"https://pytorch.org/docs/stable/generated/torch.add.html",
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Infer: func(c *Ctx) {
			binaryInfer(c)
		},
		CPU: func(c *Ctx) {
			a := c.Num(2)
			k := arith{addK(uint8(a.I)), addK(int8(a.I)), addK(int16(a.I)), addK(int32(a.I)), addK(a.I), addK(float32(a.F)), addK(a.F), addK(complex64(a.C)), addK(a.C),
				func(d, x, y []uint8) {
					for i := range d {
						d[i] = x[i] | y[i]
					}
				}}
			k.run(c, c.Out(0), c.T(0), c.T(1), c.Out(0).DType())
		},
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, g}
			if a := c.Num(2); a.C != 1 {
				r[1] = g.MulScalar(a)
			}
			return r
		},
	})
}
