// Package utils works on the parameters of modules (gradient clipping and the like) and prepares modules for inference.
package utils

import (
	"slices"

	"github.com/gotorch-dev/torch/linalg"

	"github.com/gotorch-dev/torch"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// ClipOptions are the options of ClipGradNorm.
type ClipOptions struct {
	// NormType is the p of the norm (default 2); math.Inf(1) takes the largest element, 0 counts the parameters whose
	// gradients are not zero.
	NormType tensor.Opt[float64]
	// ErrorIfNonfinite panics when the norm is NaN or infinite, instead of scaling by it.
	ErrorIfNonfinite bool
}

// ClipGradNorm scales the gradients of parameters, together, so that their norm is at most maxNorm, and returns the
// norm before, as a 0-d tensor. Parameters without gradient do not count.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
func ClipGradNorm(parameters []*Tensor, maxNorm float64, opts ...ClipOptions) *Tensor {
	var o ClipOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	total := GradNorm(parameters, opts...)
	if o.ErrorIfNonfinite && total.IsFinite().Item() == 0 {
		tensor.Fail(tensor.ErrValue, "The total norm of order %s for gradients from `parameters` is non-finite, so "+
			"it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "+
			"`error_if_nonfinite=False`", pyfmt.Float(normType(o)))
	}
	tensor.NoGrad(func() {
		// as PyTorch rounds: the coefficient in the norm's type, at most 1
		coef := total.AddScalar(1e-6).Reciprocal().MulScalar(maxNorm).ClampScalar(tensor.ClampScalarOptions{Max: 1.0})
		// nothing to do; elsewhere reading it would wait for the device
		if coef.Device().Type == tensor.CPUDevice && coef.Item() == 1 {
			return
		}
		for _, l := range gradients(parameters) {
			c := tensor.NewCall(opScale, 2)
			*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(l), tensor.TensorValue(coef.ToDType(l[0].DType()))
			c.Do0()
		}
	})
	return total
}

var (
	opNorms = tensor.Slot("aten::_foreach_norm.Scalar")
	opScale = tensor.Slot("aten::_foreach_mul_.Tensor")
)

// gradients lists the gradients of parameters, parted by device and dtype as the operators on lists want them.
func gradients(parameters []*Tensor) (parts [][]*Tensor) {
	for _, x := range parameters {
		g := x.Grad()
		if g == nil {
			continue
		}
		i := slices.IndexFunc(parts, func(l []*Tensor) bool {
			return l[0].Device() == g.Device() &&
				l[0].DType() == g.DType()
		})
		if i < 0 {
			i, parts = len(parts), append(parts, make([]*Tensor, 0, len(parameters)))
		}
		parts[i] = append(parts[i], g)
	}
	return parts
}

func normType(o ClipOptions) float64 { return o.NormType.Or(2) }

// GradNorm is the norm of all gradients together.
func GradNorm(parameters []*Tensor, opts ...ClipOptions) (total *Tensor) {
	var o ClipOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	p := normType(o)
	var norms []*Tensor
	tensor.NoGrad(func() {
		for _, l := range gradients(parameters) {
			c := tensor.NewCall(opNorms, len(opNorms.Sch.Params))
			*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(l), tensor.FloatValue(p)
			norms = append(norms, c.DoN()...)
		}
	})
	if len(norms) == 0 {
		return torch.Zeros([]int{})
	}
	tensor.NoGrad(func() { total = linalg.VectorNorm(torch.Stack(norms), linalg.VectorNormOptions{Ord: p}) })
	return total
}

// ClipGradValue limits every element of the gradients to [-value, value].
// https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_value_.html
func ClipGradValue(parameters []*Tensor, value float64) {
	tensor.NoGrad(func() {
		for _, p := range parameters {
			if g := p.Grad(); g != nil {
				g.ClampScalarInPlace(tensor.ClampScalarInPlaceOptions{Min: -value, Max: value})
			}
		}
	})
}
