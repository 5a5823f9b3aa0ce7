package random

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

// The dropouts of whole channels multiply planes by one number each, and those of SELU add one.

var (
	opFeature      = tensor.Slot("gotorch::feature_scale")
	opAlphaFeature = tensor.Slot("gotorch::feature_scale_shift")
)

// onFeatures is x [n, c, ...] times scale [n, c, 1 ...], plus shift unless that is nil.
func onFeatures(op *tensor.Op, x, scale, shift *T) *T {
	n := tensor.NewCall(op, 3)
	*n.Arg(0), *n.Arg(1) = tensor.TensorValue(x), tensor.TensorValue(scale)
	if shift != nil {
		*n.Arg(2) = tensor.TensorValue(shift)
	}
	return n.Do1()
}

func init() {
	for name, grad := range map[string]string{"gotorch::feature_scale": "MulBackward0", "gotorch::feature_scale_shift": "AddBackward0"} {
		tensor.Register(tensor.Def{
			Schema: name + "(Tensor self, Tensor scale, Tensor? shift) -> Tensor",
			Doc:    "multiplies each channel of each sample by a number, and adds another.",
			Go:     "-", Grad: grad,
			Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
			CPU: func(c *Ctx) {
				x, o := c.T(0), c.Out(0)
				if x.DType() == tensor.Float64 {
					scaleFeatures(o, tensor.Dense(x), c.T(1), c.T(2), vec.MulScalarF64, vec.AddScalarF64)
				} else {
					scaleFeatures(o, tensor.Dense(x), c.T(1), c.T(2), vec.MulScalarF32, vec.AddScalarF32)
				}
			},
			Fuses: func(c *Ctx) bool {
				x := c.T(0)
				return x.DType().IsFloat() && slices.Equal(x.Strides(), tensor.FormatStrides(x.Shape(), tensor.ContiguousFormat))
			},
			Body: func(c *Ctx) {
				y := c.T(0).Mul(c.T(1))
				if c.Has(2) {
					y = y.Add(c.T(2))
				}
				c.Return(y)
			},
			Save: "scale",
			VJP: func(c *Ctx, g *T) []*T {
				return []*T{onFeatures(opFeature, g, c.T(1), nil), nil, nil}
			},
		})
	}
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
