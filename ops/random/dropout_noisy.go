package random

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

// Kernels of the dropouts of channels, which multiply planes by one number each, and of alpha dropout.

var opFeatureScale = tensor.Slot("gotorch::feature_scale")

// inOrder reports a tensor that is contiguous, also in the strides of its dimensions of one element: so is the result
// of a kernel.
func inOrder(x *T) bool {
	return slices.Equal(x.Strides(), tensor.FormatStrides(x.Shape(), tensor.ContiguousFormat))
}

// wideChannels reports that a call of a vector kernel for each channel of each sample pays.
func wideChannels(x *T) bool {
	const least = 16
	return x.Dim() > 2 && x.Numel() >= least*x.Size(0)*x.Size(1)
}

func init() {
	kind := func(c *Ctx) dropout { return dropout{feature: c.Bool(2), alpha: c.Bool(3)} }
	tensor.Register(tensor.Def{
		Schema: "gotorch::noisy_dropout(Tensor self, float p, bool feature, bool alpha) -> (Tensor, Tensor)", Go: "-",
		Doc: "is dropout of elements or channels, with zeros or as alpha dropout; the second result is what it " +
			"multiplies by.",
		GradOf: func(args []tensor.Value) string {
			if args[3].N != 0 {
				return "AddBackward0"
			}
			return "MulBackward0"
		},
		Fuses: func(c *Ctx) bool {
			dt := c.ArgDType(0)
			if c.Bool(2) {
				return dt.IsFloat() && inOrder(c.T(0)) && wideChannels(c.T(0))
			}
			return (dt == tensor.Float32 || dt == tensor.Float64) && inOrder(c.T(0))
		},
		Infer: func(c *Ctx) {
			x := c.T(0)
			c.Alloc(0, x.Shape(), x.DType())
			if c.Bool(2) {
				c.Alloc(1, featureShape(c, x), x.DType())
			} else {
				c.Alloc(1, x.Shape(), x.DType())
			}
		},
		CPU: func(c *Ctx) {
			o, x, scale, p, d := c.Out(0), c.T(0), c.Out(1), c.Float(1), kind(c)
			double := x.DType() == tensor.Float64
			if !d.feature {
				fill(c, scale, bernoulliFill(rng.Default, 1-p))
				if double {
					alphaDrop(flat[float64](o), flat[float64](x), flat[float64](scale), p)
				} else {
					alphaDrop(flat[float32](o), flat[float32](x), flat[float32](scale), p)
				}
				return
			}
			var shift *T
			if d.alpha {
				fill(c, scale, bernoulliFill(rng.Default, 1-p))
				shift = scaled(scale, p, true)
			} else {
				dropoutNoise(c, scale, p)
			}
			if double {
				scaleFeatures(o, x, scale, shift, vec.MulScalarF64, vec.AddScalarF64)
			} else {
				scaleFeatures(o, x, scale, shift, vec.MulScalarF32, vec.AddScalarF32)
			}
		},
		Body: func(c *Ctx) { kind(c).noisy(c, c.T(0), c.Float(1)) },
		Save: "result1",
		VJP: func(c *Ctx, g *T) []*T {
			if !c.Bool(2) {
				return []*T{g.Mul(c.Out(1))}
			}
			return []*T{featureScale(g, c.Out(1))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::dropout_noise(Tensor self, float p, bool feature) -> Tensor", Go: "-",
		Doc:    "is 0 with probability p and 1/(1-p) otherwise, for each element or each channel.",
		NoGrad: "random numbers",
		Fuses:  func(c *Ctx) bool { return c.ArgDType(0).IsFloat() },
		Infer: func(c *Ctx) {
			x := c.T(0)
			switch {
			case c.Bool(2):
				c.Alloc(0, featureShape(c, x), x.DType())
			case x.IsContiguous():
				c.Alloc(0, x.Shape(), x.DType())
			default:
				c.AllocStrided(0, x.Shape(), tensor.PermutedStrides(x), x.DType())
			}
		},
		CPU: func(c *Ctx) { dropoutNoise(c, c.Out(0), c.Float(1)) },
		Body: func(c *Ctx) {
			noise := bernoulli(dropout{feature: c.Bool(2)}.empty(c, c.T(0)), 1-c.Float(1))
			scaled(noise, c.Float(1), false)
			c.Return(noise)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::feature_scale(Tensor self, Tensor scale) -> Tensor", Go: "-", Grad: "MulBackward0",
		Doc:   "multiplies each channel of each sample by a number.",
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			x, o := c.T(0), c.Out(0)
			if x.DType() == tensor.Float64 {
				scaleFeatures(o, x, c.T(1), nil, vec.MulScalarF64, vec.AddScalarF64)
			} else {
				scaleFeatures(o, x, c.T(1), nil, vec.MulScalarF32, vec.AddScalarF32)
			}
		},
		Fuses: func(c *Ctx) bool {
			return c.ArgDType(0).IsFloat() && inOrder(c.T(0)) && wideChannels(c.T(0))
		},
		Body: func(c *Ctx) { c.Return(c.T(0).Mul(c.T(1))) },
		Save: "scale",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{featureScale(g, c.T(1)), nil} },
	})
}

// featureScale is x [n, c, ...] times scale [n, c, 1 ...].
func featureScale(x, scale *T) *T {
	n := tensor.NewCall(opFeatureScale, 2)
	*n.Arg(0), *n.Arg(1) = tensor.TensorValue(x), tensor.TensorValue(scale)
	return n.Do1()
}

// dropoutNoise sets the elements of t to 0 with probability p and to 1/(1-p) otherwise, in the order of memory.
func dropoutNoise(c *Ctx, t *T, p float64) {
	if dt := t.DType(); dt == tensor.Float32 || dt == tensor.Float64 {
		fill(c, t, each(func(d []float32) error { return rng.DropoutMask(rng.Default, d, p) },
			func(d []float64) error { return rng.DropoutMask(rng.Default, d, p) }))
		return
	}
	fill(c, t, bernoulliFill(rng.Default, 1-p))
	scaled(t, p, false)
}

// alphaDrop sets o to alpha dropout of x for ones and zeros in scale, which it multiplies by alphaScale(p). Like the
// operators of the body it multiplies and then adds, and rounds after each step.
func alphaDrop[E float32 | float64](o, x, scale []E, p float64) {
	a := alphaScale(p)
	kept := E(alphaPrime * a * p)
	dropped := E(-E(alphaPrime*a)) + kept
	shifts := [2]E{dropped, kept}
	par.For(len(o), 1<<14, func(lo, hi int) {
		s, x, o := scale[lo:hi], x[lo:hi], o[lo:hi]
		for i, one := range s {
			v := one * E(a)
			s[i] = v
			o[i] = E(x[i]*v) + shifts[int(one)]
		}
	})
}

// scaleFeatures works on contiguous tensors. It rounds where two operators on 16-bit floats would.
func scaleFeatures[E half.Real](o, x, scale, shift *T, mul, add func(dst, a []E, s E)) {
	planes := scale.Numel()
	size := x.Numel() / max(1, planes)
	if size == 0 {
		return
	}
	numbers := func(t *T) []E { return flat[E](tensor.DenseAs(t, tensor.DTypeOf[E]())) }
	s := numbers(scale)
	var b []E
	if shift != nil {
		b = numbers(shift)
	}
	const run = 4096
	par.For(planes, max(1, 1<<15/size), func(lo, hi int) {
		buf := half.Borrow[E](min(size, run))
		defer half.Return(buf)
		for p := lo; p < hi; p++ {
			for i := p * size; i < (p+1)*size; i += run {
				n := min(run, (p+1)*size-i)
				d := half.Place(o, i, (*buf)[:n])
				mul(d, half.Load(x, i, (*buf)[:n]), s[p])
				half.Store(o, i, d)
				if b != nil {
					add(d, half.Load(o, i, d), b[p])
					half.Store(o, i, d)
				}
			}
		}
	})
}
